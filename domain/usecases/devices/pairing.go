package devices

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/ports"
)

var (
	// ErrInvitation: none is open, or the code is not the open one's.
	ErrInvitation = errors.New("no such invitation")
	// ErrTooManyAttempts: pairing.MaxAttempts in the last minute.
	ErrTooManyAttempts = errors.New("too many pairing attempts")
)

// RedeemRefusal is the last attempt that was refused, for the page. At is zero
// when there was none.
type RedeemRefusal struct {
	At  time.Time
	Err error // ErrInvitation, ErrTooManyAttempts, pairing.ErrDeviceName, ports.ErrDeviceLimit, or the store's
}

// CreateInvitation opens an invitation to a server address, from whose host
// clients are accepted from then on. replaced says whether it took the place of
// an open one. A bad address is a *pairing.AddressError, a full list
// ports.ErrDeviceLimit; then nothing has changed.
func (s *Service) CreateInvitation(ctx context.Context, server string) (i pairing.Invitation, replaced bool, err error) {
	address, err := pairing.ParseServer(server)
	if err != nil {
		return i, false, fmt.Errorf("create invitation: %w", err)
	}
	devices, err := s.deps.Devices.Devices(ctx)
	if err != nil {
		return i, false, fmt.Errorf("create invitation: %w", err)
	}
	if len(devices) >= pairing.MaxDevices {
		return i, false, fmt.Errorf("create invitation: %w", ports.ErrDeviceLimit)
	}
	random, err := s.random()
	if err != nil {
		return i, false, fmt.Errorf("create invitation: %w", err)
	}
	if err := s.acceptServer(ctx, address); err != nil {
		return i, false, fmt.Errorf("create invitation: %w", err)
	}
	i = pairing.Invitation{Code: pairing.NewCode(random), Server: address, CreatedAt: s.deps.Now()}
	if err := s.changeInvitations(ctx, func() { replaced = s.invitations.Create(i) }); err != nil {
		return pairing.Invitation{}, false, fmt.Errorf("create invitation: %w", err)
	}
	return i, replaced, nil
}

// changeInvitations works on the invitations while no code is being redeemed.
func (s *Service) changeInvitations(ctx context.Context, work func()) error {
	if err := s.redeeming.Acquire(ctx); err != nil {
		return err
	}
	defer s.redeeming.Release()
	s.mu.Lock()
	work()
	s.mu.Unlock()
	s.changes.Notify()
	return nil
}

// CancelInvitation closes the open invitation if it is the one named, and says
// whether it did. A redemption that has begun comes first.
func (s *Service) CancelInvitation(ctx context.Context, id pairing.InvitationID) (cancelled bool, err error) {
	if err := s.changeInvitations(ctx, func() { cancelled = s.invitations.Cancel(id) }); err != nil {
		return false, fmt.Errorf("cancel invitation: %w", err)
	}
	return cancelled, nil
}

// Invitation says what became of an invitation.
func (s *Service) Invitation(id pairing.InvitationID) pairing.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invitations.Outcome(id)
}

// OpenInvitation gives the open invitation with its code, so that the page can
// show it again.
func (s *Service) OpenInvitation() (pairing.Invitation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invitations.Open()
}

// Payload is what an invitation's QR carries; legacy asks for the form with an
// expiry, for an app that refuses the usual one.
func (s *Service) Payload(i pairing.Invitation, legacy bool) pairing.Payload {
	if legacy || s.opts.LegacyExpiry {
		return i.LegacyPayload(s.deps.Now())
	}
	return i.Payload()
}

// LastRefusal is the last redemption that was refused.
func (s *Service) LastRefusal() RedeemRefusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastRefusal
}

// CountAttempt counts a first message on the pairing path, whatever it holds;
// false: there were too many lately, and it has to be refused.
func (s *Service) CountAttempt() bool {
	s.mu.Lock()
	allowed := s.attempts.Allow(s.deps.Now())
	s.mu.Unlock()
	if !allowed {
		s.noteRefusal(ErrTooManyAttempts)
	}
	return allowed
}

// AttemptWait says how long further attempts are refused; 0: they are not.
func (s *Service) AttemptWait() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts.Wait(s.deps.Now())
}

// Redeem exchanges a code for a device token. The device is stored durably
// before the code is consumed and the token given out, so every failure leaves
// the invitation open: ErrInvitation, pairing.ErrDeviceName,
// ports.ErrDeviceLimit, or the store's error. Of several calls with one code one
// succeeds. The caller has asked CountAttempt before.
func (s *Service) Redeem(ctx context.Context, code pairing.Code, name string) (pairing.DeviceToken, pairing.Device, error) {
	token, device, err := s.redeem(ctx, code, name)
	if err != nil {
		s.noteRefusal(err)
		if errors.Is(err, ErrInvitation) {
			s.warnOfMixedUpSecret(ctx, code.Text, "an invitation code")
		}
		return pairing.DeviceToken{}, pairing.Device{}, fmt.Errorf("redeem invitation: %w", err)
	}
	s.deps.Log.Info("a device was paired", "device", device.ID.String())
	s.changes.Notify()
	return token, device, nil
}

func (s *Service) redeem(ctx context.Context, code pairing.Code, name string) (token pairing.DeviceToken, device pairing.Device, err error) {
	if err := s.redeeming.Acquire(ctx); err != nil {
		return token, device, err
	}
	defer s.redeeming.Release()
	s.mu.Lock()
	matches := s.invitations.Matches(code)
	s.mu.Unlock()
	if !matches {
		return token, device, ErrInvitation
	}
	if name, err = pairing.DeviceName(name); err != nil {
		return token, device, err
	}
	secretBits, err := s.random()
	if err != nil {
		return token, device, err
	}
	idBits, err := s.random()
	if err != nil {
		return token, device, err
	}
	token = pairing.NewDeviceToken(secretBits)
	device = pairing.Device{ID: pairing.NewDeviceID(idBits), Name: name, CreatedAt: s.deps.Now()}
	if err := s.deps.Devices.AddDevice(ctx, device, token.Hash()); err != nil {
		return pairing.DeviceToken{}, pairing.Device{}, err
	}
	s.mu.Lock()
	s.invitations.Consume(device)
	s.mu.Unlock()
	return token, device, nil
}

// noteRefusal notes a refused redemption for the page and the log.
func (s *Service) noteRefusal(err error) {
	s.mu.Lock()
	s.lastRefusal = RedeemRefusal{At: s.deps.Now(), Err: err}
	s.mu.Unlock()
	s.warnLimited("a pairing attempt was refused", "error", err)
	s.changes.Notify()
}

func (s *Service) random() (bits [16]byte, err error) {
	if _, err := io.ReadFull(s.deps.Random, bits[:]); err != nil {
		return bits, fmt.Errorf("read random bits: %w", err)
	}
	return bits, nil
}

// ActiveCode reports whether the code is the open invitation's.
func (s *Service) ActiveCode(code secret.Text) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invitations.Matches(pairing.Code{Text: code})
}
