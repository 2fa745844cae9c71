package ports

import (
	"context"
	"errors"

	"plexus/domain/admission"
)

// ExtensionRegistry keeps who has tried to connect and what the owner decided. Every
// change is durable before it returns.
//
// FindExtension looks up one origin and key; an unknown pair is
// ErrExtensionUnknown. SaveExtension inserts a pair (ID 0) or stores the state
// and last-seen time of a known one, and gives it back with its ID; an ID that
// is not there (any more) is ErrExtensionUnknown. Neither Waiting nor a pair
// with ID 0 that is there already replaces a state that was decided since the
// row was read. A new Waiting row beyond admission.MaxWaiting or
// MaxWaitingPerOrigin replaces the one that was seen longest ago, of the same
// origin where that limit is met.
// Extensions lists by ID. ForgetExtension deletes a row; unknown is
// ErrExtensionUnknown.
type ExtensionRegistry interface {
	FindExtension(ctx context.Context, origin string, key admission.KeyHash) (admission.Extension, error)
	SaveExtension(ctx context.Context, e admission.Extension) (admission.Extension, error)
	Extensions(ctx context.Context) ([]admission.Extension, error)
	ForgetExtension(ctx context.Context, id int64) error
}

// ErrExtensionUnknown: no such row.
var ErrExtensionUnknown = errors.New("extension unknown")
