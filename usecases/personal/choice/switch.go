// Package choice keeps what the owner may switch on the page, unless a flag, the
// environment or the configuration file has fixed it.
package choice

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"plexus/ports"
)

// ErrFixed: a flag, the environment or the configuration file has set it.
var ErrFixed = errors.New("this is fixed outside the page")

// Start is how a switch begins.
type Start struct {
	On    bool
	Fixed bool // On holds, whatever was chosen on the page
}

// Switch is one yes or no. All methods may be called concurrently.
type Switch struct {
	settings ports.Settings
	key      string
	start    Start
	on       atomic.Bool
}

// Load gives the switch that is stored under key: "on", "off", or absent where it
// stands as it began.
func Load(ctx context.Context, settings ports.Settings, key string, start Start) (*Switch, error) {
	s := &Switch{settings: settings, key: key, start: start}
	s.on.Store(start.On)
	if start.Fixed {
		return s, nil
	}
	chosen, err := settings.Settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("load settings: %w", err)
	}
	switch chosen[key] {
	case "on":
		s.on.Store(true)
	case "off":
		s.on.Store(false)
	}
	return s, nil
}

// On says how it stands.
func (s *Switch) On() bool { return s.on.Load() }

// Fixed: not for the page to change.
func (s *Switch) Fixed() bool { return s.start.Fixed }

// Set stores the owner's choice, durably. It is ErrFixed where that has no say.
func (s *Switch) Set(ctx context.Context, on bool) error {
	if s.start.Fixed {
		return ErrFixed
	}
	ctx = context.WithoutCancel(ctx) // memory has to follow the store
	var err error
	switch {
	case on == s.start.On:
		err = s.settings.DropSetting(ctx, s.key)
	case on:
		err = s.settings.PutSetting(ctx, s.key, "on")
	default:
		err = s.settings.PutSetting(ctx, s.key, "off")
	}
	if err != nil {
		return fmt.Errorf("store the switch %s: %w", s.key, err)
	}
	s.on.Store(on)
	return nil
}
