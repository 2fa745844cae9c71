package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plexus/adapters/hostfiles"
)

// The data directory is one process's, for as long as that lives, and its
// database is one master token's.
func TestP13_StoreHasOneOwnerAndOneMaster(t *testing.T) {
	p := newPlace(t)
	refused := func(why string) {
		t.Helper()
		got := p.plexus(t, "serve", "--nerve-addr", "127.0.0.1:0")
		if got.code != 1 || !strings.Contains(got.stderr, why) {
			t.Errorf("exit code %d; want 1 and %q in:\n%s", got.code, why, got.stderr)
		}
	}
	first := p.serve(t)
	refused("another Plexus (process")
	first.stop(t, syscall.SIGKILL)
	second := p.serve(t) // the lock went with the process
	if code := second.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, second.logged())
	}

	token := filepath.Join(p.dataDir(), hostfiles.MasterTokenName)
	aside := token + ".aside"
	if err := os.Rename(token, aside); err != nil {
		t.Fatal(err)
	}
	refused("belong to another master token") // a new one was made
	if err := errors.Join(os.Remove(token), os.Rename(aside, token)); err != nil {
		t.Fatal(err)
	}
	third := p.serve(t)
	if code := third.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, third.logged())
	}
}
