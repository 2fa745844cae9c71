package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"plexus/adapters/hostfiles"
	"plexus/domain/text"
)

// Exit codes of every command.
const (
	exitDone        = 0
	exitFailed      = 1 // ask: also when only a notice came
	exitUsage       = 2
	exitNotRunning  = 3
	exitInterrupted = 130
)

// command is one word after plexus, with its own flags.
type command struct {
	name  string
	about string // one line for the list
	run   func(ctx context.Context, p *program, args []string) error
}

// program is what a command may touch of the outside.
type program struct {
	getenv         func(name string) string
	environ        []string // "NAME=value"
	stdin          io.Reader
	stdout, stderr io.Writer
	unixSockets    bool // the system has them; without, commands come by TCP
}

// usageError is a wrong command line: exit code 2.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// errHelp: the help was asked for and has been printed.
var errHelp = errors.New("help printed")

func commands() []command {
	return []command{
		{"serve", "run the host", serve},
		{"open", "open the owner's page and sign in", open},
		{"ask", "ask the running host and print its answer as it comes", ask},
		{"phone", "talk to a host as a phone does, in the terminal", phone},
		{"pair", "pair a phone by a code for its camera", pair},
		{"devices", "show the phones that are paired, or throw one out", devices},
		{"setup", "let the phones of a tailnet reach this host", setup},
		{"status", "show what is configured, reachable and waiting", status},
		{"doctor", "find out why a phone does not get through", diagnose},
		{"extensions", "decide which browser extensions may ask", extensions},
		{"index", "show or empty the index of pages that were asked about", index},
		{"backup", "write a copy of the database to a file", backup},
		{"restore", "bring a backup in", restore},
		{"token", "find or replace the token of programs without a browser", token},
		{"bench", "measure the host beside bare sockets", benchmark},
		{"version", "print the version", version},
	}
}

// run executes one command line and gives its exit code.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	p := &program{
		getenv: lookup(environ), environ: environ, stdin: os.Stdin, stdout: stdout, stderr: stderr,
		unixSockets: hostfiles.UnixSockets,
	}
	return p.execute(ctx, args)
}

func (p *program) execute(ctx context.Context, args []string) int {
	err := p.dispatch(ctx, args)
	code := exitCode(err)
	if code != exitDone && code != exitInterrupted {
		p.errf("plexus: %s\n", err)
	}
	return code
}

func (p *program) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usagef("%s", "no command given.\n"+overview())
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		p.outf("%s\n", overview())
		return nil
	case "-version", "--version":
		return version(ctx, p, args[1:])
	}
	if args[0] == benchChild {
		return runBenchChild(ctx, p, args[1:])
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, p, args[1:])
		}
	}
	return usagef("there is no command %q.\n%s", args[0], overview())
}

func overview() string {
	var s strings.Builder
	s.WriteString("usage: plexus COMMAND\n")
	for _, c := range commands() {
		fmt.Fprintf(&s, "  %-12s%s\n", c.name, c.about)
	}
	s.WriteString("plexus COMMAND --help tells more about one of them.")
	return s.String()
}

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var usage usageError
	var idle *notRunningError
	switch {
	case err == nil, errors.Is(err, errHelp):
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &idle):
		return exitNotRunning
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// outf and errf print for people. A terminal that is gone is no reason to fail.
// What comes from outside must have gone through package text before.
func (p *program) outf(format string, args ...any) { _, _ = fmt.Fprintf(p.stdout, format, args...) }

func (p *program) errf(format string, args ...any) {
	_, _ = io.WriteString(p.stderr, text.PrintableLines(fmt.Sprintf(format, args...)))
}

// lookup searches a list of NAME=value; the last entry of a name wins.
func lookup(environ []string) func(string) string {
	values := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}
