//go:build unix

package gate

import (
	"math"
	"syscall"
)

// OpenFiles is how many files this process may have open, or Unlimited.
func OpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) >= math.MaxInt32 {
		return Unlimited
	}
	return int(limit.Cur)
}
