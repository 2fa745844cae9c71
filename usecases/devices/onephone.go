package devices

import (
	"context"
	"fmt"
	"time"

	"plexus/domain/pairing"
	"plexus/domain/sessions"
	"plexus/ports"
)

// letInLimit is how long a device that the owner let in has the one place to
// itself, if it does not take it before.
const letInLimit = 2 * time.Minute

// Busy says that a device was not let in because another client was connected.
type Busy struct {
	At       time.Time // of the last time; zero: not since it was connected itself
	By       string    // shown name of the device that is in the way, or was then; "" for a client without one
	Kept     bool      // it is not connected: the place is kept for it, since its owner let it in
	CanLetIn bool      // another one is in the way now, so that LetIn has something to do
}

// busy is Busy as it is kept, in memory only.
type busy struct {
	at time.Time
	by pairing.DeviceID // zero for a client with the master token
}

// choice is the device that the owner let in and that has not come yet.
type choice struct {
	device pairing.DeviceID // zero: none
	until  time.Time
}

// MayEnter reports whether a client may have the one place if it is free: while the
// owner's choice is awaited, it is kept for that device.
func (c *Clients) MayEnter(who Identity) bool {
	now := c.deps.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	none := c.chosen.device == (pairing.DeviceID{}) || !now.Before(c.chosen.until)
	return none || !who.Master && who.Device.ID == c.chosen.device
}

// TurnAway notes that a client is not let in because another one is connected, and
// gives the name under which its owner knows it, "" for one with the master token.
func (c *Clients) TurnAway(ctx context.Context, who Identity) (name string) {
	if who.Master {
		return ""
	}
	by, now := c.chosenDevice(), c.deps.Now()
	c.mu.Lock()
	for _, other := range c.live {
		by = other.Device.ID
	}
	if by != who.Device.ID { // else it is its own earlier connection
		c.busy[who.Device.ID] = busy{now, by}
	}
	c.mu.Unlock()
	c.changes.Notify()
	list, err := c.Devices(ctx)
	if err != nil && ctx.Err() == nil {
		c.deps.Log.Error("a device that was turned away could not be looked up", "error", err)
	}
	for _, d := range list {
		if d.ID == who.Device.ID {
			return d.Name
		}
	}
	return who.Device.Name
}

func (c *Clients) chosenDevice() pairing.DeviceID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chosen.device
}

// LetIn ends the connections of all other clients, as if they had come second, and
// keeps the place free for the device until it comes, two minutes at most. Unknown
// is ports.ErrDeviceUnknown.
func (c *Clients) LetIn(ctx context.Context, id pairing.DeviceID) error {
	if _, err := c.deps.Devices.DeviceHash(ctx, id); err != nil {
		return fmt.Errorf("let a device in: %w", err)
	}
	now := c.deps.Now()
	var ended []ports.ClientLink
	isIn := false
	c.mu.Lock()
	for link, who := range c.live {
		switch {
		case !who.Master && who.Device.ID == id:
			isIn = true
			continue
		case !who.Master:
			c.busy[who.Device.ID] = busy{now, id}
		}
		ended = append(ended, link)
	}
	if !isIn {
		c.chosen = choice{id, now.Add(letInLimit)}
	}
	c.mu.Unlock()
	for _, link := range ended {
		link.Close(sessions.ConcurrentClient)
	}
	c.deps.Log.Info("a device was let in", "device", id.String(), "connections", len(ended))
	c.changes.Notify()
	return nil
}

// entered notes that a client has been let in. mu is held.
func (c *Clients) entered(who Identity) {
	if who.Master {
		return
	}
	delete(c.busy, who.Device.ID)
	if c.chosen.device == who.Device.ID {
		c.chosen = choice{}
	}
}
