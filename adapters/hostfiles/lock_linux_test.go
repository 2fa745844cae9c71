package hostfiles

import (
	"errors"
	"io/fs"
	"testing"
)

// Nobody makes a file in /sys, not even root.
func TestLock_SaysThatTheDirectoryCannotBeWritten(t *testing.T) {
	if _, err := AcquireLock(t.Context(), "/sys", 0); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want that permission is missing", err)
	}
}
