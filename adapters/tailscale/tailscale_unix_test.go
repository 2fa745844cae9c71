//go:build unix

package tailscale

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tool puts a shell script in the place of tailscale.
func tool(t *testing.T, script string) (*Tool, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tailscale"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := Find([]string{"PATH=/nowhere", "PATH=" + dir + ":/bin:/usr/bin", "HERE=" + dir})
	if err != nil {
		t.Fatal(err)
	}
	return found, dir
}

func TestFind_None(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tailscale"), nil, 0o600); err != nil { // no program
		t.Fatal(err)
	}
	for _, environ := range [][]string{nil, {"PATH=" + dir}, {"PATH="}, {"PATH=."}} {
		if _, err := Find(environ); !errors.Is(err, ErrNotInstalled) {
			t.Errorf("%v: %v", environ, err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "tailscale"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // where somebody has put a program of that name
	for _, list := range []string{"", ".", "./", ":"} {
		if tool, err := Find([]string{"PATH=" + list}); !errors.Is(err, ErrNotInstalled) {
			t.Errorf("PATH=%q finds %v, %v", list, tool, err)
		}
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"connected", `echo '{"BackendState":"Running","Self":{"DNSName":"Box.tail1234.ts.net."}}'`, "box.tail1234.ts.net"},
		{"stopped", `echo '{"BackendState":"Stopped","Self":{"DNSName":"box.tail1234.ts.net."}}'`, ""},
		{"no MagicDNS", `echo '{"BackendState":"Running","Self":{"DNSName":""}}'`, ""},
	} {
		tool, _ := tool(t, c.script)
		got, err := tool.Name(t.Context())
		if got != c.want || (c.want == "") != errors.Is(err, ErrNotConnected) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	for _, broken := range []string{"echo oops", "echo no >&2; exit 1", "exit 3"} {
		tool, _ := tool(t, broken)
		if got, err := tool.Name(t.Context()); err == nil || errors.Is(err, ErrNotConnected) {
			t.Errorf("%s: %q, %v", broken, got, err)
		}
	}
}

func TestForwards(t *testing.T) {
	tool, _ := tool(t, `cat <<'JSON'
{"TCP":{"443":{"HTTPS":true},"5000":{"TCPForward":"127.0.0.1:18787"}},
 "Web":{"Box.tail1234.ts.net:443":{"Handlers":{"/":{"Proxy":"http://localhost:18787"},"/files":{"Path":"/srv"}}}},
 "AllowFunnel":{"Box.tail1234.ts.net:443":true},
 "Foreground":{"x":{"Web":{"box.tail1234.ts.net:8443":{"Handlers":{"/":{"Proxy":"http://127.0.0.1:9010/x"}}}}}}}
JSON`)
	got, err := tool.Forwards(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Forward{
		{"", 5000, "", "127.0.0.1:18787", false},
		{"box.tail1234.ts.net", 443, "/", "127.0.0.1:18787", true},
		{"box.tail1234.ts.net", 443, "/files", "", true},
		{"box.tail1234.ts.net", 8443, "/", "127.0.0.1:9010", false},
	}
	slices.SortFunc(got, func(a, b Forward) int { return strings.Compare(a.Host+a.Path, b.Host+b.Path) })
	slices.SortFunc(want, func(a, b Forward) int { return strings.Compare(a.Host+a.Path, b.Host+b.Path) })
	for _, f := range want {
		if !slices.Contains(got, f) {
			t.Errorf("no %+v in %+v", f, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %+v", got)
	}
}

func TestForwards_NothingServed(t *testing.T) {
	tool, _ := tool(t, "echo '{}'")
	if got, err := tool.Forwards(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestServe(t *testing.T) {
	tool, dir := tool(t, `echo "$@" > "$HERE/args"; echo "see https://login.example"`)
	var out bytes.Buffer
	if err := tool.Serve(t.Context(), 8443, netip.MustParseAddrPort("127.0.0.1:18787"), &out); err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil || strings.TrimSpace(string(args)) != "serve --bg --https=8443 http://127.0.0.1:18787" {
		t.Errorf("ran with %q, %v", args, err)
	}
	if !strings.Contains(out.String(), "login.example") {
		t.Errorf("what it says is lost: %q", out.String())
	}
}

// A tool that talks without end fills no memory.
func TestCappedKeepsTheBeginning(t *testing.T) {
	var c capped
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 8 {
		if n, err := c.Write(chunk); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
	}
	if c.Len() != maxAnswer {
		t.Errorf("%d bytes kept", c.Len())
	}
}
