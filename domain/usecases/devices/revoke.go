package devices

import (
	"context"
	"fmt"

	"plexus/domain/pairing"
	"plexus/domain/sessions"
	"plexus/ports"
)

// Revoke removes a device, durably, and then ends its connections. Unknown is
// ports.ErrDeviceUnknown. Once begun it goes on when ctx ends. When it fails the device is as it was, save that its
// token may stand in the list of revoked ones, so that a restored backup leaves
// it out; revoking again completes it.
func (s *Service) Revoke(ctx context.Context, id pairing.DeviceID) error {
	hash, err := s.deps.Devices.DeviceHash(ctx, id)
	if err != nil {
		return fmt.Errorf("revoke device: %w", err)
	}
	// A store may report that ctx has ended after it has stored, and the links
	// would stay.
	ctx = context.WithoutCancel(ctx)
	if err := s.deps.Revoked.AppendRevoked(ctx, hash); err != nil {
		return fmt.Errorf("revoke device: note its token: %w", err)
	}
	if err := s.deps.Devices.RemoveDevice(ctx, id); err != nil {
		return fmt.Errorf("revoke device: %w", err)
	}
	ended := s.endLinks(id)
	s.deps.Log.Info("a device was revoked", "device", id.String(), "connections", ended)
	s.changes.Notify()
	return nil
}

// endLinks closes the links of a device as they are now. The store has changed
// before; a client between Authenticate and AttachClient sees the new round and
// is looked up again.
func (s *Service) endLinks(id pairing.DeviceID) int {
	s.mu.Lock()
	s.round++
	var ended []ports.ClientLink
	for link, who := range s.live {
		if !who.Master && who.Device.ID == id {
			ended = append(ended, link)
		}
	}
	s.mu.Unlock()
	for _, link := range ended {
		link.Close(sessions.DeviceRevoked)
	}
	return len(ended)
}
