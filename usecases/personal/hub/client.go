package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/stored"
)

// Refusals of a personal.command that has no result to say why. The client gets
// the receipt "rejected" and nothing more.
var (
	ErrNotGranted  = errors.New("the personal extension was not granted")
	ErrNotAdmitted = errors.New("there is no such method, or it is not for a phone")
)

// Terms are what a client and the host have agreed upon.
type Terms struct {
	Desktop  bool          // the owner's own page, else a phone
	Personal bool          // the personal extension was granted
	Language nova.Language // of answers; "" is the host's default
}

// Caller is who the client is to commands.
func (t Terms) Caller() workbench.Caller {
	if t.Desktop {
		return workbench.Caller{ClientID: workbench.DesktopClient, CanTakeover: true}
	}
	return workbench.Caller{ClientID: workbench.RemoteClient}
}

// Endpoint is one attached client. Its methods may be called concurrently.
type Endpoint interface {
	// Deliver takes one control. An error refuses it and has no other effect; nil
	// only means that it was handed over. Results come by the link. A
	// personal.command may wait for those before it, everything else returns at
	// once or after one write to the store.
	Deliver(ctx context.Context, control nova.Control) error
	// Audio takes uplink PCM16, which it does not keep. It never blocks.
	Audio(pcm []byte)
	// Snapshot gives the state as this client may see it.
	Snapshot(ctx context.Context) (nova.PersonalState, error)
	// Leave ends what belongs to the connection, such as its draft and its voice. Its
	// turns go on.
	Leave()
}

// Client implements Endpoint. Areas use it as the key of what they keep of a
// client, until Leave.
type Client struct {
	Terms Terms // nothing changes them
	hub   *Hub
	link  ports.PersonalLink

	// Guarded by Hub.mu.
	left    bool
	cut     []Shortened // of the last snapshot
	holding int         // commands whose results are to come before any change
	changed bool        // there was a change since
}

var _ Endpoint = (*Client)(nil)

// Attach registers a client, which gets captions, results and changes from now on.
func (h *Hub) Attach(link ports.PersonalLink, terms Terms) Endpoint {
	c := &Client{hub: h, link: link, Terms: terms}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients[c] = struct{}{}
	return c
}

// Send gives the client a message.
func (c *Client) Send(m nova.Message) { c.link.Send(m) }

// Left reports whether the client has gone.
func (c *Client) Left() bool {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	return c.left
}

// Leave implements Endpoint.
func (c *Client) Leave() {
	c.hub.mu.Lock()
	c.left = true
	delete(c.hub.clients, c)
	c.hub.mu.Unlock()
	for _, a := range c.hub.areas {
		if a.Leave != nil {
			a.Leave(c)
		}
	}
}

// Deliver implements Endpoint. A control that no area handles is accepted and
// ignored: this host has no playback, and clock and diagnostics are counted by the
// connection.
func (c *Client) Deliver(ctx context.Context, m nova.Control) error {
	if command, ok := m.(nova.PersonalCommand); ok {
		return c.command(ctx, command)
	}
	if control, ok := c.hub.controls[m.Kind()]; ok {
		return control.handle(ctx, c, m)
	}
	return nil
}

// Audio implements Endpoint.
func (c *Client) Audio(pcm []byte) {
	for i := range c.hub.areas {
		if hear := c.hub.areas[i].Audio; hear != nil {
			hear(c, pcm)
		}
	}
}

// Snapshot implements Endpoint. Its revision rises with every change, stored or
// not. What no store keeps is counted before it is read, see Hub.RaiseRevision.
func (c *Client) Snapshot(ctx context.Context) (state nova.PersonalState, err error) {
	h := c.hub
	err = h.Store.View(ctx, func(tx ports.PersonalView) error {
		revision, err := stored.Revision(tx)
		if err != nil {
			return err
		}
		h.mu.Lock()
		state.Revision = revision + h.unstored
		h.mu.Unlock()
		parts := make([]Part, 0, h.members)
		for _, a := range h.areas {
			for _, m := range a.Members {
				section := m.Phone
				if c.Terms.Desktop {
					section = m.Desktop
				}
				if section == nil {
					continue
				}
				value, err := section(tx, c)
				if err != nil {
					return err
				}
				parts = append(parts, Part{m.Name, value})
			}
		}
		frame, cut, err := Frame(c.Terms.Desktop, state.Revision, parts)
		if !c.Terms.Desktop {
			c.logTruncation(cut)
		}
		state.Frame = frame
		return err
	})
	if err != nil {
		return nova.PersonalState{}, fmt.Errorf("compose a snapshot: %w", err)
	}
	return state, nil
}

// logTruncation warns of the lists that did not fit into a phone's snapshot, once
// until other rows are missing.
func (c *Client) logTruncation(cut Truncation) {
	lists := slices.DeleteFunc(cut.Lists, func(s Shortened) bool { return s.Missing == 0 }) // old messages are left out as a matter of course
	if cut.TooLong {
		lists = []Shortened{{Member: "everything"}}
	}
	c.hub.mu.Lock()
	news := !slices.Equal(lists, c.cut)
	c.cut = lists
	c.hub.mu.Unlock()
	if news && len(lists) > 0 {
		c.hub.Log.Warn("a snapshot was cut to fit a phone", "cut", lists)
	}
}
