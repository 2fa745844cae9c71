// Package e2e tests the program as it is shipped: a built binary, its files,
// real sockets, signals and exit codes.
package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/tests/program"
)

// binary is the path of the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		if how, ok := strings.CutPrefix(os.Args[1], hearsLine); ok {
			os.Exit(hear(how, os.Args[2]))
		}
	}
	var flags []string
	if raceBuild {
		flags = append(flags, "-race") // races of the process fail it too
	}
	program.Main(m, &binary, flags...)
}

// extractive keeps a model that happens to run on this machine out of a test.
const extractive = "PLEXUS_MODEL_KIND=extractive"

// place is a home directory of its own with short paths for sockets.
type place struct {
	home    string
	environ []string
	files   int // that a host may have open; 0: as many as the test may
}

func newPlace(t *testing.T, environ ...string) place {
	t.Helper()
	if err := program.Sources(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "plx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	base := []string{"HOME=" + dir, "LANG=en_US.UTF-8", "PATH=" + os.Getenv("PATH"), "PLEXUS_CLIENT_ADDR=127.0.0.1:0", "PLEXUS_ADMIN_ADDR=127.0.0.1:0"}
	return place{home: dir, environ: append(base, environ...)}
}

func (p place) dataDir() string { return filepath.Join(p.home, "data") }

func (p place) command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), binary, args...)
	if p.files > 0 {
		limited := append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, p.files), binary}, args...)
		cmd = exec.CommandContext(t.Context(), "sh", limited...)
	}
	cmd.Env = append(p.environ, "PLEXUS_DATA_DIR="+p.dataDir())
	return cmd
}

// result is what a finished process did.
type result struct {
	stdout, stderr string
	code           int
}

// commandLimit bounds one command.
const commandLimit = time.Minute

// plexus runs a command to its end.
func (p place) plexus(t *testing.T, args ...string) result {
	t.Helper()
	cmd := p.command(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A serve that should have refused to start would run for ever.
	limit := time.AfterFunc(commandLimit, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// daemon is a running `plexus serve`.
type daemon struct {
	place
	hostfiles.RunInfo
	cmd   *exec.Cmd
	ended chan struct{} // its log has ended

	mu  sync.Mutex
	log strings.Builder
}

// serve starts the daemon at a free port and waits until it is ready.
func (p place) serve(t *testing.T, args ...string) *daemon {
	t.Helper()
	return p.serveAt(t, append([]string{"--nerve-addr", "127.0.0.1:0"}, args...)...)
}

// serveAt is serve at the address that flags or environment say.
func (p place) serveAt(t *testing.T, args ...string) *daemon {
	t.Helper()
	d := &daemon{place: p, ended: make(chan struct{})}
	ready := filepath.Join(p.home, "ready.json")
	args = append([]string{"serve", "--ready-file", ready, "--log-level", "debug"}, args...)
	d.cmd = p.command(t, args...)
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	isReady := make(chan bool, 1)
	go d.follow(stderr, isReady)
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // most tests have ended it already
		<-d.ended
		_ = d.cmd.Wait()
	})
	if !<-isReady {
		t.Fatalf("the daemon did not start:\n%s", d.logged())
	}
	if d.RunInfo, err = hostfiles.ReadRun(p.dataDir()); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *daemon) follow(stderr io.Reader, ready chan<- bool) {
	defer close(d.ended)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		d.mu.Lock()
		d.log.WriteString(lines.Text() + "\n")
		d.mu.Unlock()
		if strings.Contains(lines.Text(), "msg=ready ") || strings.Contains(lines.Text(), `"msg":"ready"`) {
			ready <- true
		}
	}
	ready <- false
}

func (d *daemon) logged() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// stop ends the daemon with a signal and gives its exit code.
func (d *daemon) stop(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	if err := d.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(commandLimit, func() { _ = d.cmd.Process.Kill() }) // one that does not end is a failure, not a hang
	defer limit.Stop()
	<-d.ended
	_ = d.cmd.Wait() // a signal is an error here; the code tells it
	return d.cmd.ProcessState.ExitCode()
}
