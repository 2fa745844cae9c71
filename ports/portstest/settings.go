package portstest

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"plexus/domain/secret"
	"plexus/ports"
)

func endedContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Settings runs the contract of ports.Settings. build gives an empty set.
func Settings(t *testing.T, build func(t *testing.T) ports.Settings) {
	t.Helper()
	s := build(t)
	put := func(key, value string) error { return s.PutSetting(t.Context(), key, value) }
	long := strings.Repeat("x", ports.MaxSettingValue)
	for _, err := range []error{
		put("a", "1"), put("a", "2"), put("b", long), put("gone", "x"), put("empty", ""),
		s.DropSetting(t.Context(), "gone"), s.DropSetting(t.Context(), "never was"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{put("", "x"), put(strings.Repeat("k", ports.MaxSettingKey+1), "x"), put("c", long+"x")} {
		if !errors.Is(err, ports.ErrSettingSize) {
			t.Errorf("a wrong size: %v, want ErrSettingSize", err)
		}
	}
	if err := s.PutSetting(endedContext(t), "d", "x"); err == nil {
		t.Error("stored although its context had ended")
	}
	got, err := s.Settings(t.Context())
	if want := (map[string]string{"a": "2", "b": long, "empty": ""}); err != nil || !maps.Equal(got, want) {
		t.Fatalf("%d settings, %v, want %d", len(got), err, len(want))
	}
	got["a"] = "changed"
	if again, err := s.Settings(t.Context()); err != nil || again["a"] != "2" {
		t.Errorf("the caller's map is the store's: %q, %v", again["a"], err)
	}
}

// PageSessions runs the contract of ports.PageSessions. build gives an empty set.
func PageSessions(t *testing.T, build func(t *testing.T) ports.PageSessions) {
	t.Helper()
	t.Run("add, find, list, revoke", func(t *testing.T) { pageSessionLife(t, build(t)) })
	t.Run("visits and age", func(t *testing.T) { pageSessionTimes(t, build(t)) })
	t.Run("bounds", func(t *testing.T) { pageSessionBounds(t, build(t)) })
}

func newPageSession(name string, at time.Time) ports.PageSession {
	return ports.PageSession{
		Cookie: secret.New("cookie " + name).Hash(), Prefix: secret.New("prefix " + name).Hash(),
		CreatedAt: at, LastSeen: at, UserAgent: "Browser of " + name,
	}
}

func addPageSession(t *testing.T, p ports.PageSessions, s ports.PageSession) ports.PageSession {
	t.Helper()
	added, err := p.AddPageSession(t.Context(), s)
	if err != nil || added.ID == 0 {
		t.Fatalf("add: ID %d, %v", added.ID, err)
	}
	return added
}

func listPageSessions(t *testing.T, p ports.PageSessions, now time.Time) []ports.PageSession {
	t.Helper()
	list, err := p.PageSessions(t.Context(), now)
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	return list
}

func pageSessionLife(t *testing.T, p ports.PageSessions) {
	now := visitTime()
	a, b := newPageSession("a", now), newPageSession("b", now)
	a.UserAgent = strings.Repeat("x", ports.MaxPageUserAgent-1) + "é"
	first, second := addPageSession(t, p, a), addPageSession(t, p, b)
	if first.UserAgent != a.UserAgent[:ports.MaxPageUserAgent-1] || first.ID == second.ID {
		t.Errorf("IDs %d and %d, user agent of %d bytes", first.ID, second.ID, len(first.UserAgent))
	}
	found, err := p.FindPageSession(t.Context(), b.Cookie, b.Prefix, now)
	if err != nil || found.ID != second.ID || found.UserAgent != b.UserAgent || !found.CreatedAt.Equal(now) {
		t.Errorf("found %+v, %v", found, err)
	}
	for name, pair := range map[string][2]secret.Hash{
		"cookie of one, prefix of another": {a.Cookie, b.Prefix},
		"prefix for cookie":                {a.Prefix, a.Cookie},
		"zero hashes":                      {},
	} {
		if _, err := p.FindPageSession(t.Context(), pair[0], pair[1], now); !errors.Is(err, ports.ErrPageSessionUnknown) {
			t.Errorf("%s: %v, want ErrPageSessionUnknown", name, err)
		}
	}
	if err := p.RevokePageSession(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	if err := p.RevokePageSession(t.Context(), second.ID); !errors.Is(err, ports.ErrPageSessionUnknown) {
		t.Errorf("revoked again: %v, want ErrPageSessionUnknown", err)
	}
	if _, err := p.FindPageSession(t.Context(), b.Cookie, b.Prefix, now); !errors.Is(err, ports.ErrPageSessionUnknown) {
		t.Errorf("a revoked session: %v, want ErrPageSessionUnknown", err)
	}
	third := addPageSession(t, p, newPageSession("c", now))
	if list := listPageSessions(t, p, now); len(list) != 2 || list[0].ID != first.ID || list[1].ID != third.ID || third.ID <= second.ID {
		t.Errorf("the list is %+v", list)
	}
}

func pageSessionTimes(t *testing.T, p ports.PageSessions) {
	start := visitTime()
	s := newPageSession("a", start)
	addPageSession(t, p, s)
	for _, c := range []struct{ at, seen time.Duration }{
		{ports.PageSessionStep - time.Millisecond, 0}, {ports.PageSessionStep, ports.PageSessionStep},
		{ports.PageSessionLife - time.Millisecond, ports.PageSessionLife - time.Millisecond},
	} {
		found, err := p.FindPageSession(t.Context(), s.Cookie, s.Prefix, start.Add(c.at))
		if err != nil || !found.LastSeen.Equal(start.Add(c.seen)) {
			t.Errorf("after %v: last seen %v, %v", c.at, found.LastSeen, err)
		}
	}
	over := start.Add(ports.PageSessionLife)
	if _, err := p.FindPageSession(t.Context(), s.Cookie, s.Prefix, over); !errors.Is(err, ports.ErrPageSessionUnknown) {
		t.Errorf("after 90 days: %v, want ErrPageSessionUnknown", err)
	}
	if list := listPageSessions(t, p, over); len(list) != 0 {
		t.Errorf("after 90 days the list is %+v", list)
	}
	addPageSession(t, p, newPageSession("b", over))
	if list := listPageSessions(t, p, start); len(list) != 1 {
		t.Errorf("a new one leaves %d, want the old one dropped", len(list))
	}
}

func pageSessionBounds(t *testing.T, p ports.PageSessions) {
	start := visitTime()
	quiet := newPageSession("quiet", start)
	addPageSession(t, p, quiet)
	for n := range ports.MaxPageSessions {
		addPageSession(t, p, newPageSession(string(rune('A'+n)), start.Add(time.Duration(n+1)*time.Minute)))
	}
	if list := listPageSessions(t, p, start); len(list) != ports.MaxPageSessions {
		t.Errorf("%d sessions, want %d", len(list), ports.MaxPageSessions)
	}
	if _, err := p.FindPageSession(t.Context(), quiet.Cookie, quiet.Prefix, start); !errors.Is(err, ports.ErrPageSessionUnknown) {
		t.Errorf("the one seen longest ago: %v, want it dropped", err)
	}
}
