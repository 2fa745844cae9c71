package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"plexus/domain/pages"
	"plexus/ports"
	"plexus/ports/portstest"
)

// openAt opens the database at path with a fixed clock and the usual bounds.
func openAt(t *testing.T, path string) *Store {
	t.Helper()
	return openWith(t, path, Options{Now: portstest.NewClock().Now})
}

func openWith(t *testing.T, path string, opts Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func tempPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "a name with 100% ? # & odd marks.db")
}

// indexPage keeps a page, as an answer does.
func indexPage(ctx context.Context, s *Store, page pages.Page) error {
	return s.Personal().Update(ctx, func(tx ports.PersonalTx) error { return tx.IndexPage(page) })
}

func testPage(name, text string) pages.Page {
	return pages.Page{URL: "https://example.org/" + name, Title: "Page " + name, Text: text, Origin: "chrome-extension://tests"}
}

func TestExtensions_Contract(t *testing.T) {
	portstest.ExtensionRegistry(t, func(t *testing.T) ports.ExtensionRegistry {
		return openAt(t, tempPath(t)).Extensions()
	})
}

func TestPages_Contract(t *testing.T) {
	portstest.PageIndex(t, func(t *testing.T, s portstest.IndexSetup) portstest.PageKeeper {
		db := openWith(t, tempPath(t), Options{Now: s.Now, Bounds: s.Bounds})
		return portstest.PageKeeper{PageIndex: db.Pages(), AgingPages: db.Pages(), Store: db.Personal(), Days: db.RunDays()}
	})
}

func TestDevices_Contract(t *testing.T) {
	portstest.Devices(t, func(t *testing.T) ports.DeviceRegistry { return openAt(t, tempPath(t)).Devices() })
}

func TestSettings_Contract(t *testing.T) {
	portstest.Settings(t, func(t *testing.T) ports.Settings { return openAt(t, tempPath(t)).Settings() })
}

func TestPageSessions_Contract(t *testing.T) {
	portstest.PageSessions(t, func(t *testing.T) ports.PageSessions { return openAt(t, tempPath(t)).PageSessions() })
}

func TestPersonal_Contract(t *testing.T) {
	build := func(t *testing.T) portstest.PersonalKeeper { return openAt(t, tempPath(t)).Personal() }
	portstest.PersonalStore(t, build)
	portstest.PersonalArchive(t, build)
}

// Whatever the clock says at a start (decision G18).
func TestG18_OpenKeepsEverything(t *testing.T) {
	path := tempPath(t)
	clock := portstest.NewClock()
	opts := Options{Now: clock.Now}
	first, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := indexPage(t.Context(), first, testPage("1", "apples")); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	const tenYears = 10 * 365 * 24 * time.Hour
	for _, pass := range []time.Duration{time.Hour, tenYears, -2 * tenYears} {
		clock.Pass(pass)
		s, err := Open(t.Context(), path, opts)
		if err != nil {
			t.Fatal(err)
		}
		st, err := s.Stats(t.Context())
		if err != nil || st.Pages != 1 || st.PageBytes != 6 || st.FileBytes == 0 {
			t.Errorf("stats are %+v, %v; want 1 page", st, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
