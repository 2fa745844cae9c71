//go:build unix

package hostfiles

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shortDir is a private directory whose path leaves room for a socket's name.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "plx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// deadSocket leaves a socket file that nobody listens on, as a crash does.
func deadSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestF4_SocketPath(t *testing.T) {
	file := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name    string
		make    func(t *testing.T, path string)
		refused bool
	}{
		{"nothing there", func(*testing.T, string) {}, false},
		{"dead socket of ours", deadSocket, false},
		{"empty file of ours", file(""), false},
		{"file with content", file("keep me"), true},
		{"directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"symlink to a dead socket", func(t *testing.T, path string) {
			deadSocket(t, path+"2")
			if err := os.Symlink(path+"2", path); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(shortDir(t), "n.sock")
			tc.make(t, path)
			l, _, err := ListenUnix(t.Context(), path, "--nerve-socket")
			if tc.refused {
				var refused *RefusedError
				if !errors.As(err, &refused) {
					t.Fatalf("got %v, want a refusal", err)
				}
				if _, err := os.Lstat(path); err != nil {
					t.Errorf("what was there is gone: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m := mode(t, path); m != 0o600 {
				t.Errorf("socket mode %04o, want 0600", m)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the socket stays after a clean stop: %v", err)
			}
		})
	}
}

func TestF4_MakesThePrivateDirectory(t *testing.T) {
	dir := filepath.Join(shortDir(t), "plexus")
	l, _, err := ListenUnix(t.Context(), filepath.Join(dir, "n.sock"), "--nerve-socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if m := mode(t, dir); m != 0o700 {
		t.Errorf("directory mode %04o, want 0700", m)
	}
}

func TestF4_LiveSocketIsLeftAlone(t *testing.T) {
	path := filepath.Join(shortDir(t), "n.sock")
	first, _, err := ListenUnix(t.Context(), path, "--nerve-socket")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, _, err := ListenUnix(t.Context(), path, "--nerve-socket"); !errors.Is(err, ErrSocketAnswers) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want that another daemon answers, and where", err)
	}
	conn, err := DialUnix(t.Context(), path)
	if err != nil {
		t.Fatalf("the first one no longer answers: %v", err)
	}
	_ = conn.Close()
}

func TestF4_LongPathNamesTheFlag(t *testing.T) {
	path := "/" + strings.Repeat("p", maxSocketPath)
	if _, _, err := ListenUnix(t.Context(), path, "--nerve-socket"); err == nil || !strings.Contains(err.Error(), "--nerve-socket") {
		t.Errorf("got %v, want an error that names the flag", err)
	}
}

func TestF4_DeadSocketOfAnotherAccountIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("only root can give a file away; TestF3_ForeignOwner covers the check")
		return
	}
	path := filepath.Join(shortDir(t), "n.sock")
	deadSocket(t, path)
	if err := os.Lchown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	var refused *RefusedError
	if _, _, err := ListenUnix(t.Context(), path, "--nerve-socket"); !errors.As(err, &refused) {
		t.Errorf("listen: got %v, want a refusal", err)
	}
	if _, err := DialUnix(t.Context(), path); !errors.As(err, &refused) {
		t.Errorf("dial: got %v, want a refusal", err)
	}
}

func TestPeerListener_LetsThisAccountIn(t *testing.T) {
	path := filepath.Join(shortDir(t), "n.sock")
	l, _, err := ListenUnix(t.Context(), path, "--nerve-socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.OnRefused = func() { t.Error("this account was refused") }
	out, err := DialUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
}
