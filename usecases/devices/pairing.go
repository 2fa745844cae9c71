package devices

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"plexus/domain/loglimit"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/ports"
	"plexus/usecases/syncx"
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

// Pairing gives new devices their token, by the one invitation that may be open.
type Pairing struct {
	deps         Deps
	legacyExpiry bool
	addresses    *Addresses
	changes      *syncx.Notifier
	redeeming    *syncx.Semaphore // of one: a code is compared, stored and consumed by one device at a time

	mu          sync.Mutex // guards what follows; never held during a call to a port
	invitations pairing.Invitations
	attempts    pairing.Attempts
	lastRefusal RedeemRefusal
	logLimit    loglimit.PerMinute
}

// CreateInvitation opens an invitation to a server address, from whose host
// clients are accepted while it is open, and for good once a device has redeemed it
// (decision K19). replaced says whether it took the place of
// an open one. A bad address is a *pairing.AddressError, a full list
// ports.ErrDeviceLimit; then nothing has changed.
func (p *Pairing) CreateInvitation(ctx context.Context, server string) (i pairing.Invitation, replaced bool, err error) {
	defer func() {
		if err != nil {
			i, err = pairing.Invitation{}, fmt.Errorf("create invitation: %w", err)
		}
	}()
	address, err := pairing.ParseServer(server)
	if err != nil {
		return i, false, err
	}
	devices, err := p.deps.Devices.Devices(ctx)
	if err != nil {
		return i, false, err
	}
	if len(devices) >= pairing.MaxDevices {
		return i, false, ports.ErrDeviceLimit
	}
	random, err := p.random()
	if err != nil {
		return i, false, err
	}
	i = pairing.Invitation{Code: pairing.NewCode(random), Server: address, CreatedAt: p.deps.Now()}
	err = p.changeInvitations(ctx, func() { replaced = p.invitations.Create(i) })
	return i, replaced, err
}

// changeInvitations works on the invitations while no code is being redeemed.
func (p *Pairing) changeInvitations(ctx context.Context, work func()) error {
	if err := p.redeeming.Acquire(ctx); err != nil {
		return err
	}
	defer p.redeeming.Release()
	p.change(work)
	p.changes.Notify()
	return nil
}

// change works on the invitations, and accepts the host of the one that is open.
func (p *Pairing) change(work func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	work()
	open, _ := p.invitations.Open()
	p.addresses.invite(open.Server)
}

// CancelInvitation closes the open invitation if it is the one named, and says
// whether it did. A redemption that has begun comes first.
func (p *Pairing) CancelInvitation(ctx context.Context, id pairing.InvitationID) (canceled bool, err error) {
	if err := p.changeInvitations(ctx, func() { canceled = p.invitations.Cancel(id) }); err != nil {
		return false, fmt.Errorf("cancel invitation: %w", err)
	}
	return canceled, nil
}

// Invitation says what became of an invitation.
func (p *Pairing) Invitation(id pairing.InvitationID) pairing.Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.invitations.Outcome(id)
}

// OpenInvitation gives the open invitation with its code, so that the page can
// show it again.
func (p *Pairing) OpenInvitation() (pairing.Invitation, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.invitations.Open()
}

// Payload is what an invitation's QR carries; legacy asks for the form with an
// expiry, for an app that refuses the usual one.
func (p *Pairing) Payload(i pairing.Invitation, legacy bool) pairing.Payload {
	if legacy || p.legacyExpiry {
		return i.LegacyPayload(p.deps.Now())
	}
	return i.Payload()
}

// LastRefusal is the last redemption that was refused.
func (p *Pairing) LastRefusal() RedeemRefusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastRefusal
}

// CountAttempt counts a first message on the pairing path, whatever it holds;
// false: there were too many lately, and it has to be refused.
func (p *Pairing) CountAttempt() bool {
	p.mu.Lock()
	allowed := p.attempts.Allow(p.deps.Now())
	p.mu.Unlock()
	if !allowed {
		p.noteRefusal(ErrTooManyAttempts)
	}
	return allowed
}

// AttemptWait says how long further attempts are refused; 0: they are not.
func (p *Pairing) AttemptWait() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.attempts.Wait(p.deps.Now())
}

// Redeem exchanges a code for a device token. The device is stored durably
// before the code is consumed and the token given out, so every failure leaves
// the invitation open: ErrInvitation, pairing.ErrDeviceName,
// ports.ErrDeviceLimit, or the store's error. Of several calls with one code one
// succeeds. The caller has asked CountAttempt before.
func (p *Pairing) Redeem(ctx context.Context, code pairing.Code, name string) (pairing.DeviceToken, pairing.Device, error) {
	token, device, err := p.redeem(ctx, code, name)
	if err != nil {
		p.noteRefusal(err)
		if errors.Is(err, ErrInvitation) {
			p.warnOfMixedUpSecret(ctx, code.Text, "an invitation code")
		}
		return pairing.DeviceToken{}, pairing.Device{}, fmt.Errorf("redeem invitation: %w", err)
	}
	p.deps.Log.Info("a device was paired", "device", device.ID.String())
	p.changes.Notify()
	return token, device, nil
}

func (p *Pairing) redeem(ctx context.Context, code pairing.Code, name string) (token pairing.DeviceToken, device pairing.Device, err error) {
	if err := p.redeeming.Acquire(ctx); err != nil {
		return token, device, err
	}
	defer p.redeeming.Release()
	open, _ := p.OpenInvitation()
	if !p.ActiveCode(code.Text) {
		return token, device, ErrInvitation
	}
	if name, err = pairing.DeviceName(name); err != nil {
		return token, device, err
	}
	secretBits, err := p.random()
	if err != nil {
		return token, device, err
	}
	idBits, err := p.random()
	if err != nil {
		return token, device, err
	}
	token = pairing.NewDeviceToken(secretBits)
	device = pairing.Device{ID: pairing.NewDeviceID(idBits), Name: name, CreatedAt: p.deps.Now()}
	err = p.addresses.redeem(ctx, open.Server, func() error { return p.deps.Devices.AddDevice(ctx, device, token.Hash()) })
	if err != nil {
		return pairing.DeviceToken{}, pairing.Device{}, err
	}
	p.change(func() { p.invitations.Consume(device) })
	return token, device, nil
}

// noteRefusal notes a refused redemption for the page and the log.
func (p *Pairing) noteRefusal(err error) {
	p.mu.Lock()
	p.lastRefusal = RedeemRefusal{At: p.deps.Now(), Err: err}
	p.mu.Unlock()
	p.warnLimited("a pairing attempt was refused", "error", err)
	p.changes.Notify()
}

func (p *Pairing) random() (bits [16]byte, err error) {
	if _, err := io.ReadFull(p.deps.Random, bits[:]); err != nil {
		return bits, fmt.Errorf("read random bits: %w", err)
	}
	return bits, nil
}

// ActiveCode reports whether the code is the open invitation's.
func (p *Pairing) ActiveCode(code secret.Text) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.invitations.Matches(pairing.Code{Text: code})
}

// warnOfMixedUpSecret logs which of our secrets was used in place of another (they
// look alike).
func (p *Pairing) warnOfMixedUpSecret(ctx context.Context, presented secret.Text, place string) {
	if p.ActiveCode(presented) {
		p.warnLimited("an invitation code was presented in the place of another secret", "expected", place)
		return
	}
	if device, err := p.deps.Devices.FindDevice(ctx, presented.Hash()); err == nil {
		p.warnLimited("a device token was presented in the place of another secret", "expected", place, "device", device.ID.String())
	}
}

// warnLimited logs what strangers can cause, a few lines a minute for each message.
func (p *Pairing) warnLimited(message string, args ...any) {
	p.mu.Lock()
	loud := p.logLimit.Allow(message, p.deps.Now())
	p.mu.Unlock()
	if loud {
		p.deps.Log.Warn(message, args...)
	}
}
