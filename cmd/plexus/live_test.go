package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
	"plexus/adapters/nerveclient"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/status"
	"plexus/domain/admission"
)

// live is a host that runs inside the test.
type live struct {
	dir     string
	environ []string
	run     hostfiles.RunInfo

	mu  sync.Mutex
	log strings.Builder
}

// startHost runs serve until the test ends and waits until it is ready.
func startHost(t *testing.T, args ...string) *live {
	t.Helper()
	return startHostWith(t, hostfiles.UnixSockets, args...)
}

// startHostWith starts a host on a system with or without Unix sockets.
func startHostWith(t *testing.T, sockets bool, args ...string) *live {
	t.Helper()
	dir, environ := home(t)
	environ = append(environ, "PLEXUS_MODEL_KIND=extractive", "PLEXUS_CLIENT_ADDR=127.0.0.1:0", "PLEXUS_ADMIN_ADDR=127.0.0.1:0") // no model that happens to run here
	l := &live{dir: filepath.Join(dir, "data"), environ: environ}
	ctx, stop := context.WithCancel(t.Context())
	logs, stderr := io.Pipe()
	code := make(chan int, 1)
	go func() {
		env := testEnv(environ, io.Discard, stderr)
		env.UnixSockets = sockets
		code <- run(ctx, env, append([]string{"serve", "--nerve-addr", "127.0.0.1:0", "--log-level", "debug"}, args...))
		_ = stderr.Close()
	}()
	ready := make(chan bool, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(logs); lines.Scan(); {
			l.mu.Lock()
			l.log.WriteString(lines.Text() + "\n")
			l.mu.Unlock()
			if strings.Contains(lines.Text(), "msg=ready") {
				ready <- true
			}
		}
		ready <- false
	}()
	t.Cleanup(func() {
		stop()
		if c := <-code; c != exitDone {
			t.Errorf("serve ended with %d:\n%s", c, l.logged())
		}
		<-read
	})
	if !<-ready {
		t.Fatalf("serve did not start:\n%s", l.logged())
	}
	var err error
	if l.run, err = hostfiles.ReadRun(l.dir); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *live) logged() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}

// do runs a command at the host and wants an exit code.
func (l *live) do(t *testing.T, code int, args ...string) outcome {
	t.Helper()
	got := plexus(t.Context(), l.environ, args...)
	if got.code != code {
		t.Errorf("plexus %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got.code, code, got.stdout, got.stderr)
	}
	return got
}

func (l *live) tryKey(t *testing.T, origin, key string) error {
	t.Helper()
	client, err := nerveclient.DialWebSocket(t.Context(), "ws://"+l.run.Nerve, nerveclient.Options{Token: admission.NewSecret(key), Origin: origin})
	if err == nil {
		_ = client.Close()
	}
	return err
}

func decode[T any](t *testing.T, s string) T {
	t.Helper()
	var value T
	if err := json.Unmarshal([]byte(s), &value); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return value
}

func TestLive_ExtensionIsLetInAndRemovedWithoutRestart(t *testing.T) {
	const origin = "chrome-extension://abcdefghijklmnop"
	key := strings.Repeat("0123456789abcdef", 4)
	l := startHost(t)
	if got := l.do(t, 0, "extensions", "list"); !strings.Contains(got.stdout, "No extension has knocked") {
		t.Errorf("got %s", got.stdout)
	}
	if err := l.tryKey(t, origin, key); err == nil {
		t.Fatal("the first connection was let in")
	}
	digits := admission.HashKey(key).Digits()
	for _, args := range []string{"extensions list", "status"} {
		if got := l.do(t, 0, strings.Fields(args)...); !strings.Contains(got.stdout, digits) || !strings.Contains(got.stdout, origin) {
			t.Errorf("%s shows no %s of %s:\n%s", args, digits, origin, got.stdout)
		}
	}
	rows := decode[[]adminapi.Extension](t, l.do(t, 0, "extensions", "list", "--json").stdout)
	if len(rows) != 1 || rows[0].State != "waiting" {
		t.Fatalf("rows %+v", rows)
	}
	l.do(t, 0, "extensions", "allow", digits)
	if err := l.tryKey(t, origin, key); err != nil {
		t.Errorf("allowed and refused: %v", err)
	}
	l.do(t, 0, "extensions", "remove", origin)
	if err := l.tryKey(t, origin, key); err == nil {
		t.Error("removed and let in")
	}
	l.do(t, 0, "extensions", "allow", digits) // which its panel still shows
	if err := l.tryKey(t, origin, key); err != nil {
		t.Errorf("allowed again and refused: %v", err)
	}
	l.do(t, 0, "extensions", "remove", digits) // of a row that is let in, and again of one that is removed
	l.do(t, 0, "extensions", "remove", digits)
	if err := l.tryKey(t, origin, key); err == nil {
		t.Error("removed by its digits and let in")
	}
	if got := l.do(t, 1, "extensions", "remove", "no such"); !strings.Contains(got.stderr, "no row has these digits") {
		t.Errorf("got %s", got.stderr)
	}
	if got := l.do(t, 0, "extensions", "remove", "1", "--forget"); !strings.Contains(got.stdout, "forgotten") {
		t.Errorf("got %s", got.stdout)
	}
	if got := l.do(t, 1, "extensions", "allow", "1"); !strings.Contains(got.stderr, "no extension 1") {
		t.Errorf("got %s", got.stderr)
	}
	l.do(t, 1, "extensions", "allow", "0")
	l.do(t, 1, "extensions", "allow", "chrome-extension://unknown")
}

func TestLive_OneOriginWithSeveralKeysNeedsANumber(t *testing.T) {
	const origin = "moz-extension://abc"
	l := startHost(t)
	for _, digit := range []string{"1", "2"} {
		if err := l.tryKey(t, origin, strings.Repeat(digit, 64)); err == nil {
			t.Fatal("let in")
		}
	}
	got := l.do(t, 2, "extensions", "allow", origin)
	if !strings.Contains(got.stderr, "say which by its ID") {
		t.Errorf("got %s", got.stderr)
	}
}

func TestLive_AskIndexAndStatus(t *testing.T) {
	l := startHost(t)
	got := l.do(t, 0, "ask", "When did the tower open?", "--url", "https://tower.example/", "--title", "Tower", "--extract", "The tower did open in 1889. It is tall.")
	if !strings.Contains(got.stdout, "The tower did open in 1889. [page]") {
		t.Errorf("got %s", got.stdout)
	}
	answer := decode[askedAnswer](t, l.do(t, 0, "ask", "--json", "tower open").stdout)
	if !answer.Complete || len(answer.Results) != 1 || answer.Results[0].URL != "https://tower.example/" {
		t.Errorf("got %+v", answer)
	}
	if got := l.do(t, 1, "ask", "zebra"); !strings.Contains(got.stdout, "[Nothing found.") {
		t.Errorf("got %s", got.stdout)
	}
	if got := l.do(t, 0, "index", "list"); !strings.Contains(got.stdout, "https://tower.example/") {
		t.Errorf("got %s", got.stdout)
	}
	report := decode[status.Report](t, l.do(t, 0, "status", "--json").stdout)
	if report.Queries.Answered != 3 || report.Index.Pages != 1 || report.Search.Reach != status.BuiltIn || report.PID != os.Getpid() || report.DatabaseBytes == 0 {
		t.Errorf("got %+v", report)
	}
	if got := l.do(t, 0, "index", "clear", "--yes"); !strings.Contains(got.stdout, "held 1 page.") {
		t.Errorf("got %s", got.stdout)
	}
	if pages := decode[[]adminapi.Page](t, l.do(t, 0, "index", "list", "--json").stdout); len(pages) != 0 {
		t.Errorf("got %+v", pages)
	}
}

func TestLive_ForgetAndExclude(t *testing.T) {
	l := startHost(t)
	ask := func(url string) {
		t.Helper()
		l.do(t, 0, "ask", "When did the tower open?", "--url", url, "--title", "Tower", "--extract", "The tower did open in 1889.")
	}
	expect := func(code int, part string, args ...string) {
		t.Helper()
		if got := l.do(t, code, args...); !strings.Contains(got.stdout+got.stderr, part) {
			t.Errorf("%q: got %s%s", args, got.stdout, got.stderr)
		}
	}
	for _, url := range []string{"https://tower.example/", "https://www.bank.example/1", "https://bank.example/2"} {
		ask(url)
	}
	expect(0, "Forgotten: 1 page and 1 topic.", "index", "forget", "https://Tower.example/#top")
	expect(0, "Nothing of that was remembered.", "index", "forget", "https://tower.example/")
	expect(0, "Forgotten: 2 pages and 2 topics.", "index", "forget", "--site", "bank.*")
	expect(0, "No site is excluded.", "index", "exclude")
	expect(0, "bank.example", "index", "exclude", "Bank.example")
	ask("https://www.bank.example/1")
	expect(0, "The index is empty.", "index", "list")
	if report := decode[status.Report](t, l.do(t, 0, "status", "--json").stdout); report.Kept.Topics != 0 {
		t.Errorf("topics are kept: %+v", report.Kept)
	}
	expect(0, "No site is excluded.", "index", "include", "bank.example")
	ask("https://www.bank.example/1")
	expect(0, "https://www.bank.example/1", "index", "list")
	expect(2, "begins with http", "index", "forget", "bank.example")
	expect(2, "Leave the port away", "index", "exclude", "bank.example:443")
	expect(2, "usage: plexus index", "index", "forget")
}

func TestLive_RotatedTokenReplacesTheOldOne(t *testing.T) {
	l := startHost(t)
	path := strings.TrimSpace(l.do(t, 0, "token", "path").stdout)
	read := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	old := read()
	if err := l.tryKey(t, "", old); err != nil {
		t.Fatal(err)
	}
	got := l.do(t, 0, "token", "rotate")
	if read() == old || l.tryKey(t, "", old) == nil || l.tryKey(t, "", read()) != nil {
		t.Error("the new token has to work, the old one not")
	}
	for _, secret := range []string{old, read()} {
		if strings.Contains(got.stdout+got.stderr+l.logged(), secret) {
			t.Error("a token was printed")
		}
	}
	if got := l.do(t, 0, "status"); !strings.Contains(got.stdout, "Refused") || !strings.Contains(got.stdout, "a program without Origin") {
		t.Errorf("status names no refused program:\n%s", got.stdout)
	}
}

// Where there are no Unix sockets, run.json names none.
func TestLive_AskByWebSocketWhereThereIsNoSocket(t *testing.T) {
	l := startHost(t)
	run := l.run
	run.NerveSocket = ""
	path := filepath.Join(l.dir, hostfiles.RunName)
	if err := hostfiles.WriteRun(path, run); err != nil {
		t.Fatal(err)
	}
	question := []string{"ask", "When did it open?", "--extract", "It did open in 1889."}
	if got := l.do(t, 0, question...); !strings.Contains(got.stdout, "It did open in 1889. [page]") {
		t.Errorf("got %s%s", got.stdout, got.stderr)
	}
	if !strings.Contains(l.logged(), "transport=websocket") {
		t.Errorf("it did not come by WebSocket:\n%s", l.logged())
	}
	l.do(t, 0, "bench", "--live")
}

// A run.json that a crash has left must not get the token sent to whoever
// listens at the port now.
func TestAsk_StaleRunFileGetsNoToken(t *testing.T) {
	var lc net.ListenConfig
	stranger, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
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
	if err := hostfiles.WriteRun(filepath.Join(dir, hostfiles.RunName), hostfiles.RunInfo{PID: 1, Nerve: stranger.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	if got := plexus(t.Context(), environ, "ask", "hello"); got.code != exitNotRunning {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	_ = stranger.Close()
	if <-letIn {
		t.Error("the stranger was connected to")
	}
}
