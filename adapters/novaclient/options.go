package novaclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/workbench"
)

// Profile says which app to be like.
type Profile uint8

// The two families of clients.
const (
	Flutter Profile = iota // strict about every member, correlated text, asks for the personal extension
	IOS                    // lenient about cards, uncorrelated text, offers no language
)

// Options say whom to connect to and as what. Server and Token are needed, the
// rest may stay zero.
type Options struct {
	Server   pairing.Server
	Token    pairing.DeviceToken
	Profile  Profile
	Language nova.Language // Flutter only; zero is English
	Voice    bool          // speech is played; without, every generation is stopped at once
	Dial     netip.AddrPort
	Roots    *x509.CertPool // the certificate authorities to trust; nil is what the system trusts
	// DialContext opens the connection below; nil is TCP.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
	Events      Events
}

// Events are called one at a time, in order. They must not wait for the client,
// which reads nothing meanwhile. Each is optional.
type Events struct {
	Status   func(Status)                   // a Client's; a Conn alone has none
	Message  func(nova.Message)             // messages that an app would use
	Snapshot func(workbench.MobileSnapshot) // the workbench shows another one
	Card     func(Card)                     // a card has appeared or changed
	Removed  func(Card)                     // a card is gone, and with it the question
}

// notify calls one of the Events.
func notify[T any](event func(T), value T) {
	if event != nil {
		event(value)
	}
}

// The paths of a host.
const (
	clientPath = "/client/v1"
	pairPath   = "/client/pair"
)

// ErrNotLoopback refuses to send a token in the clear over a network.
var ErrNotLoopback = errors.New("the address to dial must be one of this machine, with a port")

// ParseDial reads the address of Options.Dial, for instance 127.0.0.1:18787.
func ParseDial(s string) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(s)
	if err != nil || !a.Addr().Unmap().IsLoopback() || a.Port() == 0 {
		return netip.AddrPort{}, ErrNotLoopback
	}
	return a, nil
}

// url is the address of a path. Where Dial is set it is dialed without TLS, and
// only the Host header is the server's.
func (o Options) url(path string) (string, error) {
	switch {
	case o.Server == pairing.Server{}:
		return "", &pairing.AddressError{Part: "host", Reason: "There is none."}
	case !o.Dial.IsValid():
		return "wss://" + o.Server.Authority() + path, nil
	case !o.Dial.Addr().Unmap().IsLoopback():
		return "", ErrNotLoopback
	}
	return "ws://" + o.Dial.String() + path, nil
}

// open upgrades a connection to a path of the host. limit bounds the messages
// that are read, in bytes.
func (o Options) open(ctx context.Context, path string, limit int64) (*websocket.Conn, error) {
	url, err := o.url(path)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext:     o.DialContext,
		TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
	}
	defer transport.CloseIdleConnections()
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ws, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient:      &http.Client{Transport: transport, CheckRedirect: stay},
		Host:            o.Server.Authority(),
		CompressionMode: websocket.CompressionDisabled,
	})
	switch {
	case err != nil && resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, &RefusedError{resp.StatusCode}
	case err != nil:
		return nil, fmt.Errorf("open the WebSocket: %w", err)
	}
	ws.SetReadLimit(limit)
	return ws, nil
}

// RefusedError: the server answered the upgrade with an HTTP status.
type RefusedError struct{ Status int }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
}

// hello is the profile's first message.
func (o Options) hello() ([]byte, error) {
	h := nova.Hello{Token: o.Token.Text, Media: []string{nova.RelayTransport}}
	if o.Profile == Flutter {
		h.Personal, h.Language = true, o.Language
		if h.Language == "" {
			h.Language = nova.English
		}
	}
	return nova.AppendHello(nil, h)
}

// Times of the apps.
const (
	readyWithin   = 10 * time.Second       // from the start of the connection
	closeWins     = 100 * time.Millisecond // for a close code after a message that is wrong
	sendWithin    = 5 * time.Second        // each message
	receiptWithin = 15 * time.Second       // of a text
	resultWithin  = 30 * time.Second       // of a personal command
	pairWithin    = 10 * time.Second       // the whole exchange
)

// receiveLimit is the largest message that is read at all.
const receiveLimit = 128 << 10
