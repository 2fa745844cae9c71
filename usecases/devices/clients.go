package devices

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plexus/domain/pairing"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/usecases/syncx"
)

// lastSeenStep is how stale a device's last-seen time may be: a reconnecting
// phone must not cost a durable write each time.
const lastSeenStep = time.Minute

// Clients knows the paired devices by their tokens, and the connections they have.
type Clients struct {
	deps    Deps
	master  pairing.TokenHash
	pairing *Pairing
	changes *syncx.Notifier

	mu     sync.Mutex // guards what follows; never held during a call to a port
	live   map[ports.ClientLink]Identity
	round  uint64 // rises with every revocation
	busy   map[pairing.DeviceID]busy
	chosen choice
}

// AttachClient registers the link of an authenticated client, so that a
// revocation can end it, and notes the visit. ok is false when the device was
// revoked since Authenticate; the caller then closes the link. detach must be
// called once it ends. The values of ctx serve for what detach stores.
func (c *Clients) AttachClient(ctx context.Context, who Identity, link ports.ClientLink) (detach func(), ok bool) {
	c.mu.Lock()
	c.live[link] = who
	stale := c.round != who.round
	c.entered(who)
	c.mu.Unlock()
	if stale && !c.stillPaired(ctx, who) {
		c.release(link)
		return nil, false
	}
	c.recordVisit(ctx, &who)
	c.changes.Notify()
	return func() {
		if c.release(link) {
			c.recordVisit(context.WithoutCancel(ctx), &who)
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

// stillPaired looks the device up by its ID, since the token is not kept.
func (c *Clients) stillPaired(ctx context.Context, who Identity) bool {
	if who.Master {
		return true
	}
	_, err := c.deps.Devices.DeviceHash(ctx, who.Device.ID)
	if err != nil && !errors.Is(err, ports.ErrDeviceUnknown) && ctx.Err() == nil {
		c.deps.Log.Error("a device could not be looked up again", "error", err)
	}
	return err == nil
}

// recordVisit stores a visit where the last one is not recent. A failure
// is logged and does not refuse the client.
func (c *Clients) recordVisit(ctx context.Context, who *Identity) {
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

// LiveClients counts the attached links, those of the master token included.
func (c *Clients) LiveClients() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.live)
}

// Status is a device as the owner sees it.
type Status struct {
	pairing.Device // with the name under which it is shown
	// Given is the name that it was given; another device may have the same.
	Given     string
	Connected bool // now
	Busy      Busy
}

// Devices lists the devices in the order they were paired.
func (c *Clients) Devices(ctx context.Context) ([]Status, error) {
	list, err := c.deps.Devices.Devices(ctx)
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	names := pairing.ShownNames(list)
	all := make([]Status, len(list))
	shown := make(map[pairing.DeviceID]string, len(list))
	for i, d := range list {
		all[i] = Status{Device: d, Given: d.Name}
		all[i].Name, shown[d.ID] = names[i], names[i]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	connected := map[pairing.DeviceID]bool{}
	holder := "" // name of a device that is connected
	for _, who := range c.live {
		connected[who.Device.ID] = true // of the master token: the zero ID, which no device has
		holder = shown[who.Device.ID]
	}
	keptFor := pairing.DeviceID{}
	if c.deps.Now().Before(c.chosen.until) {
		keptFor = c.chosen.device
	}
	for i := range all {
		d := &all[i]
		d.Connected = connected[d.ID]
		b, ok := c.busy[d.ID]
		switch {
		case !ok:
		case len(connected) == 0 && keptFor != (pairing.DeviceID{}) && keptFor != d.ID:
			d.Busy = Busy{At: b.at, By: shown[keptFor], Kept: true, CanLetIn: true}
		case len(connected) > 0 && !d.Connected:
			d.Busy = Busy{At: b.at, By: holder, CanLetIn: true}
		default:
			d.Busy = Busy{At: b.at, By: shown[b.by]}
		}
	}
	return all, nil
}

// Rename gives a device another name, durably. A name that cannot be used is a
// pairing.ErrDeviceName, an unknown device ports.ErrDeviceUnknown.
func (c *Clients) Rename(ctx context.Context, id pairing.DeviceID, name string) error {
	name, err := pairing.DeviceName(name)
	if err == nil && text.Printable(name) != name { // an owner means no marks that move text; phones may have sent some
		err = pairing.ErrNameMarks
	}
	if err == nil {
		err = c.deps.Devices.RenameDevice(ctx, id, name)
	}
	if err != nil {
		return fmt.Errorf("rename device: %w", err)
	}
	c.changes.Notify()
	return nil
}
