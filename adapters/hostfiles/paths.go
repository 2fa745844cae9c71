// Package hostfiles keeps what the host has on disk apart from its database:
// the private data directory, the process lock, run.json, the NERVE token file
// and the Unix sockets. Everything it makes is for the owner alone.
package hostfiles

import (
	"errors"
	"path/filepath"
)

// Names inside the data directory.
const (
	LockName        = "plexus.lock"
	DatabaseName    = "plexus.db"
	RunName         = "run.json"
	AdminSocketName = "admin.sock"
	NerveSocketName = "nerve.sock"
)

// ErrNoHome: the environment names no home directory. There is no fallback to
// a shared folder.
var ErrNoHome = errors.New("the environment names no home directory")

// Paths finds the default paths of one operating system from the environment.
// It reads no disk.
type Paths struct {
	OS     string                   // as runtime.GOOS
	Getenv func(name string) string // "" when unset
}

// DataDir is $XDG_DATA_HOME/plexus, ~/Library/Application Support/Plexus or
// %LOCALAPPDATA%\Plexus.
func (p Paths) DataDir() (string, error) {
	switch p.OS {
	case "windows":
		return p.under("LOCALAPPDATA", "Plexus")
	case "darwin":
		return p.inHome("Library", "Application Support", "Plexus")
	}
	if dir, err := p.under("XDG_DATA_HOME", "plexus"); err == nil {
		return dir, nil
	}
	return p.inHome(".local", "share", "plexus")
}

// ConfigFile is where the configuration is looked for unless it is named.
func (p Paths) ConfigFile() (string, error) {
	if p.OS == "windows" || p.OS == "darwin" {
		dir, err := p.DataDir()
		return filepath.Join(dir, "config.toml"), err
	}
	if dir, err := p.under("XDG_CONFIG_HOME", "plexus"); err == nil {
		return filepath.Join(dir, "config.toml"), nil
	}
	return p.inHome(".config", "plexus", "config.toml")
}

// NerveToken is ~/.anvesha/token, where existing clients of NERVE look.
func (p Paths) NerveToken() (string, error) { return p.inHome(".anvesha", "token") }

// NerveSocket is $XDG_RUNTIME_DIR/plexus/nerve.sock, else in the data directory.
func (p Paths) NerveSocket(dataDir string) string {
	if dir, err := p.under("XDG_RUNTIME_DIR", "plexus"); err == nil {
		return filepath.Join(dir, NerveSocketName)
	}
	return filepath.Join(dataDir, NerveSocketName)
}

func (p Paths) inHome(parts ...string) (string, error) {
	name := "HOME"
	if p.OS == "windows" {
		name = "USERPROFILE"
	}
	return p.under(name, parts...)
}

// under joins parts to a directory of the environment. A relative one is ignored,
// as the XDG rules say: it would depend on the shell's working directory.
func (p Paths) under(variable string, parts ...string) (string, error) {
	base := p.Getenv(variable)
	if base == "" || !filepath.IsAbs(base) {
		return "", ErrNoHome
	}
	return filepath.Join(append([]string{base}, parts...)...), nil
}
