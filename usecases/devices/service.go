// Package devices is the use case of the owner's phones: pairing, the addresses by
// which phones reach the host, authentication by token, the connected ones, and
// revoking.
package devices

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"plexus/domain/loglimit"
	"plexus/domain/pairing"
	"plexus/ports"
	"plexus/usecases/syncx"
)

// Deps are what a Service calls out to. New refuses a missing one.
type Deps struct {
	Devices  ports.DeviceRegistry
	Revoked  ports.RevocationLog
	Settings ports.Settings
	Random   io.Reader // source of tokens, codes and IDs
	Now      func() time.Time
	Log      *slog.Logger
}

// Options are the settings of one process life.
type Options struct {
	Master       pairing.TokenHash // of the master token
	PublicURL    string            // from a flag, the environment or the file; "": what the owner set on the page counts
	LegacyExpiry bool              // QR payloads carry an expiry (pairing.legacy_expiry)
}

// Service joins what concerns phones: the addresses they come by, how a new one is
// paired, and those that are paired, with their connections. Each part has its own
// lock. All methods may be called concurrently.
type Service struct {
	*Addresses
	*Pairing
	*Clients
	changes *syncx.Notifier
}

// New checks the wiring, and reads what the owner set.
func New(ctx context.Context, deps Deps, opts Options) (*Service, error) {
	var missing []error
	for _, d := range []struct {
		absent bool
		name   string
	}{
		{deps.Devices == nil, "device registry"},
		{deps.Revoked == nil, "list of revocations"},
		{deps.Settings == nil, "settings"},
		{deps.Random == nil, "random source"},
		{deps.Now == nil, "clock"},
		{deps.Log == nil, "logger"},
		{opts.Master == (pairing.TokenHash{}), "master token"},
	} {
		if d.absent {
			missing = append(missing, errors.New("devices: no "+d.name))
		}
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	changes := &syncx.Notifier{}
	addresses, err := loadAddresses(ctx, deps, opts.PublicURL, changes)
	if err != nil {
		return nil, err
	}
	pair := &Pairing{
		deps: deps, legacyExpiry: opts.LegacyExpiry, addresses: addresses, changes: changes,
		redeeming: syncx.NewSemaphore(1), logLimit: loglimit.PerMinute{},
	}
	clients := &Clients{deps: deps, master: opts.Master, pairing: pair, changes: changes, live: map[ports.ClientLink]Identity{}, busy: map[pairing.DeviceID]busy{}}
	return &Service{addresses, pair, clients, changes}, nil
}

// Changed gives a channel that is closed at the next change of what the page
// shows: invitations, devices, live connections, settings. Take it before
// reading the state, so that no change falls in between.
func (s *Service) Changed() <-chan struct{} { return s.changes.Wait() }
