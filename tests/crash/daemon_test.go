package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
	"plexus/tests/program"
)

// startLimit is how long a start may take after a crash, with room for a busy
// machine.
const startLimit = 30 * time.Second

// place is a home directory of its own with short paths for sockets.
type place struct {
	home  string
	model string // base URL of the model that answers; "" quotes what was found
}

func newPlace(t *testing.T) place {
	t.Helper()
	if err := program.Sources(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "plx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return place{home: dir}
}

func (p place) data() string      { return filepath.Join(p.home, "data") }
func (p place) database() string  { return filepath.Join(p.data(), hostfiles.DatabaseName) }
func (p place) readyFile() string { return filepath.Join(p.home, "ready.json") }
func (p place) tokenFile() string { return filepath.Join(p.home, ".anvesha", "token") }

// daemon is one life of `plexus serve`.
type daemon struct {
	place
	run   hostfiles.RunInfo
	cmd   *exec.Cmd
	began time.Time
	ready chan struct{} // closed once it says so
	ended chan struct{} // closed with its log

	mu  sync.Mutex
	log strings.Builder
}

// start begins a life and waits for nothing.
func (p place) start(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{place: p, began: time.Now(), ready: make(chan struct{}), ended: make(chan struct{})}
	d.cmd = exec.CommandContext(t.Context(), binary, "serve", "--nerve-addr", "127.0.0.1:0", "--ready-file", p.readyFile())
	d.cmd.Env = p.environment()
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go d.follow(stderr)
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // most have ended already
		<-d.ended
		_ = d.cmd.Wait()
	})
	return d
}

func (p place) environment() []string {
	usual := []string{
		"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "LANG=en_US.UTF-8",
		"PLEXUS_DATA_DIR=" + p.data(), "PLEXUS_CLIENT_ADDR=127.0.0.1:0", "PLEXUS_ADMIN_ADDR=127.0.0.1:0",
	}
	if p.model == "" {
		return append(usual, "PLEXUS_MODEL_KIND=extractive")
	}
	return append(usual, "PLEXUS_MODEL_KIND=openai", "PLEXUS_MODEL_NAME=stub", "PLEXUS_MODEL_BASE_URL="+p.model,
		"PLEXUS_LIMITS_GENERATIONS=16", "PLEXUS_PUBLIC_URL="+phoneAddress)
}

func (d *daemon) follow(stderr io.Reader) {
	defer close(d.ended)
	said := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		d.mu.Lock()
		d.log.WriteString(lines.Text() + "\n")
		d.mu.Unlock()
		if !said && strings.Contains(lines.Text(), "msg=ready ") {
			said = true
			close(d.ready)
		}
	}
}

func (d *daemon) logged() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// awaitReady waits for the announcement, which has to be this life's own in both
// files, whatever an earlier life left there.
func (d *daemon) awaitReady(t *testing.T) {
	t.Helper()
	select {
	case <-d.ready:
	case <-d.ended:
		t.Fatalf("the daemon did not start after a crash:\n%s", d.logged())
	case <-time.After(startLimit):
		t.Fatalf("the daemon was not ready within %v:\n%s", startLimit, d.logged())
	}
	var err error
	if d.run, err = hostfiles.ReadRun(d.data()); err != nil {
		t.Fatal(err)
	}
	ready, err := readRun(d.readyFile())
	if err != nil || ready != d.run {
		t.Fatalf("the ready file says %+v and run.json %+v, %v", ready, d.run, err)
	}
	if d.run.PID != d.cmd.Process.Pid || d.run.Nerve == "" {
		t.Fatalf("run.json is not of process %d: %+v", d.cmd.Process.Pid, d.run)
	}
}

// kill ends the life without a warning. A daemon that had given up by itself is
// a failure.
func (d *daemon) kill(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.ended
	_ = d.cmd.Wait() // a signal is an error here
	if d.cmd.ProcessState.Exited() {
		t.Fatalf("the daemon ended by itself:\n%s", d.logged())
	}
}

// stop ends the life as a person would.
func (d *daemon) stop(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-d.ended
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("a clean stop gave %v:\n%s", err, d.logged())
	}
}

func (d *daemon) admin() *adminapi.Client {
	return adminapi.NewClient(func(ctx context.Context) (net.Conn, error) {
		return hostfiles.DialUnix(ctx, d.run.AdminSocket)
	})
}

// checkFiles looks at what a dead daemon left: each of its files is whole or not
// there. It gives the token, "" when there is none yet.
func (p place) checkFiles(t *testing.T) (token string) {
	t.Helper()
	for _, path := range []string{p.readyFile(), filepath.Join(p.data(), hostfiles.RunName)} {
		if run, err := readRun(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s after a kill: %+v, %v", path, run, err)
		}
	}
	b, err := os.ReadFile(p.tokenFile())
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil || len(b) != 65 {
		t.Errorf("the token file holds %d bytes after a kill, %v", len(b), err)
	}
	return strings.TrimSpace(string(b))
}

// checkLitter: after a clean stop no socket, journal or announcement of an
// earlier life lies around. A write that was cut off may leave its new file,
// which nobody ever reads; a first start that was cut off makes the next one an
// upgrade, which puts a copy aside.
func (p place) checkLitter(t *testing.T) {
	t.Helper()
	for dir, want := range map[string][]string{
		p.home:                      {filepath.Base(filepath.Dir(p.tokenFile())), filepath.Base(p.data())},
		p.data():                    {hostfiles.DatabaseName, hostfiles.LockName, hostfiles.MasterTokenName},
		filepath.Dir(p.tokenFile()): {filepath.Base(p.tokenFile())},
	} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			aside := strings.HasPrefix(e.Name(), hostfiles.DatabaseName+".before-")
			if !slices.Contains(want, e.Name()) && filepath.Ext(e.Name()) != ".tmp" && !aside {
				t.Errorf("%s is left in %s after a clean stop", e.Name(), dir)
			}
		}
	}
}

func readRun(path string) (run hostfiles.RunInfo, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return run, err
	}
	return run, json.Unmarshal(b, &run)
}
