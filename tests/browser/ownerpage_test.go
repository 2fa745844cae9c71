package browser

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"plexus/adapters/adminweb"
	"plexus/adapters/adminweb/signin"
	"plexus/adapters/memory"
	"plexus/adapters/qr"
	"plexus/domain/admission"
	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/domain/sessions"
	"plexus/usecases/browsers"
	"plexus/usecases/devices"
	"plexus/web"
)

// ownerPage is a real page before a real host whose stores are in memory.
type ownerPage struct {
	t        *testing.T
	url      string
	site     *adminweb.Server
	browsers *browsers.Registry
	clients  *devices.Service
}

func startOwnerPage(t *testing.T, change ...func(*adminweb.Config)) *ownerPage {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	h, err := browsers.New(browsers.Deps{Extensions: memory.NewExtensions(), Token: noToken{}, Now: time.Now, Log: log}, browsers.Options{TokenHash: admission.HashKey("token")})
	if err != nil {
		t.Fatal(err)
	}
	store := memory.NewDevices()
	clients, err := devices.New(t.Context(), devices.Deps{
		Devices: store, Revoked: memory.NewRevocations(), Settings: memory.NewSettings(),
		Random: rand.Reader, Now: time.Now, Log: log,
	}, devices.Options{Master: secret.New("master").Hash()})
	if err != nil {
		t.Fatal(err)
	}
	cfg := adminweb.Config{
		Phones: clients, Extensions: h, Status: plainStatus{}, Sessions: memory.NewPageSessions(),
		SignIn: signin.NewIssuer(time.Now, rand.Reader), Words: web.English(), Now: time.Now, Random: rand.Reader, Log: log,
		QR:      func(text string) ([][]bool, error) { return qr.Encode(text) },
		Changed: []func() <-chan struct{}{h.Changed, clients.Changed},
	}
	for _, c := range change {
		c(&cfg)
	}
	site, err := adminweb.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- site.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitAtMost)
		defer cancel()
		if err := site.Shutdown(ctx); err != nil {
			t.Errorf("shut the page down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve the page: %v", err)
		}
	})
	return &ownerPage{t, "http://" + ln.Addr().String(), site, h, clients}
}

type noToken struct{}

func (noToken) RotateToken() (admission.KeyHash, error) { return admission.KeyHash{}, nil }

// plainStatus has nothing configured.
type plainStatus struct{}

func (plainStatus) Overview(context.Context) (web.Overview, error) {
	return web.Overview{Version: "test", Started: time.Now(), Search: web.Service{Reach: web.BuiltIn}, Model: web.Service{Reach: web.NotFound}}, nil
}

func (plainStatus) PhonePath(context.Context) adminweb.PhonePath {
	return adminweb.PhonePath{Offered: "wss://box.tail1234.ts.net"}
}

func (plainStatus) UseModel(context.Context, string, string) error { return nil }

// enter opens the page by a link of `plexus open`.
func (o *ownerPage) enter(b *chromium) *page {
	o.t.Helper()
	link, err := o.site.SignIn.Link()
	if err != nil {
		o.t.Fatal(err)
	}
	p := b.open("about:blank#") // a tab that moves on at once cannot be taken hold of
	p.do(chromedp.Navigate(o.url + "/#open=" + link.Secret.Reveal()))
	p.wait(`document.querySelector("h1")?.innerText === "Overview"`)
	<-link.Used
	return p
}

// handshake lets an unknown extension ask and gives its verdict.
func (o *ownerPage) handshake(key string) admission.Verdict {
	return o.browsers.Admit(o.t.Context(), admission.HandshakeRequest{
		Origins: []string{"chrome-extension://" + extensionID}, Protocols: []string{admission.SubprotocolPrefix + strings.Repeat(key, 64)},
	})
}

// TestOwnerPageSignsInAndStaysFresh: the secret leaves the address at once, the
// session is found again from /, and who asks shows without a reload and is let
// in by one click.
func TestOwnerPageSignsInAndStaysFresh(t *testing.T) {
	o := startOwnerPage(t)
	p := o.enter(launch(t, extensionDir))
	p.eval("window.kept = true")
	if got, _ := p.eval("location.href").(string); !strings.HasPrefix(got, o.url+"/s/") || strings.Contains(got, "open") {
		t.Errorf("signed in at %s", got)
	}
	if o.handshake("a").Admitted {
		t.Fatal("an unknown extension is let in")
	}
	digits := admission.HashKey(strings.Repeat("a", 64)).Digits()
	p.wait(fmt.Sprintf(`document.querySelector(".waits .digits")?.innerText.includes(%q)`, digits))
	if p.eval("window.kept") != true {
		t.Error("the page was loaded again to show who asks")
	}
	p.click(".waits .primary")
	p.wait(`document.querySelector(".banner.good")?.innerText.startsWith("Allowed.") && !document.querySelector(".waits")`)
	if !o.handshake("a").Admitted {
		t.Error("after one click it is still not let in")
	}
	if got, _ := p.eval("location.search").(string); got != "" {
		t.Errorf("the notice stays in the address: %s", got)
	}
	p.do(chromedp.Navigate(o.url + "/"))
	p.wait(`location.pathname.startsWith("/s/") && document.querySelector("h1")?.innerText === "Overview"`)
	p.click(".leave button")
	p.wait(`document.querySelector(".banner.good")?.innerText === "You are signed out."`)
	p.do(chromedp.Navigate(o.url + "/"))
	p.wait(`location.pathname === "/" && document.querySelector("#code")`)
	// What another program at this port has left leads nowhere.
	p.eval(`localStorage.setItem("plexus.session", "/healthz")`)
	p.do(chromedp.Navigate(o.url + "/"))
	p.wait(`document.readyState === "complete" && document.body.innerText`)
	if got := p.eval("location.pathname"); got != "/" {
		t.Errorf("led away to %v", got)
	}
}

// TestOwnerPagePairsAPhone walks from nothing to a connected phone and back.
func TestOwnerPagePairsAPhone(t *testing.T) {
	o := startOwnerPage(t)
	b := launch(t, extensionDir)
	p := o.enter(b)
	p.click(`nav a[href$="/pair"]`)
	p.waitText("h1", "Pair a phone")
	p.click("button.primary.large") // use the offered name: two clicks to the code
	p.waitText("h1", "Scan this with your phone")
	open, _ := o.clients.OpenInvitation()
	payload := o.clients.Payload(open, false).Reveal()
	for _, scheme := range []string{"light", "dark"} {
		for _, scale := range []float64{1, 2} {
			p.scheme(scheme)
			p.window(1280, 900, scale)
			if got := readCode(t, p.screenshot()); got != payload {
				t.Errorf("%s, scale %v: read %q, want %q", scheme, scale, got, payload)
			}
		}
	}
	if p.text(".host") != "box.tail1234.ts.net" {
		t.Errorf("the phone will go to %q", p.text(".host"))
	}
	newer, _, err := o.clients.CreateInvitation(t.Context(), "wss://box.tail1234.ts.net")
	if err != nil {
		t.Fatal(err)
	}
	p.waitText("h1", "This code was replaced")
	p.goTo(strings.Replace(p.eval("location.href").(string), string(open.ID()), string(newer.ID()), 1))
	token, device, err := o.clients.Redeem(t.Context(), newer.Code, "Ann’s phone")
	if err != nil {
		t.Fatal(err)
	}
	p.wait(`document.querySelector("h1").innerText === "Paired with Ann’s phone" && document.body.innerText.includes("has to connect once")`)
	link := &phoneLink{closed: make(chan sessions.CloseReason, 1)}
	detach := o.connect(token, link)
	p.wait(`document.body.innerText.includes("You are done")`)
	p.click(`nav a[href$="/devices"]`)
	p.wait(`document.querySelector(".badge.good")?.innerText === "Connected now"`)
	p.click("a.danger")
	p.waitText("h1", "Revoke Ann’s phone?")
	p.click("main button.danger")
	p.wait(`document.querySelector(".empty .strong")?.innerText === "No phone is paired"`)
	if reason := receive(t, "the end of the phone's connection", link.closed); reason != sessions.DeviceRevoked {
		t.Errorf("closed for %v", reason)
	}
	detach()
	if _, err := o.clients.Authenticate(t.Context(), token); err == nil {
		t.Errorf("device %s still gets in", device.ID)
	}
}

// TestK18_OwnerPageLetsASecondPhoneIn names a phone with the keyboard alone, and lets
// the other one in, which shows without a reload that it was turned away.
func TestK18_OwnerPageLetsASecondPhoneIn(t *testing.T) {
	o := startOwnerPage(t)
	var tokens []pairing.DeviceToken
	var ids []string
	for range 2 {
		i, _, err := o.clients.CreateInvitation(t.Context(), "wss://box.example")
		if err != nil {
			t.Fatal(err)
		}
		token, device, err := o.clients.Redeem(t.Context(), i.Code, "Phone")
		if err != nil {
			t.Fatal(err)
		}
		tokens, ids = append(tokens, token), append(ids, device.ID.String())
	}
	link := &phoneLink{closed: make(chan sessions.CloseReason, 1)}
	detach := o.connect(tokens[0], link)
	p := o.enter(launch(t, extensionDir))
	p.window(320, 800, 1)
	p.click(`nav a[href$="/devices"]`)
	row := func(i int, rest string) string { return fmt.Sprintf("[data-device=%q] %s", ids[i], rest) }
	p.waitText(row(0, ".strong"), "Phone")
	p.waitText(row(1, ".strong"), "Phone (2)")
	p.typeText(row(0, `a[href$="/rename"]`), "\r")
	p.wait(`document.activeElement.id === "name" && document.activeElement.value === "Phone"`)
	p.eval(`document.activeElement.select()`)
	p.typeText("#name", "Ann’s phone\r")
	p.waitText(row(0, ".strong"), "Ann’s phone")
	p.waitText(row(1, ".strong"), "Phone")
	p.eval("window.kept = true")
	who, err := o.clients.Authenticate(t.Context(), tokens[1])
	if err != nil {
		t.Fatal(err)
	}
	o.clients.TurnAway(t.Context(), who)
	p.wait(fmt.Sprintf(`document.querySelector(%q)?.innerText.includes("Another phone is connected: Ann’s phone")`, row(1, "")))
	if p.eval("window.kept") != true {
		t.Error("the page was loaded again to show who was turned away")
	}
	p.typeText(row(1, "form button"), "\r")
	p.wait(`document.querySelector(".banner.good")?.innerText.startsWith("The other phone is disconnected.")`)
	if reason := receive(t, "the end of the other phone's connection", link.closed); reason != sessions.ConcurrentClient {
		t.Errorf("closed for %v", reason)
	}
	detach()
	defer o.connect(tokens[1], link)()
	p.waitText(row(1, ".badge.good"), "Connected now")
}

// phoneLink notes why it was closed.
type phoneLink struct{ closed chan sessions.CloseReason }

func (l *phoneLink) Close(reason sessions.CloseReason) { l.closed <- reason }

func (o *ownerPage) connect(token pairing.DeviceToken, link *phoneLink) (detach func()) {
	o.t.Helper()
	who, err := o.clients.Authenticate(o.t.Context(), token)
	if err != nil {
		o.t.Fatal(err)
	}
	detach, ok := o.clients.AttachClient(o.t.Context(), who, link)
	if !ok {
		o.t.Fatal("the phone is not attached")
	}
	return detach
}

// TestOwnerPageWithoutScript signs in by a code and decides, all by plain forms.
func TestOwnerPageWithoutScript(t *testing.T) {
	o := startOwnerPage(t)
	o.handshake("b")
	p := launch(t, extensionDir).open("about:blank#")
	p.forbidScript()
	code, err := o.site.SignIn.Code()
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(o.url + "/"))
	p.typeText("#code", strings.ToLower(code.Secret.Reveal())+"\r")
	p.waitText("h1", "Overview")
	p.click(".waits .primary")
	p.wait(`document.querySelector(".banner.good")`)
	if !o.handshake("b").Admitted {
		t.Error("it is not let in")
	}
	p.click(`nav a[href$="/pair"]`)
	p.click("button.primary.large")
	p.wait(`document.querySelector(".qr")`)
}

// TestOwnerPageKeepsTheFocus: what is refreshed gives the focus back, and the
// keyboard reaches everything in the order of reading.
func TestOwnerPageKeepsTheFocus(t *testing.T) {
	o := startOwnerPage(t)
	o.handshake("c")
	p := o.enter(launch(t, extensionDir))
	p.wait(`document.querySelectorAll(".waits").length === 1`)
	p.eval(`document.querySelector(".waits .primary").focus()`)
	o.handshake("d")
	p.wait(`document.querySelectorAll(".waits").length === 2`)
	digits := admission.HashKey(strings.Repeat("c", 64)).Digits()
	if got, _ := p.eval("document.activeElement.textContent").(string); !strings.Contains(got, "Allow") || !strings.Contains(got, digits) {
		t.Errorf("the focus is on %q, want the button about %s", got, digits)
	}
	order := p.eval(`(() => {
		const all = [...document.querySelectorAll("a, button, input:not([type=hidden])")].filter((e) => e.checkVisibility());
		return all.every((e) => e.tabIndex === 0) && all[0].className === "skip";
	})()`)
	if order != true {
		t.Error("something is out of the order of reading, or does not begin with the way to the content")
	}
}

// TestOtherPagesCannotReachTheOwnerPage: a real page of another port, one under a
// rebound name, and what they may try: reading, posting, framing, loading.
func TestOtherPagesCannotReachTheOwnerPage(t *testing.T) {
	o := startOwnerPage(t)
	o.handshake("e")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>evil</title><h1>Win a prize</h1>")
	}))
	defer evil.Close()
	b := launch(t, extensionDir)
	owner := o.enter(b)
	base, _ := owner.eval("location.href").(string) // even one that knows the secret path
	script, _ := owner.eval("document.scripts[0].src").(string)
	owner.eval(`localStorage.removeItem("plexus.session")`)
	p := b.open(evil.URL)
	for what, try := range map[string]string{
		"reads its script":   fmt.Sprintf(`new Promise((done) => { const e = document.createElement("script"); e.src = %q; e.onload = () => done("won"); e.onerror = () => done("lost"); document.body.append(e); })`, script) + ` /* %q */`,
		"frames it":          `new Promise((done) => { const f = document.createElement("iframe"); f.onload = () => setTimeout(done, 300, "lost"); f.src = %q; document.body.append(f); })`,
		"reads by fetch":     `fetch(%q, {credentials: "include"}).then((r) => r.text()).then(() => "won", () => "lost")`,
		"opens a stream":     `new Promise((done) => { const s = new EventSource(%q + "events", {withCredentials: true}); s.onopen = () => done("won"); s.onerror = () => done("lost"); })`,
		"opens a WebSocket":  `new Promise((done) => { const s = new WebSocket(%q.replace("http", "ws")); s.onopen = () => done("won"); s.onerror = () => done("lost"); })`,
		"posts by fetch":     `fetch(%q + "extensions/1/allow", {method: "POST", mode: "no-cors", credentials: "include"}).then(() => "sent", () => "sent").then((s) => s === "sent" ? "lost" : "won")`,
		"posts a plain form": `new Promise((done) => { const f = document.createElement("form"); f.method = "post"; f.target = "sink"; f.action = %q + "extensions/1/allow"; const i = document.createElement("iframe"); i.name = "sink"; i.onload = () => setTimeout(done, 300, "lost"); document.body.append(i, f); f.submit(); })`,
	} {
		if got := p.eval(fmt.Sprintf(try, base)); got != "lost" {
			t.Errorf("another port %s: %v", what, got)
		}
	}
	if kept := owner.eval(`localStorage.getItem("plexus.session")`); kept != nil {
		t.Errorf("another port frames it: its script ran and remembered %v", kept)
	}
	if rows, err := o.browsers.Extensions(t.Context()); err != nil || len(rows) != 1 || rows[0].State != admission.Waiting {
		t.Errorf("another page has changed something: %v, %v", rows, err)
	}
	// Browsers resolve every name below localhost to this machine, as rebinding does.
	p = b.open(strings.Replace(o.url, "127.0.0.1", "evil.localhost", 1) + "/")
	if got := p.text("body"); got != "forbidden" {
		t.Errorf("under another name it says %q", got)
	}
	seen := map[admission.Cause]bool{}
	for _, r := range o.browsers.Refusals() {
		seen[r.Cause] = true
	}
	if !seen[admission.WebOrigin] || !seen[admission.WrongHost] {
		t.Errorf("refused for %v", seen)
	}
}

// forbidScript lets no page run its own script any more; the test's still does.
func (p *page) forbidScript() {
	p.t.Helper()
	p.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return chromedp.Void{}, err
	})
}
