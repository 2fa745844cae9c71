package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/doctor"
)

// findings runs doctor and gives the levels by check.
func (p place) findings(t *testing.T, code int) map[string]doctor.Finding {
	t.Helper()
	got := p.plexus(t, "doctor", "--json")
	if got.code != code {
		t.Errorf("doctor: %+v", got)
	}
	var list []doctor.Finding
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil {
		t.Fatalf("%v in %s%s", err, got.stdout, got.stderr)
	}
	by := make(map[string]doctor.Finding)
	for _, f := range list {
		by[f.Check] = f
	}
	return by
}

func TestDoctor_SeesTheHostAndWhatTailscaleDoes(t *testing.T) {
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL)
	p.fakeTailscale(t, "http://127.0.0.1:3000", false)
	p.serve(t)
	by := p.findings(t, 1) // the name leads nowhere here
	for _, check := range []string{"host", "files", "database", "clock", "public url", "client listener"} {
		if by[check].Level != doctor.OK {
			t.Errorf("%s: %+v", check, by[check])
		}
	}
	if f := by["tailscale"]; f.Level != doctor.Fault || !strings.Contains(f.Detail, "127.0.0.1:3000") || !strings.Contains(f.Advice, "plexus setup tailscale") {
		t.Errorf("%+v", f)
	}
	if got := p.plexus(t, "setup", "tailscale", "--yes"); got.code != 0 {
		t.Fatalf("setup: %+v", got)
	}
	if f := p.findings(t, 1)["tailscale"]; f.Level != doctor.OK {
		t.Errorf("after the setup: %+v", f)
	}
	if text := p.plexus(t, "doctor").stdout; !strings.Contains(text, "client listener") || !strings.Contains(text, "a made-up token") {
		t.Errorf("got\n%s", text)
	}
}

// TestDoctor_NamesATokenThatWasPutAside: and the log says why, without what was in it.
func TestDoctor_NamesATokenThatWasPutAside(t *testing.T) {
	p := newPlace(t)
	path := filepath.Join(p.home, ".anvesha", "token")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const spoiled = "cafecafecafecafecafe"
	if err := os.WriteFile(path, []byte(spoiled), 0o600); err != nil {
		t.Fatal(err)
	}
	d := p.serve(t)
	if log := d.logged(); !strings.Contains(log, "20 characters where 64") || strings.Contains(log, spoiled) {
		t.Errorf("the log:\n%s", log)
	}
	if f := p.findings(t, 1)["host token"]; f.Level != doctor.Warning || !strings.Contains(f.Detail, path+".unusable") {
		t.Errorf("%+v", f)
	}
	if content, err := os.ReadFile(path + ".unusable"); err != nil || string(content) != spoiled {
		t.Errorf("kept %q, %v", content, err)
	}
}

func TestDoctor_FindsLooseFilesAndNoHost(t *testing.T) {
	p := newPlace(t)
	d := p.serve(t)
	d.stop(t, syscall.SIGTERM)
	if err := os.Chmod(filepath.Join(p.dataDir(), hostfiles.MasterTokenName), 0o644); err != nil { // for the test
		t.Fatal(err)
	}
	by := p.findings(t, 1)
	if by["host"].Level != doctor.Fault || by["client listener"].Level != doctor.Skipped || by["public url"].Level != doctor.Skipped {
		t.Errorf("%+v", by)
	}
	if f := by["files"]; f.Level != doctor.Fault || !strings.Contains(f.Detail, "0644") {
		t.Errorf("%+v", f)
	}
}

// The devices belong to one master token. Another one is refused with the ways
// out, and each of them works.
func TestServe_RefusesTheDevicesOfAnotherMasterToken(t *testing.T) {
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL)
	d := p.serve(t)
	token, _ := d.redeem(t, d.invite(t).code, "phone")
	copyOf := filepath.Join(p.home, "backup.db")
	d.plexus(t, "backup", copyOf)
	d.stop(t, syscall.SIGTERM)
	master := filepath.Join(p.dataDir(), hostfiles.MasterTokenName)
	if err := os.Remove(master); err != nil {
		t.Fatal(err)
	}
	got := p.plexus(t, "serve", "--nerve-addr", "127.0.0.1:0")
	if got.code != 1 || !strings.Contains(got.stderr, "plexus restore FILE") || !strings.Contains(got.stderr, "plexus devices reset --yes") {
		t.Fatalf("%+v", got)
	}
	if got := p.plexus(t, "restore", copyOf); got.code != 0 {
		t.Fatalf("restore: %+v", got)
	}
	d = p.serve(t)
	if _, code := d.hello(t, token); code != 0 {
		t.Errorf("after restore the phone gets %d", code)
	}
	d.stop(t, syscall.SIGTERM)
	if err := os.Remove(master); err != nil {
		t.Fatal(err)
	}
	if got := p.plexus(t, "devices", "reset", "--yes"); got.code != 0 || !strings.Contains(got.stdout, "1 phone is dropped") {
		t.Fatalf("reset: %+v", got)
	}
	if _, code := p.serve(t).hello(t, token); code != 4003 {
		t.Errorf("after reset the phone gets %d", code)
	}
}

func TestServe_RefusesADamagedDatabaseAndResetMakesANewOne(t *testing.T) {
	p := newPlace(t)
	d := p.serve(t)
	d.stop(t, syscall.SIGTERM)
	database := filepath.Join(p.dataDir(), hostfiles.DatabaseName)
	if err := os.WriteFile(database, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.plexus(t, "serve", "--nerve-addr", "127.0.0.1:0"); got.code != 1 || !strings.Contains(got.stderr, "plexus devices reset --yes") {
		t.Fatalf("%+v", got)
	}
	got := p.plexus(t, "devices", "reset", "--yes")
	if got.code != 0 || !strings.Contains(got.stdout, hostfiles.DatabaseName+".damaged-") || !strings.Contains(got.stdout, "Lost are") {
		t.Fatalf("%+v", got)
	}
	p.serve(t)
}
