package manage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/hostfiles"
	"plexus/adapters/sqlite"
	"plexus/cmd/plexus/app"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
	"plexus/domain/pairing"
	"plexus/domain/text"
	"plexus/ports"
)

const devicesUsage = "devices list | rename ID NAME | let-in ID | revoke ID | reset --yes"

const devicesNotes = `Shows the phones that are paired, gives one another name, or throws one out: its
connection ends at once and its token is never let in again, also not from a
backup. One phone can be connected at a time: let-in ends the connection of
another, so that this one gets in at its next try. ID is the one of the list, or the
beginning of it. reset drops every phone, for a database that belongs to another
master token or cannot be read; no host may run meanwhile.`

// Devices is the command plexus devices.
func Devices(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(devicesUsage, devicesNotes)
	asJSON := fs.Bool("json", false, "print JSON")
	yes := fs.Bool("yes", false, "with reset: do it without asking")
	words, dir, err := fs.ParseInDir(env, args)
	if err != nil {
		return err
	}
	switch verb := strings.Join(words[:min(1, len(words))], ""); {
	case verb == "list" && len(words) == 1:
		return listDevices(ctx, env, dir, *asJSON)
	case verb == "revoke" && len(words) == 2:
		return changeDevice(ctx, env, dir, words[1], *asJSON, "%s is thrown out: its connection is closed and its token is void.\n", (*adminapi.Client).RevokeDevice)
	case verb == "let-in" && len(words) == 2:
		return changeDevice(ctx, env, dir, words[1], *asJSON, "%s gets in at its next try: the place is kept for it for two minutes.\n", (*adminapi.Client).LetDeviceIn)
	case verb == "rename" && len(words) > 2:
		return renameDevice(ctx, env, dir, words[1], strings.Join(words[2:], " "), *asJSON)
	case verb == "reset" && len(words) == 1 && !*yes:
		return cli.Usagef("reset drops every phone, and each has to be paired again. If that is meant: plexus devices reset --yes")
	case verb == "reset" && len(words) == 1:
		return resetDevices(ctx, env, dir)
	}
	return cli.Usagef("usage: plexus %s", devicesUsage)
}

func listDevices(ctx context.Context, env cli.Env, dir string, asJSON bool) error {
	rows, err := hostclient.Call(ctx, dir, (*adminapi.Client).Devices)
	if err != nil || asJSON {
		return printJSON(env, rows, err)
	}
	if len(rows) == 0 {
		env.Printf("No phone is paired. To pair one: plexus pair\n")
		return nil
	}
	env.Printf("%-36s  %-16s  %-16s  %s\n", "ID", "PAIRED", "LAST SEEN", "NAME")
	for _, d := range rows {
		seen := "never connected" // it may be what a lost answer has left behind
		switch {
		case d.Connected:
			seen = "connected now"
		case d.FirstConnectedAt != nil && d.LastSeenAt != nil:
			seen = cli.Minute(*d.LastSeenAt)
		}
		env.Printf("%-36s  %-16s  %-16s  %s\n", d.ID, cli.Minute(d.CreatedAt), seen, text.Printable(d.Name))
		if d.TurnedAwayAt != nil {
			env.Printf("    %s\n", turnedAway(d, env.Now()))
		}
	}
	return nil
}

// turnedAway says why a phone was not let in, and what to do.
func turnedAway(d adminapi.Device, now time.Time) string {
	why := "another phone was connected"
	switch {
	case d.KeptFor:
		why = "the place is kept for another phone, which you let in"
	case d.CanLetIn:
		why = "another phone is connected"
	}
	line := fmt.Sprintf("turned away %s: %s", cli.Ago(*d.TurnedAwayAt, now), why)
	if d.TurnedAwayBy != "" {
		line += ": " + text.Printable(d.TurnedAwayBy)
	}
	if d.CanLetIn {
		line += ". To let this one in: plexus devices let-in " + d.ID[:8]
	}
	return line
}

// changeDevice does something to the phone whose ID begins with which, and then says
// so: done is completed by the phone's name before.
func changeDevice(ctx context.Context, env cli.Env, dir, which string, asJSON bool, done string,
	change func(c *adminapi.Client, ctx context.Context, id string) error) error {
	row, err := onDevice(ctx, dir, which, change)
	if err != nil || asJSON {
		return printJSON(env, row, err)
	}
	env.Printf(done, text.Printable(row.Name))
	return nil
}

// onDevice finds a phone and works on it. The row is that from before.
func onDevice(ctx context.Context, dir, which string, work func(c *adminapi.Client, ctx context.Context, id string) error) (adminapi.Device, error) {
	row, err := hostclient.Call(ctx, dir, func(c *adminapi.Client, ctx context.Context) (adminapi.Device, error) {
		rows, err := c.Devices(ctx)
		if err != nil {
			return adminapi.Device{}, err
		}
		row, err := pickDevice(rows, which)
		if err != nil {
			return row, err
		}
		return row, work(c, ctx, row.ID)
	})
	if errors.Is(err, ports.ErrDeviceUnknown) {
		err = fmt.Errorf("there is no phone with the ID %s. plexus devices list shows all", which)
	}
	return row, err
}

func renameDevice(ctx context.Context, env cli.Env, dir, which, name string, asJSON bool) error {
	var now adminapi.Device
	before, err := onDevice(ctx, dir, which, func(c *adminapi.Client, ctx context.Context, id string) error {
		if err := c.RenameDevice(ctx, id, name); err != nil {
			return err
		}
		rows, err := c.Devices(ctx)
		if err == nil {
			now, err = pickDevice(rows, id)
		}
		return err
	})
	switch {
	case errors.Is(err, pairing.ErrNameEmpty):
		return cli.Usagef("the name is empty. It needs at least one character that can be seen")
	case errors.Is(err, pairing.ErrNameTooLong):
		return cli.Usagef("the name is too long. It can have %d characters", pairing.MaxDeviceName)
	case errors.Is(err, pairing.ErrNameMarks):
		return cli.Usagef("the name holds control characters, or marks that change the direction of writing. Leave them out")
	case err != nil || asJSON:
		return printJSON(env, now, err)
	}
	env.Printf("%s is shown as %s now.\n", text.Printable(before.Name), text.Printable(now.Name))
	return nil
}

// pickDevice finds the one phone whose ID begins with which. Names do not count:
// two phones may have the same.
func pickDevice(rows []adminapi.Device, which string) (found adminapi.Device, err error) {
	err = ports.ErrDeviceUnknown
	for _, row := range rows {
		if which == "" || !strings.HasPrefix(row.ID, strings.ToLower(which)) {
			continue
		}
		if err == nil {
			return found, cli.Usagef("several phones have an ID that begins with %s; give more of it", which)
		}
		found, err = row, nil
	}
	return found, err
}

// resetDevices binds an empty list to the master token, over a database that
// need not be readable.
func resetDevices(ctx context.Context, env cli.Env, dir string) (err error) {
	lock, master, err := ownDirectory(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	path := filepath.Join(dir, hostfiles.DatabaseName)
	dropped, err := resetDatabase(ctx, env, path, master)
	if errors.Is(err, sqlite.ErrDamaged) {
		aside, err := sqlite.MoveAside(ctx, path, env.Now())
		if err != nil {
			return err
		}
		if _, err := resetDatabase(ctx, env, path, master); err != nil {
			return err
		}
		env.Printf("The database could not be read. It is now %s, and a new one is in its place.\nLost are the phones, the extensions that were allowed, the page index and what was set on the page.\n", aside)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, app.DatabaseAdvice(err))
	}
	env.Printf("%s dropped. Each has to be paired again: plexus pair\n", cli.Counted(dropped, "phone is", "phones are"))
	return nil
}

func resetDatabase(ctx context.Context, env cli.Env, path string, master pairing.TokenHash) (dropped int, err error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{Now: env.Now})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Devices().Reset(ctx, master)
}
