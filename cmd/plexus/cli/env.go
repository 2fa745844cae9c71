// Package cli is what every command of plexus needs of its surroundings: the
// environment it runs in, its flags, and how it prints for people and for programs.
package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/domain/text"
)

// Env is what a command uses of its environment.
type Env struct {
	Environ        []string // "NAME=value"; the last entry of a name wins
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	UnixSockets    bool // the system has them; without, commands come by TCP
}

// Getenv gives the value of an environment variable, "" for none.
func (e Env) Getenv(name string) string {
	for _, entry := range slices.Backward(e.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Paths gives the default paths of this account's files.
func (e Env) Paths() hostfiles.Paths {
	return hostfiles.Paths{OS: runtime.GOOS, Getenv: e.Getenv}
}

// Printf prints for people. A terminal that is gone is no reason to fail. What
// comes from outside must have gone through package text before.
func (e Env) Printf(format string, args ...any) { _, _ = fmt.Fprintf(e.Stdout, format, args...) }

// Errorf prints on the error output, with what a terminal may obey as escapes.
func (e Env) Errorf(format string, args ...any) {
	_, _ = io.WriteString(e.Stderr, text.PrintableLines(fmt.Sprintf(format, args...)))
}

// Confirm asks on the terminal; no answer is a no.
func (e Env) Confirm(question string) bool {
	e.Printf("%s [y/N] ", question)
	answer, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil {
		e.Printf("\n")
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// IsTerminal reports whether a person reads what is written to w.
func IsTerminal(w any) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a device as well, which nobody reads
	return err == nil && !os.SameFile(info, null)
}

// UsageError is a wrong command line: exit code 2.
type UsageError struct{ text string }

func (e UsageError) Error() string { return e.text }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Sprintf(format, args...)} }

// ErrHelp: the help was asked for and has been printed.
var ErrHelp = errors.New("help printed")

// Version is what the linker recorded: a module version, or the revision it was
// built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
