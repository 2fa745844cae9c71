package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeTailscale puts a script on the PATH that plays tailscale. It serves what
// it was last told to serve, on the internet too where funnel is set, and writes
// its words to a file.
func (p *place) fakeTailscale(t *testing.T, served string, funnel bool) (words string) {
	t.Helper()
	bin := filepath.Join(p.home, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	words = filepath.Join(p.home, "tailscale-words")
	state := filepath.Join(p.home, "tailscale-target")
	if err := os.WriteFile(state, []byte(served), 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
echo "$@" >> %[1]q
case "$1 $2" in
"status --json") echo '{"BackendState":"Running","Self":{"DNSName":"box.tail1234.ts.net."}}' ;;
"serve status") echo '{"Web":{"box.tail1234.ts.net:443":{"Handlers":{"/":{"Proxy":"'"$(cat %[2]q)"'"}}}},"AllowFunnel":{"box.tail1234.ts.net:443":%[3]t}}' ;;
"serve --bg") echo "$4" > %[2]q ;;
esac
`, words, state, funnel)
	if err := os.WriteFile(filepath.Join(bin, "tailscale"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p.environ = append(p.environ, "PATH="+bin+":"+os.Getenv("PATH"))
	return words
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSetupTailscale_AsksThenRunsAndChecks(t *testing.T) {
	p := newPlace(t)
	words := p.fakeTailscale(t, "http://127.0.0.1:9", false)
	d := p.serve(t)
	command := "serve --bg --https=443 http://" + d.Client

	no := p.command(t, "setup", "tailscale")
	no.Stdin = strings.NewReader("no\n")
	out, err := no.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "tailscale "+command) || !strings.Contains(string(out), "nothing was changed") {
		t.Errorf("after a no: %v\n%s", err, out)
	}
	if said := read(t, words); strings.Contains(said, "--bg") {
		t.Fatalf("it was run after a no:\n%s", said)
	}
	yes := p.command(t, "setup", "tailscale")
	yes.Stdin = strings.NewReader("y\n")
	if out, err := yes.CombinedOutput(); err != nil || !strings.Contains(string(out), "plexus pair --public-url "+publicURL) {
		t.Errorf("after a yes: %v\n%s", err, out)
	}
	if said := read(t, words); !strings.Contains(said, command) {
		t.Errorf("it was not run:\n%s", said)
	}
	if got := d.plexus(t, "pair"); got.code != 1 || !strings.Contains(got.stderr, "plexus pair --public-url "+publicURL) {
		t.Errorf("pair does not name the tailnet's address: %+v", got)
	}
}

func TestSetupTailscale_FunnelIsNotTaken(t *testing.T) {
	p := newPlace(t)
	p.fakeTailscale(t, "", true)
	p.serve(t)
	if got := p.plexus(t, "setup", "tailscale", "--yes"); got.code != 1 || !strings.Contains(got.stderr, "Funnel is on") {
		t.Errorf("got %+v", got)
	}
}
