package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/domain/admission"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/ports"
	"plexus/ports/portstest"
)

// makeDatabase puts devices and a page session into a database and closes it.
func makeDatabase(t *testing.T, path string, devices ...byte) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Now: portstest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range devices {
		d, hash := portstest.NewDevice(n)
		if err := s.Devices().AddDevice(t.Context(), d, hash); err != nil {
			t.Fatal(err)
		}
	}
	now := portstest.NewClock().Now()
	_, err = s.PageSessions().AddPageSession(t.Context(), ports.PageSession{Cookie: secret.New("c").Hash(), CreatedAt: now, LastSeen: now})
	if err := errors.Join(err, s.Settings().PutSetting(t.Context(), "k", "v"), s.Devices().Rebind(t.Context(), testMaster(9).Hash()), s.Close()); err != nil {
		t.Fatal(err)
	}
}

func restoreOptions() RestoreOptions {
	return RestoreOptions{Master: testMaster(1).Hash(), Now: portstest.NewClock().Now}
}

func idOf(n byte) pairing.DeviceID {
	d, _ := portstest.NewDevice(n)
	return d.ID
}

func names(devices []pairing.Device) string {
	all := make([]string, 0, len(devices))
	for _, d := range devices {
		all = append(all, strings.TrimPrefix(d.Name, "📱 number "))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestBackup_IsWholePrivateAndNeverOverAFile(t *testing.T) {
	path := tempPath(t)
	s := openAt(t, path) // a host that runs
	d, hash := portstest.NewDevice(1)
	if err := s.Devices().AddDevice(t.Context(), d, hash); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "a backup's name.db")
	if err := Backup(t.Context(), path, to); err != nil {
		t.Fatal(err)
	}
	checkModes(t, []string{to})
	if got := ask(t, to, "SELECT count(*) FROM devices"); got != "1" {
		t.Errorf("%s devices in the backup", got)
	}
	before := fileHash(t, to)
	if err := Backup(t.Context(), path, to); !errors.Is(err, fs.ErrExist) || fileHash(t, to) != before {
		t.Errorf("over a file: %v, want fs.ErrExist and no change", err)
	}
	junk := filepath.Join(t.TempDir(), "junk.db")
	if err := os.WriteFile(junk, []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]error{junk: ErrDamaged, junk + ".none": fs.ErrNotExist} {
		failed := to + ".failed"
		if err := Backup(t.Context(), from, failed); !errors.Is(err, want) {
			t.Errorf("of %s: %v, want %v", filepath.Base(from), err, want)
		}
		if _, err := os.Lstat(failed); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a failed backup left something: %v", err)
		}
	}
}

func TestN75_ARestoredBackupLetsNoRevokedDeviceIn(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "plexus.db"), filepath.Join(dir, "backup.db")
	makeDatabase(t, path, 1, 2, 3, 4, 5)
	if err := Backup(t.Context(), path, backup); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{Now: portstest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	later, laterHash := portstest.NewDevice(6)
	err = errors.Join(s.Devices().RemoveDevice(t.Context(), idOf(2)), s.Devices().RemoveDevice(t.Context(), idOf(4)),
		s.Devices().AddDevice(t.Context(), later, laterHash), s.Close())
	if err != nil {
		t.Fatal(err)
	}
	_, revoked := portstest.NewDevice(3) // in the list, still in the registry
	opts := restoreOptions()
	opts.Revoked, opts.Readmit = []pairing.TokenHash{revoked}, []pairing.DeviceID{idOf(4)}
	done, err := Restore(t.Context(), backup, path, opts)
	if err != nil {
		t.Fatal(err)
	}
	if names(done.Devices) != "1 4 5" || names(done.Dropped) != "2 3" {
		t.Errorf("back are %s, dropped %s", names(done.Devices), names(done.Dropped))
	}
	back := openAt(t, path)
	list, err := back.Devices().Devices(t.Context())
	if err != nil || names(list) != "1 4 5" {
		t.Errorf("the registry has %s, %v", names(list), err)
	}
	if err := back.Devices().Bind(t.Context(), testMaster(1).Hash()); err != nil {
		t.Errorf("the restored database is not bound to this master token: %v", err)
	}
	sessions, err := back.PageSessions().PageSessions(t.Context(), portstest.NewClock().Now())
	if err != nil || len(sessions) != 0 {
		t.Errorf("%d page sessions came back, %v", len(sessions), err)
	}
	if got, err := back.Settings().Settings(t.Context()); err != nil || got["k"] != "v" {
		t.Errorf("settings are %v, %v", got, err)
	}
	checkModes(t, []string{path, done.Kept})
	if got := ask(t, done.Kept, "SELECT count(*) FROM devices"); got != "4" {
		t.Errorf("the database that was kept aside has %s devices", got)
	}
}

// An extension that was blocked or forgotten since the backup does not come back
// by it; one that cannot be asked about does.
func TestRestore_LetsNoRemovedExtensionIn(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "plexus.db"), filepath.Join(dir, "backup.db")
	s, err := Open(t.Context(), path, Options{Now: portstest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	x, now := s.Extensions(), portstest.NewClock().Now()
	for _, name := range []string{"kept", "blocked", "forgotten"} {
		_, err = x.SaveExtension(t.Context(), admission.Extension{
			Origin: "chrome-extension://" + name, Key: admission.HashKey(name), State: admission.Allowed, FirstSeen: now, LastSeen: now,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := Backup(t.Context(), path, backup); err != nil {
		t.Fatal(err)
	}
	rows, err := x.Extensions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows[1].State = admission.Blocked
	_, err = x.SaveExtension(t.Context(), rows[1])
	if err := errors.Join(err, x.ForgetExtension(t.Context(), rows[2].ID), s.Close()); err != nil {
		t.Fatal(err)
	}
	const states = "SELECT group_concat(substr(origin, 20) || ' ' || state, ', ') FROM extensions"
	done, err := Restore(t.Context(), backup, path, restoreOptions())
	if err != nil || done.Barred != 2 {
		t.Fatalf("%d barred, %v", done.Barred, err)
	}
	if got := ask(t, path, states); got != "kept allowed, blocked blocked" {
		t.Errorf("now there are: %s", got)
	}
	other := filepath.Join(dir, "other.db")
	done, err = Restore(t.Context(), backup, other, restoreOptions())
	if err != nil || done.Barred != 0 || ask(t, other, states) != "kept allowed, blocked allowed, forgotten allowed" {
		t.Errorf("onto nothing: %d barred, %s, %v", done.Barred, ask(t, other, states), err)
	}
}

func TestRestore_OntoNothingOrADamagedDatabaseDropsEveryDevice(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"nothing": func(string) error { return nil },
		"damaged": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(strings.Repeat("junk", 1000)), 0o600), os.WriteFile(path+"-wal", []byte("junk"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, backup := filepath.Join(dir, "plexus.db"), filepath.Join(dir, "backup.db")
			makeDatabase(t, backup, 1, 2)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			opts := restoreOptions()
			opts.Readmit = []pairing.DeviceID{idOf(2)}
			done, err := Restore(t.Context(), backup, path, opts)
			if err != nil || names(done.Devices) != "2" || names(done.Dropped) != "1" || (done.Kept == "") != (name == "nothing") {
				t.Fatalf("got %+v, %v", done, err)
			}
			if name == "damaged" {
				if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the old log lies beside the new database: %v", err)
				}
			}
			list, err := openAt(t, path).Devices().Devices(t.Context())
			if err != nil || names(list) != "2" {
				t.Errorf("the registry has %s, %v", names(list), err)
			}
		})
	}
}

func TestRestore_ABadBackupChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plexus.db")
	makeDatabase(t, path, 1)
	scripts := realScripts(t)
	for name, c := range map[string]struct {
		make func(backup string)
		want func(error) bool
	}{
		"missing":            {func(string) {}, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		"empty":              {func(b string) { writeFile(t, b, "") }, func(err error) bool { return errors.Is(err, ErrHistory) }},
		"junk":               {func(b string) { writeFile(t, b, strings.Repeat("junk", 1000)) }, func(err error) bool { return errors.Is(err, ErrDamaged) }},
		"of another program": {func(b string) { execute(t, b, "CREATE TABLE other (n)") }, func(err error) bool { return errors.Is(err, ErrHistory) }},
		"newer": {func(b string) {
			makeDatabase(t, b)
			execute(t, b, fmt.Sprintf("PRAGMA user_version = %d", len(scripts)+1))
		}, func(err error) bool { return errors.As(err, new(*NewerError)) }},
		"a directory": {func(b string) {
			if err := os.Mkdir(b, 0o700); err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { return err != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			backup := filepath.Join(t.TempDir(), "backup.db")
			c.make(backup)
			before := fileHash(t, path)
			if _, err := Restore(t.Context(), backup, path, restoreOptions()); !c.want(err) {
				t.Errorf("got %v", err)
			}
			if fileHash(t, path) != before {
				t.Error("the database was changed")
			}
			if left, err := filesWithPrefix(path + "."); err != nil || len(left) != 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

func TestRestore_AnOlderBackupIsBroughtForward(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "plexus.db"), filepath.Join(dir, "backup.db")
	mustMigrate(t, backup, realScripts(t)[:3])
	execute(t, backup, rowsOfVersion(3))
	if _, err := Restore(t.Context(), backup, path, restoreOptions()); err != nil {
		t.Fatal(err)
	}
	openAt(t, path)
	if got := ask(t, path, "SELECT count(*) FROM extensions"); got != "1" {
		t.Errorf("%s extensions", got)
	}
	if left, err := filesWithPrefix(path + "."); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestMoveAside_KeepsTheDamagedDatabase(t *testing.T) {
	path := tempPath(t)
	writeFile(t, path, strings.Repeat("junk", 1000))
	writeFile(t, path+"-wal", "junk")
	if _, err := Open(t.Context(), path, Options{Now: time.Now}); !errors.Is(err, ErrDamaged) {
		t.Fatalf("open: %v, want ErrDamaged", err)
	}
	kept, err := MoveAside(t.Context(), path, portstest.NewClock().Now())
	if err != nil || kept != path+".damaged-20260301T093000Z" {
		t.Fatalf("kept as %q, %v", kept, err)
	}
	openAt(t, path)
	if content, err := os.ReadFile(kept); err != nil || string(content) != strings.Repeat("junk", 1000) {
		t.Errorf("%d bytes were kept, %v", len(content), err)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
