//go:build unix

package hostfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from following a symlink or hanging on a FIFO.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// ownedByUs reports whether the file belongs to the account that runs us.
func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// accessibleToOthers reports whether group or others have any permission.
func accessibleToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// isSymlinkError: the open was refused because of O_NOFOLLOW.
func isSymlinkError(err error) bool { return errors.Is(err, syscall.ELOOP) }

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("syncing directory: %w", err)
	}
	return nil
}
