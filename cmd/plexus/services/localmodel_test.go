package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plexus/adapters/localmodel"
	"plexus/adapters/memory"
	"plexus/adapters/sqlite"
	"plexus/ports"
)

func TestMain(m *testing.M) {
	if os.Getenv(childOf) != "" {
		os.Exit(askAll())
	}
	goleak.VerifyTestMain(m)
}

// modelServer lists one model and answers with its name.
func modelServer(t *testing.T, name string) (candidate localmodel.Candidate, url string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			fmt.Fprintf(w, `{"object":"list","data":[{"id":%q}]}`, name)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", name)
	}))
	t.Cleanup(srv.Close)
	addr := netip.MustParseAddrPort(srv.Listener.Addr().String())
	return localmodel.Candidate{Server: name, Port: int(addr.Port())}, srv.URL + "/v1"
}

// newLocal looks at two servers, of which only the first is ours.
func newLocal(t *testing.T) (m *LocalModel, strangeURL string) {
	t.Helper()
	ours, _ := modelServer(t, "ours")
	strange, strangeURL := modelServer(t, "strange")
	auto, err := localmodel.NewAuto(localmodel.AutoConfig{
		Candidates: []localmodel.Candidate{ours, strange}, Now: time.Now,
		IsOurs: func(port int) (bool, error) { return port == ours.Port, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	m = &LocalModel{Auto: auto}
	t.Cleanup(m.Close)
	if err := m.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m, strangeURL
}

func says(t *testing.T, m ports.Generator) string {
	t.Helper()
	var said strings.Builder
	err := m.Generate(t.Context(), ports.Prompt{}, func(s string) error {
		said.WriteString(s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return said.String()
}

func TestLocalModel_TheOwnersChoiceCounts(t *testing.T) {
	m, url := newLocal(t)
	if got := says(t, m); got != "ours" {
		t.Errorf("before the choice %q answers", got)
	}
	settings := memory.NewSettings()
	if err := settings.PutSetting(t.Context(), keyModel, url+"\nstrange"); err != nil {
		t.Fatal(err)
	}
	if err := m.LoadChoice(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	if got := says(t, m); got != "strange" {
		t.Errorf("after the choice %q answers", got)
	}
	if found, used := m.Current(); len(found) != 2 || found[used].Name != "strange" {
		t.Errorf("in use is %d of %+v", used, found)
	}
}

func TestLocalModel_ABadChoiceChangesNothing(t *testing.T) {
	m, _ := newLocal(t)
	for _, stored := range []string{"", "no lines", "http://gpu.example/v1\nbig", "http://127.0.0.1:1/v1\n"} {
		settings := memory.NewSettings()
		if err := settings.PutSetting(t.Context(), keyModel, stored); err != nil {
			t.Fatal(err)
		}
		_ = m.LoadChoice(t.Context(), settings) // logged by the caller
		if got := says(t, m); got != "ours" {
			t.Errorf("%q: %q answers", stored, got)
		}
	}
}

func TestLocalModel_IsKnown(t *testing.T) {
	_, url := modelServer(t, "strange")
	ours, _ := modelServer(t, "ours")
	for name, c := range map[string]struct {
		there []localmodel.Candidate
		ours  bool
		taken string // base URL of what the owner took
		want  bool
	}{
		"nothing":                 {nil, true, "", false},
		"one of ours, not looked": {[]localmodel.Candidate{ours}, true, "", true},
		"somebody else's":         {[]localmodel.Candidate{ours}, false, "", false},
		"one that was taken":      {nil, false, url, true},
	} {
		auto, err := localmodel.NewAuto(localmodel.AutoConfig{
			Candidates: append([]localmodel.Candidate{}, c.there...), Now: time.Now, IsOurs: func(int) (bool, error) { return c.ours, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		m := &LocalModel{Auto: auto}
		if c.taken != "" {
			if err := m.use("strange", c.taken); err != nil {
				t.Fatal(err)
			}
		}
		if got := m.Available(); got != c.want {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
		m.Close()
	}
}

// A click on a model that does not chat leaves everything as it was.
func TestLocalModel_TakesNoneThatDoesNotChat(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			fmt.Fprint(w, `{"data":[{"id":"bge"}]}`)
			return
		}
		w.WriteHeader(http.StatusNotImplemented)
	}))
	defer srv.Close()
	ours, _ := modelServer(t, "ours")
	strange := localmodel.Candidate{Server: "strange", Port: srv.Listener.Addr().(*net.TCPAddr).Port}
	auto, err := localmodel.NewAuto(localmodel.AutoConfig{
		Candidates: []localmodel.Candidate{ours, strange}, Now: time.Now,
		IsOurs: func(port int) (bool, error) { return port == ours.Port, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &LocalModel{Auto: auto}
	defer m.Close()
	if err := m.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	settings := memory.NewSettings()
	err = m.Take(t.Context(), settings, "bge", srv.URL+"/v1")
	if stored, _ := settings.Settings(t.Context()); !errors.Is(err, ports.ErrModelUnavailable) || len(stored) != 0 || says(t, m) != "ours" {
		t.Errorf("taken: %v, stored %v", err, stored)
	}
	if found, _ := m.Current(); len(found) != 1 || len(m.PassedOver()) != 1 {
		t.Errorf("offers %v", found)
	}
}

// Nothing goes by one click to where no model was found.
func TestLocalModel_TakesOnlyWhatWasFound(t *testing.T) {
	local, url := newLocal(t)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "plexus.db"), sqlite.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	settings := store.Settings()
	for _, c := range [][2]string{{"strange", "http://gpu.example/v1"}, {"other", url}} {
		if err := local.Take(t.Context(), settings, c[0], c[1]); err == nil {
			t.Errorf("%v was taken", c)
		}
	}
	if err := local.Take(t.Context(), settings, "strange", url); err != nil {
		t.Fatal(err)
	}
	stored, err := settings.Settings(t.Context())
	if err != nil || stored[keyModel] != url+"\nstrange" || says(t, local) != "strange" {
		t.Errorf("stored %v, %v", stored, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := local.Take(ended, settings, "ours", url); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("taken although it could not be stored: %v", err)
	}
}
