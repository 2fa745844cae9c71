//go:build unix

package hostfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"plexus/domain/admission"
)

const goodToken = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func mustLoad(t *testing.T, path string) LoadResult {
	t.Helper()
	l, err := LoadToken(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The umask would hide a file that is made with loose bits, so it is opened up
// while another goroutine looks at every file that appears.
func TestF1_CreatedPrivateNeverReadableBetween(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), ".anvesha")
	path := filepath.Join(dir, "token")

	done := make(chan struct{})
	var loosest fs.FileMode
	var looks int
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if info, err := os.Lstat(filepath.Join(dir, e.Name())); err == nil {
					looks++
					loosest |= info.Mode().Perm()
				}
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	l := mustLoad(t, path)
	for range 200 {
		if _, err := l.Token.RotateToken(); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	watcher.Wait()

	if !l.Created || l.Replaced || len(l.Warnings) != 0 {
		t.Errorf("got %+v, want a quiet creation", l)
	}
	if looks == 0 || loosest != 0o600 {
		t.Errorf("seen %d times, with modes up to %04o; want 0600", looks, loosest)
	}
	if m := mode(t, dir); m != 0o700 {
		t.Errorf("directory mode %04o, want 0700", m)
	}
	content, err := os.ReadFile(path)
	if err != nil || !admission.WellFormedKey(strings.TrimSpace(string(content))) {
		t.Errorf("content is not 64 hex digits (%v)", err)
	}
}

func TestF2_SecondStartReusesTheToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".anvesha", "token")
	first := mustLoad(t, path)
	second := mustLoad(t, path)
	if second.Created || second.Replaced || len(second.Warnings) != 0 {
		t.Errorf("got %+v, want reuse without a word", second)
	}
	if first.Token.Secret().Hash() != second.Token.Secret().Hash() {
		t.Error("the token changed")
	}
	hash, err := second.Token.RotateToken()
	if err != nil {
		t.Fatal(err)
	}
	third := mustLoad(t, path)
	if third.Token.Secret().Hash() != hash || hash == first.Token.Secret().Hash() {
		t.Error("a rotated token has to be new and to last")
	}
}

func TestF3_DamagedSymlinkedForeignOrReadable(t *testing.T) {
	write := func(content string, perm fs.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, perm); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name     string
		make     func(t *testing.T, path string)
		refused  bool
		replaced bool
		warned   string
	}{
		{"valid with a line end", write(goodToken+"\n", 0o600), false, false, ""},
		{"readable by others", write(goodToken, 0o644), false, false, "could be read"},
		{"empty", write("", 0o600), false, true, "new token"},
		{"short", write(goodToken[1:], 0o600), false, true, "new token"},
		{"upper case", write(strings.ToUpper(goodToken), 0o600), false, false, "plain form"},
		{"a byte order mark and CRLF", write("\ufeff"+goodToken+"\r\n", 0o600), false, false, "plain form"},
		{"a scheme before it", write("Bearer "+goodToken, 0o600), false, false, "plain form"},
		{"CRLF", write(goodToken+"\r\n", 0o600), false, false, ""},
		{"two lines", write(goodToken+"\n"+goodToken+"\n", 0o600), false, true, "more than one line"},
		{"one digit too few", write(goodToken[1:], 0o600), false, true, "63 characters"},
		{"garbage", write("\x00\xff", 0o600), false, true, "new token"},
		{"symlink", func(t *testing.T, path string) {
			target := filepath.Join(t.TempDir(), "elsewhere")
			write(goodToken, 0o600)(t, target)
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		}, true, false, ""},
		{"directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, true, false, ""},
		{"fifo", func(t *testing.T, path string) {
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}, true, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), ".anvesha", "token")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			tc.make(t, path)
			l, err := LoadToken(path)
			var refused *RefusedError
			if errors.As(err, &refused) != tc.refused || (err != nil) != tc.refused {
				t.Fatalf("got error %v, want refused %v", err, tc.refused)
			}
			if tc.refused {
				return
			}
			said := strings.Join(l.Warnings, "\n")
			if l.Replaced != tc.replaced || !strings.Contains(said, tc.warned) || (said == "") != (tc.warned == "") {
				t.Errorf("got %+v", l)
			}
			now, err := os.ReadFile(path)
			if err != nil || strings.TrimSpace(string(now)) != l.Token.Secret().Reveal() {
				t.Errorf("the file does not hold the token in plain form (%v)", err)
			}
			if kept := l.Token.Secret().Reveal() == goodToken; kept == tc.replaced {
				t.Errorf("token kept: %v", kept)
			}
			if mode(t, path) != 0o600 || strings.Contains(said, goodToken) {
				t.Errorf("mode %04o, warnings %q", mode(t, path), said)
			}
		})
	}
}

// TestLoadToken_KeepsWhatItCannotUse: each unusable file under a name of its own, with
// its content and private.
func TestLoadToken_KeepsWhatItCannotUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "[x]", ".anvesha", "token")
	mustLoad(t, path)
	spoiled := []string{"first\n", "", "third " + goodToken}
	for _, content := range spoiled {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if l := mustLoad(t, path); !l.Replaced || !strings.Contains(strings.Join(l.Warnings, ""), "kept as "+path+".unusable") {
			t.Errorf("%q: %+v", content, l)
		}
	}
	aside, err := TokensAside(path)
	if err != nil || len(aside) != len(spoiled) {
		t.Fatalf("kept %q, %v", aside, err)
	}
	for i, one := range aside {
		if content, err := os.ReadFile(one); err != nil || string(content) != spoiled[i] || mode(t, one) != 0o600 {
			t.Errorf("%s holds %q, mode %04o, %v", one, content, mode(t, one), err)
		}
	}
	for n := len(aside) + 1; n <= maxAside; n++ {
		if err := os.WriteFile(fmt.Sprintf("%s.unusable-%d", path, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte("one more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadToken(path); err == nil {
		t.Error("without a free name it was written over")
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "one more" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestF3_ForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		// Only root can give a file away; an ordinary account already meets
		// files of others: the root directory is one.
		if _, err := PrivateDir("/"); err == nil {
			t.Error("a directory of another account was taken")
		}
		return
	}
	path := filepath.Join(t.TempDir(), ".anvesha", "token")
	mustLoad(t, path)
	for _, foreign := range []string{path, filepath.Dir(path)} {
		if err := os.Lchown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		var refused *RefusedError
		if _, err := LoadToken(path); !errors.As(err, &refused) || !strings.Contains(err.Error(), "another account") {
			t.Errorf("%s: got %v, want a refusal", foreign, err)
		}
		if err := os.Lchown(foreign, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrivateDir_RepairsOnlyWhatIsPlainlyOurs(t *testing.T) {
	for _, tc := range []struct {
		name     string
		dir      string
		file     string
		perm     fs.FileMode
		repaired bool
	}{
		{"empty", "d", "", 0o755, true},
		{"our name", "plexus", "other", 0o755, true},
		{"our lock", "d", LockName, 0o755, true},
		{"somebody's folder", "d", "other", 0o755, false},
		{"sticky like /tmp", "plexus", "", 0o777 | fs.ModeSticky, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), tc.dir)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if tc.file != "" {
				if err := os.WriteFile(filepath.Join(dir, tc.file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(dir, tc.perm); err != nil {
				t.Fatal(err)
			}
			warnings, err := PrivateDir(dir)
			if (err == nil) != tc.repaired || (len(warnings) == 1) != tc.repaired {
				t.Errorf("got %v, %v", warnings, err)
			}
			if private := mode(t, dir) == 0o700; private != tc.repaired {
				t.Errorf("mode %04o", mode(t, dir))
			}
		})
	}
}
