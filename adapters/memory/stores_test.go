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
	portstest.PageIndex(t, func(_ *testing.T, s portstest.IndexSetup) portstest.PageKeeper {
		store := NewPersonalWith(NewPages(s.Now, s.Bounds))
		return portstest.PageKeeper{PageIndex: store.Pages(), AgingPages: store.Pages(), Store: store, Days: store.RunDays()}
	})
}

func TestDevices_Contract(t *testing.T) {
	portstest.Devices(t, func(*testing.T) ports.DeviceRegistry { return NewDevices() })
}

func TestRevocations_Contract(t *testing.T) {
	portstest.Revocations(t, func(*testing.T) (ports.RevocationLog, func() ports.RevocationLog) {
		r := NewRevocations()
		return r, func() ports.RevocationLog { return r }
	})
}

func TestSettings_Contract(t *testing.T) {
	portstest.Settings(t, func(*testing.T) ports.Settings { return NewSettings() })
}

func TestPageSessions_Contract(t *testing.T) {
	portstest.PageSessions(t, func(*testing.T) ports.PageSessions { return NewPageSessions() })
}

func TestPersonal_Contract(t *testing.T) {
	build := func(*testing.T) portstest.PersonalKeeper { return NewPersonal() }
	portstest.PersonalStore(t, build)
	portstest.PersonalArchive(t, build)
}
