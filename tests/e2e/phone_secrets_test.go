package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"plexus/adapters/hostfiles"
)

// gathered is what a whole life of a host has shown anywhere, and the secrets of
// that life.
type gathered struct {
	texts   map[string]string // by where they were seen
	secrets []string
}

func (g *gathered) see(where, text string) { g.texts[where] += text + "\n" }

// arguments reads the command lines of all processes of this machine.
func (g *gathered) arguments(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return // elsewhere the files of the browser and of Tailscale tell
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Fatalf("no process can be seen: %v", err)
	}
	for _, path := range lines {
		if b, err := os.ReadFile(path); err == nil { // others have ended
			g.see("process arguments", strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
}

// phonesOfAllKinds pairs a phone, and sends each secret to where it does not
// belong as well, also in URLs.
func (g *gathered) phonesOfAllKinds(t *testing.T, d *daemon) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dataDir(), hostfiles.MasterTokenName))
	if err != nil {
		t.Fatal(err)
	}
	master := strings.TrimSpace(string(b))
	i := d.invite(t)
	g.arguments(t)
	for _, wrong := range []string{master, strings.Repeat("0", 32)} {
		d.exchange(t, "/client/pair", `{"type":"pair.redeem","code":"`+wrong+`","device_name":"x"}`)
	}
	d.hello(t, i.code)
	token, id := d.redeem(t, i.code, "phone")
	ended := i.wait(t)
	g.see("output of pair", ended.stdout+ended.stderr)
	for _, wrong := range []string{token, i.code} {
		d.exchange(t, "/client/pair", `{"type":"pair.redeem","code":"`+wrong+`","device_name":"x"}`)
		d.exchange(t, "/client/pair-admin", `{"type":"pair.list","token":"`+wrong+`"}`)
	}
	if list := d.exchange(t, "/client/pair-admin", `{"type":"pair.list","token":"`+master+`"}`); !strings.Contains(list, id) {
		t.Errorf("the master token gets %s", list)
	}
	d.exchange(t, "/client/pair-admin", `{"type":"pair.create","token":"`+master+`","server":"wss://u:`+token+`@x.example"}`)
	for _, target := range []string{"/client/v1?token=" + token, "/client/pair?code=" + i.code, "/client/pair-admin?token=" + master, "/" + token} {
		if ws, _, err := websocket.Dial(t.Context(), "ws://"+d.Client+target, nil); err == nil {
			if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != 4004 {
				t.Errorf("a credential in the URL ends with %v", err)
			}
			_ = ws.CloseNow()
		}
		resp, err := http.Get("http://" + d.Client + target) // a test's own daemon
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	d.hello(t, master)
	d.hello(t, token)
	g.see("output of devices", d.plexus(t, "devices", "list").stdout+d.plexus(t, "devices", "list", "--json").stdout)
	refused := d.plexus(t, "devices", "revoke", token)
	g.see("output of status", d.plexus(t, "status").stdout+d.plexus(t, "status", "--json").stdout)
	// It repeats what it was told, so only the host's own part of it counts.
	g.see("refusal of revoke", strings.ReplaceAll(refused.stderr, token, ""))
	d.plexus(t, "devices", "revoke", id)
	g.secrets = append(g.secrets, master, i.code, token)
}

// owner signs in by link and by code, rightly and wrongly.
func (g *gathered) owner(t *testing.T, d *daemon, told, seen string) {
	t.Helper()
	g.see("output of open", d.plexus(t, "open").stdout)
	g.arguments(t)
	g.see("browser's arguments", read(t, told))
	link := fragment.FindStringSubmatch(read(t, seen))[2]
	client, home := d.signIn(t, "secret", link)
	d.signIn(t, "secret", link)
	code := typedCode.FindStringSubmatch(d.plexus(t, "open", "--print-code").stdout)[1]
	d.signIn(t, "code", code)
	prefix := strings.TrimSuffix(strings.TrimPrefix(home, "/s/"), "/")
	at, err := url.Parse("http://" + d.Admin + home)
	if err != nil {
		t.Fatal(err)
	}
	cookies := client.Jar.Cookies(at)
	if len(cookies) != 1 || len(prefix) != 32 {
		t.Fatalf("signed in with %d cookies at %q", len(cookies), home)
	}
	resp, err := client.Get(at.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	g.secrets = append(g.secrets, link, code, strings.ReplaceAll(code, "-", ""), cookies[0].Value, prefix)
}

// files reads what lies in the data directory, but for the token's own file.
func (g *gathered) files(t *testing.T, p place) {
	t.Helper()
	entries, err := os.ReadDir(p.dataDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != hostfiles.MasterTokenName && e.Type().IsRegular() {
			g.see("file "+e.Name(), read(t, filepath.Join(p.dataDir(), e.Name())))
		}
	}
	g.see("file backup.db", read(t, filepath.Join(p.home, "backup.db")))
	g.see("ready file", read(t, filepath.Join(p.home, "run-while-it-ran.json")))
}

func TestN77_SecretsAreSeenNowhere(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL, extractive)
		words := p.fakeTailscale(t, "http://127.0.0.1:3000", false)
		told, seen := p.fakeBrowser(t)
		d := p.serve(t, "--log-format", format)
		g := &gathered{texts: map[string]string{}}
		g.phonesOfAllKinds(t, d)
		g.owner(t, d, told, seen)
		g.see("output of doctor", p.plexus(t, "doctor").stdout+p.plexus(t, "doctor", "--json").stdout)
		g.see("output of backup", p.plexus(t, "backup", filepath.Join(p.home, "backup.db")).stdout)
		if err := os.WriteFile(filepath.Join(p.home, "run-while-it-ran.json"), []byte(read(t, filepath.Join(p.home, "ready.json"))), 0o600); err != nil {
			t.Fatal(err)
		}
		g.arguments(t)
		g.see("Tailscale's arguments", read(t, words))
		if code := d.stop(t, syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d", code)
		}
		g.see("log", d.logged())
		g.files(t, p)
		for _, said := range []string{"a device was paired", "an invitation code was presented", "pair.ready", "pair.error"} {
			if !strings.Contains(g.texts["log"], said) {
				t.Errorf("the log does not say %q:\n%s", said, g.texts["log"])
			}
		}
		for where, text := range g.texts {
			search(t, where+" ("+format+")", text, g.secrets...)
		}
	}
}
