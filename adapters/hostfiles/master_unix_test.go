//go:build unix

package hostfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plexus/domain/pairing"
	"plexus/ports"
	"plexus/ports/portstest"
)

func TestN69_MasterTokenFileIsPrivateAndKept(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadMasterToken(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("with no file: %v", err)
	}
	token, created, err := EnsureMasterToken(dir)
	if err != nil || !created || !pairing.WellFormed(token.Reveal()) {
		t.Fatalf("created %v, %v", created, err)
	}
	path := filepath.Join(dir, MasterTokenName)
	if got := mode(t, path); got != 0o600 {
		t.Errorf("mode is %04o", got)
	}
	again, created, err := EnsureMasterToken(dir)
	if err != nil || created || again != token {
		t.Errorf("the second start: created %v, same token %v, %v", created, again == token, err)
	}
	if _, err := CreateMasterToken(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second token: %v, want fs.ErrExist", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files in the directory, %v, want the token's alone", len(entries), err)
	}
}

func TestN69_OneOfManyStartsMakesTheToken(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for n := range errs {
		wg.Go(func() { _, errs[n] = CreateMasterToken(dir) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v, want fs.ErrExist", err)
		}
	}
	if _, err := LoadMasterToken(dir); made != 1 || err != nil {
		t.Errorf("%d tokens made, %v", made, err)
	}
}

func TestN71_MasterTokenFileIsRefusedAsItIs(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	write := func(content string, mode fs.FileMode) func(string) error {
		return func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, mode))
		}
	}
	for name, c := range map[string]struct {
		make func(path string) error
		why  string
	}{
		"symlink": {func(path string) error {
			return errors.Join(write(token, 0o600)(path+".real"), os.Symlink(path+".real", path))
		}, "symbolic link"},
		"mode 0644":     {write(token, 0o644), "mode 0644"},
		"mode 0640":     {write(token, 0o640), "mode 0640"},
		"directory":     {func(path string) error { return os.Mkdir(path, 0o700) }, "regular file"},
		"empty":         {write("", 0o600), "32 lower-case hex"},
		"upper case":    {write(strings.ToUpper(token), 0o600), "32 lower-case hex digits (they are capitals)"},
		"two lines":     {write(token[:31]+"\n"+token[:31], 0o600), "more than one line"},
		"64 hex digits": {write(token+token, 0o600), "32 lower-case hex"},
		"65 bytes":      {write(token+strings.Repeat(" ", 33), 0o600), "more than 64 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.make(filepath.Join(dir, MasterTokenName)); err != nil {
				t.Fatal(err)
			}
			_, _, err := EnsureMasterToken(dir)
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.why) || strings.Contains(err.Error(), token) {
				t.Errorf("got %v, want a refusal for %q", err, c.why)
			}
		})
	}
	dir := t.TempDir()
	for _, content := range []string{" " + token + "\r\n\n", "\ufeff" + token + "\r\n"} {
		if err := write(content, 0o600)(filepath.Join(dir, MasterTokenName)); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadMasterToken(dir); err != nil || got.Reveal() != token {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestRevoked_Contract(t *testing.T) {
	portstest.Revocations(t, func(t *testing.T) (ports.RevocationLog, func() ports.RevocationLog) {
		dir := t.TempDir()
		return NewRevoked(dir), func() ports.RevocationLog {
			if got := mode(t, filepath.Join(dir, RevokedName)); got != 0o600 {
				t.Errorf("mode is %04o", got)
			}
			return NewRevoked(dir)
		}
	})
}

func TestRevoked_HealsALineThatACrashCutShort(t *testing.T) {
	dir := t.TempDir()
	_, first := portstest.NewDevice(1)
	_, second := portstest.NewDevice(2)
	content := first.Hex() + "\n" + second.Hex()[:20]
	if err := os.WriteFile(filepath.Join(dir, RevokedName), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	r := NewRevoked(dir)
	if err := r.AppendRevoked(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	got, err := r.RevokedHashes(t.Context())
	if err != nil || len(got) != 2 || got[0] != first || got[1] != second {
		t.Errorf("%d hashes, %v", len(got), err)
	}
}

func TestRevoked_RefusesWhatAnotherAccountCouldHaveMade(t *testing.T) {
	_, hash := portstest.NewDevice(1)
	for name, prepare := range map[string]func(path string) error{
		"symlink":   func(path string) error { return os.Symlink(path+".real", path) },
		"loose":     func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666)) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"another account's": func(path string) error {
			err := os.WriteFile(path, nil, 0o600)
			if os.Geteuid() != 0 { // only root can give a file away; a mode stands for it
				return errors.Join(err, os.Chmod(path, 0o640))
			}
			return errors.Join(err, os.Chown(path, 65534, 65534))
		},
	} {
		dir := t.TempDir()
		if err := prepare(filepath.Join(dir, RevokedName)); err != nil {
			t.Fatal(err)
		}
		var refused *RefusedError
		if err := NewRevoked(dir).AppendRevoked(t.Context(), hash); !errors.As(err, &refused) {
			t.Errorf("%s: append gives %v", name, err)
		}
		if _, err := NewRevoked(dir).RevokedHashes(t.Context()); !errors.As(err, &refused) {
			t.Errorf("%s: reading gives %v", name, err)
		}
	}
}
