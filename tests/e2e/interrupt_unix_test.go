//go:build unix

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/sqlite"
	"plexus/ports"
)

// TestCtrlC_LeavesNoFileBehind interrupts each command that writes files or waits, a
// little later each time until it is through.
func TestCtrlC_LeavesNoFileBehind(t *testing.T) {
	const tries = 12
	for name, c := range map[string]struct {
		args    []string
		stopped bool     // the host is
		writes  []string // what is there after a command that was through
	}{
		"backup":  {args: []string{"backup", "FILE"}, writes: []string{"copy.db"}},
		"restore": {args: []string{"restore", "BACKUP"}, stopped: true, writes: []string{"data/plexus.db.replaced-"}},
		"pair":    {args: []string{"pair", "--public-url", "wss://box.example.net"}},
		"ask":     {args: []string{"ask", "--extract", "The bridge opened in 1921.", "When did it open?"}},
		"token":   {args: []string{"token", "rotate"}},
		"open":    {args: []string{"open", "--print-code"}},
		"setup":   {args: []string{"setup", "tailscale", "--yes"}},
		"phone":   {args: []string{"phone"}},
		"reset":   {args: []string{"devices", "reset", "--yes"}, stopped: true, writes: []string{"data/"}},
		"exclude": {args: []string{"index", "exclude", "example.org"}},
		"doctor":  {args: []string{"doctor"}},
		"status":  {args: []string{"status"}},
		"bench":   {args: []string{"bench"}, stopped: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, extractive)
			temporary := filepath.Join(p.home, "tmp")
			if err := os.Mkdir(temporary, 0o700); err != nil {
				t.Fatal(err)
			}
			p.environ = append(p.environ, "TMPDIR="+temporary)
			backup := filepath.Join(p.home, "backup.db")
			p.serve(t).stop(t, syscall.SIGTERM)
			enlarge(t, filepath.Join(p.dataDir(), hostfiles.DatabaseName))
			d := p.serve(t)
			if got := p.plexus(t, "backup", backup); got.code != 0 {
				t.Fatalf("%+v", got)
			}
			if c.stopped {
				d.stop(t, syscall.SIGTERM)
			}
			args := slices.Clone(c.args)
			for i, arg := range args {
				args[i] = strings.NewReplacer("FILE", filepath.Join(p.home, "copy.db"), "BACKUP", backup).Replace(arg)
			}
			before := filesOf(t, p.home)
			for try := range tries {
				cmd := p.command(t, args...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Duration(1<<try) * time.Millisecond / 4)
				_ = cmd.Process.Signal(syscall.SIGINT) // it may be through
				_ = cmd.Wait()                         // its code is looked at
				through := cmd.ProcessState.ExitCode() == 0
				for _, file := range filesOf(t, p.home) {
					known := slices.Contains(before, file) || through && slices.ContainsFunc(c.writes, func(w string) bool { return strings.HasPrefix(file, w) })
					if !known {
						t.Errorf("try %d, through %v: %s is left", try, through, file)
					}
				}

				if through || t.Failed() {
					return
				}
			}
		})
	}
}

// enlarge makes a database of which a copy takes a while.
func enlarge(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Personal().Update(t.Context(), func(tx ports.PersonalTx) error {
		for n := range 40 {
			if err := tx.PutRecord("padding", strconv.Itoa(n), make([]byte, 1<<20), 40); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// filesOf lists the files below a directory.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		if err == nil && path != dir {
			path, err = filepath.Rel(dir, path)
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
