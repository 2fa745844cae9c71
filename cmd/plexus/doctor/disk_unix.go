//go:build unix

package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeBytes is the room that this account may use where path is.
func freeBytes(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, fmt.Errorf("ask for free room: %w", err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
