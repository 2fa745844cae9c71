package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"plexus/domain/admission"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/sessions"
	"plexus/domain/usecases/syncx"
	"plexus/ports"
)

// ClientDeps are what Clients calls out to. NewClients refuses a missing one.
type ClientDeps struct {
	Devices  ports.DeviceRegistry
	Finder   ports.DeviceFinder // the same registry
	Revoked  ports.RevocationLog
	Settings ports.Settings
	Random   io.Reader // source of tokens, codes and IDs
	Now      func() time.Time
	Log      *slog.Logger
}

// ClientOptions are the settings of one process life.
type ClientOptions struct {
	Master       pairing.TokenHash // of the master token
	PublicURL    string            // from a flag, the environment or the file; "": what the owner set on the page counts
	LegacyExpiry bool              // QR payloads carry an expiry (pairing.legacy_expiry)
}

// Clients decides which Nova clients may connect: it pairs devices, knows their
// tokens, ends their connections, and keeps the addresses they come by. All
// methods may be called concurrently.
type Clients struct {
	deps ClientDeps
	opts ClientOptions

	redeeming *syncx.Semaphore // of one: a code is compared, stored and consumed by one device at a time
	changes   syncx.Notifier

	mu          sync.Mutex // guards what follows; never held during a call to a port
	invitations pairing.Invitations
	attempts    pairing.Attempts
	lastRefusal RedeemRefusal
	live        map[ports.ClientLink]ClientIdentity
	round       uint64 // rises with every revocation
	lines       lineBudget

	owner ownerSettings // see settings.go
}

// NewClients checks the wiring, and reads what the owner set.
func NewClients(ctx context.Context, deps ClientDeps, opts ClientOptions) (*Clients, error) {
	var missing []error
	for _, d := range []struct {
		absent bool
		name   string
	}{
		{deps.Devices == nil || deps.Finder == nil, "device registry"},
		{deps.Revoked == nil, "list of revocations"},
		{deps.Settings == nil, "settings"},
		{deps.Random == nil, "random source"},
		{deps.Now == nil, "clock"},
		{deps.Log == nil, "logger"},
		{opts.Master == (pairing.TokenHash{}), "master token"},
	} {
		if d.absent {
			missing = append(missing, errors.New("clients: no "+d.name))
		}
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	c := &Clients{deps: deps, opts: opts, redeeming: syncx.NewSemaphore(1), live: map[ports.ClientLink]ClientIdentity{}, lines: lineBudget{}}
	if err := c.loadSettings(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Changed gives a channel that is closed at the next change of what the page
// shows: invitations, devices, live connections, settings. Take it before
// reading the state, so that no change falls in between.
func (c *Clients) Changed() <-chan struct{} { return c.changes.Wait() }

// ClientIdentity is who a token belongs to.
type ClientIdentity struct {
	Master bool           // the owner's own token; it cannot be revoked
	Device pairing.Device // when not Master
	round  uint64         // revocations seen before the token was looked up
}

// ErrTokenUnknown: the token is nobody's.
var ErrTokenUnknown = errors.New("token unknown")

// Authenticate finds whose token it is, comparing hashes in constant time. A
// token that is nobody's is ErrTokenUnknown; any other error means that it could
// not be looked up, which must not look like a rejection to the client.
func (c *Clients) Authenticate(ctx context.Context, token pairing.DeviceToken) (ClientIdentity, error) {
	c.mu.Lock()
	round, isCode := c.round, c.invitations.Matches(pairing.Code(token))
	c.mu.Unlock()
	hash := token.Hash()
	if hash.Equal(c.opts.Master) {
		return ClientIdentity{Master: true, round: round}, nil
	}
	device, err := c.deps.Finder.FindDevice(ctx, hash)
	switch {
	case err == nil:
		return ClientIdentity{Device: device, round: round}, nil
	case !errors.Is(err, ports.ErrDeviceUnknown):
		return ClientIdentity{}, fmt.Errorf("look up a device token: %w", err)
	case isCode:
		c.warn("an invitation code was presented as a device token; it is still open")
	}
	return ClientIdentity{}, ErrTokenUnknown
}

// AuthenticateMaster takes the master token alone, else ErrTokenUnknown. A
// device's token, or an invitation's code, is named in the log.
func (c *Clients) AuthenticateMaster(ctx context.Context, token pairing.MasterToken) error {
	if token.Hash().Equal(c.opts.Master) {
		return nil
	}
	c.noteMistake(ctx, token.Text, "the master token")
	return ErrTokenUnknown
}

// noteMistake tells the log which of our secrets was used in the place of
// another (the two look alike).
func (c *Clients) noteMistake(ctx context.Context, presented secret.Text, place string) {
	c.mu.Lock()
	isCode := c.invitations.Matches(pairing.Code{Text: presented})
	c.mu.Unlock()
	if isCode {
		c.warn("an invitation code was presented in the place of another secret", "expected", place)
		return
	}
	if device, err := c.deps.Finder.FindDevice(ctx, presented.Hash()); err == nil {
		c.warn("a device token was presented in the place of another secret", "expected", place, "device", device.ID.String())
	}
}

// warn logs what strangers can cause, a few lines a minute for each message.
func (c *Clients) warn(message string, args ...any) {
	c.mu.Lock()
	loud := c.lines.allow(admission.Cause(message), c.deps.Now())
	c.mu.Unlock()
	if loud {
		c.deps.Log.Warn(message, args...)
	}
}

// AttachClient registers the link of an authenticated client, so that a
// revocation can end it, and notes the visit. ok is false when the device was
// revoked since Authenticate; the caller then closes the link. detach must be
// called once it ends. The values of ctx serve for what detach stores.
func (c *Clients) AttachClient(ctx context.Context, who ClientIdentity, link ports.ClientLink) (detach func(), ok bool) {
	c.mu.Lock()
	c.live[link] = who
	stale := c.round != who.round
	c.mu.Unlock()
	if stale && !c.stillKnown(ctx, who) {
		c.release(link)
		return nil, false
	}
	c.touch(ctx, &who)
	c.changes.Notify()
	return func() {
		if c.release(link) {
			c.touch(context.WithoutCancel(ctx), &who)
			c.changes.Notify()
		}
	}, true
}

func (c *Clients) release(link ports.ClientLink) (was bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, was = c.live[link]
	delete(c.live, link)
	return was
}

// stillKnown looks the device up by its ID, since the token is not kept.
func (c *Clients) stillKnown(ctx context.Context, who ClientIdentity) bool {
	if who.Master {
		return true
	}
	_, err := c.deps.Finder.DeviceHash(ctx, who.Device.ID)
	if err != nil && !errors.Is(err, ports.ErrDeviceUnknown) && ctx.Err() == nil {
		c.deps.Log.Error("a device could not be looked up again", "error", err)
	}
	return err == nil
}

// touch stores a visit where the last one is not recent. That it cannot be
// stored keeps nobody out.
func (c *Clients) touch(ctx context.Context, who *ClientIdentity) {
	now := c.deps.Now()
	if age := now.Sub(who.Device.LastSeenAt); who.Master || !who.Device.NeverConnected() && age >= 0 && age < lastSeenStep {
		return
	}
	err := c.deps.Devices.TouchDevice(ctx, who.Device.ID, now)
	switch {
	case err == nil:
		who.Device.LastSeenAt = now
		if who.Device.NeverConnected() {
			who.Device.FirstConnectedAt = now
		}
	case !errors.Is(err, ports.ErrDeviceUnknown) && ctx.Err() == nil: // unknown: revoked while it was connected
		c.deps.Log.Error("a device's visit could not be stored", "error", err)
	}
}

// DeviceStatus is a device as the owner sees it.
type DeviceStatus struct {
	pairing.Device
	Connected bool // now
}

// Devices lists the devices in the order they were paired.
func (c *Clients) Devices(ctx context.Context) ([]DeviceStatus, error) {
	list, err := c.deps.Devices.Devices(ctx)
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	connected := map[pairing.DeviceID]bool{}
	c.mu.Lock()
	for _, who := range c.live {
		connected[who.Device.ID] = true // of the master token: the zero ID, which no device has
	}
	c.mu.Unlock()
	all := make([]DeviceStatus, 0, len(list))
	for _, d := range list {
		all = append(all, DeviceStatus{Device: d, Connected: connected[d.ID]})
	}
	return all, nil
}

// Revoke removes a device, durably, and then ends its connections. Unknown is
// ports.ErrDeviceUnknown. Once begun it goes on when ctx ends. When it fails the device is as it was, save that its
// token may stand in the list of revoked ones, so that a restored backup leaves
// it out; revoking again completes it.
func (c *Clients) Revoke(ctx context.Context, id pairing.DeviceID) error {
	hash, err := c.deps.Finder.DeviceHash(ctx, id)
	if err != nil {
		return fmt.Errorf("revoke device: %w", err)
	}
	// A store may report that ctx has ended after it has stored, and the links
	// would stay.
	ctx = context.WithoutCancel(ctx)
	if err := c.deps.Revoked.AppendRevoked(ctx, hash); err != nil {
		return fmt.Errorf("revoke device: note its token: %w", err)
	}
	if err := c.deps.Devices.RemoveDevice(ctx, id); err != nil {
		return fmt.Errorf("revoke device: %w", err)
	}
	ended := c.endLinks(id)
	c.deps.Log.Info("a device was revoked", "device", id.String(), "connections", ended)
	c.changes.Notify()
	return nil
}

// endLinks closes the links of a device as they are now. The store has changed
// before; a client between Authenticate and AttachClient sees the new round and
// is looked up again.
func (c *Clients) endLinks(id pairing.DeviceID) int {
	c.mu.Lock()
	c.round++
	var ended []ports.ClientLink
	for link, who := range c.live {
		if !who.Master && who.Device.ID == id {
			ended = append(ended, link)
		}
	}
	c.mu.Unlock()
	for _, link := range ended {
		link.Close(sessions.DeviceRevoked)
	}
	return len(ended)
}

// LiveClients counts the attached links, those of the master token included.
func (c *Clients) LiveClients() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.live)
}
