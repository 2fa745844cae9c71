package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// FlagSet is one command's flags and the text of its help.
type FlagSet struct {
	*flag.FlagSet
	Usage string // its line, without "plexus"
	notes string
}

// NewFlags starts the flags of a command; usage is its line, notes its help.
func NewFlags(usage, notes string) *FlagSet {
	fs := flag.NewFlagSet(usage, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return &FlagSet{FlagSet: fs, Usage: usage, notes: notes}
}

// Parse reads flags before, between and after the other words, which it gives
// back. After "--" nothing is a flag. Where the help was asked for it is printed, and
// the error is ErrHelp.
func (fs *FlagSet) Parse(env Env, args []string) (words []string, err error) {
	var literal []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, literal = args[:i], args[i+1:]
	}
	for {
		if err := fs.FlagSet.Parse(args); errors.Is(err, flag.ErrHelp) {
			env.Printf("%s\n", fs.help())
			return nil, ErrHelp
		} else if err != nil {
			return nil, Usagef("%s\nplexus %s --help tells more.", err, strings.Fields(fs.Usage)[0])
		}
		if fs.NArg() == 0 {
			return append(words, literal...), nil
		}
		words = append(words, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// ParseNone is Parse for a command that takes no words.
func (fs *FlagSet) ParseNone(env Env, args []string) error {
	words, err := fs.Parse(env, args)
	if err == nil && len(words) > 0 {
		return Usagef("%q is one word too many.\nplexus %s --help tells more.", words[0], strings.Fields(fs.Usage)[0])
	}
	return err
}

func (fs *FlagSet) help() string {
	var s strings.Builder
	fmt.Fprintf(&s, "usage: plexus %s\n\n%s", fs.Usage, fs.notes)
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

// ParseInDir is Parse for a command that works on a data directory, which it gives
// back too: it registers --data-dir.
func (fs *FlagSet) ParseInDir(env Env, args []string) (words []string, dir string, err error) {
	dataDir := fs.DataDir(env)
	if words, err = fs.Parse(env, args); err == nil {
		dir, err = dataDir()
	}
	return words, dir, err
}

// ParseNoneInDir is ParseInDir for a command that takes no words.
func (fs *FlagSet) ParseNoneInDir(env Env, args []string) (dir string, err error) {
	dataDir := fs.DataDir(env)
	if err = fs.ParseNone(env, args); err == nil {
		dir, err = dataDir()
	}
	return dir, err
}

// ConfigFile registers --config.
func (fs *FlagSet) ConfigFile() *string {
	return fs.String("config", "", "configuration `file` (PLEXUS_CONFIG)")
}

// DataDir registers --data-dir; the result is to be called after parsing.
func (fs *FlagSet) DataDir(env Env) func() (string, error) {
	given := fs.String("data-dir", "", "`directory` of the database, the lock and the admin socket (PLEXUS_DATA_DIR)")
	return func() (string, error) {
		dir, err := cmp.Or(*given, env.Getenv("PLEXUS_DATA_DIR")), error(nil)
		if dir != "" {
			dir, err = filepath.Abs(dir)
		} else if dir, err = env.Paths().DataDir(); err != nil {
			err = fmt.Errorf("%w: set HOME, or name the directory with --data-dir", err)
		}
		if err != nil {
			return "", fmt.Errorf("finding the data directory: %w", err)
		}
		return dir, nil
	}
}
