package ports

import (
	"context"
	"errors"
)

// Limits of one setting, in bytes.
const (
	MaxSettingKey   = 64
	MaxSettingValue = 16 << 10
)

// Settings keeps what the owner set on the page. Every change is durable before
// it returns.
//
// Settings gives all of them in a map of the caller's own. PutSetting inserts
// or replaces; an empty or too long key, or a too long value, is
// ErrSettingSize. DropSetting deletes; a key that is not there is no error.
type Settings interface {
	Settings(ctx context.Context) (map[string]string, error)
	PutSetting(ctx context.Context, key, value string) error
	DropSetting(ctx context.Context, key string) error
}

// ErrSettingSize: over a limit of one setting.
var ErrSettingSize = errors.New("setting of a wrong size")
