package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"plexus/adapters/hostfiles"
	"plexus/domain/admission"
)

func TestServe_StartsWithNothingConfigured(t *testing.T) {
	d := newPlace(t).serve(t)
	ready := filepath.Join(d.home, "ready.json")
	for path, perm := range map[string]os.FileMode{
		d.dataDir(): 0o700, filepath.Join(d.home, ".anvesha"): 0o700,
		filepath.Join(d.home, ".anvesha", "token"): 0o600, ready: 0o600,
		filepath.Join(d.dataDir(), hostfiles.RunName):      0o600,
		filepath.Join(d.dataDir(), hostfiles.LockName):     0o600,
		filepath.Join(d.dataDir(), hostfiles.DatabaseName): 0o600,
		d.NerveSocket: 0o600, d.AdminSocket: 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != perm {
			t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), perm)
		}
	}
	b, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	var run hostfiles.RunInfo
	if err := json.Unmarshal(b, &run); err != nil || run != d.RunInfo || run.PID != d.cmd.Process.Pid {
		t.Errorf("ready file %s, %v", b, err)
	}
	if !strings.HasPrefix(run.Nerve, "127.0.0.1:") {
		t.Errorf("listens at %s", run.Nerve)
	}
	resp, err := http.Get("http://" + run.Nerve + "/healthz") // a test's own daemon
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || strings.TrimSpace(string(body)) != "ok" {
		t.Errorf("healthz %q, %v", body, err)
	}
	if code := d.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.logged())
	}
	for _, path := range []string{ready, filepath.Join(d.dataDir(), hostfiles.RunName), d.NerveSocket, d.AdminSocket} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left after a clean stop", path)
		}
	}
	if got := d.plexus(t, "status"); got.code != 3 || !strings.Contains(got.stderr, "plexus serve") {
		t.Errorf("status afterwards: %+v", got)
	}
}

// token reads the host token as another program would.
func (d *daemon) token(t *testing.T) admission.Secret {
	t.Helper()
	path := d.plexus(t, "token", "path")
	b, err := os.ReadFile(strings.TrimSpace(path.stdout))
	if err != nil {
		t.Fatal(err)
	}
	return admission.NewSecret(strings.TrimSpace(string(b)))
}

// Decision G8: open connections get 1001 and the process ends within 5 s.
func TestServe_ShutdownWithOpenConnections(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			d := newPlace(t).serve(t)
			ws, _, err := websocket.Dial(t.Context(), "ws://"+d.Nerve, &websocket.DialOptions{
				Subprotocols: []string{admission.SubprotocolPrefix + d.token(t).Reveal()},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer ws.CloseNow() // closed by the daemon
			unix, err := net.Dial("unix", d.NerveSocket)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close()

			closed := make(chan error, 1)
			go func() {
				_, _, err := ws.Read(context.Background())
				closed <- err
			}()
			start := time.Now()
			if code := d.stop(t, sig); code != 0 {
				t.Errorf("exit code %d\n%s", code, d.logged())
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if err := <-closed; websocket.CloseStatus(err) != websocket.StatusGoingAway {
				t.Errorf("WebSocket ended with %v, want 1001", err)
			}
			if _, err := unix.Read(make([]byte, 1)); err == nil {
				t.Error("the Unix socket is still open")
			}
		})
	}
}

// While a clean stop waits for a command's answer, a second signal ends the
// process at once.
func TestServe_SecondSignalEndsAtOnce(t *testing.T) {
	asked := make(chan struct{}, 8)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer silent.Close()
	p := newPlace(t, "PLEXUS_SEARCH_KIND=anvesha", "PLEXUS_SEARCH_URL="+silent.URL)
	d := p.serve(t)
	<-asked // the look ahead at the start
	status := d.command(t, "status")
	if err := status.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for ended := false; !ended; {
		_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-d.ended:
			ended = true
		case <-again.C:
		}
	}
	_ = d.cmd.Wait() // a signal is an error here
	if s, ok := d.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() {
		t.Errorf("ended with %v, want by the signal\n%s", d.cmd.ProcessState, d.logged())
	}
	_ = status.Wait() // its host has died
}

// A crash leaves the sockets, run.json and a lock file behind; none of them may
// keep the next one from starting at once.
func TestServe_KillAndRestart(t *testing.T) {
	p := newPlace(t)
	first := p.serve(t)
	if code := first.stop(t, syscall.SIGKILL); code == 0 {
		t.Fatal("a killed process ended cleanly")
	}
	for _, path := range []string{first.NerveSocket, first.AdminSocket, filepath.Join(p.dataDir(), hostfiles.RunName)} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("nothing was left to trip over: %v", err)
		}
	}
	if got := p.plexus(t, "ask", "anybody there?"); got.code != 3 {
		t.Errorf("ask after the crash: %+v", got)
	}
	second := p.serve(t)
	if got := p.plexus(t, "status"); got.code != 0 {
		t.Errorf("status after the restart: %+v", got)
	}
	if code := second.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, second.logged())
	}
}

func TestF5_SecondDaemonLeavesTheFirstWorking(t *testing.T) {
	first := newPlace(t, extractive).serve(t)
	for _, tc := range []struct {
		name  string
		place place
		args  []string
		says  []string
	}{
		{"same data directory", first.place, []string{"--nerve-addr", "127.0.0.1:0"}, []string{"another Plexus (process", first.Nerve, "--data-dir"}},
		{"same port", newPlace(t), []string{"--nerve-addr", first.Nerve}, []string{"is taken by another Plexus", "--nerve-addr"}},
		{"same NERVE socket", newPlace(t), []string{"--nerve-addr", "127.0.0.1:0", "--nerve-socket", first.NerveSocket}, []string{"another daemon answers there", "--nerve-socket"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start := time.Now()
			got := tc.place.plexus(t, append([]string{"serve"}, tc.args...)...)
			if got.code != 1 || time.Since(start) > 4*time.Second {
				t.Errorf("exit code %d after %v", got.code, time.Since(start))
			}
			for _, want := range tc.says {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("nothing of %q in:\n%s", want, got.stderr)
				}
			}
			if tc.place.home != first.home {
				if _, err := os.Stat(filepath.Join(tc.place.dataDir(), hostfiles.DatabaseName)); err == nil {
					t.Error("the one that could not start has made a database")
				}
			}
			if got := first.plexus(t, "ask", "--no-search", "x", "--extract", "x marks the spot."); got.code != 0 {
				t.Errorf("the first one no longer answers: %+v", got)
			}
		})
	}
	if run, err := hostfiles.ReadRun(first.dataDir()); err != nil || run != first.RunInfo {
		t.Errorf("run.json is now %+v, %v", run, err)
	}
}

func TestH19_PortTakenByAnotherProgram(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	got := newPlace(t).plexus(t, "serve", "--nerve-addr", other.Addr().String())
	if got.code != 1 {
		t.Errorf("exit code %d", got.code)
	}
	_, port, _ := net.SplitHostPort(other.Addr().String())
	for _, want := range []string{"port " + port, "another program", "--nerve-addr"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("nothing of %q in:\n%s", want, got.stderr)
		}
	}
}

// CR-49: who says localhost may end up at ::1, where somebody else listens.
func TestServe_WarnsAboutTheOtherLoopback(t *testing.T) {
	other, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Logf("this machine has no ::1, so there is nothing to warn about: %v", err)
		return
	}
	defer other.Close()
	_, port, _ := net.SplitHostPort(other.Addr().String())
	d := newPlace(t, "PLEXUS_NERVE_ADDR=127.0.0.1:"+port).serveAt(t)
	if d.Nerve != "127.0.0.1:"+port {
		t.Errorf("listens at %s", d.Nerve)
	}
	if !strings.Contains(d.logged(), "the same port of ::1") {
		t.Errorf("no warning:\n%s", d.logged())
	}
}
