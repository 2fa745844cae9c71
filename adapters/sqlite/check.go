package sqlite

import (
	"context"

	schema "plexus/sql"
)

// Check reads every table of the database at path, whether a host has it open or
// not, and changes nothing. It finds what Open would refuse: ErrDamaged,
// ErrHistory, a *NewerError.
func Check(ctx context.Context, path string) error {
	scripts, err := loadScripts(schema.Migrations)
	if err != nil {
		return err
	}
	m := migrator{path: path, scripts: scripts}
	return m.look(ctx, "mode=ro")
}
