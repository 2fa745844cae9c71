//go:build unix

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plexus/adapters/hostfiles"
)

// TestServe_HangUpEndsCleanly: as when its terminal is closed. A path of any bytes does
// not keep commands from the host.
func TestServe_HangUpEndsCleanly(t *testing.T) {
	// The host inherits a hang-up that is ignored, as where the tests run under nohup;
	// one that somebody waits for it does not.
	hungUp := make(chan os.Signal, 1)
	signal.Notify(hungUp, syscall.SIGHUP)
	defer signal.Stop(hungUp)
	p := newPlace(t)
	if odd := filepath.Join(p.home, "h\xff"); os.Mkdir(odd, 0o700) == nil { // not every file system takes it
		p.home = odd
	}
	d := p.serve(t)
	if d.DataDir != p.dataDir() {
		t.Errorf("run.json says %q", d.DataDir)
	}
	if got := p.plexus(t, "status"); got.code != 0 || !strings.Contains(got.stdout, "Messages") {
		t.Errorf("status: %+v", got)
	}
	if code := d.stop(t, syscall.SIGHUP); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.logged())
	}
	for _, name := range []string{hostfiles.RunName, hostfiles.DatabaseName + "-wal", hostfiles.AdminSocketName} {
		if _, err := os.Stat(filepath.Join(p.dataDir(), name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}

// TestServe_NohupOutlivesItsTerminal: a hang-up that is ignored stays so.
func TestServe_NohupOutlivesItsTerminal(t *testing.T) {
	p := newPlace(t)
	ready := filepath.Join(p.home, "ready.json")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `trap "" HUP; exec "$0" "$@"`, binary, "serve", "--nerve-addr", "127.0.0.1:0", "--ready-file", ready)
	cmd.Env = append(p.environ, "PLEXUS_DATA_DIR="+p.dataDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d := &daemon{place: p, cmd: cmd, ended: make(chan struct{})}
	isReady := make(chan bool, 1)
	go d.follow(stderr, isReady)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended already
		<-d.ended
	})
	if !<-isReady {
		t.Fatalf("the daemon did not start:\n%s", d.logged())
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := p.plexus(t, "status"); got.code != 0 {
		t.Errorf("after a hang-up: %+v", got)
	}
	if code := d.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.logged())
	}
}
