package pairing

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func testTime() time.Time { return time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC) }

// code gives a code of its own for every n.
func code(n byte) Code { return NewCode([16]byte{15: n}) }

func TestTokens_AreLowerHexAndRedacted(t *testing.T) {
	for name, s := range map[string]fmt.Stringer{
		"code": code(0xab), "device token": NewDeviceToken([16]byte{0xff}), "master token": NewMasterToken([16]byte{1}),
		"payload": Invitation{Code: code(1)}.Payload(),
	} {
		if got := fmt.Sprintf("%s %v %+v %#v %x", s, s, s, s, s); strings.ReplaceAll(got, "[redacted]", "") != "    " {
			t.Errorf("a %s prints as %q", name, got)
		}
	}
	if got := code(0xab).Reveal(); got != "000000000000000000000000000000ab" || !WellFormed(got) {
		t.Errorf("a code is %q", got)
	}
	for _, bad := range []string{"", strings.Repeat("a", 31), strings.Repeat("a", 33), strings.Repeat("A", 32), strings.Repeat("g", 32), strings.Repeat("é", 16)} {
		if WellFormed(bad) {
			t.Errorf("%q passes for a token", bad)
		}
	}
}

func TestDeviceID_IsAUUID(t *testing.T) {
	id := NewDeviceID([16]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f})
	if id.String() != "ffffffff-ffff-4fff-bfff-ffffffffff1f" {
		t.Errorf("the ID is %s", id)
	}
	for _, s := range []string{id.String(), strings.ToUpper(id.String())} {
		if back, err := ParseDeviceID(s); err != nil || back != id {
			t.Errorf("%s reads as %s, %v", s, back, err)
		}
	}
	for _, bad := range []string{
		"", "x", strings.ReplaceAll(id.String(), "-", ""), "{" + id.String() + "}", id.String() + "0",
		"gfffffff-ffff-4fff-bfff-ffffffffff1f", "ffffffff-fffff-4ff-bfff-ffffffffff1f",
	} {
		if _, err := ParseDeviceID(bad); !errors.Is(err, ErrDeviceID) {
			t.Errorf("%q: %v, want ErrDeviceID", bad, err)
		}
	}
}

func TestCR10_DeviceNames(t *testing.T) {
	family := "👨‍👩‍👧"
	for _, c := range []struct{ in, want string }{
		{family, family},
		{"Claus’s iPhone", "Claus’s iPhone"},
		{"NameのiPhone", "NameのiPhone"},
		{"Tab (2)", "Tab (2)"},
		{"<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"},
		{"\u202Egnp", "\u202Egnp"}, // stored as it is; whoever shows it neutralises it
		{" \t\u00a0iPhone\u3000\n", "iPhone"},
		{"\x1ciPhone\x1f", "iPhone"},
		{strings.Repeat("x", 80), strings.Repeat("x", 80)},
		{strings.Repeat("𝄞", 40), strings.Repeat("𝄞", 40)},
	} {
		if got, err := DeviceName(c.in); err != nil || got != c.want {
			t.Errorf("%q becomes %q, %v", c.in, got, err)
		}
	}
	for _, bad := range []string{
		"", " \n", "\u3000", "a\nINFO fake log line", "a\x00b", "a\u0085b", "a\x1bb", "a\x7fb", "\xff",
		strings.Repeat("x", 81), strings.Repeat("𝄞", 40) + "x", strings.Repeat("x", 3900),
	} {
		if got, err := DeviceName(bad); !errors.Is(err, ErrDeviceName) {
			t.Errorf("%q becomes %q, %v", bad, got, err)
		}
	}
}

func TestK18_WhyANameCannotBeUsed(t *testing.T) {
	for want, names := range map[error][]string{
		ErrNameEmpty:   {"", " \n", "\u200b", "\u2060\u00ad"},
		ErrNameTooLong: {strings.Repeat("x", 81), strings.Repeat("字", 100)},
		ErrNameMarks:   {"a\tb", "a\x00", "\x7fa", "a\xff"},
	} {
		for _, name := range names {
			if got, err := DeviceName(name); !errors.Is(err, want) || !errors.Is(err, ErrDeviceName) {
				t.Errorf("%q becomes %q, %v; want %v", name, got, err, want)
			}
		}
	}
}

func TestK18_EqualNamesAreToldApart(t *testing.T) {
	long := strings.Repeat("𝄞", 40)
	for _, c := range []struct{ given, shown []string }{
		{nil, []string{}},
		{[]string{"iPhone", "iPad"}, []string{"iPhone", "iPad"}},
		{[]string{"iPhone", "iPhone", "iPad", "iPhone"}, []string{"iPhone", "iPhone (2)", "iPad", "iPhone (3)"}},
		{[]string{"iPhone", "iphone"}, []string{"iPhone", "iphone"}},
		{[]string{"A", "A", "A (2)"}, []string{"A", "A (3)", "A (2)"}},
		{[]string{"A (2)", "A", "A", "A (2)"}, []string{"A (2)", "A", "A (3)", "A (2) (2)"}},
		{[]string{long, long}, []string{long, strings.Repeat("𝄞", 38) + " (2)"}},
	} {
		var list []Device
		for i, name := range c.given {
			list = append(list, Device{ID: DeviceID{byte(i)}, Name: name})
		}
		if got := ShownNames(list); !slices.Equal(got, c.shown) {
			t.Errorf("%q are shown as %q, want %q", c.given, got, c.shown)
		}
	}
	var all []Device
	for range MaxDevices {
		all = append(all, Device{Name: strings.Repeat("x", MaxDeviceName)})
	}
	seen := map[string]bool{}
	for _, name := range ShownNames(all) {
		if _, err := DeviceName(name); err != nil || seen[name] {
			t.Errorf("%q: %v, twice: %v", name, err, seen[name])
		}
		seen[name] = true
	}
}

func TestAttempts_SlidingWindow(t *testing.T) {
	var a Attempts
	at := testTime()
	for n := range MaxAttempts {
		if !a.Allow(at.Add(time.Duration(n) * 500 * time.Millisecond)) {
			t.Fatalf("attempt %d was refused", n+1)
		}
	}
	last := at.Add((MaxAttempts - 1) * 500 * time.Millisecond)
	for range 1000 { // refusals do not push the end of the window away
		if a.Allow(last) {
			t.Fatal("attempt 61 was allowed")
		}
	}
	if got, want := a.Wait(last), time.Minute-last.Sub(at); got != want {
		t.Errorf("the wait is %v, want %v", got, want)
	}
	if a.Allow(at.Add(time.Minute - time.Nanosecond)) {
		t.Error("allowed while the first of 60 is within the minute")
	}
	if !a.Allow(at.Add(time.Minute)) || a.Allow(at.Add(time.Minute)) {
		t.Error("one place is free after a minute, and not two")
	}
}

// TestAttempts_AgreesWithAModel runs random times against a plain list.
func TestAttempts_AgreesWithAModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var a Attempts
	var allowed []time.Time
	now := testTime()
	for step := range 20_000 {
		now = now.Add(time.Duration(random.IntN(1500)) * time.Millisecond)
		recent := 0
		for _, at := range allowed {
			if now.Sub(at) < AttemptWindow {
				recent++
			}
		}
		want := recent < MaxAttempts
		if got := a.Allow(now); got != want {
			t.Fatalf("step %d: allowed is %v, want %v", step, got, want)
		}
		if want {
			allowed = append(allowed, now)
			allowed = allowed[max(0, len(allowed)-MaxAttempts):]
		}
	}
}

func TestInvitations_Life(t *testing.T) {
	var v Invitations
	if v.Matches(Code{}) || v.Matches(code(1)) || v.Cancel(code(1).ID()) {
		t.Error("with none open, something matches or can be cancelled")
	}
	v.Consume(Device{}) // nothing to consume
	if replaced := v.Create(Invitation{Code: code(1)}); replaced {
		t.Error("the first replaces none")
	}
	if replaced := v.Create(Invitation{Code: code(2)}); !replaced {
		t.Error("the second replaces the first")
	}
	if v.Matches(code(1)) || !v.Matches(code(2)) || v.Matches(Code{}) {
		t.Error("the newer one alone is to match")
	}
	if v.Cancel(code(1).ID()) || !v.Cancel(code(2).ID()) || v.Matches(code(2)) {
		t.Error("the open one alone can be cancelled")
	}
	v.Create(Invitation{Code: code(3)})
	v.Consume(Device{Name: "iPhone"})
	v.Create(Invitation{Code: code(4)})
	for n, want := range map[byte]State{1: Replaced, 2: Canceled, 3: Redeemed, 4: Waiting, 5: Gone} {
		o := v.Outcome(code(n).ID())
		if o.State != want || o.ID != code(n).ID() || (o.Device.Name == "iPhone") != (want == Redeemed) {
			t.Errorf("invitation %d is %+v, want %v", n, o, want)
		}
	}
	if v.Matches(code(3)) {
		t.Error("a redeemed code matches again")
	}
}

func TestInvitations_ForgetOldOutcomes(t *testing.T) {
	var v Invitations
	for n := range byte(keptOutcomes + 3) {
		v.Create(Invitation{Code: code(n)})
	}
	if got := v.Outcome(code(0).ID()).State; got != Gone {
		t.Errorf("the oldest is %v", got)
	}
	if got := v.Outcome(code(keptOutcomes + 1).ID()).State; got != Replaced || len(v.ended) != keptOutcomes {
		t.Errorf("the last but one is %v, %d kept", got, len(v.ended))
	}
}
