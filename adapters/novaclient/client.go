// Package novaclient is a client of the Nova protocol that insists on whatever
// the phone apps insist on, so that a host that works with it works with them.
// It is used by `plexus phone` and as the tests' peer.
package novaclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plexus/domain/nova"
)

// Retries of a lost connection: after the last of them it is given up. A
// connection that stayed up for healthyAfter refills the budget.
const (
	firstRetry   = time.Second
	maxRetries   = 3
	healthyAfter = 30 * time.Second
)

// Phase is the state of a client's connection.
type Phase uint8

// The phases.
const (
	Connecting Phase = iota
	Connected        // Status.Ready is set
	Waiting          // Status.End and Status.Retry are set
	Over             // Status.End is set; there will be no other connection
)

// Status describes a client's connection.
type Status struct {
	Phase Phase
	Ready nova.Ready
	End   *End          // how the last connection ended
	Retry time.Duration // until the next attempt
}

// Client keeps a connection to a host as the apps do: it retries what may be
// retried. Its methods may be called concurrently.
type Client struct {
	options   Options
	workbench Workbench

	mu   sync.Mutex
	conn *Conn // nil while there is none
}

// New gives a client that is not connected yet.
func New(o Options) *Client { return &Client{options: o} }

// ErrNotConnected: there is no connection at the moment.
var ErrNotConnected = errors.New("not connected to the host")

// Conn gives the current connection, or ErrNotConnected.
func (c *Client) Conn() (*Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil, ErrNotConnected
	}
	return c.conn, nil
}

// Workbench is what the host has shown of itself, over all connections.
func (c *Client) Workbench() *Workbench { return &c.workbench }

// Run connects and stays connected until the host refuses for good, the retries
// are used up (both give an *End) or ctx ends (which gives its error). Options
// that cannot work give their error at once.
func (c *Client) Run(ctx context.Context) error {
	_, addressErr := c.options.url(clientPath)
	_, helloErr := c.options.hello()
	if err := errors.Join(addressErr, helloErr); err != nil {
		return err // no retry would mend it
	}
	for retries := 0; ; retries++ {
		uptime, end := c.connectOnce(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if uptime >= healthyAfter {
			retries = 0
		}
		if end.Terminal() || retries == maxRetries {
			notify(c.options.Events.Status, Status{Phase: Over, End: end})
			return end
		}
		delay := firstRetry << retries
		notify(c.options.Events.Status, Status{Phase: Waiting, End: end, Retry: delay})
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// connectOnce is one connection from its dial to its end. uptime is how long it
// was up.
func (c *Client) connectOnce(ctx context.Context) (uptime time.Duration, end *End) {
	notify(c.options.Events.Status, Status{Phase: Connecting})
	conn, err := dial(ctx, c.options, &c.workbench)
	if err != nil {
		if !errors.As(err, &end) {
			end = &End{Err: fmt.Errorf("connect to the host: %w", err)}
		}
		return 0, end
	}
	since := time.Now()
	c.setConn(conn) // Events may ask for it
	conn.start()
	stop := context.AfterFunc(ctx, func() { conn.uplink.fail(ErrClosed) })
	defer stop()
	end = conn.Wait()
	c.setConn(nil)
	return time.Since(since), end
}

func (c *Client) setConn(conn *Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
}
