package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plexus/adapters/sqlite/sqlitex"
)

// keptCopies is how many copies of one upgrade stay; a start that fails again
// and again must not fill the disk.
const keptCopies = 2

// copyAside puts a whole, durable copy beside the database before its first
// change. A copy that was not finished has another name.
func (m *migrator) copyAside(ctx context.Context, db *sql.DB) error {
	target := len(m.scripts)
	if err := m.reached(target, "to copy"); err != nil {
		return err
	}
	partial := m.path + ".partial-copy"
	if err := removeIfThere(partial); err != nil {
		return fmt.Errorf("remove unfinished copy: %w", err)
	}
	if err := writeCopy(ctx, db, partial); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	if err := m.reached(target, "copied"); err != nil {
		return err
	}
	prefix := fmt.Sprintf("%s.before-%d-", m.path, target)
	name := prefix + m.now().UTC().Format("20060102T150405Z")
	if err := os.Rename(partial, name); err != nil {
		return fmt.Errorf("name copy: %w", err)
	}
	if err := syncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("make copy durable: %w", err)
	}
	copies, err := filesWithPrefix(prefix)
	if err != nil {
		return fmt.Errorf("list copies: %w", err)
	}
	for _, old := range copies[:max(0, len(copies)-keptCopies)] {
		if err := os.Remove(old); err != nil {
			return fmt.Errorf("remove old copy: %w", err)
		}
	}
	return m.reached(target, "put aside")
}

// writeCopy fills an empty private file, which SQLite accepts as a target.
func writeCopy(ctx context.Context, db *sql.DB, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateMode)
	if err != nil {
		return fmt.Errorf("create copy: %w", err)
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return errors.Join(sqlitex.Wrap("copy database aside", err), f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil { // what was written survives a power cut
		return fmt.Errorf("make copy durable: %w", err)
	}
	return nil
}

// newestCopy gives the latest copy that an upgrade put aside, or "".
func newestCopy(path string) string {
	copies, err := filesWithPrefix(path + ".before-")
	if err != nil || len(copies) == 0 {
		return ""
	}
	taken := func(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }
	return slices.MaxFunc(copies, func(a, b string) int { return strings.Compare(taken(a), taken(b)) })
}

// filesWithPrefix lists paths that begin with prefix, in order of their names.
func filesWithPrefix(prefix string) ([]string, error) {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, nil
}
