//go:build unix

package recognizer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/domain/pcm"
	"plexus/ports"
	"plexus/ports/portstest"
)

// newCommand is a command whose folders lie in a place that has to be empty at
// the end.
func newCommand(t *testing.T, argv ...string) *Command {
	t.Helper()
	c, err := NewCommand(argv, filepath.Join(t.TempDir(), "speech"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(c.dir); len(left) != 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return c
}

// shell runs a script with args as $1 and so on; the WAV file is the next.
func shell(t *testing.T, script string, args ...string) *Command {
	t.Helper()
	return newCommand(t, append([]string{"/bin/sh", "-c", script, "sh"}, args...)...)
}

func TestCommand_Contract(t *testing.T) {
	portstest.Transcriber(t, func(t *testing.T, s portstest.TranscriberScript) ports.Transcriber {
		script := `printf %s "$1"`
		switch {
		case s.Hang:
			script = `sleep 1000`
		case s.Fault:
			script += `; printf %s "$1" >&2; exit 1`
		}
		return shell(t, script, s.Text)
	})
}

func TestCommand_GetsAPrivateFileAsItsLastArgument(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "copy.wav")
	c := shell(t, `cat; cp "$3" "$1" && ls -ld . .. | cut -c1-10; ls -l "$3" | cut -c1-10; echo "$2 $#"; basename "$3"; ls | wc -l; touch left.txt`, copied, "-f")
	got, err := c.Transcribe(t.Context(), tone())
	if err != nil {
		t.Fatal(err)
	}
	if want := "drwx------ drwx------ -rw------- -f 3 speech.wav 1"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
	wav, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	if samples, err := pcm.ParseWAV(wav); err != nil || !bytes.Equal(samples, tone()) {
		t.Errorf("the file holds %d bytes, %v", len(samples), err)
	}
}

func TestCommand_SeesNoSecretOfTheEnvironment(t *testing.T) {
	t.Setenv("PLEXUS_MODEL_API_KEY", testKey)
	t.Setenv("HOME", "/home/someone")
	t.Setenv("LANG", "de_DE.UTF-8")
	got, err := shell(t, `env`).Transcribe(t.Context(), tone())
	if err != nil || strings.Contains(got, testKey) || !strings.Contains(got, "HOME=/home/someone") || !strings.Contains(got, "LANG=de_DE.UTF-8") || !strings.Contains(got, "PATH=") {
		t.Errorf("it sees %q, %v", got, err)
	}
}

func TestCommand_WhatItPrints(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"as whisper-cli prints": {`printf '\n Hello\n  there.\n\n'`, "Hello there."},
		"with time stamps":      {`printf '[00:00:00.000 --> 00:00:02.000]   Hello\n[00:00:02.000 --> 00:00:03.000]  there\n'`, "Hello there"},
		"no UTF-8":              {`printf 'a\377\376b'`, "a\uFFFDb"},
		"up to the bound":       {`head -c 65536 /dev/zero | tr '\0' x`, strings.Repeat("x", maxPrinted)},
		"complaints alone":      {`echo zeppelin >&2`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := shell(t, tt.script).Transcribe(t.Context(), tone()); err != nil || got != tt.want {
				t.Errorf("got %.80q, %v; want %.80q", got, err, tt.want)
			}
		})
	}
}

func TestCommand_Faults(t *testing.T) {
	dir := t.TempDir()
	plainFile, noProgram := filepath.Join(dir, "plain"), filepath.Join(dir, "program")
	for path, mode := range map[string]fs.FileMode{plainFile: 0o600, noProgram: 0o700} {
		if err := os.WriteFile(path, []byte("\x00zeppelin"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		argv  []string
		cause error
		want  string // in the error
	}{
		"not in PATH":       {[]string{"plexus-no-such-program"}, errNoCommand, "plexus-no-such-program"},
		"no such file":      {[]string{filepath.Join(dir, "missing")}, errNotStarted, "no such file"},
		"not executable":    {[]string{plainFile}, errNotStarted, "permission denied"},
		"a folder":          {[]string{dir}, errNotStarted, dir},
		"no program":        {[]string{noProgram}, errNotStarted, "exec format error"},
		"exits 3":           {[]string{"/bin/sh", "-c", "echo hangar; echo zeppelin >&2; exit 3"}, nil, "exit status 3 and 9 bytes of complaints"},
		"killed":            {[]string{"/bin/sh", "-c", "echo hangar; kill -9 $$"}, nil, "signal: killed"},
		"prints 10 MB":      {[]string{"/bin/sh", "-c", "yes zeppelin | head -c 10000000"}, errPrinted, ""},
		"prints for ever":   {[]string{"/bin/sh", "-c", "trap '' PIPE TERM; while :; do echo zeppelin; done"}, errPrinted, ""},
		"complains 10 MB":   {[]string{"/bin/sh", "-c", "yes zeppelin | head -c 10000000 >&2; exit 1"}, nil, "exit status 1 and 10000000 bytes"},
		"one byte too many": {[]string{"/bin/sh", "-c", "head -c 65537 /dev/zero"}, errPrinted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newCommand(t, tt.argv...).Transcribe(t.Context(), tone())
			if got != "" || !errors.Is(err, ports.ErrTranscriberUnavailable) || tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Fatalf("got %q, %v; want %v", got, err, tt.cause)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("no %q in %v", tt.want, err)
			}
			keepsSecrets(t, err)
		})
	}
}

func TestCommand_NoPlaceForTheFile(t *testing.T) {
	c := shell(t, `echo yes`)
	if err := os.WriteFile(c.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(c.dir)
	if _, err := c.Transcribe(t.Context(), tone()); !errors.Is(err, ports.ErrTranscriberUnavailable) || !errors.Is(err, errNoFile) {
		t.Errorf("got %v", err)
	}
}

// alive is a named pipe that scripts hold open: its end is theirs.
type alive struct {
	path string
	up   chan struct{} // closed when one has said so
	gone chan struct{} // closed when none is left
}

func newAlive(t *testing.T) alive {
	t.Helper()
	a := alive{filepath.Join(t.TempDir(), "alive"), make(chan struct{}), make(chan struct{})}
	if err := syscall.Mkfifo(a.path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(a.gone)
		file, err := os.Open(a.path) // waits for a writer
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		in := bufio.NewReader(file)
		if _, err := in.ReadString('\n'); err != nil {
			t.Error(err)
		}
		close(a.up)
		_, _ = io.Copy(io.Discard, in)
	}()
	return a
}

func (a alive) check(t *testing.T) {
	t.Helper()
	select {
	case <-a.gone:
	case <-time.After(2 * time.Second):
		t.Fatal("something still runs")
	}
}

// Whatever a program does, it and all that it started are gone when the context
// has ended, and so is the file.
func TestCommand_NothingOutlivesTheContext(t *testing.T) {
	const hold = `exec 9>"$1"; `
	for name, script := range map[string]string{
		"hangs":                                 hold + `echo up >&9; exec sleep 1000`,
		"ignores signals":                       hold + `trap '' TERM INT HUP QUIT; echo up >&9; while :; do sleep 1000; done`,
		"has a child":                           hold + `sleep 1000 & echo up >&9; wait`,
		"has a grandchild that ignores signals": hold + `sh -c 'trap "" TERM INT HUP; sleep 1000 & echo up >&9; while :; do sleep 1000; done' & wait`,
		"prints and hangs":                      hold + `echo zeppelin; echo up >&9; exec sleep 1000`,
		"has closed its output":                 hold + `echo up >&9; exec >&- 2>&-; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlive(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				<-a.up
				cancel()
			}()
			got, err := shell(t, script, a.path).Transcribe(ctx, tone())
			if got != "" || !errors.Is(err, context.Canceled) || errors.Is(err, ports.ErrTranscriberUnavailable) {
				t.Errorf("got %q, %v; want context.Canceled", got, err)
			}
			a.check(t)
		})
	}
}

// A program that ends while one it has started keeps the output open has said
// what it had to say.
func TestCommand_AChildHoldsTheOutput(t *testing.T) {
	a := newAlive(t)
	got, err := shell(t, `exec 9>"$1"; sleep 1000 & echo up >&9; echo yes`, a.path).Transcribe(t.Context(), tone())
	if got != "yes" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	a.check(t)
}

func TestCommand_HasALimitOfItsOwn(t *testing.T) {
	a := newAlive(t)
	c := shell(t, `exec 9>"$1"; echo up >&9; sleep 1000`, a.path)
	c.limit = 200 * time.Millisecond
	if _, err := c.Transcribe(t.Context(), tone()); !errors.Is(err, ports.ErrTranscriberUnavailable) || !errors.Is(err, errTooSlow) {
		t.Errorf("got %v", err)
	}
	a.check(t)
}

func TestCommand_Check(t *testing.T) {
	if err := newCommand(t, "sh", "-c").Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := newCommand(t, "plexus-no-such-program").Check(t.Context()); !errors.Is(err, errNoCommand) {
		t.Errorf("got %v", err)
	}
	// A program of the working folder is nobody's choice.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "listen"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("PATH", ".")
	if err := newCommand(t, "listen").Check(t.Context()); !errors.Is(err, errNoCommand) {
		t.Errorf("in the working folder: %v", err)
	}
}

func TestNewCommand(t *testing.T) {
	for name, argv := range map[string][]string{
		"nothing": nil, "an empty name": {""}, "a relative path": {"./listen"}, "a NUL": {"sh", "a\x00b"},
	} {
		if _, err := NewCommand(argv, t.TempDir()); err == nil || strings.Contains(err.Error(), "a\x00b") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
