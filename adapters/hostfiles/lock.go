package hostfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lockRetry is how often AcquireLock tries again.
const lockRetry = 50 * time.Millisecond

// LockedError: another process holds the lock.
type LockedError struct {
	Path string
	PID  int // as that process wrote it; 0 when it cannot be read
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return "another Plexus holds " + e.Path
	}
	return fmt.Sprintf("another Plexus (process %d) holds %s", e.PID, e.Path)
}

// errLockHeld is what tryLock gives when somebody else has the lock.
var errLockHeld = errors.New("lock held")

// Lock is the exclusive hold on a data directory. The kernel ends it with the
// process, however that ends; the pid in the file is only for people to read.
type Lock struct{ file *os.File }

// AcquireLock takes the lock of dataDir, trying again until patience is over:
// a command may hold it for a moment while it looks whether a host runs. Held
// by another process, it is a *LockedError.
func AcquireLock(ctx context.Context, dataDir string, patience time.Duration) (*Lock, error) {
	path := filepath.Join(dataDir, LockName)
	file, err := openLock(path, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, fs.ErrPermission) {
		// A read-only file can be locked just as well, if there is one.
		if there, err2 := openLock(path, os.O_RDONLY); err2 == nil {
			file, err = there, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := waitLock(ctx, file, patience); err != nil {
		defer file.Close() // nothing was written
		if errors.Is(err, errLockHeld) {
			return nil, &LockedError{Path: path, PID: readPID(file)}
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	// The pid is only for people, so failing to write it does not weaken the lock.
	if file.Truncate(0) == nil {
		_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &Lock{file: file}, nil
}

// Release gives the lock back. The file stays: removing it would let two
// processes lock two files of one name.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("releasing lock: %w", err)
	}
	return nil
}

// HostRuns reports whether a process holds the lock of dataDir, without waiting and
// without creating anything. pid is what that process wrote, or 0.
func HostRuns(dataDir string) (running bool, pid int, err error) {
	path := filepath.Join(dataDir, LockName)
	file, err := openLock(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	defer file.Close() // opened for reading; closing ends the shared lock
	switch err := tryLock(file, false); {
	case errors.Is(err, errLockHeld):
		return true, readPID(file), nil
	case err != nil:
		return false, 0, fmt.Errorf("trying %s: %w", path, err)
	}
	return false, 0, nil
}

func openLock(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|openFlags, 0o600)
	if isSymlinkError(err) {
		return nil, &RefusedError{Path: path, Reason: "it is a symbolic link"}
	}
	if err != nil {
		return nil, fmt.Errorf("opening lock: %w", err)
	}
	return file, nil
}

func waitLock(ctx context.Context, file *os.File, patience time.Duration) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(lockRetry)
	defer again.Stop()
	for {
		err := tryLock(file, true)
		if !errors.Is(err, errLockHeld) {
			return err
		}
		select {
		case <-again.C:
		case <-deadline.C:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readPID reads what the holder wrote; garbage is 0.
func readPID(file *os.File) int {
	b, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}
