package devices

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/domain/loglimit"
	"plexus/domain/pairing"
	"plexus/ports"
)

func TestN68_ACodeWorksOnceAndANewOneReplacesIt(t *testing.T) {
	d := newStage(t)
	old := d.invite()
	fresh, replaced, err := d.CreateInvitation(t.Context(), testServer)
	if err != nil || !replaced || fresh.Code == old.Code {
		t.Fatalf("replaced %v, %v", replaced, err)
	}
	if _, _, err := d.Redeem(t.Context(), old.Code, "iPhone"); !errors.Is(err, ErrInvitation) {
		t.Errorf("the old code: %v, want ErrInvitation", err)
	}
	for _, name := range []string{"", "  ", "a\nb", strings.Repeat("x", 81)} {
		if _, _, err := d.Redeem(t.Context(), fresh.Code, name); !errors.Is(err, pairing.ErrDeviceName) {
			t.Errorf("the name %q: %v, want ErrDeviceName", name, err)
		}
	}
	if got := d.Invitation(fresh.ID()).State; got != pairing.Waiting {
		t.Fatalf("after bad names the invitation is %v", got)
	}
	if _, device, err := d.Redeem(t.Context(), fresh.Code, " iPhone "); err != nil || device.Name != "iPhone" {
		t.Errorf("the good name: %q, %v", device.Name, err)
	}
	if _, open := d.OpenInvitation(); open {
		t.Error("a redeemed invitation is still open")
	}
}

func TestN69_TokensAreDistinct(t *testing.T) {
	d := newStage(t)
	seen := map[string]bool{d.master.Reveal(): true}
	for n := range pairing.MaxDevices {
		token, device := d.pair(fmt.Sprint("phone ", n))
		if seen[token.Reveal()] || !pairing.WellFormed(token.Reveal()) || seen[device.ID.String()] {
			t.Fatalf("device %d has a token or an ID twice, or one of a wrong form", n)
		}
		seen[token.Reveal()], seen[device.ID.String()] = true, true
	}
}

func TestN70_ARestartKeepsDevicesAndForgetsTheInvitation(t *testing.T) {
	d := newStage(t)
	token, device := d.pair("iPhone")
	i := d.invite()
	d.restart(Options{})
	if who := d.hello(token); who.Device.ID != device.ID {
		t.Errorf("after a restart the token belongs to %v", who)
	}
	if got := d.Invitation(i.ID()).State; got != pairing.Gone {
		t.Errorf("after a restart the invitation is %v", got)
	}
	if _, _, err := d.Redeem(t.Context(), i.Code, "iPad"); !errors.Is(err, ErrInvitation) {
		t.Errorf("after a restart its code gives %v", err)
	}
}

func TestN72_TheMasterTokenAloneAdministers(t *testing.T) {
	d := newStage(t)
	token, _ := d.pair("iPhone")
	i := d.invite()
	if err := d.AuthenticateMaster(t.Context(), d.master); err != nil {
		t.Errorf("the master token: %v", err)
	}
	for name, wrong := range map[string]pairing.MasterToken{
		"a device token": {Text: asText(token)}, "a code": {Text: asText(i.Code)}, "nobody's": pairing.NewMasterToken([16]byte{9}), "none": {},
	} {
		if err := d.AuthenticateMaster(t.Context(), wrong); !errors.Is(err, ErrTokenUnknown) {
			t.Errorf("%s: %v, want ErrTokenUnknown", name, err)
		}
	}
	_, _, err := d.CreateInvitation(t.Context(), "ws://box/client/v1")
	var bad *pairing.AddressError
	if !errors.As(err, &bad) || bad.Part != "scheme" {
		t.Errorf("a bad address: %v", err)
	}
	if open, ok := d.OpenInvitation(); !ok || open.Code != i.Code {
		t.Error("a refused invitation took the place of the open one")
	}
}

func TestN73_ACodeIsActiveUntilItIsRedeemed(t *testing.T) {
	d := newStage(t)
	i := d.invite()
	changed := d.Changed()
	if !d.ActiveCode(i.Code.Text) || d.ActiveCode(pairing.NewCode([16]byte{1}).Text) {
		t.Error("the open code alone is to be active")
	}
	if _, _, err := d.Redeem(t.Context(), i.Code, "iPhone"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody was told of the redemption")
	}
	if d.ActiveCode(i.Code.Text) {
		t.Error("a redeemed code is active")
	}
	if o := d.Invitation(i.ID()); o.State != pairing.Redeemed || o.Device.Name != "iPhone" {
		t.Errorf("the page sees %+v", o)
	}
}

func TestN74_CR02_RedeemingAgainIsRefusedAndAddsNoDevice(t *testing.T) {
	d := newStage(t)
	i := d.invite()
	if _, _, err := d.Redeem(t.Context(), i.Code, "iPhone"); err != nil {
		t.Fatal(err)
	}
	allowed := 0
	for range 70 {
		if !d.CountAttempt() {
			continue
		}
		allowed++
		if _, _, err := d.Redeem(t.Context(), i.Code, "iPhone"); !errors.Is(err, ErrInvitation) {
			t.Fatalf("the same code again: %v", err)
		}
	}
	if allowed != pairing.MaxAttempts || !errors.Is(d.LastRefusal().Err, ErrTooManyAttempts) || d.AttemptWait() != time.Minute {
		t.Errorf("%d attempts allowed, the page sees %v and a wait of %v", allowed, d.LastRefusal().Err, d.AttemptWait())
	}
	if list := d.status(); len(list) != 1 || !list[0].NeverConnected() || !list[0].CreatedAt.Equal(d.now) {
		t.Errorf("the list is %+v, want the one orphan", list)
	}
	next := d.invite()
	d.now = d.now.Add(time.Minute)
	if !d.CountAttempt() {
		t.Fatal("refused when the window had rolled over")
	}
	if _, _, err := d.Redeem(t.Context(), next.Code, "iPhone"); err != nil {
		t.Errorf("the next code: %v", err)
	}
	if lines := strings.Count(d.log.String(), "attempt was refused"); lines > 2*loglimit.Lines {
		t.Errorf("%d lines in the log", lines)
	}
}

func TestCR05_TheThirtyThirdLeavesTheInvitationOpen(t *testing.T) {
	d := newStage(t)
	var first pairing.Device
	for n := range pairing.MaxDevices - 1 {
		if _, device := d.pair("iPhone"); n == 0 {
			first = device
		}
	}
	i := d.invite()
	other, hash := pairing.Device{ID: pairing.NewDeviceID([16]byte{1}), Name: "by another way"}, pairing.NewDeviceToken([16]byte{1}).Hash()
	if err := d.devices.AddDevice(t.Context(), other, hash); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Redeem(t.Context(), i.Code, "iPhone"); !errors.Is(err, ports.ErrDeviceLimit) {
		t.Fatalf("the 33rd: %v, want ErrDeviceLimit", err)
	}
	if !errors.Is(d.LastRefusal().Err, ports.ErrDeviceLimit) || d.Invitation(i.ID()).State != pairing.Waiting {
		t.Errorf("the page sees %v, the invitation is %v", d.LastRefusal().Err, d.Invitation(i.ID()).State)
	}
	if _, _, err := d.CreateInvitation(t.Context(), testServer); !errors.Is(err, ports.ErrDeviceLimit) {
		t.Errorf("another invitation: %v, want ErrDeviceLimit", err)
	}
	if err := d.Revoke(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Redeem(t.Context(), i.Code, "iPhone"); err != nil {
		t.Errorf("after a revocation: %v", err)
	}
}

// TestCR06_OneOfManyWins lets every rival arrive while the first one's device is
// being stored.
func TestCR06_OneOfManyWins(t *testing.T) {
	d := newStage(t)
	i := d.invite()
	const rivals = 50
	started, arrived := make(chan struct{}), make(chan struct{}, rivals)
	d.devices.during["add"] = func() {
		close(started) // a second device would panic here
		for range rivals - 1 {
			<-arrived
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, rivals)
	redeem := func(n int) { _, _, errs[n] = d.Redeem(t.Context(), i.Code, fmt.Sprint("phone ", n)) }
	wg.Go(func() { redeem(0) })
	<-started
	for n := 1; n < rivals; n++ {
		wg.Go(func() {
			arrived <- struct{}{}
			redeem(n)
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, ErrInvitation) {
			t.Errorf("a loser got %v", err)
		}
	}
	if list := d.status(); won != 1 || len(list) != 1 {
		t.Errorf("%d won, %d devices", won, len(list))
	}
}

func TestCR45_AFailedWriteLeavesTheInvitationOpen(t *testing.T) {
	d := newStage(t)
	i := d.invite()
	d.devices.fail("add", errDisk)
	if token, device, err := d.Redeem(t.Context(), i.Code, "iPhone"); !errors.Is(err, errDisk) || !token.Empty() || device != (pairing.Device{}) {
		t.Fatalf("got %v and a token: %v", err, !token.Empty())
	}
	if list := d.status(); len(list) != 0 || d.Invitation(i.ID()).State != pairing.Waiting {
		t.Errorf("%d devices, the invitation is %v", len(list), d.Invitation(i.ID()).State)
	}
	d.devices.fail("add", nil)
	if _, _, err := d.Redeem(t.Context(), i.Code, "iPhone"); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
}

func TestRedeem_WaitsNoLongerThanItsCaller(t *testing.T) {
	d := newStage(t)
	i := d.invite()
	started, release := make(chan struct{}), make(chan struct{})
	d.devices.during["add"] = func() {
		close(started)
		<-release
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, _, err := d.Redeem(context.WithoutCancel(t.Context()), i.Code, "first"); err != nil {
			t.Error(err)
		}
	})
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.Redeem(ctx, i.Code, "second"); !errors.Is(err, context.Canceled) {
		t.Errorf("redeem: %v", err)
	}
	if _, err := d.CancelInvitation(ctx, i.ID()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancel: %v", err)
	}
	if got := d.Invitation(i.ID()).State; got != pairing.Waiting { // the page is not kept waiting
		t.Errorf("while it is stored the invitation is %v", got)
	}
	close(release)
	wg.Wait()
	if canceled, err := d.CancelInvitation(t.Context(), i.ID()); canceled || err != nil {
		t.Errorf("a redeemed invitation was cancelled: %v, %v", canceled, err)
	}
}

func TestCancelInvitation_NamesTheOne(t *testing.T) {
	d := newStage(t)
	i := d.invite()
	if done, err := d.CancelInvitation(t.Context(), pairing.NewCode([16]byte{1}).ID()); done || err != nil {
		t.Errorf("another one: %v, %v", done, err)
	}
	if done, err := d.CancelInvitation(t.Context(), i.ID()); !done || err != nil {
		t.Errorf("the open one: %v, %v", done, err)
	}
	if _, _, err := d.Redeem(t.Context(), i.Code, "iPhone"); !errors.Is(err, ErrInvitation) || d.Invitation(i.ID()).State != pairing.Canceled {
		t.Errorf("then its code gives %v", err)
	}
}

func TestPayload_ExpiresOnlyWhereAsked(t *testing.T) {
	d := newStage(t)
	i := d.invite()
	expires := func(legacy bool) bool {
		return strings.Contains(d.Payload(i, legacy).Reveal(), `"expires_at":1772357520000`)
	}
	if expires(false) || !expires(true) {
		t.Error("the legacy payload alone is to have an expiry")
	}
	d.restart(Options{LegacyExpiry: true})
	if !expires(false) {
		t.Error("legacy_expiry makes no difference")
	}
}
