package devices

import (
	"context"
	"fmt"

	"plexus/domain/pairing"
	"plexus/domain/sessions"
	"plexus/ports"
)

// Revoke removes a device, durably, and then ends its connections. Unknown is
// ports.ErrDeviceUnknown. Once begun it goes on when ctx ends. When it fails the
// device is as it was, save that its token may stand in the list of revoked ones,
// so that a restored backup leaves it out; revoking again completes it.
func (c *Clients) Revoke(ctx context.Context, id pairing.DeviceID) error {
	hash, err := c.deps.Devices.DeviceHash(ctx, id)
	if err != nil {
		return fmt.Errorf("revoke device: %w", err)
	}
	// A store may report that ctx has ended after it has stored; then the device's
	// links would stay open.
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
	delete(c.busy, id)
	if c.chosen.device == id {
		c.chosen = choice{}
	}
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
