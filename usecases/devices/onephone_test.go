package devices

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/domain/pairing"
	"plexus/domain/sessions"
	"plexus/ports"
)

func (l *clientLink) ended() []sessions.CloseReason {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.reasons)
}

// of is the status of one device.
func (d *stage) of(id pairing.DeviceID) Status {
	d.t.Helper()
	for _, s := range d.status() {
		if s.ID == id {
			return s
		}
	}
	d.t.Fatal("the device is not listed")
	return Status{}
}

func TestK18_ADeviceIsRenamed(t *testing.T) {
	d := newStage(t)
	token, one := d.pair("iPhone")
	_, two := d.pair("iPhone")
	_, three := d.pair("iPhone")
	names := func() string {
		var all []string
		for _, s := range d.status() {
			all = append(all, s.Name+"/"+s.Given)
		}
		return strings.Join(all, ", ")
	}
	if got := names(); got != "iPhone/iPhone, iPhone (2)/iPhone, iPhone (3)/iPhone" {
		t.Fatal(got)
	}
	link, _ := d.connect(token)
	changed := d.Changed()
	if err := d.Rename(t.Context(), two.ID, " Ann’s phone\u3000"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody was told of the new name")
	}
	for bad, want := range map[string]error{
		"": pairing.ErrNameEmpty, " ": pairing.ErrNameEmpty, "a\nb": pairing.ErrNameMarks, "\u202egnp": pairing.ErrNameMarks,
		strings.Repeat("x", 81): pairing.ErrNameTooLong,
	} {
		if err := d.Rename(t.Context(), one.ID, bad); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", bad, err, want)
		}
	}
	if err := d.Rename(t.Context(), pairing.DeviceID{9}, "x"); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("an unknown device: %v", err)
	}
	d.devices.fail("rename", errDisk)
	if err := d.Rename(t.Context(), three.ID, "x"); !errors.Is(err, errDisk) {
		t.Errorf("a store that fails: %v", err)
	}
	if len(link.ended()) != 0 {
		t.Error("a renaming has ended a connection")
	}
	d.restart(Options{})
	if got := names(); got != "iPhone/iPhone, Ann’s phone/Ann’s phone, iPhone (2)/iPhone" {
		t.Error(got)
	}
}

func TestK18_ASecondPhoneIsToldOf(t *testing.T) {
	d := newStage(t)
	tokenA, ann := d.pair("Phone")
	tokenB, bob := d.pair("Phone")
	_, detach := d.connect(tokenA)
	if b := d.of(bob.ID).Busy; b != (Busy{}) {
		t.Errorf("before it came: %+v", b)
	}
	d.now = d.now.Add(time.Minute)
	changed := d.Changed()
	if name := d.TurnAway(t.Context(), d.hello(tokenB)); name != "Phone (2)" {
		t.Errorf("it is called %q", name)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody was told")
	}
	if b := d.of(bob.ID).Busy; b != (Busy{At: d.now, By: "Phone", CanLetIn: true}) {
		t.Errorf("turned away: %+v", b)
	}
	if b := d.of(ann.ID).Busy; b != (Busy{}) {
		t.Errorf("of the connected one: %+v", b)
	}
	if err := d.Rename(t.Context(), ann.ID, "Ann’s phone"); err != nil {
		t.Fatal(err)
	}
	if b := d.of(bob.ID).Busy; b.By != "Ann’s phone" {
		t.Errorf("after a renaming: %+v", b)
	}
	detach()
	if b := d.of(bob.ID).Busy; b != (Busy{At: d.now, By: "Ann’s phone"}) {
		t.Errorf("when the other has gone: %+v", b)
	}
	d.connect(tokenB)
	if b := d.of(bob.ID).Busy; b != (Busy{}) {
		t.Errorf("once it has connected: %+v", b)
	}
	// Its own earlier connection is no other phone; a client of the owner has no name.
	d.TurnAway(t.Context(), d.hello(tokenB))
	if name := d.TurnAway(t.Context(), Identity{Master: true}); name != "" || d.of(bob.ID).Busy != (Busy{}) {
		t.Errorf("%q; %+v", name, d.of(bob.ID).Busy)
	}
}

// While the place is kept for a phone that does not come, the others are told so, and
// another one can be let in instead.
func TestK18_AKeptPlaceIsCalledOne(t *testing.T) {
	d := newStage(t)
	tokenA, ann := d.pair("Ann’s phone")
	_, bob := d.pair("Bob’s phone")
	d.TurnAway(t.Context(), d.hello(tokenA)) // nobody is there yet: it is only noted
	if err := d.LetIn(t.Context(), bob.ID); err != nil {
		t.Fatal(err)
	}
	d.TurnAway(t.Context(), d.hello(tokenA))
	if b := d.of(ann.ID).Busy; b != (Busy{At: d.now, By: "Bob’s phone", Kept: true, CanLetIn: true}) {
		t.Errorf("while it is kept: %+v", b)
	}
	at := d.now
	d.now = d.now.Add(letInLimit)
	if b := d.of(ann.ID).Busy; b != (Busy{At: at, By: "Bob’s phone"}) {
		t.Errorf("when it is free again: %+v", b)
	}
	d.now = at
	if err := d.LetIn(t.Context(), ann.ID); err != nil || !d.MayEnter(d.hello(tokenA)) {
		t.Errorf("the other way round: %v", err)
	}
}

func TestK18_LettingInEndsTheOther(t *testing.T) {
	d := newStage(t)
	tokenA, ann := d.pair("Ann’s phone")
	tokenB, bob := d.pair("Bob’s phone")
	owner := Identity{Master: true}
	mayEnter := func() (a, b, o bool) {
		return d.MayEnter(d.hello(tokenA)), d.MayEnter(d.hello(tokenB)), d.MayEnter(owner)
	}
	if a, b, o := mayEnter(); !a || !b || !o {
		t.Error("the place is kept for nobody")
	}
	link, detach := d.connect(tokenA)
	d.TurnAway(t.Context(), d.hello(tokenB))
	if err := d.LetIn(t.Context(), bob.ID); err != nil {
		t.Fatal(err)
	}
	if got := link.ended(); !slices.Equal(got, []sessions.CloseReason{sessions.ConcurrentClient}) {
		t.Errorf("the other was ended for %v", got)
	}
	detach()
	if a, b, o := mayEnter(); a || !b || o {
		t.Errorf("the place is kept for Bob alone: %v, %v, %v", a, b, o)
	}
	if busy := d.of(ann.ID).Busy; busy.By != "Bob’s phone" || !busy.At.Equal(d.now) {
		t.Errorf("of the one that was ended: %+v", busy)
	}
	bobs, leave := d.connect(tokenB)
	if a, b, o := mayEnter(); !a || !b || !o {
		t.Error("the place is still kept")
	}
	if err := d.LetIn(t.Context(), bob.ID); err != nil || len(bobs.ended()) != 0 {
		t.Errorf("the one that is in already: %v, ended for %v", err, bobs.ended())
	}
	if a, _, _ := mayEnter(); !a {
		t.Error("a place is kept for the one that has it")
	}
	leave()
	d.keepFor(bob.ID, tokenA)
	d.now = d.now.Add(letInLimit)
	if a, _, o := mayEnter(); !a || !o {
		t.Error("a phone that does not come keeps the others out")
	}
	d.keepFor(bob.ID, tokenA)
	if err := d.Revoke(t.Context(), bob.ID); err != nil {
		t.Fatal(err)
	}
	if !d.MayEnter(d.hello(tokenA)) {
		t.Error("the place is kept for a phone that was revoked")
	}
	if err := d.LetIn(t.Context(), bob.ID); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("an unknown one: %v", err)
	}
}

// keepFor lets a device in while another one is connected, which then goes.
func (d *stage) keepFor(id pairing.DeviceID, connected pairing.DeviceToken) {
	d.t.Helper()
	_, detach := d.connect(connected)
	if err := d.LetIn(d.t.Context(), id); err != nil {
		d.t.Fatal(err)
	}
	detach()
	if d.MayEnter(d.hello(connected)) {
		d.t.Error("the place is not kept")
	}
}
