package nerve_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/admission"
)

// TestD6_OneExtensionsLife: it waits, is allowed, comes in without a restart, is
// removed at once, cannot come back, and is allowed again.
func TestD6_OneExtensionsLife(t *testing.T) {
	f := start(t, setup{})
	key := keyOf(0)
	lines := []string{from(ourOrigin), offer(key)}
	f.refuses(t, lines...)
	f.refusedFor(t, admission.KeyWaiting)
	row := f.inState(t, ourOrigin, key, admission.Waiting)
	if row.Digits() != admission.HashKey(key).Digits() || row.FirstSeen.IsZero() {
		t.Errorf("the owner sees %+v", row)
	}
	f.refuses(t, lines...) // trying harder does not help
	allow(t, f.browsers, row.ID)
	w := f.admits(t, "anvesha-v1."+key, lines...)
	second := f.admits(t, "anvesha-v1."+key, lines...)
	remove(t, f.browsers, row.ID)
	expectEnd(t, w, 1008)
	expectEnd(t, second, 1008)
	for range 3 {
		f.refuses(t, lines...)
		f.refusedFor(t, admission.KeyBlocked)
	}
	f.inState(t, ourOrigin, key, admission.Blocked) // it does not ask again
	allow(t, f.browsers, row.ID)
	f.admits(t, "anvesha-v1."+key, lines...)
	if strings.Contains(f.log.String(), key) {
		t.Error("the log holds the key")
	}
}

func TestD6_AForgottenExtensionWaitsAnew(t *testing.T) {
	f := start(t, setup{})
	key := keyOf(0)
	f.refuses(t, from(ourOrigin), offer(key))
	row := f.inState(t, ourOrigin, key, admission.Waiting)
	allow(t, f.browsers, row.ID)
	w := f.admits(t, "anvesha-v1."+key, from(ourOrigin), offer(key))
	if err := f.browsers.ForgetExtension(t.Context(), row.ID); err != nil {
		t.Fatal(err)
	}
	expectEnd(t, w, 1008)
	f.refuses(t, from(ourOrigin), offer(key))
	if again := f.inState(t, ourOrigin, key, admission.Waiting); again.ID == row.ID {
		t.Error("the number of the old row came back")
	}
}

// TestD6_RemovalEndsItsOwnRowOnly: another key, another origin, the owner's tools
// and the socket go on.
func TestD6_RemovalEndsItsOwnRowOnly(t *testing.T) {
	f := start(t, setup{origins: []string{ourOrigin}})
	var live []wire
	var first admission.Extension
	for n, origin := range []string{ourOrigin, ourOrigin, otherOrigin} {
		f.refuses(t, from(origin), offer(keyOf(n)))
		row := f.inState(t, origin, keyOf(n), admission.Waiting)
		allow(t, f.browsers, row.ID)
		peer := f.admits(t, "anvesha-v1."+keyOf(n), from(origin), offer(keyOf(n)))
		if n == 0 {
			first = row
			defer expectEnd(t, peer, 1008)
			continue
		}
		live = append(live, peer)
	}
	live = append(live, f.dialWebSocket(t), f.dialUnix(t), f.admits(t, "", from(ourOrigin)),
		f.admits(t, "anvesha-v1."+token, from(ourOrigin), offer(token)))
	remove(t, f.browsers, first.ID)
	for n, w := range live {
		send(t, w, ping(uint64(n)))
		expectEcho(t, w, uint64(n))
	}
}

func TestD6_ByTokenIsRemembered(t *testing.T) {
	f := start(t, setup{})
	lines := []string{from(ourOrigin), offer(token)}
	w := f.admits(t, "anvesha-v1."+token, lines...)
	row := f.inState(t, ourOrigin, "", admission.ByToken)
	if row.Digits() != "" {
		t.Errorf("a row without a key has digits %q", row.Digits())
	}
	f.admits(t, "anvesha-v1."+token, lines...)
	remove(t, f.browsers, row.ID)
	expectEnd(t, w, 1008)
	f.refuses(t, lines...)
	f.refusedFor(t, admission.KeyBlocked)
	f.refuses(t, from(ourOrigin)) // nor without the token
	// The owner's own tool, and another extension with the token, are not meant.
	f.admits(t, "anvesha-v1."+token, offer(token))
	f.admits(t, "anvesha-v1."+token, from(otherOrigin), offer(token))
	allow(t, f.browsers, row.ID)
	f.inState(t, ourOrigin, "", admission.ByToken)
	f.admits(t, "anvesha-v1."+token, lines...)
	f.refuses(t, from(ourOrigin)) // allowed by token is not allowed without one
}

func TestD6_ListedOrigins(t *testing.T) {
	f := start(t, setup{origins: []string{ourOrigin}})
	f.admits(t, "", from(ourOrigin))
	f.refuses(t, from(otherOrigin))
	f.refuses(t, from(ourOrigin), "Sec-WebSocket-Protocol: chat")
	f.refusedFor(t, admission.WrongOffer)
	// An unknown key waits, also where its origin is listed.
	f.refuses(t, from(ourOrigin), offer(keyOf(0)))
	row := f.inState(t, ourOrigin, keyOf(0), admission.Waiting)
	allow(t, f.browsers, row.ID)
	f.admits(t, "anvesha-v1."+keyOf(0), from(ourOrigin), offer(keyOf(0)))
	f.refuses(t) // a listed origin does nothing for a tool
}

func TestD6_SeveralKeysOfOneOrigin(t *testing.T) {
	f := start(t, setup{})
	for n := range 5 {
		f.refuses(t, from(ourOrigin), offer(keyOf(n)))
		allow(t, f.browsers, f.inState(t, ourOrigin, keyOf(n), admission.Waiting).ID)
	}
	for n := range 5 {
		f.admits(t, "anvesha-v1."+keyOf(n), from(ourOrigin), offer(keyOf(n)))
	}
	f.refuses(t, from(otherOrigin), offer(keyOf(0))) // a key is worth nothing elsewhere
	f.inState(t, otherOrigin, keyOf(0), admission.Waiting)
	f.refuses(t, offer(keyOf(0)))
	remove(t, f.browsers, f.inState(t, ourOrigin, keyOf(3), admission.Allowed).ID)
	f.refuses(t, from(ourOrigin), offer(keyOf(3)))
	f.admits(t, "anvesha-v1."+keyOf(4), from(ourOrigin), offer(keyOf(4)))
	// Two offers, the allowed one second.
	f.admits(t, "anvesha-v1."+keyOf(4), from(ourOrigin), offer(keyOf(9)), offer(keyOf(4)))
}

func TestD6_TheWaitingListIsBounded(t *testing.T) {
	f := start(t, setup{})
	count := func(origin string) (ofOrigin, ofAll int) {
		rows, err := f.browsers.Extensions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.Origin == origin {
				ofOrigin++
			}
		}
		return ofOrigin, len(rows)
	}
	for n := range 40 {
		f.refuses(t, from(ourOrigin), offer(keyOf(n)))
	}
	if got, _ := count(ourOrigin); got != admission.MaxWaitingPerOrigin {
		t.Errorf("%d keys of one origin wait, want %d", got, admission.MaxWaitingPerOrigin)
	}
	f.inState(t, ourOrigin, keyOf(39), admission.Waiting) // the newest is among them
	for n := range 40 {
		origin := "chrome-extension://" + strings.Repeat(string(rune('a'+n%16)), 20+n)
		f.refuses(t, from(origin), offer(keyOf(n)))
	}
	if _, got := count(ourOrigin); got != admission.MaxWaiting {
		t.Errorf("%d keys wait in all, want %d", got, admission.MaxWaiting)
	}
	// One header full of keys is no way around it either.
	keys := make([]string, 30)
	for n := range keys {
		keys[n] = "anvesha-v1." + keyOf(100+n)
	}
	f.refuses(t, from(otherOrigin), "Sec-WebSocket-Protocol: "+strings.Join(keys, ", "))
	if got, all := count(otherOrigin); got > admission.MaxWaitingPerOrigin || all > admission.MaxWaiting {
		t.Errorf("%d of %d rows are of one request", got, all)
	}
	if got := len(f.browsers.Refusals()); got > 100 {
		t.Errorf("%d refusals are kept", got)
	}
}

func TestD6_ANewTokenEndsTheOldOne(t *testing.T) {
	f := start(t, setup{})
	key := keyOf(0)
	f.refuses(t, from(ourOrigin), offer(key))
	allow(t, f.browsers, f.inState(t, ourOrigin, key, admission.Waiting).ID)
	stays := []wire{f.admits(t, "anvesha-v1."+key, from(ourOrigin), offer(key)), f.dialUnix(t)}
	goes := []wire{f.admits(t, "anvesha-v1."+token, offer(token)), f.admits(t, "anvesha-v1."+token, from(otherOrigin), offer(token))}
	if err := f.browsers.RotateToken(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, w := range goes {
		expectEnd(t, w, 1008)
	}
	for _, w := range stays {
		send(t, w, ping(1))
		expectEcho(t, w, 1)
	}
	f.refuses(t, offer(token))
	f.refuses(t, from(otherOrigin), offer(token))
	fresh := strings.Repeat("e", admission.KeyLength) // what keeper writes
	f.admits(t, "anvesha-v1."+fresh, offer(fresh))
	f.admits(t, "anvesha-v1."+fresh, from(otherOrigin), offer(fresh))
}

// endsOrNever insists that an upgrade, answered while its basis was taken away,
// was refused or is closed with 1008.
func endsOrNever(t *testing.T, peer *wstest.Peer, response *http.Response) {
	t.Helper()
	if peer == nil {
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("answered %d, want 403", response.StatusCode)
		}
		return
	}
	expectEnd(t, peer, 1008)
	_ = peer.Close()
}

// TestD6_RemovalDuringTheUpgrade: whatever the order, nobody who was removed is
// left inside.
func TestD6_RemovalDuringTheUpgrade(t *testing.T) {
	f := start(t, setup{})
	key := keyOf(0)
	f.refuses(t, from(ourOrigin), offer(key))
	id := f.inState(t, ourOrigin, key, admission.Waiting).ID
	for range 200 {
		allow(t, f.browsers, id)
		raceUpgrades(t, f, []string{from(ourOrigin), offer(key)}, func() error {
			_, err := f.browsers.RemoveExtension(context.Background(), id)
			return err
		})
		f.inState(t, ourOrigin, key, admission.Blocked)
	}
	waitFor(t, "the end of every link", func() bool { return f.browsers.LiveConnections() == 0 })
}

// TestD6_RotationDuringTheUpgrade is the same for the token.
func TestD6_RotationDuringTheUpgrade(t *testing.T) {
	for range 50 {
		f := start(t, setup{})
		raceUpgrades(t, f, []string{offer(token)}, func() error { return f.browsers.RotateToken(context.Background()) })
		waitFor(t, "the end of every link", func() bool { return f.browsers.LiveConnections() == 0 })
		f.stop()
	}
}

// raceUpgrades lets four upgrades run against change and insists that each ends.
func raceUpgrades(t *testing.T, f *fixture, header []string, change func() error) {
	t.Helper()
	const upgrades = 4
	var racing sync.WaitGroup
	peers, responses := make([]*wstest.Peer, upgrades), make([]*http.Response, upgrades)
	for n := range upgrades {
		racing.Go(func() {
			var err error
			if peers[n], responses[n], err = wstest.Dial(f.addr, header...); err != nil {
				t.Errorf("dial: %v", err)
			}
		})
	}
	racing.Go(func() {
		if err := change(); err != nil {
			t.Errorf("change: %v", err)
		}
	})
	racing.Wait()
	for n := range upgrades {
		if peers[n] != nil {
			prepare(t, peers[n])
		}
		if responses[n] != nil {
			endsOrNever(t, peers[n], responses[n])
		}
	}
}
