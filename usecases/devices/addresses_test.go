package devices

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"plexus/domain/pairing"
	"plexus/ports"
)

func authorities(c *Service) string {
	s := ""
	for _, h := range c.AcceptedHosts() {
		s += h.Server.Authority()
		if h.Public {
			s += "(public)"
		}
		if h.Invited {
			s += "(invited)"
		}
		s += " "
	}
	return s
}

func TestK8_InvitationsMakeTheirHostsAccepted(t *testing.T) {
	d := newStage(t)
	if d.AcceptsHost("box.tail1234.ts.net") || d.AcceptsOrigin("https://box.tail1234.ts.net") || len(d.AcceptedHosts()) != 0 {
		t.Error("with nothing set, a host is accepted")
	}
	d.pairBy("wss://192.168.1.7:8443")
	d.pairBy(testServer)
	for range 2 { // and after a restart
		if got := authorities(d.Service); got != "box.tail1234.ts.net(public) 192.168.1.7:8443 " {
			t.Fatalf("accepted are %s", got)
		}
		for header, want := range map[string]bool{
			"box.tail1234.ts.net": true, "BOX.tail1234.ts.net:443": true, "box.tail1234.ts.net:8443": true, "192.168.1.7": true,
			"": false, "evil.example": false, "box.tail1234.ts.net.evil.example": false, "x@box.tail1234.ts.net": false,
			"box.tail1234.ts.net/x": false, "127.0.0.1": false, ".": false,
		} {
			if got := d.AcceptsHost(header); got != want {
				t.Errorf("Host %q: %v", header, got)
			}
		}
		for header, want := range map[string]bool{
			"https://box.tail1234.ts.net": true, "https://192.168.1.7:8443": true,
			"https://192.168.1.7": false, "http://box.tail1234.ts.net": false, "https://box.tail1234.ts.net:8443": false,
			"null": false, "": false, "https://BOX.tail1234.ts.net": false, "wss://box.tail1234.ts.net": false,
		} {
			if got := d.AcceptsOrigin(header); got != want {
				t.Errorf("Origin %q: %v", header, got)
			}
		}
		d.restart(Options{})
	}
	if err := d.RemoveAcceptedHost(t.Context(), "192.168.1.7:8443"); err != nil {
		t.Fatal(err)
	}
	if d.AcceptsHost("192.168.1.7") || authorities(d.Service) != "box.tail1234.ts.net(public) " {
		t.Errorf("after a removal: %s", authorities(d.Service))
	}
}

// pairBy pairs a phone by an address.
func (d *stage) pairBy(server string) {
	d.t.Helper()
	i, _, err := d.CreateInvitation(d.t.Context(), server)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, _, err := d.Redeem(d.t.Context(), i.Code, "phone"); err != nil {
		d.t.Fatal(err)
	}
}

// public is the public address, "" for none.
func (d *stage) public() string {
	server, _, _ := d.PublicURL()
	return server.Authority()
}

func TestK19_AnAddressIsRememberedOnceAPhoneHasUsedIt(t *testing.T) {
	d := newStage(t)
	d.invite()
	if d.public() != "" || authorities(d.Service) != "box.tail1234.ts.net(invited) " || !d.AcceptsOrigin("https://box.tail1234.ts.net") {
		t.Fatalf("an open code: public is %q, accepted are %s", d.public(), authorities(d.Service))
	}
	d.pairBy(testServer)
	if d.public() != "box.tail1234.ts.net" || authorities(d.Service) != "box.tail1234.ts.net(public) " {
		t.Fatalf("redeemed: public is %q, accepted are %s", d.public(), authorities(d.Service))
	}
	if _, _, err := d.CreateInvitation(t.Context(), "wss://other.example"); err != nil {
		t.Fatal(err)
	}
	if d.public() != "box.tail1234.ts.net" {
		t.Errorf("a code that nobody redeemed changed the public address to %q", d.public())
	}
	d.pairBy("wss://other.example")
	d.restart(Options{})
	if d.public() != "other.example" || authorities(d.Service) != "other.example(public) box.tail1234.ts.net " {
		t.Errorf("another one redeemed: public is %q, accepted are %s", d.public(), authorities(d.Service))
	}
	if err := d.SetPublicURL(t.Context(), ""); err != nil || authorities(d.Service) != "box.tail1234.ts.net other.example " {
		t.Errorf("forgotten: %v; accepted are %s: the phones that were paired by it must get through", err, authorities(d.Service))
	}
	d.restart(Options{PublicURL: "wss://fixed.example"})
	d.now = d.now.Add(time.Hour) // other random bits
	d.restart(Options{PublicURL: "wss://fixed.example"})
	d.pairBy("wss://third.example")
	if d.public() != "fixed.example" || !d.AcceptsHost("third.example") {
		t.Errorf("over a fixed one: public is %q, accepted are %s", d.public(), authorities(d.Service))
	}
}

// What is kept by hand takes the place of the address that phones have used, and
// keeps none of them out.
func TestK19_AKeptAddressKeepsThePhonesOfTheFormerOne(t *testing.T) {
	d := newStage(t)
	for _, address := range []string{"wss://kept.example", testServer} {
		if err := d.SetPublicURL(t.Context(), address); err != nil {
			t.Fatal(err)
		}
	}
	if got := authorities(d.Service); got != "box.tail1234.ts.net(public) kept.example " {
		t.Errorf("accepted are %s", got)
	}
}

func TestK19_TheHostOfAnUnusedCodeGoesWithIt(t *testing.T) {
	for name, end := range map[string]func(d *stage, i pairing.Invitation){
		"cancelled": func(d *stage, i pairing.Invitation) {
			if done, err := d.CancelInvitation(d.t.Context(), i.ID()); !done || err != nil {
				d.t.Errorf("cancel: %v, %v", done, err)
			}
		},
		"replaced":   func(d *stage, _ pairing.Invitation) { d.pairBy("wss://newer.example") },
		"restarted":  func(d *stage, _ pairing.Invitation) { d.restart(Options{}) },
		"not stored": func(d *stage, i pairing.Invitation) { d.redeemInVain(i) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newStage(t)
			i := d.invite()
			if !d.AcceptsHost("box.tail1234.ts.net") {
				t.Fatal("the open code's host is not accepted")
			}
			end(d, i)
			if d.AcceptsHost("box.tail1234.ts.net") || d.AcceptsOrigin("https://box.tail1234.ts.net") {
				t.Errorf("accepted are %s", authorities(d.Service))
			}
		})
	}
}

// redeemInVain lets a redemption fail in the store; the code is taken back then.
func (d *stage) redeemInVain(i pairing.Invitation) {
	d.t.Helper()
	d.devices.fail("add", errDisk)
	if _, _, err := d.Redeem(d.t.Context(), i.Code, "phone"); !errors.Is(err, errDisk) {
		d.t.Errorf("redeem: %v", err)
	}
	if _, err := d.CancelInvitation(d.t.Context(), i.ID()); err != nil {
		d.t.Fatal(err)
	}
}

// A code for a name that is accepted already leaves it accepted, however it ends.
func TestK19_TheEndOfACodeTakesNoOtherName(t *testing.T) {
	d := newStage(t)
	d.pairBy(testServer)
	d.pairBy("wss://other.example")
	d.redeemInVain(d.invite())
	if got := authorities(d.Service); got != "other.example(public) box.tail1234.ts.net " {
		t.Errorf("accepted are %s", got)
	}
}

func TestK8_AcceptedHostsAreBounded(t *testing.T) {
	d := newStage(t)
	for n := range MaxAcceptedHosts + 1 {
		d.pairBy(fmt.Sprintf("wss://box%d.example", n))
		if err := d.Revoke(t.Context(), d.status()[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(d.AcceptedHosts()); got != MaxAcceptedHosts || d.AcceptsHost("box0.example") || !d.AcceptsHost("box32.example") {
		t.Errorf("%d hosts, the oldest accepted: %v", got, d.AcceptsHost("box0.example"))
	}
}

func TestG4_PublicURLComesFromOutsideOrFromThePage(t *testing.T) {
	d := newStage(t)
	if _, _, ok := d.PublicURL(); ok {
		t.Error("with nothing set there is a public URL")
	}
	var bad *pairing.AddressError
	if err := d.SetPublicURL(t.Context(), "wss://localhost"); !errors.As(err, &bad) {
		t.Errorf("a bad address: %v", err)
	}
	changed := d.Changed()
	if err := d.SetPublicURL(t.Context(), "wss://box.example/"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody was told of the new address")
	}
	d.restart(Options{})
	if s, fixed, ok := d.PublicURL(); s.String() != "wss://box.example/client/v1" || fixed || !ok || authorities(d.Service) != "box.example(public) " {
		t.Errorf("%v, fixed %v, %v; accepted are %s", s, fixed, ok, authorities(d.Service))
	}
	d.restart(Options{PublicURL: "wss://fixed.example:8443"})
	if s, fixed, _ := d.PublicURL(); s.Authority() != "fixed.example:8443" || !fixed {
		t.Errorf("%v, fixed %v", s, fixed)
	}
	if err := d.SetPublicURL(t.Context(), "wss://box.example"); !errors.Is(err, ErrSettingFixed) {
		t.Errorf("over a fixed one: %v, want ErrSettingFixed", err)
	}
	d.restart(Options{})
	if err := d.SetPublicURL(t.Context(), ""); err != nil || authorities(d.Service) != "" {
		t.Errorf("taken away: %v; accepted are %s", err, authorities(d.Service))
	}
	for _, key := range []string{keyPublicURL, keyAcceptedHosts} {
		if err := d.settings.PutSetting(t.Context(), key, "nonsense with blanks"); err != nil {
			t.Fatal(err)
		}
	}
	d.restart(Options{}) // a damaged setting keeps no host from starting
	if _, err := New(t.Context(), d.Addresses.deps, Options{Master: d.master.Hash(), PublicURL: "http://x"}); !errors.As(err, &bad) {
		t.Errorf("a bad address from outside: %v", err)
	}
}

func TestK8_NoPhoneIsRemembered(t *testing.T) {
	d := newStage(t)
	for _, on := range []bool{true, false} {
		if err := d.SetNoPhone(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		d.restart(Options{})
		if d.NoPhone() != on {
			t.Errorf("no phone is %v, want %v", d.NoPhone(), on)
		}
	}
}

// leavingSettings are those whose asker leaves in the middle of a change; like a
// database they then store, and report that the asker has left.
type leavingSettings struct {
	store ports.Settings
	leave context.CancelFunc
}

func (l *leavingSettings) Settings(ctx context.Context) (map[string]string, error) {
	return l.store.Settings(ctx)
}

func (l *leavingSettings) PutSetting(ctx context.Context, key, value string) error {
	err := l.store.PutSetting(ctx, key, value)
	l.leave()
	return errors.Join(err, ctx.Err())
}

func (l *leavingSettings) DropSetting(ctx context.Context, key string) error {
	err := l.store.DropSetting(ctx, key)
	l.leave()
	return errors.Join(err, ctx.Err())
}

// Else a pause, or a host that was removed, would hold only after a restart.
func TestSettings_AreInForceAlthoughTheAskerLeaves(t *testing.T) {
	d := newStage(t)
	d.pairBy(testServer)
	d.pairBy("wss://other.example")
	for name, c := range map[string]struct {
		change func(context.Context) error
		done   func() bool
	}{
		"pause": {func(ctx context.Context) error { return d.SetNoPhone(ctx, true) }, d.NoPhone},
		"host": {func(ctx context.Context) error { return d.RemoveAcceptedHost(ctx, "box.tail1234.ts.net") },
			func() bool { return !d.AcceptsHost("box.tail1234.ts.net") }},
	} {
		ctx, leave := context.WithCancel(t.Context())
		d.Addresses.deps.Settings = &leavingSettings{d.settings, leave}
		if err := c.change(ctx); err != nil || !c.done() {
			t.Errorf("%s: %v; in force: %v", name, err, c.done())
		}
	}
}
