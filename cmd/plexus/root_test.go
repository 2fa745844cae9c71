package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// outcome is what one command line did.
type outcome struct {
	stdout, stderr string
	code           int
}

// home gives an environment of its own, with short paths for sockets.
func home(t *testing.T) (dir string, environ []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "plx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir, []string{"HOME=" + dir, "LANG=en_GB.UTF-8", "PLEXUS_DATA_DIR=" + filepath.Join(dir, "data")}
}

func testEnv(environ []string, stdout, stderr io.Writer) cli.Env {
	return cli.Env{
		Environ: environ, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Now: time.Now, UnixSockets: hostfiles.UnixSockets,
	}
}

func plexus(ctx context.Context, environ []string, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(ctx, testEnv(environ, &stdout, &stderr), args)
	return outcome{stdout.String(), stderr.String(), code}
}

func TestRun_CommandLines(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   string // split at blanks
		code   int
		stdout string // part of it, "" for nothing at all
		stderr string
	}{
		{"no command", "", 2, "", "no command given"},
		{"unknown command", "frobnicate", 2, "", `no command "frobnicate"`},
		{"help", "help", 0, "usage: plexus COMMAND", ""},
		{"help flag", "--help", 0, "extensions", ""},
		{"help of a command", "ask --help", 0, `usage: plexus ask [flags] "question"`, ""},
		{"help tells a default", "ask --help", 0, "1 to 100; default 5", ""},
		{"version as a flag", "--version", 0, "plexus ", ""},
		{"help of serve names the variables", "serve --help", 0, "PLEXUS_NERVE_ADDR", ""},
		{"version", "version", 0, "plexus ", ""},
		{"version with a word", "version 2", 2, "", `"2" is one word too many`},
		{"unknown flag", "status --colour", 2, "", "-colour"},
		{"serve with a word", "serve now", 2, "", `"now" is one word too many`},
		{"serve where no folder can be", "serve --data-dir /dev/null/x", 1, "", "Another place can be chosen with --data-dir"},
		{"serve beyond this machine", "serve --nerve-addr 0.0.0.0:9001", 2, "", "--nerve-addr is \"0.0.0.0:9001\""},
		{"serve at a name", "serve --nerve-addr localhost:9001", 2, "", "write 127.0.0.1:9001"},
		{"serve for a web page", "serve --allow-origin https://a.example", 2, "", "--allow-origin holds"},
		{"serve with a missing file", "serve --config /nowhere/c.toml", 2, "", "reading the configuration"},
		{"ask nothing", "ask", 2, "", "ask what?"},
		{"ask blanks", "ask --", 2, "", "ask what?"},
		{"ask for too many", "ask --max-results 101 x", 2, "", "1 to 100"},
		{"ask about no web page", "ask x --url file:///etc/passwd", 2, "", "http:// or https://"},
		{"ask about a script", "ask x --url javascript:alert(1)", 2, "", "http:// or https://"},
		{"ask about a name", "ask x --url example.org/tower", 2, "", "http:// or https://"},
		{"ask about no host", "ask x --url https:///tower", 2, "", "http:// or https://"},
		{"ask about nothing that is piped in", "ask x --extract -", 1, "", "is empty"},
		{"ask about a web page", "ask x --url HTTPS://example.org/tower", 3, "", "no host is running"},
		{"ask nobody", "ask x", 3, "", "no host is running"},
		{"ask nobody, flag after the question", "ask x --no-search", 3, "", "Start one with: plexus serve"},
		{"status of nobody", "status", 3, "", "no host is running"},
		{"extensions without a verb", "extensions", 2, "", "usage: plexus extensions"},
		{"extensions with a strange verb", "extensions invite 1", 2, "", "usage: plexus extensions"},
		{"allow without a number", "extensions allow", 2, "", "usage: plexus extensions"},
		{"allow has nothing to forget", "extensions allow --forget 1", 2, "", "usage: plexus extensions"},
		{"allow at nobody", "extensions allow 1", 3, "", "no host is running"},
		{"serve phones beyond this machine", "serve --client-addr 0.0.0.0:1", 2, "", "--client-addr is \"0.0.0.0:1\""},
		{"serve under a bad public URL", "serve --public-url wss://127.0.0.1", 2, "", "--public-url cannot be used: server address: host"},
		{"pair at nobody", "pair", 3, "", "no host is running"},
		{"pair with a word", "pair phone", 2, "", "one word too many"},
		{"devices without a verb", "devices", 2, "", "usage: plexus devices"},
		{"devices at nobody", "devices list", 3, "", "no host is running"},
		{"rename to nothing", "devices rename 1", 2, "", "usage: plexus devices"},
		{"rename at nobody", "devices rename 1 My phone", 3, "", "no host is running"},
		{"let in at nobody", "devices let-in 1", 3, "", "no host is running"},
		{"revoke nothing", "devices revoke", 2, "", "usage: plexus devices"},
		{"revoke at nobody", "devices revoke 1", 3, "", "no host is running"},
		{"reset needs --yes", "devices reset", 2, "", "plexus devices reset --yes"},
		{"reset needs no host", "devices reset --yes", 0, "0 phones are dropped", ""},
		{"backup of what", "backup", 2, "", "usage: plexus backup"},
		{"backup of nothing", "backup /nowhere/b.db", 1, "", "there is no database yet"},
		{"restore what", "restore", 2, "", "usage: plexus restore"},
		{"restore nothing", "restore /nowhere/b.db", 1, "", "Nothing was changed"},
		{"restore with a bad ID", "restore b.db --readmit 7", 2, "", "device ID is no UUID"},
		{"doctor with a word", "doctor who", 2, "", "one word too many"},
		{"doctor without a host", "doctor", 1, "No host runs on", "something has to be mended"},
		{"doctor without authorities", "doctor --ca-file /nowhere.pem", 1, "", "reading the certificate authorities"},
		{"open at nobody", "open", 3, "", "no host is running"},
		{"a code from nobody", "open --print-code", 3, "", "no host is running"},
		{"the page beyond this machine", "serve --admin-addr 0.0.0.0:1", 2, "", "--admin-addr is \"0.0.0.0:1\""},
		{"setup of what", "setup", 2, "", "usage: plexus setup"},
		{"setup at no port", "setup tailscale --https-port 0", 2, "", "usage: plexus setup"},
		{"setup without the tool", "setup tailscale", 1, "", "tailscale is not installed"},
		{"index without a verb", "index", 2, "", "usage: plexus index"},
		{"clear needs --yes", "index clear", 2, "", "plexus index clear --yes"},
		{"list over the bound", "index list --limit 1001", 2, "", "1 to 1000"},
		{"clear at nobody", "index clear --yes", 3, "", "no host is running"},
		{"token without a verb", "token", 2, "", "usage: plexus token"},
		{"token path needs no host", "token path", 0, "/.anvesha/token", ""},
		{"token path by flag", "token path --nerve-token-file /a/b", 0, "/a/b", ""},
		{"rotate at nobody", "token rotate", 3, "", "no host is running"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, environ := home(t)
			got := plexus(t.Context(), environ, strings.Fields(tc.args)...)
			if got.code != tc.code {
				t.Errorf("exit code %d, want %d", got.code, tc.code)
			}
			for _, pair := range [][2]string{{got.stdout, tc.stdout}, {got.stderr, tc.stderr}} {
				if !strings.Contains(pair[0], pair[1]) || (pair[1] == "") != (pair[0] == "") {
					t.Errorf("printed %q, want %q", pair[0], pair[1])
				}
			}
		})
	}
}

func TestRun_WithoutHomeIsAnError(t *testing.T) {
	for _, args := range []string{"serve", "status", "token path"} {
		got := plexus(t.Context(), []string{"PATH=/bin"}, strings.Fields(args)...)
		if got.code != exitFailed || !strings.Contains(got.stderr, "no home directory") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, tc := range []struct {
		err  error
		code int
	}{
		{nil, 0}, {cli.ErrHelp, 0}, {errors.New("x"), 1}, {errNoAnswer, 1}, {cli.Usagef("x"), 2},
		{&hostclient.NotRunningError{}, 3}, {context.Canceled, 130},
	} {
		if got := exitCode(tc.err); got != tc.code {
			t.Errorf("%v: %d, want %d", tc.err, got, tc.code)
		}
	}
}

// What a stranger chose must not move the cursor, also when it is an error.
func TestRun_ErrorsAreHarmless(t *testing.T) {
	_, environ := home(t)
	got := plexus(t.Context(), environ, "\x1b[2Jevil")
	if strings.Contains(got.stderr, "\x1b") {
		t.Errorf("got %q", got.stderr)
	}
}

func TestPhone_CommandLines(t *testing.T) {
	_, environ := home(t)
	for args, code := range map[string]int{
		"phone": exitUsage, "phone now": exitUsage, "phone --help": exitDone, "phone --dial 10.0.0.1:1": exitUsage,
		"phone --dial localhost:1": exitUsage, "phone --ca-file /dev/null": exitFailed, "phone --payload-file /nowhere": exitFailed,
	} {
		if got := plexus(t.Context(), environ, strings.Fields(args)...); got.code != code {
			t.Errorf("plexus %s gives %d: %s", args, got.code, got.stderr)
		}
	}
}
