package adminweb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/pairing"
	"plexus/usecases/devices"
)

// attempt is a phone that pairs with a code; whether it gets in is for the page to say.
func (st *stage) attempt(ctx context.Context, code pairing.Code, name string) {
	if st.clients.CountAttempt() {
		_, _, _ = st.clients.Redeem(ctx, code, name)
	}
}

// showCode opens an invitation and gives its page a second later.
func (b *browser) showCode() (at string, open pairing.Invitation) {
	b.st.t.Helper()
	at, _ = b.must("pair", url.Values{"address": {"box.example"}})
	open, _ = b.st.clients.OpenInvitation()
	b.st.pass(time.Second)
	return at, open
}

// anyRefusal is on every page that tells of a refused phone.
const anyRefusal = `<div class="banner" role="status">`

func TestThePageOfACodeTellsWhyAPhoneIsRefused(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, c := range map[string]struct {
		attempt func(st *stage, open pairing.Invitation)
		want    string
	}{
		"wrong code": {func(st *stage, _ pairing.Invitation) { st.attempt(t.Context(), pairing.NewCode([16]byte{1}), "phone") }, "A phone tried a code that is not this one."},
		"bad name":   {func(st *stage, open pairing.Invitation) { st.attempt(t.Context(), open.Code, "\x1b[2J") }, "under a name that cannot be used"},
		"full list": {func(st *stage, open pairing.Invitation) {
			for i := range pairing.MaxDevices {
				d := pairing.Device{ID: pairing.DeviceID{byte(i)}, Name: "phone", CreatedAt: st.clock()}
				if err := st.devices.AddDevice(t.Context(), d, pairing.TokenHash{byte(i)}); err != nil {
					t.Fatal(err)
				}
			}
			st.attempt(t.Context(), open.Code, "phone")
		}, `/devices">Devices</a>`},
		"left": {func(st *stage, open pairing.Invitation) { st.attempt(gone, open.Code, "phone") }, "went away before it was answered"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStage(t)
			b := st.enter()
			at, open := b.showCode()
			wantNoText(t, b.get(at), anyRefusal)
			c.attempt(st, open)
			st.pass(3 * time.Minute)
			page := b.get(at)
			wantText(t, page, anyRefusal, c.want, "3 minutes ago", "Waiting for a phone")
			wantText(t, b.get(at+"?expiry=1"), c.want)
		})
	}
}

// CR-02: a phone that repeats a spent code uses up the attempts of all, and the
// page of the next code says so, and for how long.
func TestCR02_ThePageNamesTheLimiterAndHowLongItLasts(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	_, spent := b.showCode()
	st.redeem("orphan")
	for range pairing.MaxAttempts {
		st.attempt(t.Context(), spent.Code, "orphan")
	}
	at, open := b.showCode()
	wantNoText(t, b.get(at), anyRefusal) // those were before this code
	st.pass(19*time.Second + time.Millisecond)
	st.attempt(t.Context(), open.Code, "phone")
	wantText(t, b.get(at), anyRefusal, "too many tries within a minute", "Phones may try again in 40 s, at 09:31:01.", "just now")
	st.pass(time.Minute)
	wantText(t, b.get(at), "too many tries within a minute", "Phones may try again now.", "1 minute ago")
	st.attempt(t.Context(), open.Code, "phone")
	page := b.get(at)
	wantText(t, page, "Paired with phone")
	wantNoText(t, page, anyRefusal)
}

// faultyPhones has refused a phone for a cause of its own.
type faultyPhones struct {
	*devices.Service
	last devices.RedeemRefusal
}

func (d faultyPhones) LastRefusal() devices.RedeemRefusal { return d.last }

// What the store said stays in the log.
func TestAPhoneThatCouldNotBeStored(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	at, _ := b.showCode()
	st.site.Phones = faultyPhones{st.clients, devices.RedeemRefusal{At: st.clock(), Err: fmt.Errorf("add a device: %w", errors.New("disk on fire"))}}
	var err error
	if st.handler, err = st.site.routes(st.site.defenses()...); err != nil {
		t.Fatal(err)
	}
	page := b.get(at)
	wantText(t, page, anyRefusal, "could not be stored. The log of Plexus says why")
	wantNoText(t, page, "disk on fire")
}

// An open page hears of a refused phone at once.
func TestARefusedPhoneIsToldToTheOpenPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t)
		b := st.enter()
		at, _ := b.showCode()
		var watches sync.WaitGroup
		for _, source := range st.site.Changed {
			watches.Go(func() { st.site.watch(source) })
		}
		w, done := b.stream(t.Context())
		synctest.Wait()
		w.take()
		st.attempt(t.Context(), pairing.NewCode([16]byte{1}), "phone")
		time.Sleep(streamDelay)
		synctest.Wait()
		if got := w.take(); got != "data: changed" {
			t.Errorf("the stream says %q", got)
		}
		wantText(t, b.get(at), "A phone tried a code that is not this one.")
		st.site.halt()
		<-done
		watches.Wait()
	})
}
