// Plexus is the AI host on a person's own machine: it answers what a browser
// extension asks, with the owner's search service and model, or with neither.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/cmd/plexus/cli"
)

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup: the terminal may go, the host stays
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// After the first signal the next one has its usual effect: it ends the
	// process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, cli.Env{
		Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: time.Now, UnixSockets: hostfiles.UnixSockets,
	}, os.Args[1:]))
}
