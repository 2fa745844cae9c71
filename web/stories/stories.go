// Package stories holds every view of the owner's page in every state, with
// canned values: for looking at, for golden files and for the tests in a browser.
package stories

import (
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"

	"plexus/web"
)

// Base is the prefix below which Handler serves the stories.
const Base = "/story/"

// Payload is the text of the code in the story "invitation".
const Payload = `{"type":"nova.pair","version":1,"server":"wss://box.tail1234.ts.net/client/v1","code":"0123456789abcdef0123456789abcdef"}`

// Story is one view in one state.
type Story struct {
	Name string // of the form view-state, or view alone for the usual state
	View templ.Component
}

// book makes stories as seen at one moment.
type book struct {
	now     time.Time
	code    web.QRCode
	stories []Story
}

// All gives every story, as seen at now. code is that of Payload.
func All(now time.Time, code web.QRCode) []Story {
	b := &book{now: now, code: code}
	t := web.English()
	b.add("signin", web.SignInPage(web.SignIn{T: t}))
	b.add("signin-wrong", web.SignInPage(web.SignIn{T: t, Problem: t.SignInBadCode}))
	b.add("signin-left", web.SignInPage(web.SignIn{T: t, Left: true}))
	b.overview()
	b.pairing()
	b.invitations()
	b.devices()
	b.extensions()
	b.rest()
	b.conversations()
	b.conversation()
	b.lists()
	b.privacy()
	return b.stories
}

func (b *book) add(name string, view templ.Component) {
	b.stories = append(b.stories, Story{Name: name, View: view})
}

func (b *book) layout(here web.Place) web.Layout {
	return web.Layout{T: web.English(), Base: Base, Here: here, Now: b.now, Personal: true}
}

func (b *book) before(d time.Duration) time.Time { return b.now.Add(-d) }

const (
	hour = time.Hour
	day  = 24 * hour
)

func (b *book) pairing() {
	const command = "tailscale serve --bg --https=443 http://127.0.0.1:18787"
	l := b.layout(web.PairPlace)
	address := web.Address{URL: "wss://box.tail1234.ts.net"}
	b.add("pair", web.PairPage(l, web.PairStart{Address: address, Command: command}))
	b.add("pair-offered", web.PairPage(l, web.PairStart{Offered: address.URL, Command: command}))
	b.add("pair-unset", web.PairPage(l, web.PairStart{}))
	b.add("pair-fault", web.PairPage(l, web.PairStart{
		Offered: address.URL, Command: command, Typed: "ws://box/other",
		Fault: "The address must begin with wss://, because phones connect with TLS only.",
	}))
	address.Warning = "Tailscale Serve forwards this name to port 9010, which is this page. It has to forward to the client listener, 127.0.0.1:18787."
	address.Fixed = "public_url in config.toml"
	b.add("pair-warning", web.PairPage(l, web.PairStart{Address: address, Command: command, Paused: true, Full: true}))
}

func (b *book) invitations() {
	l := b.layout(web.PairPlace)
	l.Reload = 10
	v := web.Invitation{
		ID: "7", State: web.InvitationWaiting, Host: "box.tail1234.ts.net", Payload: Payload, Code: b.code,
		Created: b.before(20 * time.Second), Address: web.Address{URL: "wss://box.tail1234.ts.net"},
	}
	b.add("invitation", web.InvitationPage(l, v))
	v.Address.URL = ""
	b.add("invitation-first", web.InvitationPage(l, v))
	v.Address.URL = "wss://home.example.org:8443"
	b.add("invitation-other", web.InvitationPage(l, v))
	v.Address.Fixed = "public_url in config.toml"
	b.add("invitation-fixed", web.InvitationPage(l, v))
	v.Address = web.Address{URL: "wss://box.tail1234.ts.net"}
	v.Legacy = true
	b.add("invitation-expiry", web.InvitationPage(l, v))
	v.Always, v.Paused = true, true
	v.Warning = "Nothing answers at this address yet."
	b.add("invitation-warning", web.InvitationPage(l, v))
	v.Legacy, v.Always, v.Paused, v.Warning = false, false, false, ""
	b.refusedPhones(l, v)
	l.Reload = 0
	v = web.Invitation{ID: "7", State: web.InvitationRedeemed, Host: v.Host, Device: "Ann’s phone"}
	b.add("invitation-redeemed", web.InvitationPage(l, v))
	v.Connected = true
	b.add("invitation-connected", web.InvitationPage(l, v))
	v.State = web.InvitationReplaced
	b.add("invitation-replaced", web.InvitationPage(l, v))
	v.State = web.InvitationCanceled
	b.add("invitation-cancelled", web.InvitationPage(l, v))
	v.State = web.InvitationGone
	b.add("invitation-gone", web.InvitationPage(l, v))
}

// refusedPhones shows what the page of an open code says of a phone that did not
// get in.
func (b *book) refusedPhones(l web.Layout, v web.Invitation) {
	v.Created = b.before(4 * time.Minute)
	for _, s := range []struct {
		name  string
		cause web.RedeemCause
		ago   time.Duration
		wait  time.Duration
	}{
		{"wrong-code", web.RedeemWrongCode, 3 * time.Minute, 0},
		{"bad-name", web.RedeemBadName, time.Minute, 0},
		{"list-full", web.RedeemListFull, 0, 0},
		{"too-many", web.RedeemTooMany, 2 * time.Second, 40 * time.Second},
		{"given-up", web.RedeemGivenUp, 0, 0},
		{"store-failed", web.RedeemStoreFailed, 0, 0},
	} {
		v.Refusal = web.RedeemRefusal{At: b.before(s.ago), Cause: s.cause, Wait: s.wait}
		b.add("invitation-"+s.name, web.InvitationPage(l, v))
	}
}

func (b *book) devices() {
	l := b.layout(web.DevicesPlace)
	list := []web.Device{
		{ID: "d1", Name: "Ann’s phone", Created: b.before(40 * day), LastSeen: b.before(time.Minute), Connected: true},
		{ID: "d2", Name: "NameのiPhone", Created: b.before(3 * day), LastSeen: b.before(5 * hour)},
		{ID: "d3", Name: "👨‍👩‍👧", Created: b.before(11 * time.Minute)},
	}
	hosts := []web.AcceptedHost{{Host: "box.tail1234.ts.net", Fixed: true}, {Host: "home.example.org:8443"}, {Host: "phone.example.net", Invited: true}}
	b.add("devices", web.DevicesPage(l, web.Devices{Devices: list, Hosts: hosts}))
	b.add("devices-busy", web.DevicesPage(l, web.Devices{Devices: []web.Device{
		list[0],
		{ID: "d7", Name: "Ann’s phone (2)", Created: b.before(2 * day), LastSeen: b.before(2 * hour),
			Busy: web.Busy{At: b.before(2 * time.Minute), By: "Ann’s phone", CanLetIn: true}},
		{ID: "d10", Name: "Cy’s phone", Created: b.before(day), Busy: web.Busy{At: b.before(time.Minute), By: "Tablet", Kept: true, CanLetIn: true}},
		{ID: "d8", Name: "Tablet", Created: b.before(day), Busy: web.Busy{At: b.before(5 * hour), By: longName()}},
		{ID: "d9", Name: "Old phone", Created: b.before(day), LastSeen: b.before(day), Busy: web.Busy{At: b.before(3 * hour)}},
	}, Hosts: hosts}))
	b.add("rename", web.RenamePage(l, web.Rename{ID: "d7", Shown: "Ann’s phone (2)", Typed: "Ann’s phone"}))
	b.add("rename-fault", web.RenamePage(l, web.Rename{ID: "d7", Shown: longName(), Typed: " ", Fault: l.T.NameEmpty}))
	b.add("devices-empty", web.DevicesPage(l, web.Devices{}))
	b.add("devices-hostile", web.DevicesPage(l, web.Devices{Paused: true, Devices: []web.Device{
		{ID: "d4", Name: "<img src=x onerror=alert(1)>", Created: b.now, LastSeen: b.now},
		{ID: "d5", Name: `\u202egnp\x1b[2J`, Created: b.now, LastSeen: b.now},
		{ID: "d6", Name: longName(), Created: b.now, LastSeen: b.now, Connected: true},
	}, Hosts: []web.AcceptedHost{{Host: longName() + ".example.org"}}}))
	b.add("confirm", web.ConfirmPage(l, web.Confirm{
		Title: fmt.Sprintf(l.T.RevokeTitle, "Ann’s phone"), Lead: l.T.RevokeLead, Button: l.T.RevokeButton,
		Action: "devices/d1/revoke", Back: web.DevicesPlace,
	}))
}

func longName() string { return strings.Repeat("unbroken", 16) }

func (b *book) rest() {
	l := b.layout(web.RefusedPlace)
	b.add("refused", web.RefusedPage(l, web.Refusals{Refusals: b.refusals()}))
	b.add("refused-empty", web.RefusedPage(l, web.Refusals{}))
	l = b.layout(web.SessionsPlace)
	l.Notice = l.T.Notices["session-ended"]
	b.add("sessions", web.SessionsPage(l, web.Sessions{Sessions: []web.Session{
		{ID: "1", Browser: "Firefox on Linux", Created: b.before(2 * day), LastSeen: b.now, Expires: b.now.Add(88 * day), Current: true},
		{ID: "2", Browser: "Chromium on Linux", Created: b.before(31 * day), LastSeen: b.before(9 * day), Expires: b.now.Add(59 * day)},
	}}))
	l = b.layout("")
	l.Here = "nowhere"
	b.add("fault", web.FaultPage(l, l.T.NotFound, l.T.NotFoundLead))
}
