package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/services"
	"plexus/domain/conversations"
	"plexus/domain/pages"
	"plexus/ports"
)

// atRun lets the whole host start by the clock at now, calls look, and stops it.
func atRun(t *testing.T, dir string, now *time.Time, look func(p *process)) {
	t.Helper()
	var log bytes.Buffer
	env := cli.Env{
		Stdout: &log, Stderr: &log, Now: func() time.Time { return *now }, UnixSockets: true,
		Environ: []string{
			"HOME=" + dir, "PLEXUS_NERVE_ADDR=127.0.0.1:0", "PLEXUS_CLIENT_ADDR=127.0.0.1:0", "PLEXUS_ADMIN_ADDR=127.0.0.1:0", "PLEXUS_MODEL=none",
			"PLEXUS_NERVE_SOCKET=" + filepath.Join(dir, "nerve.sock"), "PLEXUS_NERVE_TOKEN_FILE=" + filepath.Join(dir, "token"),
		},
	}
	cfg, err := config.Read(env, dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	called, err := services.Build(cfg, newLogger(&log, cfg.Log))
	if err != nil {
		t.Fatal(err)
	}
	defer called.Close()
	p := &process{env: env, opts: Options{Config: cfg, DataDir: dir}, log: newLogger(&log, cfg.Log), services: called, started: *now}
	if _, err := p.start(t.Context()); err != nil {
		t.Fatalf("start at %v: %v\n%s", *now, err, &log)
	}
	p.retention.Look(t.Context())
	look(p)
	if err := p.done.close(); err != nil {
		t.Errorf("stop at %v: %v", *now, err)
	}
}

// TestG18_AHostWithAWrongClockDeletesNothing: the whole host, over restarts, with its
// clock ten years off to either side; and after a year of days it does forget.
func TestG18_AHostWithAWrongClockDeletesNothing(t *testing.T) {
	dir, err := os.MkdirTemp("", "plx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	now := start
	const year = 365 * 24 * time.Hour
	atRun(t, dir, &now, func(p *process) {
		err := p.store.Personal().Update(t.Context(), func(tx ports.PersonalTx) error {
			topic := conversations.Conversation{ID: "topic:1", Kind: conversations.Topic, Title: "One", SubjectKey: "one", CreatedAt: start, UpdatedAt: start, Generation: 1}
			if err := tx.PutConversation(topic); err != nil {
				return err
			}
			return tx.IndexPage(pages.Page{URL: "https://a.test/", Text: "apples", Origin: "chrome-extension://x"})
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	holds := func(when string, wantPages, wantTopics int) func(p *process) {
		return func(p *process) {
			t.Helper()
			st, err := p.store.Stats(t.Context())
			if err != nil || st.Pages != wantPages || st.Personal.Topics != wantTopics {
				t.Errorf("%s: %d pages and %d topics, %v; want %d and %d", when, st.Pages, st.Personal.Topics, err, wantPages, wantTopics)
			}
		}
	}
	for _, off := range []time.Duration{10 * year, 0, -10 * year, 0, 10 * year, -10 * year, 0} {
		now = start.Add(off)
		atRun(t, dir, &now, holds(off.String(), 1, 1))
	}
	now = start.Add(time.Hour)
	atRun(t, dir, &now, func(p *process) {
		if err := p.retention.OwnerIsHere(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 366 {
			now = now.Add(24 * time.Hour)
			p.retention.Look(t.Context())
		}
		holds("after a year of days", 0, 0)(p)
	})
}
