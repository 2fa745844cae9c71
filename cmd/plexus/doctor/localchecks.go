package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/qr"
	"plexus/adapters/sqlite"
	"plexus/domain/pairing"
)

// files looks at who may read what. Windows has no such modes.
func (s Subject) files(context.Context) []Finding {
	if runtime.GOOS == "windows" {
		return []Finding{skipped("files", "On Windows the folder's own permissions decide.")}
	}
	var found []Finding
	look := func(path string, kind fs.FileMode, must bool) {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !must:
		case err != nil:
			found = append(found, fault("files", path+" cannot be looked at: "+err.Error()+".", "Restart the host; it makes its files anew."))
		case info.Mode().Type() != kind:
			found = append(found, fault("files", path+" is not what it should be, but "+info.Mode().Type().String()+".", "Move it away and restart the host."))
		case info.Mode().Perm()&0o077 != 0:
			found = append(found, fault("files", fmt.Sprintf("%s can be used by other accounts (mode %04o).", path, info.Mode().Perm()), "Run chmod go= on it."))
		}
	}
	look(s.Directory, fs.ModeDir, s.Running)
	for _, path := range s.Private {
		look(path, 0, false)
	}
	for _, path := range s.Sockets {
		look(path, fs.ModeSocket, s.Running)
	}
	if len(found) == 0 {
		found = append(found, ok("files", "Files and sockets are for this account alone."))
	}
	return found
}

// token looks for token files that the host could not use.
func (s Subject) token(context.Context) []Finding {
	aside, err := hostfiles.TokensAside(s.TokenFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []Finding{skipped("host token", "The folder of the host token cannot be looked at: "+err.Error())}
	}
	var found []Finding
	for _, path := range aside {
		found = append(found, warning("host token", path+" held no token that could be used, so the host made a new one.",
			"Programs that used the old one need the one in "+s.TokenFile+". Remove the file when you need it no more."))
	}
	if len(found) == 0 {
		found = append(found, ok("host token", "No token was put aside."))
	}
	return found
}

// Room on the disk, in bytes.
const (
	minFreeSpace = 64 << 20
	lowFreeSpace = 512 << 20
)

func (s Subject) disk(context.Context) []Finding {
	free, err := freeBytes(s.Directory)
	room := fmt.Sprintf("%d MiB are free for %s.", free>>20, s.Directory)
	switch {
	case err != nil:
		return []Finding{skipped("disk", "The room on the disk could not be found out: "+err.Error())}
	case free < minFreeSpace:
		return []Finding{fault("disk", room, "Make room: nothing can be paired or revoked on a full disk.")}
	case free < lowFreeSpace:
		return []Finding{warning("disk", room, "Make room before it runs out.")}
	}
	return []Finding{ok("disk", room)}
}

func (s Subject) database(ctx context.Context) []Finding {
	if _, err := os.Lstat(s.Database); errors.Is(err, fs.ErrNotExist) {
		return []Finding{skipped("database", "There is none yet.")}
	}
	err := sqlite.Check(ctx, s.Database)
	var newer *sqlite.NewerError
	switch {
	case err == nil:
		return []Finding{ok("database", "Every table of it can be read.")}
	case errors.As(err, &newer):
		return []Finding{fault("database", err.Error()+".", "Run the newer Plexus.")}
	case errors.Is(err, sqlite.ErrDamaged), errors.Is(err, sqlite.ErrHistory):
		return []Finding{fault("database", err.Error()+".", "Stop the host and bring a backup in: plexus restore FILE. Without one: plexus devices reset --yes.")}
	}
	return []Finding{fault("database", err.Error()+".", "Look at who may read that file and its folder.")}
}

// clock checks that the time is after 2025 began and not before the last change of
// the database.
func (s Subject) clock(context.Context) []Finding {
	const advice = "Set the clock: certificates and the codes of some apps depend on it."
	now := s.Now()
	if now.Before(time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)) {
		return []Finding{fault("clock", "It says "+now.UTC().Format(time.RFC1123)+".", advice)}
	}
	if info, err := os.Stat(s.Database); err == nil && info.ModTime().After(now.Add(time.Minute)) {
		return []Finding{fault("clock", "It has gone back: the database was changed at "+info.ModTime().UTC().Format(time.RFC1123)+".", advice)}
	}
	return []Finding{ok("clock", "It says "+now.UTC().Format(time.RFC1123)+".")}
}

// code draws a code like those for a phone and reads it as a phone would.
func (s Subject) code(context.Context) []Finding {
	if s.Server == (pairing.Server{}) && !s.Running {
		return []Finding{skipped("public url", "The configuration names none. One that was set on the page or by plexus pair is seen only while a host runs.")}
	}
	if s.Server == (pairing.Server{}) {
		return []Finding{fault("public url", "None is set, so no code can be made: a phone would not know where to connect.",
			"plexus setup tailscale, then plexus pair --public-url wss://NAME; or name a TLS proxy of your own.")}
	}
	example := pairing.Invitation{Code: pairing.NewCode([16]byte{}), Server: s.Server}
	text := example.LegacyPayload(s.Now()).Reveal()
	matrix, err := qr.Encode(text)
	if err != nil {
		return []Finding{fault("public url", "It is too long for a code: "+err.Error()+".", "Use a shorter name.")}
	}
	return []Finding{judgeCode(s.Server, matrix, text)}
}

// judgeCode judges a code for a server; read back, it has to give text.
func judgeCode(server pairing.Server, matrix qr.Matrix, text string) Finding {
	lead := fmt.Sprintf("Phones connect to %s. A code for it has %d columns", server, len(matrix))
	back, err := qr.Read(matrix)
	if err == nil && back != text {
		err = errors.New("it says something else")
	}
	if err != nil {
		return fault("public url", lead+" and cannot be read back: "+err.Error()+".", "This is an error of Plexus: use another version of it, or another name.")
	}
	lead += " and reads back."
	if len(matrix) > 80 {
		return warning("public url", lead, "A terminal of 80 columns is too narrow for it; use the page.")
	}
	return ok("public url", lead)
}
