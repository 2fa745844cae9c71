package devices

import (
	"context"
	"errors"
	"fmt"

	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/ports"
)

// Identity is who a token belongs to.
type Identity struct {
	Master bool           // the owner's own token; it cannot be revoked
	Device pairing.Device // when not Master
	round  uint64         // revocations seen before the token was looked up
}

// ErrTokenUnknown: the token is nobody's.
var ErrTokenUnknown = errors.New("token unknown")

// Authenticate finds whose token it is, comparing hashes in constant time. A
// token that is nobody's is ErrTokenUnknown; any other error means that it could
// not be looked up, which must not look like a rejection to the client.
func (s *Service) Authenticate(ctx context.Context, token pairing.DeviceToken) (Identity, error) {
	s.mu.Lock()
	round, isCode := s.round, s.invitations.Matches(pairing.Code(token))
	s.mu.Unlock()
	hash := token.Hash()
	if hash.Equal(s.opts.Master) {
		return Identity{Master: true, round: round}, nil
	}
	device, err := s.deps.Devices.FindDevice(ctx, hash)
	switch {
	case err == nil:
		return Identity{Device: device, round: round}, nil
	case !errors.Is(err, ports.ErrDeviceUnknown):
		return Identity{}, fmt.Errorf("look up a device token: %w", err)
	case isCode:
		s.warnLimited("an invitation code was presented as a device token; it is still open")
	}
	return Identity{}, ErrTokenUnknown
}

// AuthenticateMaster takes the master token alone, else ErrTokenUnknown. A
// device's token, or an invitation's code, is named in the log.
func (s *Service) AuthenticateMaster(ctx context.Context, token pairing.MasterToken) error {
	if token.Hash().Equal(s.opts.Master) {
		return nil
	}
	s.warnOfMixedUpSecret(ctx, token.Text, "the master token")
	return ErrTokenUnknown
}

// warnOfMixedUpSecret tells the log which of our secrets was used in the place of
// another (the two look alike).
func (s *Service) warnOfMixedUpSecret(ctx context.Context, presented secret.Text, place string) {
	s.mu.Lock()
	isCode := s.invitations.Matches(pairing.Code{Text: presented})
	s.mu.Unlock()
	if isCode {
		s.warnLimited("an invitation code was presented in the place of another secret", "expected", place)
		return
	}
	if device, err := s.deps.Devices.FindDevice(ctx, presented.Hash()); err == nil {
		s.warnLimited("a device token was presented in the place of another secret", "expected", place, "device", device.ID.String())
	}
}

// warnLimited logs what strangers can cause, a few lines a minute for each message.
func (s *Service) warnLimited(message string, args ...any) {
	s.mu.Lock()
	loud := s.logLimit.Allow(message, s.deps.Now())
	s.mu.Unlock()
	if loud {
		s.deps.Log.Warn(message, args...)
	}
}
