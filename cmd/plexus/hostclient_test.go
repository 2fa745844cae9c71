package main

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/status"
	"plexus/domain/admission"
)

func TestReach_CommandsComeByTCPWhereThereAreNoSockets(t *testing.T) {
	l := startHostWith(t, false)
	_, err := os.Lstat(filepath.Join(l.dir, hostfiles.AdminSocketName))
	if l.run.AdminSocket != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("there is a socket: %+v, %v", l.run, err)
	}
	key := strings.Repeat("0123456789abcdef", 4)
	if err := l.tryKey(t, "chrome-extension://abcdefghijklmnop", key); err == nil {
		t.Fatal("the first connection was let in")
	}
	digits := admission.HashKey(key).Digits()
	if rows := decode[[]adminapi.Extension](t, l.do(t, 0, "extensions", "list", "--json").stdout); len(rows) != 1 || rows[0].State != "waiting" {
		t.Errorf("rows %+v", rows)
	}
	l.do(t, 0, "extensions", "allow", digits)
	if err := l.tryKey(t, "chrome-extension://abcdefghijklmnop", key); err != nil {
		t.Errorf("allowed and refused: %v", err)
	}
	if report := decode[status.Report](t, l.do(t, 0, "status", "--json").stdout); report.PID != os.Getpid() {
		t.Errorf("got %+v", report)
	}
	for _, line := range []string{"devices list", "index list", "token rotate", "open --print-code", "backup " + filepath.Join(l.dir, "copy.db")} {
		l.do(t, 0, strings.Fields(line)...)
	}
	if got := l.do(t, 1, "extensions", "allow", "99"); !strings.Contains(got.stderr, "no extension 99") {
		t.Errorf("a fault does not come through: %s", got.stderr)
	}
	master, err := hostfiles.LoadMasterToken(l.dir)
	if err != nil || strings.Contains(l.logged(), master.Reveal()) {
		t.Errorf("the token is in the log, or %v", err)
	}
}

func TestReach_WrongOrMissingMasterToken(t *testing.T) {
	l := startHostWith(t, false)
	path := filepath.Join(l.dir, hostfiles.MasterTokenName)
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := hostfiles.WriteFile(path, []byte(strings.Repeat("0", 32)+"\n")); err != nil {
		t.Fatal(err)
	}
	if got := l.do(t, exitFailed, "status"); !strings.Contains(got.stderr, "does not take the master token") {
		t.Errorf("got %s", got.stderr)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := l.do(t, exitFailed, "extensions", "list"); !strings.Contains(got.stderr, "master token") {
		t.Errorf("got %s", got.stderr)
	}
	if got := statusOfAPI(t, l.run.Admin, ""); got != http.StatusUnauthorized {
		t.Errorf("without a token: %d", got)
	}
	if err := hostfiles.WriteFile(path, right); err != nil {
		t.Fatal(err)
	}
	if got := l.do(t, 0, "status"); !strings.Contains(got.stdout, admission.NoMaster.Advice()) {
		t.Errorf("the refusal is not shown:\n%s", got.stdout)
	}
}

func statusOfAPI(t *testing.T, address, token string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v1/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// What a crash has left must not get the master token sent to whoever listens at
// the port now, with no host there or with one that has not told its address yet.
func TestReach_StaleRunFileGetsNoMasterToken(t *testing.T) {
	var lc net.ListenConfig
	stranger, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	letIn := make(chan bool, 1)
	go func() {
		conn, err := stranger.Accept()
		if err == nil {
			_ = conn.Close()
		}
		letIn <- err == nil
	}()
	_, environ := home(t)
	dir := cli.Env{Environ: environ}.Getenv("PLEXUS_DATA_DIR")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := hostfiles.CreateMasterToken(dir); err != nil {
		t.Fatal(err)
	}
	if err := hostfiles.WriteRun(filepath.Join(dir, hostfiles.RunName), hostfiles.RunInfo{PID: os.Getpid() + 1, Admin: stranger.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	if got := plexus(t.Context(), environ, "status"); got.code != exitNotRunning {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	lock, err := hostfiles.AcquireLock(t.Context(), dir, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if got := plexus(t.Context(), environ, "status"); got.code != exitFailed || !strings.Contains(got.stderr, "could not be asked") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	if err := errors.Join(lock.Release(), stranger.Close()); err != nil {
		t.Error(err)
	}
	if <-letIn {
		t.Error("the stranger was connected to")
	}
}
