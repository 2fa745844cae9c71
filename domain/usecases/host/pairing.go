package host

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
func (c *Clients) CreateInvitation(ctx context.Context, server string) (i pairing.Invitation, replaced bool, err error) {
	address, err := pairing.ParseServer(server)
	if err != nil {
		return i, false, fmt.Errorf("create invitation: %w", err)
	}
	devices, err := c.deps.Devices.Devices(ctx)
	if err != nil {
		return i, false, fmt.Errorf("create invitation: %w", err)
	}
	if len(devices) >= pairing.MaxDevices {
		return i, false, fmt.Errorf("create invitation: %w", ports.ErrDeviceLimit)
	}
	random, err := c.random()
	if err != nil {
		return i, false, fmt.Errorf("create invitation: %w", err)
	}
	if err := c.acceptServer(ctx, address); err != nil {
		return i, false, fmt.Errorf("create invitation: %w", err)
	}
	i = pairing.Invitation{Code: pairing.NewCode(random), Server: address, CreatedAt: c.deps.Now()}
	if err := c.change(ctx, func() { replaced = c.invitations.Create(i) }); err != nil {
		return pairing.Invitation{}, false, fmt.Errorf("create invitation: %w", err)
	}
	return i, replaced, nil
}

// change works on the invitations while no code is being redeemed.
func (c *Clients) change(ctx context.Context, work func()) error {
	if err := c.redeeming.Acquire(ctx); err != nil {
		return err
	}
	defer c.redeeming.Release()
	c.mu.Lock()
	work()
	c.mu.Unlock()
	c.changes.Notify()
	return nil
}

// CancelInvitation closes the open invitation if it is the one named, and says
// whether it did. A redemption that has begun comes first.
func (c *Clients) CancelInvitation(ctx context.Context, id pairing.InvitationID) (cancelled bool, err error) {
	if err := c.change(ctx, func() { cancelled = c.invitations.Cancel(id) }); err != nil {
		return false, fmt.Errorf("cancel invitation: %w", err)
	}
	return cancelled, nil
}

// Invitation says what became of an invitation.
func (c *Clients) Invitation(id pairing.InvitationID) pairing.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.invitations.Outcome(id)
}

// OpenInvitation gives the open invitation with its code, so that the page can
// show it again.
func (c *Clients) OpenInvitation() (pairing.Invitation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.invitations.Open()
}

// Payload is what an invitation's QR carries; legacy asks for the form with an
// expiry, for an app that refuses the usual one.
func (c *Clients) Payload(i pairing.Invitation, legacy bool) pairing.Payload {
	if legacy || c.opts.LegacyExpiry {
		return i.LegacyPayload(c.deps.Now())
	}
	return i.Payload()
}

// LastRefusal is the last redemption that was refused.
func (c *Clients) LastRefusal() RedeemRefusal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastRefusal
}

// CountAttempt counts a first message on the pairing path, whatever it holds;
// false: there were too many lately, and it has to be refused.
func (c *Clients) CountAttempt() bool {
	c.mu.Lock()
	allowed := c.attempts.Allow(c.deps.Now())
	c.mu.Unlock()
	if !allowed {
		c.refused(ErrTooManyAttempts)
	}
	return allowed
}

// AttemptWait says how long further attempts are refused; 0: they are not.
func (c *Clients) AttemptWait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attempts.Wait(c.deps.Now())
}

// Redeem exchanges a code for a device token. The device is stored durably
// before the code is consumed and the token given out, so every failure leaves
// the invitation open: ErrInvitation, pairing.ErrDeviceName,
// ports.ErrDeviceLimit, or the store's error. Of several calls with one code one
// succeeds. The caller has asked CountAttempt before.
func (c *Clients) Redeem(ctx context.Context, code pairing.Code, name string) (pairing.DeviceToken, pairing.Device, error) {
	token, device, err := c.redeem(ctx, code, name)
	if err != nil {
		c.refused(err)
		if errors.Is(err, ErrInvitation) {
			c.noteMistake(ctx, code.Text, "an invitation code")
		}
		return pairing.DeviceToken{}, pairing.Device{}, fmt.Errorf("redeem invitation: %w", err)
	}
	c.deps.Log.Info("a device was paired", "device", device.ID.String())
	c.changes.Notify()
	return token, device, nil
}

func (c *Clients) redeem(ctx context.Context, code pairing.Code, name string) (token pairing.DeviceToken, device pairing.Device, err error) {
	if err := c.redeeming.Acquire(ctx); err != nil {
		return token, device, err
	}
	defer c.redeeming.Release()
	c.mu.Lock()
	matches := c.invitations.Matches(code)
	c.mu.Unlock()
	if !matches {
		return token, device, ErrInvitation
	}
	if name, err = pairing.DeviceName(name); err != nil {
		return token, device, err
	}
	secretBits, err := c.random()
	if err != nil {
		return token, device, err
	}
	idBits, err := c.random()
	if err != nil {
		return token, device, err
	}
	token = pairing.NewDeviceToken(secretBits)
	device = pairing.Device{ID: pairing.NewDeviceID(idBits), Name: name, CreatedAt: c.deps.Now()}
	if err := c.deps.Devices.AddDevice(ctx, device, token.Hash()); err != nil {
		return pairing.DeviceToken{}, pairing.Device{}, err
	}
	c.mu.Lock()
	c.invitations.Consume(device)
	c.mu.Unlock()
	return token, device, nil
}

// refused notes a refused redemption for the page and the log.
func (c *Clients) refused(err error) {
	c.mu.Lock()
	c.lastRefusal = RedeemRefusal{At: c.deps.Now(), Err: err}
	c.mu.Unlock()
	c.warn("a pairing attempt was refused", "error", err)
	c.changes.Notify()
}

func (c *Clients) random() (bits [16]byte, err error) {
	if _, err := io.ReadFull(c.deps.Random, bits[:]); err != nil {
		return bits, fmt.Errorf("read random bits: %w", err)
	}
	return bits, nil
}

// ActiveCode reports whether the code is the open invitation's.
func (c *Clients) ActiveCode(code secret.Text) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.invitations.Matches(pairing.Code{Text: code})
}
