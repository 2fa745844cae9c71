package ports

import "plexus/domain/admission"

// TokenKeeper holds the host token's file. RotateToken writes a new token
// durably and gives its hash; the token itself stays in the file.
type TokenKeeper interface {
	RotateToken() (admission.KeyHash, error)
}
