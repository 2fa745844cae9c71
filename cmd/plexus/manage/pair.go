// Package manage holds the commands by which the owner decides who may come in, phones,
// extensions and programs, and looks after what is stored.
package manage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/qr"
	"plexus/adapters/tailscale"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
	"plexus/domain/pairing"
	"plexus/domain/text"
	"plexus/ports"
	"plexus/usecases/devices"
)

const pairUsage = "pair [--public-url wss://NAME] [--keep] [--legacy] [--dark-on-light] [--json]"

const pairNotes = `Opens an invitation, draws its code for the phone's camera, and waits until a
phone has taken it. Interrupted, it takes the invitation back. The code pairs one
phone, so show it to nobody else. The address is remembered as the public URL once
a phone has paired by it, or at once with --keep.`

// cancelLimit bounds taking an invitation back after an interruption.
const cancelLimit = 3 * time.Second

// Pair is the command plexus pair.
func Pair(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(pairUsage, pairNotes)
	server := fs.String("public-url", "", "`address` by which the phone reaches this host, such as wss://box.tailnet.ts.net; default the public URL")
	keep := fs.Bool("keep", false, "remember the address of --public-url at once")
	legacy := fs.Bool("legacy", false, "draw a code with an expiry, for an app that refuses the usual one")
	inverse := fs.Bool("dark-on-light", false, "the terminal writes dark on light")
	asJSON := fs.Bool("json", false, "print the invitation, with the text of its code, and then what became of it, as JSON")
	dir, err := fs.ParseNoneInDir(env, args)
	if err != nil {
		return err
	}
	if *keep && *server == "" {
		return cli.Usagef("--keep remembers the address of --public-url, and none is given")
	}
	invitation, err := hostclient.Call(ctx, dir, func(c *adminapi.Client, ctx context.Context) (adminapi.Invitation, error) {
		return c.Invite(ctx, *server, *legacy, *keep)
	})
	if err != nil {
		return whyNoInvitation(ctx, env, err)
	}
	if *asJSON {
		err = env.PrintJSON(invitation)
	} else {
		err = drawInvitation(env, invitation, *inverse)
	}
	outcome := adminapi.Outcome{State: string(pairing.Waiting)}
	for err == nil && outcome.State == string(pairing.Waiting) {
		outcome, err = hostclient.Call(ctx, dir, func(c *adminapi.Client, ctx context.Context) (adminapi.Outcome, error) {
			return c.Outcome(ctx, invitation.ID)
		})
	}
	if errors.Is(err, adminapi.ErrUnreachable) && ctx.Err() == nil {
		return fmt.Errorf("the host has ended, and the code with it: %w", &hostclient.NotRunningError{DataDir: dir})
	}
	if err != nil {
		return errors.Join(err, takeBack(ctx, dir, invitation.ID))
	}
	return tellOutcome(env, outcome, *asJSON)
}

// printJSON prints what a call gave, unless it failed.
func printJSON(env cli.Env, value any, err error) error {
	if err != nil {
		return err
	}
	return env.PrintJSON(value)
}

// whyNoInvitation says what to do where no invitation could be opened.
func whyNoInvitation(ctx context.Context, env cli.Env, err error) error {
	var bad *pairing.AddressError
	switch {
	case errors.As(err, &bad):
		return cli.Usagef("this address cannot be in a code: %s: %s\nIt has to look like wss://box.tailnet.ts.net", bad.Part, bad.Reason)
	case errors.Is(err, ports.ErrDeviceLimit):
		return fmt.Errorf("%d phones are paired, and there is no place for another: plexus devices list, then plexus devices revoke ID", pairing.MaxDevices)
	case errors.Is(err, devices.ErrSettingFixed):
		return errors.New("the public URL is set by a flag, the environment or the configuration file (public_url): change it there, or leave --keep out")
	case errors.Is(err, adminapi.ErrNoPublicURL):
		const lead = "no public URL is set, so a phone would not know where to connect.\n"
		_, name, err := tailscale.FindConnected(ctx, env.Environ)
		if err != nil {
			return errors.New(lead + "With Tailscale on this machine and on the phone: plexus setup tailscale\nWith a TLS proxy of your own: plexus pair --public-url wss://NAME")
		}
		return fmt.Errorf("%sThis machine's name in its tailnet is %s:\n    plexus setup tailscale\n    plexus pair --public-url wss://%s", lead, name, name)
	}
	return err
}

func drawInvitation(env cli.Env, i adminapi.Invitation, inverse bool) error {
	matrix, err := qr.Encode(i.Payload)
	if err != nil {
		return fmt.Errorf("drawing the code: %w", err)
	}
	env.Printf("\n%s\nThe phone will connect to %s\n", qr.Terminal(matrix, inverse), i.Server)
	switch {
	case i.PublicURL == i.Server:
	case i.PublicURLFixed:
		env.Printf("That is not the public URL, %s, which is set by a flag, the environment or the configuration file and stays.\n", i.PublicURL)
	case i.PublicURL == "":
		env.Printf("This address is remembered once a phone has paired by it; --keep remembers it at once.\n")
	default:
		env.Printf("That is not the address so far, %s. It is remembered in its place once a phone has paired by it; --keep does so at once.\n", i.PublicURL)
	}
	if i.Replaced {
		env.Printf("The code that was open before has been replaced and works no longer.\n")
	}
	env.Printf("Scan it with the app. Waiting; Ctrl-C takes the code back.\n")
	return nil
}

// takeBack closes the invitation although ctx may have ended. A host that is
// gone has no invitation any more.
func takeBack(ctx context.Context, dir, id string) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer stop()
	_, err := hostclient.Call(ctx, dir, func(c *adminapi.Client, ctx context.Context) (bool, error) { return c.CancelInvitation(ctx, id) })
	var idle *hostclient.NotRunningError
	if errors.As(err, &idle) {
		return nil
	}
	return err
}

func tellOutcome(env cli.Env, o adminapi.Outcome, asJSON bool) error {
	if asJSON {
		if err := env.PrintJSON(o); err != nil {
			return err
		}
	}
	switch pairing.State(o.State) {
	case pairing.Redeemed:
		if !asJSON {
			env.Printf("Paired with %s (%s).\n", text.Printable(o.Device.Name), o.Device.ID)
		}
		return nil
	case pairing.Replaced:
		return errors.New("this code was replaced by a newer one and works no longer")
	case pairing.Canceled:
		return errors.New("this code was taken back")
	}
	return errors.New("the host has started again and knows this code no longer")
}
