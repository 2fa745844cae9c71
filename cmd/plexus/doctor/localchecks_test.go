package doctor

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/hostfiles"
	"plexus/adapters/qr"
	"plexus/adapters/sqlite"
	"plexus/adapters/tailscale"
	"plexus/domain/pairing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a data directory as a stopped host leaves it.
func place(t *testing.T) Subject {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plexus")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := Subject{Directory: dir, Database: filepath.Join(dir, "plexus.db"), Now: time.Now}
	s.Private = []string{s.Database, filepath.Join(dir, "missing")}
	db, err := sqlite.Open(t.Context(), s.Database, sqlite.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLocal_AllIsWell(t *testing.T) {
	s := place(t)
	for _, step := range []func(context.Context) []Finding{s.files, s.disk, s.database, s.clock} {
		for _, f := range step(t.Context()) {
			if f.Level == Fault {
				t.Errorf("%+v", f)
			}
		}
	}
}

func TestLocal_LooseModesAndMissingSockets(t *testing.T) {
	s := place(t)
	if err := os.Chmod(s.Database, 0o640); err != nil { // for the test
		t.Fatal(err)
	}
	s.Running, s.Sockets = true, []string{filepath.Join(s.Directory, "admin.sock")}
	link := filepath.Join(s.Directory, "link")
	if err := os.Symlink(s.Database, link); err != nil {
		t.Fatal(err)
	}
	s.Private = append(s.Private, link)
	found := s.files(t.Context())
	if len(found) != 3 {
		t.Fatalf("%+v", found)
	}
	for i, want := range []string{"mode 0640", "not what it should be", "cannot be looked at"} {
		if found[i].Level != Fault || !strings.Contains(found[i].Detail, want) || found[i].Advice == "" {
			t.Errorf("%+v", found[i])
		}
	}
}

func TestLocal_TokenPutAside(t *testing.T) {
	s := place(t)
	s.TokenFile = filepath.Join(s.Directory, "none", "token")
	if f := s.token(t.Context()); len(f) != 1 || f[0].Level != OK {
		t.Errorf("%+v", f)
	}
	s.TokenFile = filepath.Join(s.Directory, "token")
	if err := os.WriteFile(s.TokenFile, []byte("no token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hostfiles.LoadToken(s.TokenFile); err != nil {
		t.Fatal(err)
	}
	if f := s.token(t.Context()); len(f) != 1 || f[0].Level != Warning || !strings.Contains(f[0].Detail, s.TokenFile+".unusable") {
		t.Errorf("%+v", f)
	}
}

func TestLocal_Database(t *testing.T) {
	s := place(t)
	if err := os.WriteFile(s.Database, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := s.database(t.Context())[0]; f.Level != Fault || !strings.Contains(f.Advice, "plexus restore FILE") {
		t.Errorf("%+v", f)
	}
	s.Database = filepath.Join(s.Directory, "none")
	if f := s.database(t.Context())[0]; f.Level != Skipped {
		t.Errorf("%+v", f)
	}
}

func TestLocal_Clock(t *testing.T) {
	s := place(t)
	for _, now := range []time.Time{time.Unix(0, 0), time.Now().Add(-48 * time.Hour)} {
		s.Now = func() time.Time { return now }
		if f := s.clock(t.Context())[0]; f.Level != Fault || !strings.Contains(f.Advice, "Set the clock") {
			t.Errorf("%s: %+v", now, f)
		}
	}
}

func TestLocal_Code(t *testing.T) {
	s := place(t)
	if f := s.code(t.Context())[0]; f.Level != Skipped || !strings.Contains(f.Detail, "while a host runs") {
		t.Errorf("what a host that does not run knows cannot be seen: %+v", f)
	}
	s.Running = true
	if f := s.code(t.Context())[0]; f.Level != Fault || !strings.Contains(f.Advice, "--public-url") {
		t.Errorf("%+v", f)
	}
	var err error
	if s.Server, err = pairing.ParseServer("wss://" + name); err != nil {
		t.Fatal(err)
	}
	if f := s.code(t.Context())[0]; f.Level != OK || !strings.Contains(f.Detail, name) || !strings.Contains(f.Detail, "columns and reads back") {
		t.Errorf("%+v", f)
	}
	if s.Server, err = pairing.ParseServer("wss://" + strings.Repeat("long.", 48) + "example"); err != nil {
		t.Fatal(err)
	}
	if f := s.code(t.Context())[0]; f.Level != Warning || !strings.Contains(f.Detail, "and reads back") || !strings.Contains(f.Advice, "use the page") {
		t.Errorf("%+v", f)
	}
}

func TestLocal_CodeThatDoesNotReadBack(t *testing.T) {
	server, err := pairing.ParseServer("wss://" + name)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := qr.Encode(server.String())
	if err != nil {
		t.Fatal(err)
	}
	if f := judgeCode(server, matrix, server.String()); f.Level != OK {
		t.Errorf("%+v", f)
	}
	if f := judgeCode(server, matrix, server.String()+"x"); f.Level != Fault || !strings.Contains(f.Detail, "says something else") {
		t.Errorf("%+v", f)
	}
	matrix[20][20] = !matrix[20][20]
	if f := judgeCode(server, matrix, server.String()); f.Level != Fault || !strings.Contains(f.Detail, "cannot be read back") || f.Advice == "" {
		t.Errorf("%+v", f)
	}
}

func TestTailnet(t *testing.T) {
	client := netip.MustParseAddrPort("127.0.0.1:18787")
	private := []string{"127.0.0.1:9010", "127.0.0.1:9001"}
	at := func(port uint16, target string, public bool) tailscale.Forward {
		return tailscale.Forward{Host: name, Port: port, Path: "/", Target: target, Public: public}
	}
	for _, c := range []struct {
		what     string
		server   string
		forwards []tailscale.Forward
		levels   string
		want     string
	}{
		{"as it should be", "wss://" + name, []tailscale.Forward{at(443, "127.0.0.1:18787", false)}, "ok", "to the tailnet alone"},
		{"at another port", "wss://" + name + ":8443", []tailscale.Forward{at(8443, "127.0.0.1:18787", false)}, "ok", ":8443"},
		{"another public URL", "wss://phone.example", nil, "", ""},
		{"nothing served", "wss://" + name, nil, "fault", "plexus setup tailscale"},
		{"at the wrong port", "wss://" + name, []tailscale.Forward{at(8443, "127.0.0.1:18787", false)}, "fault", "hands nothing on"},
		{"another program", "wss://" + name, []tailscale.Forward{at(443, "127.0.0.1:3000", false)}, "fault", "127.0.0.1:3000"},
		{"the page", "wss://" + name, []tailscale.Forward{at(443, "127.0.0.1:18787", false), at(444, "127.0.0.1:9010", false)}, "fault", "for this machine alone"},
		{"funnel", "wss://" + name, []tailscale.Forward{at(443, "127.0.0.1:18787", true)}, "warning", "whole internet"},
		{"funnel under another public URL", "wss://phone.example", []tailscale.Forward{at(443, "127.0.0.1:18787", true)}, "warning", "funnel --https=443 off"},
	} {
		server, err := pairing.ParseServer(c.server)
		if err != nil {
			t.Fatal(err)
		}
		var levels, details []string
		for _, f := range Tailnet(c.forwards, name, server, client, private) {
			levels, details = append(levels, string(f.Level)), append(details, f.Detail+" "+f.Advice)
		}
		if strings.Join(levels, " ") != c.levels || !strings.Contains(strings.Join(details, "\n"), c.want) {
			t.Errorf("%s: %v %q", c.what, levels, details)
		}
	}
}
