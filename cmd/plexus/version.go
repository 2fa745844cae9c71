package main

import (
	"context"
	"runtime"
	"runtime/debug"
)

// buildVersion is what the linker recorded: a module version, or the revision
// it was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

func version(_ context.Context, p *program, args []string) error {
	fs := p.flags("version", "Prints the version of this program and of what built it.")
	if err := p.parseNone(fs, args); err != nil {
		return err
	}
	p.outf("plexus %s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
