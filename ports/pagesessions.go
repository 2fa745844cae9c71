package ports

import (
	"context"
	"errors"
	"time"

	"plexus/domain/secret"
)

// Limits of the owner's page sessions.
const (
	PageSessionLife  = 90 * 24 * time.Hour // from its creation
	PageSessionStep  = time.Minute         // how stale LastSeen may be
	MaxPageSessions  = 64                  // one more drops the one seen longest ago
	MaxPageUserAgent = 200                 // bytes
)

// PageSession is one browser that the owner signed in with. Of the cookie and
// of the path prefix only the hashes are kept.
type PageSession struct {
	ID        int64 // never used again, names the row in a list
	Cookie    secret.Hash
	Prefix    secret.Hash
	CreatedAt time.Time
	LastSeen  time.Time
	UserAgent string // at most MaxPageUserAgent bytes, cut at a code point
}

// PageSessions keeps the owner's page sessions. Every change is durable before
// it returns. Times are kept to the millisecond.
//
// AddPageSession stores a session with ID 0, drops those that have outlived
// PageSessionLife at its CreatedAt and those over MaxPageSessions, and gives it
// back with its ID and its user agent cut. FindPageSession wants both hashes right and now within the
// session's life, else ErrPageSessionUnknown; it notes the visit where LastSeen
// is at least PageSessionStep old. PageSessions lists those that live at now, by
// ID. RevokePageSession deletes one; unknown is ErrPageSessionUnknown.
type PageSessions interface {
	AddPageSession(ctx context.Context, s PageSession) (PageSession, error)
	FindPageSession(ctx context.Context, cookie, prefix secret.Hash, now time.Time) (PageSession, error)
	PageSessions(ctx context.Context, now time.Time) ([]PageSession, error)
	RevokePageSession(ctx context.Context, id int64) error
}

// ErrPageSessionUnknown: no such session, or it has outlived its time.
var ErrPageSessionUnknown = errors.New("page session unknown")
