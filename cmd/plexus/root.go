package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
	"plexus/cmd/plexus/manage"
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
	run   func(ctx context.Context, env cli.Env, args []string) error
}

func commands() []command {
	return []command{
		{"serve", "run the host", serve},
		{"open", "open the owner's page and sign in", open},
		{"ask", "ask the running host and print its answer as it comes", runAsk},
		{"phone", "talk to a host as a phone does, in the terminal", runPhone},
		{"pair", "pair a phone by a code for its camera", manage.Pair},
		{"devices", "show the phones that are paired, rename one, let one in, or throw one out", manage.Devices},
		{"setup", "let the phones of a tailnet reach this host", manage.Setup},
		{"status", "show what is configured, reachable and waiting", runStatus},
		{"doctor", "find out why a phone does not get through", diagnose},
		{"extensions", "decide which browser extensions may ask", manage.Extensions},
		{"index", "show, forget or exclude pages that were asked about", manage.Index},
		{"backup", "write a copy of the database to a file", manage.Backup},
		{"restore", "bring a backup in", manage.Restore},
		{"token", "find or replace the token of programs without a browser", manage.Token},
		{"bench", "measure the host beside bare sockets", benchmark},
		{"version", "print the version", version},
	}
}

// run executes one command line and gives its exit code.
func run(ctx context.Context, env cli.Env, args []string) int {
	err := dispatch(ctx, env, args)
	code := exitCode(err)
	if code != exitDone && code != exitInterrupted {
		env.Errorf("plexus: %s\n", err)
	}
	return code
}

func dispatch(ctx context.Context, env cli.Env, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("%s", "no command given.\n"+overview())
	}
	name, args := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		env.Printf("%s\n", overview())
		return nil
	case "-version", "--version":
		return version(ctx, env, args)
	case benchChild:
		return runBenchChild(ctx, env, args)
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, env, args)
		}
	}
	return cli.Usagef("there is no command %q.\n%s", name, overview())
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
	var usage cli.UsageError
	var idle *hostclient.NotRunningError
	switch {
	case err == nil, errors.Is(err, cli.ErrHelp):
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

func version(_ context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags("version", "Prints the version of this program and of what built it.")
	if err := fs.ParseNone(env, args); err != nil {
		return err
	}
	env.Printf("plexus %s %s %s/%s\n", cli.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
