package devices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/domain/pairing"
	"plexus/ports"
)

func TestCR01_TheLogNamesTheWrongKindOfSecret(t *testing.T) {
	d := newStage(t)
	token, _ := d.pair("iPhone")
	i := d.invite()
	for _, c := range []struct {
		present func() error
		line    string
	}{
		{func() error {
			_, err := d.Authenticate(t.Context(), pairing.DeviceToken{Text: asText(i.Code)})
			return err
		}, "an invitation code was presented as a device token"},
		{func() error {
			_, _, err := d.Redeem(t.Context(), pairing.Code{Text: asText(token)}, "iPhone")
			return err
		}, "a device token was presented in the place of another secret"},
		{func() error {
			return d.AuthenticateMaster(t.Context(), pairing.MasterToken{Text: asText(token)})
		}, "a device token was presented in the place of another secret"},
	} {
		d.log.Reset()
		err := c.present()
		if !errors.Is(err, ErrTokenUnknown) && !errors.Is(err, ErrInvitation) {
			t.Errorf("%s: %v", c.line, err)
		}
		if !strings.Contains(d.log.String(), c.line) {
			t.Errorf("the log has %q, want %q", d.log.String(), c.line)
		}
		leaks(t, d.log.String()+fmt.Sprint(err), i.Code, token, d.master)
	}
	if d.Invitation(i.ID()).State != pairing.Waiting || len(d.status()) != 1 {
		t.Error("a mistake spent the invitation or added a device")
	}
}

func TestN75_RevokingEndsTheDeviceAndNoOther(t *testing.T) {
	d := newStage(t)
	token, device := d.pair("iPhone")
	otherToken, other := d.pair("iPad")
	link, detach := d.connect(token)
	second, _ := d.connect(token)
	otherLink, _ := d.connect(otherToken)
	masterLink, _ := d.connect(pairing.DeviceToken{Text: d.master.Text})
	if err := d.Revoke(t.Context(), device.ID); err != nil {
		t.Fatal(err)
	}
	if !link.revoked() || !second.revoked() || len(otherLink.reasons) != 0 || len(masterLink.reasons) != 0 {
		t.Errorf("ended for %v, %v; the other's %v, the master's %v", link.reasons, second.reasons, otherLink.reasons, masterLink.reasons)
	}
	detach()
	if hashes, err := d.revoked.RevokedHashes(t.Context()); err != nil || !slices.Equal(hashes, []pairing.TokenHash{token.Hash()}) {
		t.Errorf("%d hashes are in the list of revoked ones, %v", len(hashes), err)
	}
	for range 2 { // and after a restart
		if _, err := d.Authenticate(t.Context(), token); !errors.Is(err, ErrTokenUnknown) {
			t.Errorf("the revoked token: %v", err)
		}
		if who := d.hello(otherToken); who.Device.ID != other.ID || who.Master {
			t.Errorf("the other token belongs to %+v", who)
		}
		d.restart(Options{})
	}
	if err := d.Revoke(t.Context(), device.ID); !errors.Is(err, ports.ErrDeviceUnknown) {
		t.Errorf("revoked again: %v, want ErrDeviceUnknown", err)
	}
}

// TestN75_AHelloInFlightDoesNotSlipThrough revokes at every point between the
// look at the token and the end of the attaching.
func TestN75_AHelloInFlightDoesNotSlipThrough(t *testing.T) {
	for _, step := range []string{"find", "attach", "touch"} {
		t.Run(step, func(t *testing.T) {
			d := newStage(t)
			token, device := d.pair("iPhone")
			revoke := func() {
				d.devices.during = map[string]func(){}
				if err := d.Revoke(t.Context(), device.ID); err != nil {
					t.Error(err)
				}
			}
			if step != "attach" {
				d.devices.during[step] = revoke
			}
			link := &clientLink{}
			who, err := d.Authenticate(t.Context(), token)
			if step == "find" {
				if !errors.Is(err, ErrTokenUnknown) {
					t.Fatalf("revoked during the look-up: %v", err)
				}
				return
			}
			if step == "attach" {
				revoke()
			}
			if _, ok := d.AttachClient(t.Context(), who, link); ok && !link.revoked() {
				t.Error("the client is in and nobody ended it")
			}
			if live := d.LiveClients(); step == "attach" && live != 0 {
				t.Errorf("%d clients are live", live)
			}
		})
	}
}

// TestN75_WhoeverSaysHelloDuringARevocationIsOut runs many hellos beside one
// revocation, in whatever order they come.
func TestN75_WhoeverSaysHelloDuringARevocationIsOut(t *testing.T) {
	for range 50 {
		d := newStage(t)
		token, device := d.pair("iPhone")
		var wg sync.WaitGroup
		links := make([]*clientLink, 8)
		for n := range links {
			wg.Go(func() {
				who, err := d.Authenticate(t.Context(), token)
				if err != nil {
					return
				}
				link := &clientLink{}
				if _, ok := d.AttachClient(t.Context(), who, link); ok {
					links[n] = link
				}
			})
		}
		wg.Go(func() {
			if err := d.Revoke(t.Context(), device.ID); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		for _, link := range links {
			if link != nil && !link.revoked() {
				t.Fatal("a client of the revoked device is in")
			}
		}
	}
}

func TestN75_AnotherRevocationDuringAHelloIsNoHarm(t *testing.T) {
	d := newStage(t)
	token, _ := d.pair("iPhone")
	_, other := d.pair("iPad")
	who := d.hello(token)
	master := d.hello(pairing.DeviceToken{Text: d.master.Text})
	if err := d.Revoke(t.Context(), other.ID); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.AttachClient(t.Context(), who, &clientLink{}); !ok {
		t.Error("a device that was not revoked was turned away")
	}
	if _, ok := d.AttachClient(t.Context(), master, &clientLink{}); !ok {
		t.Error("the master token was turned away")
	}
	d.devices.fail("hash", errDisk)
	if _, ok := d.AttachClient(t.Context(), who, &clientLink{}); ok {
		t.Error("a device that could not be looked up again was let in")
	}
}

func TestCR45_AFailedRevocationIsNoSuccess(t *testing.T) {
	for _, step := range []string{"hash", "note", "remove"} {
		t.Run(step, func(t *testing.T) {
			d := newStage(t)
			token, device := d.pair("iPhone")
			link, _ := d.connect(token)
			d.devices.fail(step, errDisk)
			if step == "note" {
				d.revoked.err = errDisk
			}
			if err := d.Revoke(t.Context(), device.ID); !errors.Is(err, errDisk) {
				t.Fatalf("got %v, want the store's error", err)
			}
			if len(link.reasons) != 0 || len(d.status()) != 1 {
				t.Errorf("ended for %v, %d devices", link.reasons, len(d.status()))
			}
			d.devices.fail(step, nil)
			d.revoked.err = nil
			if err := d.Revoke(t.Context(), device.ID); err != nil || !link.revoked() {
				t.Errorf("when there is room again: %v, ended for %v", err, link.reasons)
			}
		})
	}
}

// Whoever asked may be gone before it is done: a closed tab, a dropped line.
func TestN75_ARevocationIsCompletedWhenTheAskerLeaves(t *testing.T) {
	for _, step := range []string{"hash", "remove"} {
		t.Run(step, func(t *testing.T) {
			d := newStage(t)
			token, device := d.pair("iPhone")
			link, _ := d.connect(token)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			d.devices.during[step] = leave
			err := d.Revoke(ctx, device.ID)
			if gone := len(d.status()) == 0; err == nil != gone || gone != link.revoked() || step == "remove" && err != nil {
				t.Errorf("%v; removed: %v, ended for %v", err, gone, link.reasons)
			}
		})
	}
}

func TestN76_PairingIsNoAdmission(t *testing.T) {
	d := newStage(t)
	d.pair("iPhone")
	if d.LiveClients() != 0 || d.status()[0].Connected || !d.status()[0].NeverConnected() {
		t.Errorf("%d clients, the device is %+v", d.LiveClients(), d.status()[0])
	}
}

func TestN77_NoSecretInAnyErrorOrLogLine(t *testing.T) {
	d := newStage(t)
	token, device := d.pair("iPhone")
	i := d.invite()
	stranger := pairing.NewDeviceToken([16]byte{1, 2, 3})
	text := fmt.Sprintf("%v %+v %#v", i, device, d.hello(token))
	note := func(err error) { text += fmt.Sprint(err, "\n") }
	for _, fault := range []error{nil, errDisk} {
		for _, step := range []string{"add", "remove", "touch", "find", "hash"} {
			d.devices.fail(step, fault)
		}
		_, err := d.Authenticate(t.Context(), stranger)
		note(err)
		note(d.AuthenticateMaster(t.Context(), pairing.MasterToken(stranger)))
		_, _, err = d.Redeem(t.Context(), pairing.Code(stranger), "iPhone")
		note(err)
		_, _, err = d.Redeem(t.Context(), i.Code, "\x00")
		note(err)
		_, _, err = d.CreateInvitation(t.Context(), "wss://user:"+stranger.Reveal()+"@box")
		note(err)
		note(d.SetPublicURL(t.Context(), "wss://box/"+stranger.Reveal()))
		note(d.Revoke(t.Context(), pairing.DeviceID{}))
	}
	leaks(t, text+d.log.String(), token, i.Code, stranger, d.master)
}

func TestAuthenticate_AFailingStoreIsNoRejection(t *testing.T) {
	d := newStage(t)
	token, _ := d.pair("iPhone")
	d.devices.fail("find", errDisk)
	if _, err := d.Authenticate(t.Context(), token); err == nil || errors.Is(err, ErrTokenUnknown) {
		t.Errorf("got %v; a client erases its token when it is rejected", err)
	}
	for _, none := range []pairing.DeviceToken{{}, pairing.NewDeviceToken([16]byte{})} {
		d.devices.fail("find", nil)
		if _, err := d.Authenticate(t.Context(), none); !errors.Is(err, ErrTokenUnknown) {
			t.Errorf("no token: %v", err)
		}
	}
}

func TestCR09_NeverConnectedLastSeenConnectedNow(t *testing.T) {
	d := newStage(t)
	token, _ := d.pair("iPhone")
	touches := 0
	d.devices.during["touch"] = func() { touches++ }
	paired := d.now
	d.now = paired.Add(time.Hour)
	changed := d.Changed()
	_, detach := d.connect(token)
	select {
	case <-changed:
	default:
		t.Error("nobody was told of the connection")
	}
	if got := d.status()[0]; !got.Connected || !got.FirstConnectedAt.Equal(d.now) || !got.LastSeenAt.Equal(d.now) {
		t.Errorf("connected: %+v", got)
	}
	for range 10 { // reconnecting all the time costs no write each time
		detach()
		d.now = d.now.Add(time.Second)
		_, detach = d.connect(token)
	}
	if touches != 1 {
		t.Errorf("%d writes within a minute", touches)
	}
	d.now = d.now.Add(time.Hour)
	detach()
	detach() // the second is a no-op
	got := d.status()[0]
	if got.Connected || !got.LastSeenAt.Equal(d.now) || !got.FirstConnectedAt.Equal(paired.Add(time.Hour)) || touches != 2 {
		t.Errorf("gone: %+v, %d writes", got, touches)
	}
}

func TestAttachClient_AVisitThatCannotBeStoredKeepsNobodyOut(t *testing.T) {
	d := newStage(t)
	token, _ := d.pair("iPhone")
	d.devices.fail("touch", errDisk)
	d.connect(token)
	if !d.status()[0].Connected || !strings.Contains(d.log.String(), "visit could not be stored") {
		t.Errorf("the log has %q", d.log.String())
	}
}

// TestAttachClient_DetachStoresAfterTheConnection: the connection's context has
// ended by then.
func TestAttachClient_DetachStoresAfterTheConnection(t *testing.T) {
	d := newStage(t)
	token, _ := d.pair("iPhone")
	ctx, cancel := context.WithCancel(t.Context())
	detach, ok := d.AttachClient(ctx, d.hello(token), &clientLink{})
	if !ok {
		t.Fatal("not attached")
	}
	cancel()
	d.now = d.now.Add(time.Hour)
	detach()
	if got := d.status()[0]; !got.LastSeenAt.Equal(d.now) {
		t.Errorf("last seen %v, want %v", got.LastSeenAt, d.now)
	}
}

func TestNew_NamesWhatIsMissing(t *testing.T) {
	_, err := New(t.Context(), Deps{}, Options{})
	for _, what := range []string{"device registry", "list of revocations", "settings", "random source", "clock", "logger", "master token"} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v does not name the %s", err, what)
		}
	}
}
