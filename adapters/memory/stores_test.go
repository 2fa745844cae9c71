package memory

import (
	"testing"

	"plexus/ports"
	"plexus/ports/portstest"
)

func TestExtensions_Contract(t *testing.T) {
	portstest.ExtensionRegistry(t, func(*testing.T) ports.ExtensionRegistry { return NewExtensions() })
}

func TestPages_Contract(t *testing.T) {
	portstest.PageIndex(t, func(_ *testing.T, s portstest.IndexSetup) ports.PageIndex {
		return NewPages(s.Now, s.Bounds)
	})
}
