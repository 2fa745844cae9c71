package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"plexus/adapters/hostfiles"
)

// flagSet is one command's flags and the text of its help.
type flagSet struct {
	*flag.FlagSet
	usage string
	notes string
}

// flags starts the flags of a command; usage is its line, notes its help.
func (p *program) flags(usage, notes string) *flagSet {
	fs := flag.NewFlagSet(usage, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return &flagSet{FlagSet: fs, usage: usage, notes: notes}
}

// parse reads flags before, between and after the other words, which it gives
// back. After "--" nothing is a flag.
func (p *program) parse(fs *flagSet, args []string) (words []string, err error) {
	var literal []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, literal = args[:i], args[i+1:]
	}
	for {
		if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
			p.outf("%s\n", fs.help())
			return nil, errHelp
		} else if err != nil {
			return nil, usagef("%s\nplexus %s --help tells more.", err, strings.Fields(fs.usage)[0])
		}
		if fs.NArg() == 0 {
			return append(words, literal...), nil
		}
		words = append(words, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// parseNone is parse for a command that takes no words.
func (p *program) parseNone(fs *flagSet, args []string) error {
	words, err := p.parse(fs, args)
	if err == nil && len(words) > 0 {
		return usagef("%q is one word too many.\nplexus %s --help tells more.", words[0], strings.Fields(fs.usage)[0])
	}
	return err
}

func (fs *flagSet) help() string {
	var s strings.Builder
	fmt.Fprintf(&s, "usage: plexus %s\n\n%s", fs.usage, fs.notes)
	head := "\n\nflags:"
	fs.VisitAll(func(f *flag.Flag) {
		kind, about := flag.UnquoteUsage(f)
		fmt.Fprintf(&s, "%s\n  %s\n      %s", head, strings.TrimSpace("--"+f.Name+" "+kind), about)
		if !slices.Contains([]string{"", "0", "0s", "false"}, f.DefValue) {
			fmt.Fprintf(&s, "; default %s", f.DefValue)
		}
		head = ""
	})
	return s.String()
}

// addDataDir registers --data-dir; the result is to be called after parsing.
func (p *program) addDataDir(fs *flagSet) func() (string, error) {
	given := fs.String("data-dir", "", "`directory` of the database, the lock and the admin socket (PLEXUS_DATA_DIR)")
	return func() (string, error) {
		dir := *given
		if dir == "" {
			dir = p.getenv("PLEXUS_DATA_DIR")
		}
		if dir == "" {
			found, err := p.places().DataDir()
			if err != nil {
				return "", fmt.Errorf("finding the data directory: %w: set HOME, or name the directory with --data-dir", err)
			}
			return found, nil
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("finding the data directory: %w", err)
		}
		return abs, nil
	}
}

func (p *program) places() hostfiles.Places {
	return hostfiles.Places{OS: runtime.GOOS, Getenv: p.getenv}
}
