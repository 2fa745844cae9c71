package devices

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/domain/pairing"
	"plexus/ports"
)

// lastSeenStep is how stale a device's last-seen time may be: a reconnecting
// phone must not cost a durable write each time.
const lastSeenStep = time.Minute

// AttachClient registers the link of an authenticated client, so that a
// revocation can end it, and notes the visit. ok is false when the device was
// revoked since Authenticate; the caller then closes the link. detach must be
// called once it ends. The values of ctx serve for what detach stores.
func (s *Service) AttachClient(ctx context.Context, who Identity, link ports.ClientLink) (detach func(), ok bool) {
	s.mu.Lock()
	s.live[link] = who
	stale := s.round != who.round
	s.mu.Unlock()
	if stale && !s.stillPaired(ctx, who) {
		s.release(link)
		return nil, false
	}
	s.recordVisit(ctx, &who)
	s.changes.Notify()
	return func() {
		if s.release(link) {
			s.recordVisit(context.WithoutCancel(ctx), &who)
			s.changes.Notify()
		}
	}, true
}

func (s *Service) release(link ports.ClientLink) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, was = s.live[link]
	delete(s.live, link)
	return was
}

// stillPaired looks the device up by its ID, since the token is not kept.
func (s *Service) stillPaired(ctx context.Context, who Identity) bool {
	if who.Master {
		return true
	}
	_, err := s.deps.Devices.DeviceHash(ctx, who.Device.ID)
	if err != nil && !errors.Is(err, ports.ErrDeviceUnknown) && ctx.Err() == nil {
		s.deps.Log.Error("a device could not be looked up again", "error", err)
	}
	return err == nil
}

// recordVisit stores a visit where the last one is not recent. That it cannot be
// stored keeps nobody out.
func (s *Service) recordVisit(ctx context.Context, who *Identity) {
	now := s.deps.Now()
	if age := now.Sub(who.Device.LastSeenAt); who.Master || !who.Device.NeverConnected() && age >= 0 && age < lastSeenStep {
		return
	}
	err := s.deps.Devices.TouchDevice(ctx, who.Device.ID, now)
	switch {
	case err == nil:
		who.Device.LastSeenAt = now
		if who.Device.NeverConnected() {
			who.Device.FirstConnectedAt = now
		}
	case !errors.Is(err, ports.ErrDeviceUnknown) && ctx.Err() == nil: // unknown: revoked while it was connected
		s.deps.Log.Error("a device's visit could not be stored", "error", err)
	}
}

// LiveClients counts the attached links, those of the master token included.
func (s *Service) LiveClients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

// Status is a device as the owner sees it.
type Status struct {
	pairing.Device
	Connected bool // now
}

// Devices lists the devices in the order they were paired.
func (s *Service) Devices(ctx context.Context) ([]Status, error) {
	list, err := s.deps.Devices.Devices(ctx)
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	connected := map[pairing.DeviceID]bool{}
	s.mu.Lock()
	for _, who := range s.live {
		connected[who.Device.ID] = true // of the master token: the zero ID, which no device has
	}
	s.mu.Unlock()
	all := make([]Status, 0, len(list))
	for _, d := range list {
		all = append(all, Status{Device: d, Connected: connected[d.ID]})
	}
	return all, nil
}
