package hostfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// RefusedError is something on disk that is not used because another account
// could have put it there or can read it. Nothing was changed.
type RefusedError struct {
	Path   string
	Reason string // a clause that fits after "because"
	Advice string // a sentence, or ""
}

func (e *RefusedError) Error() string {
	s := fmt.Sprintf("%s is not used because %s", e.Path, e.Reason)
	if e.Advice != "" {
		s += ". " + e.Advice
	}
	return s
}

// PrivateDir makes path a directory that only this account can enter (0700),
// parents included where they are missing. An existing one must be ours. A loose
// mode is repaired, and a warning says so, only where the directory is plainly the
// host's: --data-dir /tmp must not close /tmp for everyone.
func PrivateDir(path string) (warnings []string, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("making private directory: %w", err)
	}
	link, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("looking at private directory: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("looking at private directory: %w", err)
	}
	if !ownedByUs(link) || !ownedByUs(info) {
		return nil, &RefusedError{Path: path, Reason: "it belongs to another account"}
	}
	if !accessibleToOthers(info) {
		return nil, nil
	}
	if !isHostDir(path, info) {
		return nil, &RefusedError{
			Path: path, Reason: fmt.Sprintf("other accounts can enter it (mode %04o)", info.Mode().Perm()),
			Advice: "Run chmod 700 on it if it is meant for Plexus, or choose another directory.",
		}
	}
	if err := os.Chmod(path, 0o700); err != nil { // a directory needs its search bit
		return nil, fmt.Errorf("closing private directory: %w", err)
	}
	return []string{fmt.Sprintf("%s could be entered by other accounts (mode %04o); it is private now (0700).", path, info.Mode().Perm())}, nil
}

// isHostDir: it is named after Plexus, holds its lock, or is empty.
func isHostDir(path string, info fs.FileInfo) bool {
	if info.Mode()&fs.ModeSticky != 0 {
		return false
	}
	if slices.Contains([]string{"plexus", "Plexus", ".anvesha"}, filepath.Base(path)) {
		return true
	}
	if _, err := os.Lstat(filepath.Join(path, LockName)); err == nil {
		return true
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// WriteFile replaces path in one step: a new file that was never readable by
// others (0600) is written, synced and renamed over it, and the directory is
// synced, so that after a power cut there is the old content or the new.
func WriteFile(path string, data []byte) error {
	tmp, err := writeTemporary(path, data)
	if err == nil {
		if err = os.Rename(tmp, path); err != nil {
			err = errors.Join(err, os.Remove(tmp))
		} else {
			err = syncDir(filepath.Dir(path))
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// writeTemporary writes a synced file beside path, which the caller renames or
// links. CreateTemp opens with O_EXCL and 0600.
func writeTemporary(path string, data []byte) (name string, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(tmp.Name()))
	}
	return tmp.Name(), nil
}
