//go:build unix

package hostfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// CR-48: what stands in the file never decides, only the kernel's lock does.
func TestLock_OldContentNeverKeepsTheHostDown(t *testing.T) {
	for name, content := range map[string]string{
		"pid 1": "1\n", "own pid": strconv.Itoa(os.Getpid()), "garbage": "\x00not a pid", "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, LockName)
			if err := os.WriteFile(path, []byte(content), 0o400); err != nil {
				t.Fatal(err)
			}
			if running, _, err := HostRuns(dir); err != nil || running {
				t.Fatalf("running %v, %v", running, err)
			}
			lock, err := AcquireLock(t.Context(), dir, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := lock.Release(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLock_SecondOneIsToldWho(t *testing.T) {
	dir := t.TempDir()
	if running, _, err := HostRuns(dir); err != nil || running {
		t.Fatalf("without a lock file: running %v, %v", running, err)
	}
	lock, err := AcquireLock(t.Context(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	running, pid, err := HostRuns(dir)
	if err != nil || !running || pid != os.Getpid() {
		t.Errorf("running %v, pid %d, %v", running, pid, err)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := AcquireLock(t.Context(), dir, time.Second)
		var held *LockedError
		if !errors.As(err, &held) || held.PID != os.Getpid() || held.Path != filepath.Join(dir, LockName) {
			t.Errorf("got %v, want who holds it and where", err)
		}
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited %v, want exactly 1 s", waited)
		}
	})
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if running, _, err := HostRuns(dir); err != nil || running {
		t.Errorf("after release: running %v, %v", running, err)
	}
}

func TestLock_WaitsForACommandThatOnlyLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		looker, err := openLock(filepath.Join(dir, LockName), os.O_RDWR|os.O_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		if err := tryLock(looker, false); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(300*time.Millisecond, func() { _ = looker.Close() })
		lock, err := AcquireLock(t.Context(), dir, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLock_SymlinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/null", filepath.Join(dir, LockName)); err != nil {
		t.Fatal(err)
	}
	var refused *RefusedError
	if _, err := AcquireLock(t.Context(), dir, 0); !errors.As(err, &refused) {
		t.Errorf("got %v, want a refusal", err)
	}
}
