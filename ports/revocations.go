package ports

import (
	"context"

	"plexus/domain/pairing"
)

// RevocationLog remembers, apart from the database and its backups, which
// tokens must never be let in again. It only grows.
//
// AppendRevoked is durable before it returns; a hash that is there already is
// no error. RevokedHashes gives every hash, in no order that matters.
type RevocationLog interface {
	AppendRevoked(ctx context.Context, hash pairing.TokenHash) error
	RevokedHashes(ctx context.Context) ([]pairing.TokenHash, error)
}
