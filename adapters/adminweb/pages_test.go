package adminweb

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"plexus/domain/admission"
	"plexus/domain/pairing"
	connection "plexus/domain/sessions" // the name is taken here
	"plexus/ports"
	"plexus/usecases/devices"
	"plexus/web"
)

// CR-04: without an address there is no code, and a bad one is told by its part.
func TestPairingAsksForAnAddressFirst(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	page := b.get("pair")
	wantText(t, page, "No address is set yet")
	wantNoText(t, page, "<svg class=\"qr\"", "Show the code")
	if _, at := b.post("pair", nil); at != "pair" {
		t.Errorf("a code without an address leads to %q", at)
	}
	for address, want := range map[string]string{
		"wss://127.0.0.1/client/v1": "Wrong host name:",
		"localhost":                 "Wrong host name:",
		"ws://x/client/v1":          "Wrong scheme:",
		"wss://x/other":             "Wrong path:",
		"wss://u:p@x/client/v1":     "Wrong user name:",
		"wss://x/client/v1?c=1":     "Wrong query:",
		"wss://x:0":                 "Wrong port:",
		"wss://":                    "Wrong host name:",
		"wss://[::1":                "Wrong address:",
	} {
		code, page := b.post("pair", url.Values{"address": {address}})
		if code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", address, code)
		}
		wantText(t, page, want, `aria-invalid="true"`)
		if _, open := st.clients.OpenInvitation(); open {
			t.Errorf("%s: a code is open", address)
		}
	}
}

func TestPairingWithTheOfferedName(t *testing.T) {
	st := newStage(t)
	st.statusSource.path = PhonePath{Offered: "wss://box.tail1234.ts.net", Command: "tailscale serve --bg 18787", Warning: "Nothing is served there yet.", Checked: "box.tail1234.ts.net:8443"}
	b := st.enter()
	wantText(t, b.get("pair"), "Use wss://box.tail1234.ts.net", "tailscale serve --bg 18787")
	at, page := b.must("pair", url.Values{"address": {"wss://box.tail1234.ts.net:8443"}})
	open, _ := st.clients.OpenInvitation()
	if at != "pair/"+string(open.ID()) {
		t.Errorf("leads to %s", at)
	}
	wantText(t, page, "box.tail1234.ts.net:8443", open.Code.Reveal(), `class="qr"`, "Waiting for a phone", "Nothing is served there yet.",
		`<noscript><meta http-equiv="refresh" content="10"></noscript>`)
	if code, at := b.status("pair"); code != http.StatusSeeOther || at != "pair/"+string(open.ID()) {
		t.Errorf("while a code is open /pair leads to %d %s", code, at)
	}
	wantText(t, b.get("devices"), "box.tail1234.ts.net:8443", "While the code is open")
	st.redeem("phone")
	if public, _, ok := st.clients.PublicURL(); !ok || public.Authority() != "box.tail1234.ts.net:8443" {
		t.Errorf("the address is not remembered: %v", public)
	}
	wantText(t, b.get("devices"), "box.tail1234.ts.net:8443", "The public address")
	wantText(t, b.get(""), "Nothing is served there yet.")
	_, page = b.must("pair", url.Values{"address": {"other.example"}})
	wantNoText(t, page, "Nothing is served there yet.")
}

// CR-07 and CR-09: the page of a code tells what became of it, and a phone is
// there only once it has connected.
func TestAnInvitationTellsItsFate(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	one, _ := b.must("pair", url.Values{"address": {"box.example"}})
	two, page := b.must("pair", url.Values{"address": {"box.example"}})
	wantText(t, page, "Waiting for a phone")
	first := b.get(one)
	wantText(t, first, "This code was replaced")
	wantNoText(t, first, `class="qr"`, `"code"`)

	device := st.redeem("Claus’s iPhone")
	wantText(t, b.get(two), "Paired with Claus’s iPhone", "Now it has to connect once")
	wantText(t, b.get("devices"), "Never connected")
	wantText(t, b.get(""), "Pair your phone")
	if err := st.devices.TouchDevice(t.Context(), device.ID, st.clock()); err != nil {
		t.Fatal(err)
	}
	wantText(t, b.get(two), "It has connected. You are done.")
	wantNoText(t, b.get("devices"), "Never connected")
	wantNoText(t, b.get(""), "Two steps") // the extension is allowed already

	three, _ := b.must("pair", nil)
	_, page = b.must(three+"/cancel", nil)
	wantText(t, page, "This code was taken back")
	wantText(t, b.get("pair/0123456789abcdef"), "This code is gone")
	if code, _ := b.status("pair/nonsense"); code != http.StatusNotFound {
		t.Errorf("a name that is none: %d", code)
	}
}

// CR-28: the code is in no address, no header and no log.
func TestTheCodeIsNowhereButOnItsPage(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	at, page := b.must("pair", url.Values{"address": {"box.example"}})
	open, _ := st.clients.OpenInvitation()
	code := open.Code.Reveal()
	wantText(t, page, code)
	r := st.page(b.base + at)
	r.AddCookie(b.cookie)
	var headers strings.Builder
	if err := st.do(r).Header().Write(&headers); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"address": at, "headers": headers.String(), "log": st.log.String(), "overview": b.get("")} {
		if strings.Contains(text, code) {
			t.Errorf("the code is in the %s", what)
		}
	}
}

func TestAnAppThatRefusesTheCode(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	at, page := b.must("pair", url.Values{"address": {"box.example"}})
	wantNoText(t, page, "expires_at")
	wantText(t, page, "My app refuses the code", at+"?expiry=1")
	first := b.get(at + "?expiry=1")
	wantText(t, first, "expires_at", "drawn anew every minute")
	st.pass(time.Minute)
	if second := b.get(at + "?expiry=1"); second == first || !strings.Contains(second, "expires_at") {
		t.Error("a minute later the code has not been drawn anew")
	}
	st = newStage(t, func(o *devices.Options) { o.LegacyExpiry = true })
	b = st.enter()
	_, page = b.must("pair", url.Values{"address": {"box.example"}})
	wantText(t, page, "expires_at")
	wantNoText(t, page, "?expiry=1")
}

func TestAFixedAddress(t *testing.T) {
	st := newStage(t, func(o *devices.Options) { o.PublicURL = "wss://fixed.example" })
	st.statusSource.path.FixedBy = "--public-url"
	b := st.enter()
	page := b.get("pair")
	wantText(t, page, "fixed.example", "Set by --public-url", "Show the code")
	wantNoText(t, page, "Forget this address", `name="address"`)
	for _, path := range []string{"address/forget", "pair"} {
		if code, page := b.post(path, url.Values{"address": {"wss://other.example"}}); code != http.StatusConflict || !strings.Contains(page, "set outside this page") {
			t.Errorf("%s: %d %s", path, code, visible(page))
		}
	}
}

func TestK19_TheAddressIsKeptByAPhoneOrByHand(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	at, page := b.must("pair", url.Values{"address": {"box.example"}})
	wantText(t, page, "once a phone has paired by it", "Keep it now")
	wantText(t, b.get("devices"), "box.example", "While the code is open")
	b.must(at+"/cancel", nil)
	wantText(t, b.get("pair"), "No address is set yet")
	wantNoText(t, b.get("devices"), "box.example")

	at, _ = b.must("pair", url.Values{"address": {"box.example"}})
	st.redeem("phone")
	wantText(t, b.get("pair"), "box.example", "Forget this address")
	wantNoText(t, b.get(at), "Keep it now")

	at, page = b.must("pair", url.Values{"address": {"other.example"}})
	wantText(t, page, "It is box.example so far.")
	at, page = b.must(at+"/keep", nil)
	wantText(t, page, "The address is remembered.", "other.example")
	wantNoText(t, page, "Keep it now")
	if list := b.get("devices"); strings.Count(visible(list), "other.example") != 1 || strings.Count(list, `<p class="grow breaks mono">box.example</p>`) != 1 {
		t.Errorf("each name is to be there once:\n%s", visible(list))
	}
	at, _, _ = strings.Cut(at, "?")
	b.must(at+"/cancel", nil)
	if gone, page := b.must(at+"/keep", nil); gone != at {
		t.Errorf("keeping the address of a code that is gone leads to %s: %s", gone, visible(page))
	}
	if code, _ := b.post("pair/nonsense/keep", nil); code != http.StatusNotFound {
		t.Errorf("keeping nothing: %d", code)
	}
}

func TestForgettingTheAddress(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	for _, address := range []string{"old.example", "box.example"} {
		b.must("pair", url.Values{"address": {address}})
		st.redeem("phone")
	}
	wantText(t, b.get("pair"), "Forget this address")
	_, page := b.must("address/forget", nil)
	wantText(t, page, "The address is forgotten.", "No address is set yet")
	wantText(t, b.get("devices"), "old.example", "box.example", "hosts/remove")
	_, page = b.must("hosts/remove", url.Values{"host": {"old.example"}})
	wantText(t, page, "The name is removed.")
	wantNoText(t, page, "old.example")
}

func TestNoPhoneForNow(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	at, page := b.must("phones/pause", url.Values{"back": {"devices"}})
	if at != "devices?done=paused" || !st.clients.NoPhone() {
		t.Errorf("leads to %s, paused: %v", at, st.clients.NoPhone())
	}
	wantText(t, page, `aria-checked="true"`, "phones/resume")
	wantText(t, b.get(""), "No phone for now")
	if at, _ := b.must("phones/resume", url.Values{"back": {"https://evil.example"}}); at != "?done=resumed" || st.clients.NoPhone() {
		t.Errorf("leads to %s, paused: %v", at, st.clients.NoPhone())
	}
}

func TestK18_RenamingAPhone(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	var ids []string
	for range 2 {
		b.must("pair", url.Values{"address": {"box.example"}})
		ids = append(ids, st.redeem("iPhone").ID.String())
	}
	wantText(t, b.get("devices"), "iPhone (2)")
	path := "devices/" + ids[1] + "/rename"
	wantText(t, b.get(path), `<bdi>iPhone (2)</bdi>`, `value="iPhone"`, `maxlength="80"`)
	for typed, want := range map[string]string{
		"": "at least one character", " \u200b": "at least one character", strings.Repeat("x", 81): "too long",
		"a\nb": "control characters", "\u202egnp": "control characters",
	} {
		code, page := b.post(path, url.Values{"name": {typed}})
		if code != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d", typed, code)
		}
		wantText(t, page, want, `aria-invalid="true"`)
	}
	at, page := b.must(path, url.Values{"name": {" <b>Ann</b> "}})
	if at != "devices?done=renamed" {
		t.Errorf("leads to %s", at)
	}
	wantText(t, page, "Renamed.", "&lt;b&gt;Ann&lt;/b&gt;")
	wantNoText(t, page, "iPhone (2)", "<b>Ann")
	for _, gone := range []string{"nonsense", "00000000-0000-4000-8000-000000000000"} {
		if code, _ := b.status("devices/" + gone + "/rename"); code != http.StatusNotFound {
			t.Errorf("asking about %s: %d", gone, code)
		}
		if code, _ := b.post("devices/"+gone+"/rename", url.Values{"name": {"x"}}); code != http.StatusNotFound {
			t.Errorf("renaming %s: %d", gone, code)
		}
	}
}

func TestK18_LettingASecondPhoneIn(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	for _, name := range []string{"Ann’s phone", "Bob’s phone"} {
		d := pairing.Device{ID: pairing.DeviceID{name[0]}, Name: name, CreatedAt: st.clock()}
		if err := st.devices.AddDevice(t.Context(), d, pairing.NewDeviceToken([16]byte{name[0]}).Hash()); err != nil {
			t.Fatal(err)
		}
	}
	hello := func(initial byte) devices.Identity {
		who, err := st.clients.Authenticate(t.Context(), pairing.NewDeviceToken([16]byte{initial}))
		if err != nil {
			t.Fatal(err)
		}
		return who
	}
	link := &phoneLink{}
	detach, _ := st.clients.AttachClient(t.Context(), hello('A'), link)
	wantNoText(t, b.get("devices"), "Let this one in")
	st.clients.TurnAway(t.Context(), hello('B'))
	page := b.get("devices")
	wantText(t, page, "Another phone is connected: <bdi class=\"strong\">Ann’s phone</bdi>", "Turned away", "Let this one in")
	bob := pairing.DeviceID{'B'}.String()
	at, page := b.must("devices/"+bob+"/let-in", nil)
	if at != "devices?done=let-in" || fmt.Sprint(link.reasons) != "[concurrent_client]" {
		t.Errorf("leads to %s, the other was ended for %v", at, link.reasons)
	}
	wantText(t, page, "This one gets in when it tries again")
	detach()
	page = b.get("devices")
	wantText(t, page, "Another phone was connected: <bdi class=\"strong\">Ann’s phone</bdi>", "The place is kept for another phone, which you let in: <bdi class=\"strong\">Bob’s phone</bdi>", "Let this one in")
	for _, gone := range []string{"nonsense", "00000000-0000-4000-8000-000000000000"} {
		if code, _ := b.post("devices/"+gone+"/let-in", nil); code != http.StatusNotFound {
			t.Errorf("letting %s in: %d", gone, code)
		}
	}
}

// phoneLink is a phone's connection that notes why it was ended.
type phoneLink struct{ reasons []connection.CloseReason }

func (l *phoneLink) Close(reason connection.CloseReason) { l.reasons = append(l.reasons, reason) }

func TestRevokingAsksFirst(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	b.must("pair", url.Values{"address": {"box.example"}})
	id := st.redeem("<b>Ann</b>").ID.String()
	page := b.get("devices/" + id + "/revoke")
	wantText(t, page, "Revoke &lt;b&gt;Ann&lt;/b&gt;?", "cannot come back")
	if list, err := st.clients.Devices(t.Context()); err != nil || len(list) != 1 {
		t.Fatalf("asking has revoked it: %v, %v", list, err)
	}
	_, page = b.must("devices/"+id+"/revoke", nil)
	wantText(t, page, "Revoked, and disconnected.", "No phone is paired")
	for _, gone := range []string{id, "nonsense"} {
		if code, _ := b.post("devices/"+gone+"/revoke", nil); code != http.StatusNotFound {
			t.Errorf("revoking %s: %d", gone, code)
		}
		if code, _ := b.status("devices/" + gone + "/revoke"); code != http.StatusNotFound {
			t.Errorf("asking about %s: %d", gone, code)
		}
	}
}

func TestAFullListTakesNoPhone(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	for i := range pairing.MaxDevices {
		d := pairing.Device{ID: pairing.DeviceID{byte(i)}, Name: "phone", CreatedAt: st.clock()}
		if err := st.devices.AddDevice(t.Context(), d, pairing.TokenHash{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	at, page := b.must("pair", url.Values{"address": {"box.example"}})
	if at != "pair" {
		t.Errorf("leads to %s", at)
	}
	wantText(t, page, "All places for devices are taken")
}

// CR-19: an unknown extension shows with its origin and digits, and one click
// lets it in.
func TestExtensionsAreDecidedByOneClick(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	digits := admission.HashKey("two").Digits()
	page := b.get("")
	wantText(t, page, "At the door", "moz-extension://bbbb", digits, `<span class="count"`)
	at, page := b.must("extensions/2/allow", url.Values{"back": {"extensions"}})
	if at != "extensions?done=allowed" {
		t.Errorf("leads to %s", at)
	}
	wantText(t, page, "Allowed. It connects at its next try")
	wantNoText(t, page, `<span class="count"`)
	_, page = b.must("extensions/2/remove", url.Values{"back": {"extensions"}})
	wantText(t, page, "It stays out", "extensions/2/forget")
	b.must("extensions/2/forget", url.Values{"back": {"extensions"}})
	for _, id := range []string{"99", "x", "-1"} {
		if code, _ := b.post("extensions/"+id+"/allow", nil); code != http.StatusNotFound {
			t.Errorf("allow %s: %d", id, code)
		}
	}
}

func TestWaitingExtensionsComeFirst(t *testing.T) {
	rows := extensionRows([]admission.Extension{
		{ID: 1, State: admission.Blocked}, {ID: 2, State: admission.Allowed}, {ID: 5, State: admission.Waiting},
		{ID: 3, State: admission.ByToken}, {ID: 4, State: admission.Waiting, Origin: "x\x1b[2J"},
	})
	var order []int64
	for _, r := range rows {
		order = append(order, r.ID)
	}
	for i, want := range []int64{4, 5, 2, 3, 1} {
		if order[i] != want {
			t.Fatalf("order %v", order)
		}
	}
	if rows[0].Origin != `x\x1b[2J` {
		t.Errorf("origin %q", rows[0].Origin)
	}
}

func TestRefusedAttemptsHaveAReason(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	r := st.page(b.base)
	r.Header.Set("Origin", "https://evil.example<script>")
	st.do(r)
	page := b.get("refused")
	wantText(t, page, "A web page", "https://evil.example&lt;script&gt;", st.site.Words.Advice[string(admission.WebOrigin)])
	wantText(t, b.get(""), "Turned away lately", "https://evil.example")
}

func TestUsingAFoundModel(t *testing.T) {
	st := newStage(t)
	st.statusSource.overview.Found = []web.FoundModel{{Name: "llama3.2", BaseURL: "http://127.0.0.1:11434/v1", Server: "Ollama"}}
	b := st.enter()
	wantText(t, b.get(""), "llama3.2 runs on this machine (Ollama)")
	b.must("model/use", url.Values{"name": {"llama3.2"}, "base_url": {"http://127.0.0.1:11434/v1"}})
	if st.statusSource.used != "llama3.2 at http://127.0.0.1:11434/v1" {
		t.Errorf("used %q", st.statusSource.used)
	}
}

func TestAModelThatDoesNotChatIsNotUsed(t *testing.T) {
	st := newStage(t)
	st.statusSource.overview.Model.Reach = web.NotFound
	st.statusSource.overview.PassedOver = []web.PassedModel{{Name: "bge-m3", Server: "Ollama", Cause: "status 501"}}
	st.statusSource.refused = fmt.Errorf("use a model: %w", ports.ErrModelUnavailable)
	b := st.enter()
	status, page := b.post("model/use", url.Values{"name": {"bge-m3"}, "base_url": {"http://127.0.0.1:11434/v1"}})
	if status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", status)
	}
	wantText(t, page, st.site.Words.ModelRefused, "bge-m3 (Ollama) does not chat: status 501", st.site.Words.ModelNoChat)
}

// What went wrong is in the log; the page says no more than that.
func TestAFaultIsToldInWords(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	st.statusSource.fault = errors.New("disk on fire")
	code, page := b.status("")
	if code != http.StatusInternalServerError || !strings.Contains(st.log.String(), "disk on fire") {
		t.Errorf("%d, log %s", code, st.log.String())
	}
	wantText(t, page, "Something went wrong")
	wantNoText(t, page, "disk on fire")
	st.extensions.fault = errors.New("door on fire")
	if code, page := b.status("devices"); code != http.StatusInternalServerError || strings.Contains(page, "on fire") {
		t.Errorf("%d %s", code, visible(page))
	}
	if code, _ := b.status("nowhere"); code != http.StatusNotFound {
		t.Errorf("a page that is not: %d", code)
	}
	if code, _ := b.post("pair", url.Values{"address": {strings.Repeat("x", MaxFormBytes)}}); code != http.StatusBadRequest {
		t.Errorf("a form that is too large: %d", code)
	}
}

func TestNewWantsItsParts(t *testing.T) {
	_, err := New(Config{})
	if err == nil {
		t.Fatal("a site of nothing is made")
	}
	for _, part := range []string{"phones", "extensions", "status", "sessions", "sign-in", "QR encoder", "words", "clock", "random source", "logger"} {
		if !strings.Contains(err.Error(), "no "+part) {
			t.Errorf("%v does not name %s", err, part)
		}
	}
}
