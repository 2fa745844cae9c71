package devices

import (
	"context"
	"errors"
	"fmt"

	"plexus/domain/pairing"
	"plexus/ports"
)

// Identity is who a token belongs to.
type Identity struct {
	Master bool           // the owner's own token; it cannot be revoked
	Device pairing.Device // when not Master
	round  uint64         // revocations seen before the token was looked up
}

// ErrTokenUnknown: the token belongs to no paired device and is not the master.
var ErrTokenUnknown = errors.New("token unknown")

// Authenticate finds whose token it is, comparing hashes in constant time. An
// unknown token is ErrTokenUnknown; any other error means that it could
// not be looked up, which must not look like a rejection to the client.
func (c *Clients) Authenticate(ctx context.Context, token pairing.DeviceToken) (Identity, error) {
	isCode := c.pairing.ActiveCode(token.Text)
	c.mu.Lock()
	round := c.round
	c.mu.Unlock()
	hash := token.Hash()
	if hash.Equal(c.master) {
		return Identity{Master: true, round: round}, nil
	}
	device, err := c.deps.Devices.FindDevice(ctx, hash)
	switch {
	case err == nil:
		return Identity{Device: device, round: round}, nil
	case !errors.Is(err, ports.ErrDeviceUnknown):
		return Identity{}, fmt.Errorf("look up a device token: %w", err)
	case isCode:
		c.pairing.warnLimited("an invitation code was presented as a device token; it is still open")
	}
	return Identity{}, ErrTokenUnknown
}

// AuthenticateMaster takes the master token alone, else ErrTokenUnknown. A
// device's token, or an invitation's code, is named in the log.
func (c *Clients) AuthenticateMaster(ctx context.Context, token pairing.MasterToken) error {
	if token.Hash().Equal(c.master) {
		return nil
	}
	c.pairing.warnOfMixedUpSecret(ctx, token.Text, "the master token")
	return ErrTokenUnknown
}
