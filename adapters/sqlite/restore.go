package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plexus/adapters/sqlite/personal"
	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/admission"
	"plexus/domain/pairing"
)

// Backup writes a whole copy of the database at from to a new private file. A
// running host goes on meanwhile. It refuses an existing file (fs.ErrExist) and
// leaves nothing behind when it fails. The copy holds pages and conversations in
// clear, and of tokens only hashes.
func Backup(ctx context.Context, from, to string) (err error) {
	if _, err := checkFile(from, os.Geteuid()); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	// The driver's own read-only mode would refuse to write the copy as well.
	db, err := connect(from, []pragma{{"busy_timeout", "5000", "5000"}}, "mode=rw")
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := writeCopy(ctx, db, to); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			err = errors.Join(err, removeIfThere(to))
		}
		return fmt.Errorf("back up: %w", err)
	}
	if err := syncDir(filepath.Dir(to)); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	return nil
}

// RestoreOptions say under which conditions a backup comes back.
type RestoreOptions struct {
	Master  pairing.TokenHash   // of this host's master token
	Revoked []pairing.TokenHash // tokens that must stay out
	Readmit []pairing.DeviceID  // devices that come back nevertheless
	Now     func() time.Time
}

// RestoreResult says what Restore did.
type RestoreResult struct {
	Kept    string           // where the replaced database is now, or "" when there was none
	Devices []pairing.Device // that the restored database lets in
	Dropped []pairing.Device // that it does not: revoked, or not in the replaced database
	Barred  int              // extensions that the backup let in and the replaced database no longer did
}

// Restore puts the backup in the place of the database at path, which no host
// may have open. The backup is checked and brought to this program's version
// beside its place first, so that a bad one (ErrDamaged, ErrHistory, a
// *NewerError) changes nothing. It is bound to this master token; page sessions
// end; devices whose token is revoked, or that the replaced database does not
// know (it may be unreadable), are dropped unless readmitted. An extension that
// the replaced database did not let in any more is not let in; where that cannot
// be read, the backup's word counts, since an extension has to have its key too.
func Restore(ctx context.Context, backup, path string, opts RestoreOptions) (done RestoreResult, err error) {
	fresh := path + ".restoring"
	if err := removeDatabase(fresh); err != nil {
		return RestoreResult{}, fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if err != nil {
			done, err = RestoreResult{}, fmt.Errorf("restore: %w", errors.Join(err, removeDatabase(fresh)))
		}
	}()
	if err := copyFile(backup, fresh); err != nil {
		return done, fmt.Errorf("copy backup: %w", err)
	}
	known, err := readReplaced(ctx, path)
	if err != nil {
		return done, err
	}
	if err := prepareRestored(ctx, fresh, known, opts, &done); err != nil {
		return done, err
	}
	if done.Kept, err = setAside(ctx, path, "replaced", opts.Now()); err != nil {
		return done, fmt.Errorf("keep the old database: %w", err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return done, err
	}
	return done, syncDir(filepath.Dir(path))
}

// prepareRestored opens the copy as a host would, and makes it this host's.
func prepareRestored(ctx context.Context, fresh string, known replaced, opts RestoreOptions, done *RestoreResult) error {
	info, err := os.Stat(fresh)
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return fmt.Errorf("%w: the backup is empty", ErrHistory)
	}
	s, err := Open(ctx, fresh, Options{Now: opts.Now})
	if err != nil {
		return err
	}
	err = personal.Check(ctx, s.reader)
	if err == nil {
		err = sqlitex.InTx(ctx, s.writer, func(tx *sql.Tx) error { return adoptBackup(ctx, tx, known, opts, done) })
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return sqlitex.Wrap("claim the backup", err)
	}
	if _, err := os.Lstat(fresh + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return errors.New("claim the backup: its log was not folded back")
	}
	return dropCopies(fresh)
}

// adoptBackup drops what may not come back and binds the rest to the master token.
func adoptBackup(ctx context.Context, tx *sql.Tx, known replaced, opts RestoreOptions, done *RestoreResult) error {
	devices, err := listDevices(ctx, tx)
	if err != nil {
		return err
	}
	for _, d := range devices {
		mayStay := known.devices[d.hash] && !slices.Contains(opts.Revoked, d.hash)
		if mayStay || slices.Contains(opts.Readmit, d.ID) {
			done.Devices = append(done.Devices, d.Device)
		} else {
			done.Dropped = append(done.Dropped, d.Device)
		}
	}
	for _, d := range done.Dropped {
		if _, err := tx.ExecContext(ctx, "DELETE FROM devices WHERE id = ?", d.ID[:]); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM page_sessions"); err != nil {
		return err
	}
	if err := barExtensions(ctx, tx, known, done); err != nil {
		return err
	}
	return rebind(ctx, tx, opts.Master)
}

// barExtensions takes back what was allowed when the backup was made and has been
// blocked or forgotten since.
func barExtensions(ctx context.Context, tx *sql.Tx, known replaced, done *RestoreResult) error {
	extensions, err := listExtensions(ctx, tx)
	if err != nil {
		return err
	}
	for _, e := range extensions {
		if !isAdmitted(e.State) || known.extensions == nil || isAdmitted(known.extensions[keyOf(e)]) {
			continue
		}
		done.Barred++
		if known.extensions[keyOf(e)] == admission.Blocked {
			_, err = tx.ExecContext(ctx, "UPDATE extensions SET state = ? WHERE id = ?", string(admission.Blocked), e.ID)
		} else {
			_, err = tx.ExecContext(ctx, "DELETE FROM extensions WHERE id = ?", e.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isAdmitted(s admission.State) bool { return s == admission.Allowed || s == admission.ByToken }

// extensionKey is what makes an extension the same one in two databases.
type extensionKey struct {
	origin string
	key    admission.KeyHash
}

func keyOf(e admission.Extension) extensionKey { return extensionKey{e.Origin, e.Key} }

// replaced is who the database that is about to be replaced knows.
type replaced struct {
	devices    map[pairing.TokenHash]bool
	extensions map[extensionKey]admission.State // nil when it cannot be read
}

// readReplaced reads the database that is about to be replaced. One that is
// missing, too old or damaged has no devices and no extensions.
func readReplaced(ctx context.Context, path string) (known replaced, err error) {
	if _, err := checkFile(path, os.Geteuid()); errors.Is(err, fs.ErrNotExist) {
		return replaced{}, nil
	} else if err != nil {
		return replaced{}, err
	}
	db, err := connect(path, readerPragmas(), "mode=rw") // an unfinished transaction has to be taken back
	if err != nil {
		return replaced{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	known = replaced{map[pairing.TokenHash]bool{}, map[extensionKey]admission.State{}}
	devices, err := listDevices(ctx, db)
	for _, d := range devices {
		known.devices[d.hash] = true
	}
	extensions, failed := listExtensions(ctx, db)
	for _, e := range extensions {
		known.extensions[keyOf(e)] = e.State
	}
	err = errors.Join(err, failed)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrBusy) {
		return replaced{}, nil
	}
	return known, err
}

// MoveAside takes a database that cannot be used out of the way, as
// <path>.damaged-<time> with whatever belongs to it, and gives that name. No
// host may have it open.
func MoveAside(ctx context.Context, path string, now time.Time) (string, error) {
	kept, err := setAside(ctx, path, "damaged", now)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return "", fmt.Errorf("move the database aside: %w", err)
	}
	return kept, nil
}

// setAside gives the database a second name, under which it stays when path is
// replaced, and makes sure that no log of it is left beside path: it would be
// taken for the new database's. Until path is replaced it is still the old one.
func setAside(ctx context.Context, path, why string, now time.Time) (kept string, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	// Closing the last connection writes the log back into the database. Where that
	// fails, the log goes with the old database.
	if db, err := connect(path, writerPragmas(), "mode=rw"); err == nil {
		_ = db.PingContext(ctx)
		_ = db.Close()
	}
	// Never an existing name: of several in one second the later ones get a number.
	const maxNames = 100
	name := fmt.Sprintf("%s.%s-%s", path, why, now.UTC().Format("20060102T150405Z"))
	kept = name
	for n := 2; ; n++ {
		if err := os.Link(path, kept); err == nil {
			break
		} else if !errors.Is(err, fs.ErrExist) || n > maxNames {
			return "", err
		}
		kept = fmt.Sprintf("%s-%d", name, n)
	}
	for _, side := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Rename(path+side, kept+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return kept, syncDir(filepath.Dir(path))
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%w: %s is not a plain file", ErrUnsafeFile, from))
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// removeDatabase removes a file and all that belongs to it.
func removeDatabase(path string) error {
	for _, side := range []string{"", "-wal", "-shm", "-journal", ".partial-copy"} {
		if err := removeIfThere(path + side); err != nil {
			return err
		}
	}
	return dropCopies(path)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// dropCopies removes what an upgrade of this file has put aside.
func dropCopies(path string) error {
	copies, err := filesWithPrefix(path + ".before-")
	if err != nil {
		return err
	}
	for _, c := range copies {
		if err := os.Remove(c); err != nil {
			return err
		}
	}
	return nil
}
