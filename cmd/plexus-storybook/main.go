// plexus-storybook shows every view of the owner's page in every state, with
// canned values. It is for those who work on the page and does not ship.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"time"

	"plexus/adapters/qr"
	"plexus/web"
	"plexus/web/stories"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run serves until ctx ends and gives the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("plexus-storybook", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:9099", "loopback `address` to listen on")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := serve(ctx, *addr, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "plexus-storybook: %v\n", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, addr string, stdout io.Writer) error {
	matrix, err := qr.Encode(stories.Payload)
	if err != nil {
		return fmt.Errorf("draw the code of the stories: %w", err)
	}
	handler, err := stories.Handler(time.Now, web.NewQRCode(matrix))
	if err != nil {
		return err
	}
	if at, err := netip.ParseAddrPort(addr); err != nil || !at.Addr().IsLoopback() {
		return fmt.Errorf("%q is no loopback address with a port", addr)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if _, err := fmt.Fprintf(stdout, "http://%s/\n", ln.Addr()); err != nil {
		return err
	}
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
