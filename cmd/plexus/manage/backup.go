package manage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"plexus/adapters/hostfiles"
	"plexus/adapters/sqlite"
	"plexus/cmd/plexus/app"
	"plexus/cmd/plexus/cli"
	"plexus/domain/pairing"
	"plexus/domain/text"
)

const backupNotes = `Writes a whole copy of the database to a new file, while the host runs or not. It
holds pages and conversations in clear, so keep it as you would keep those; of
tokens it has only hashes. No token file is in it.`

const restoreNotes = `Puts a backup in the place of the database, which is kept beside it. The host must
be stopped. The backup is checked first, and a bad one changes nothing. Phones and
extensions that were thrown out since, or that the present database does not know,
stay out, unless --readmit names the ID of the phone; browsers have to sign in to
the page again.`

// Backup is the command plexus backup.
func Backup(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("backup FILE", backupNotes)
	dir, file, err := oneFile(env, fs, args)
	if err != nil {
		return err
	}
	err = sqlite.Backup(ctx, filepath.Join(dir, hostfiles.DatabaseName), file)
	switch {
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("%s is there already, and a backup never goes over another file", file)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w. Either there is no database yet, or no such folder", err)
	case err != nil:
		return err
	}
	env.Printf("%s is a copy of the database. It holds pages and conversations in clear.\n", text.Printable(file))
	return nil
}

// oneFile parses a command that takes one file, whose full path it gives.
func oneFile(env cli.Env, fs *cli.FlagSet, args []string) (dir, file string, err error) {
	dataDir := fs.DataDir(env)
	words, err := fs.Parse(env, args)
	if err != nil {
		return "", "", err
	}
	if len(words) != 1 || words[0] == "" {
		return "", "", cli.Usagef("usage: plexus %s", fs.Usage)
	}
	if file, err = filepath.Abs(words[0]); err != nil {
		return "", "", fmt.Errorf("finding the file: %w", err)
	}
	dir, err = dataDir()
	return dir, file, err
}

// Restore is the command plexus restore.
func Restore(ctx context.Context, env cli.Env, args []string) (err error) {
	fs := cli.NewFlags("restore FILE [--readmit ID]", restoreNotes)
	var readmit []pairing.DeviceID
	fs.Func("readmit", "`ID` of a phone that comes back although it was thrown out or is not known now; may be given several times", func(s string) error {
		id, err := pairing.ParseDeviceID(s)
		readmit = append(readmit, id)
		return err
	})
	dir, file, err := oneFile(env, fs, args)
	if err != nil {
		return err
	}
	lock, master, err := ownDirectory(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	revoked, err := hostfiles.NewRevoked(dir).RevokedHashes(ctx)
	if err != nil {
		return err
	}
	done, err := sqlite.Restore(ctx, file, filepath.Join(dir, hostfiles.DatabaseName), sqlite.RestoreOptions{
		Master: master, Revoked: revoked, Readmit: readmit, Now: env.Now,
	})
	if err != nil {
		return fmt.Errorf("%w. Nothing was changed", err)
	}
	env.Printf("The database is that of %s now.\n", text.Printable(file))
	if done.Kept != "" {
		env.Printf("The one before it is kept as %s.\n", text.Printable(done.Kept))
	}
	for _, d := range done.Devices {
		env.Printf("Let in again: %s (%s)\n", text.Printable(d.Name), d.ID)
	}
	for _, d := range done.Dropped {
		env.Printf("Left out: %s (%s)\n", text.Printable(d.Name), d.ID)
	}
	if done.Barred > 0 {
		env.Printf("%s left out: removed since, or not known now. When it knocks it can be allowed again.\n", cli.Counted(done.Barred, "extension is", "extensions are"))
	}
	if len(done.Dropped) > 0 {
		env.Printf("What is left out was thrown out or is not known now. It can be paired again, or brought back with --readmit ID.\n")
	}
	return nil
}

// ownDirectory takes the lock of a data directory that no host uses, and gives the
// hash of its master token.
func ownDirectory(ctx context.Context, dir string) (lock *hostfiles.Lock, master pairing.TokenHash, err error) {
	if _, err := hostfiles.PrivateDir(dir); err != nil {
		return nil, master, fmt.Errorf("data directory: %w", err)
	}
	lock, err = hostfiles.AcquireLock(ctx, dir, app.LockPatience)
	var locked *hostfiles.LockedError
	if errors.As(err, &locked) {
		err = fmt.Errorf("%w. Stop it first", err)
	}
	if err != nil {
		return nil, master, err
	}
	token, _, err := hostfiles.EnsureMasterToken(dir)
	if err != nil {
		return nil, master, errors.Join(err, lock.Release())
	}
	return lock, token.Hash(), nil
}
