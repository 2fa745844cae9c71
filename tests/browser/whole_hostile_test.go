package browser

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"plexus/domain/admission"
)

// hostileTools is what a hostile page tries with. Each gives "won" when it got
// through and "lost" when it did not.
const hostileTools = `(Object.assign(window, {
	socket: (url, ...offers) => new Promise((done) => {
		const s = new WebSocket(url, offers);
		s.onopen = () => (done("won"), s.close());
		s.onclose = () => done("lost");
	}),
	stream: (url) => new Promise((done) => {
		const s = new EventSource(url, { withCredentials: true });
		s.onopen = () => (s.close(), done("won"));
		s.onerror = () => (s.close(), done("lost"));
	}),
	send: (url, init) => fetch(url, { credentials: "include", ...init }).then((r) => (r.ok ? "won" : "lost"), () => "lost"),
	form: "application/x-www-form-urlencoded",
	load: (url) => new Promise((done) => {
		const e = Object.assign(document.createElement("script"), { src: url, onload: () => done("won"), onerror: () => done("lost") });
		document.body.append(e);
	}),
	submit: (url) => new Promise((done) => {
		const sink = Object.assign(document.createElement("iframe"), { name: "sink" + Math.random() });
		const f = Object.assign(document.createElement("form"), { method: "post", target: sink.name, action: url });
		document.body.append(sink, f);
		sink.onload = () => done(sink.contentDocument ? "won" : "lost");
		f.submit();
	}),
}), true)`

// attack is one try, as an expression for hostileTools.
type attack struct {
	what, try string
	quiet     bool // nothing to tell the owner about: all it learns is that WebSocket is spoken here
}

// listeners are the three listeners under one name of this machine, with all that a
// page of somebody else can hope to find out: the host token, and even the secret
// path of the owner's session.
type listeners struct {
	nerve, client, admin string // host and port
	base, token          string
	refuse               admission.Cause // why whoever comes by this name is refused
}

func (p *plexus) listeners(name, base string) listeners {
	at := func(address string) string { return name + address[strings.LastIndexByte(address, ':'):] }
	d := listeners{at(p.at.Nerve), at(p.at.Client), at(p.at.Admin), base, p.token(), admission.WrongHost}
	if name == "127.0.0.1" {
		d.refuse = admission.WebOrigin
	}
	return d
}

// forTools is tried on the listener for extensions and tools.
func (d listeners) forTools() []attack {
	return []attack{
		{what: "a socket for tools", try: fmt.Sprintf(`socket("ws://%s/")`, d.nerve)},
		{what: "a socket for tools with the token", try: fmt.Sprintf(`socket("ws://%s/", "anvesha-v1.%s")`, d.nerve, d.token)},
		{what: "a post to the listener for tools", try: fmt.Sprintf(`send("http://%s/", {method: "POST", body: "x"})`, d.nerve), quiet: d.refuse != admission.WrongHost},
	}
}

// forPhones is tried on the listener for phones.
func (d listeners) forPhones() []attack {
	var list []attack
	for _, path := range []string{"/client/v1", "/client/pair", "/client/pair-admin"} {
		list = append(list, attack{what: "a phone's socket " + path, try: fmt.Sprintf(`socket("ws://%s%s")`, d.client, path)})
	}
	url := fmt.Sprintf(`"http://%s/client/pair"`, d.client)
	return append(list,
		attack{what: "posting to the listener for phones", try: `send(` + url + `, {method: "POST", mode: "no-cors", body: "{}"})`},
		attack{what: "posting a form to the listener for phones", try: `submit(` + url + `)`},
	)
}

// forOwner is tried on the owner's page.
func (d listeners) forOwner() []attack {
	list := []attack{
		{what: "a socket to the page", try: fmt.Sprintf(`socket("ws://%s/")`, d.admin)},
		{what: "a socket to its stream", try: fmt.Sprintf(`socket("ws://%s%sevents")`, d.admin, d.base)},
		{what: "its stream", try: fmt.Sprintf(`stream("http://%s%sevents")`, d.admin, d.base)},
	}
	for _, path := range []string{"/", d.base, d.base + "events"} {
		list = append(list, attack{what: "reading " + path, try: fmt.Sprintf(`send("http://%s%s")`, d.admin, path)})
	}
	for _, path := range []string{d.base + "extensions/1/allow", d.base + "pair", d.base + "signout", "/signin"} {
		url := fmt.Sprintf(`"http://%s%s"`, d.admin, path)
		list = append(list,
			attack{what: "posting a form to " + path, try: `submit(` + url + `)`},
			attack{what: "posting to " + path, try: `send(` + url + `, {method: "POST", mode: "no-cors", headers: {"Content-Type": form}, body: "address=wss://evil.example"})`},
			attack{what: "posting JSON to " + path, try: `send(` + url + `, {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"})`},
		)
	}
	return list
}

// forPages is what only a page tries: an extension may load no script from
// elsewhere, and that a listener is alive is no secret to it.
func (d listeners) forPages() []attack {
	return []attack{
		{what: "a script of the page", try: fmt.Sprintf(`load("http://%s/static/app.js")`, d.admin)},
		{what: "whether phones are served", try: fmt.Sprintf(`send("http://%s/healthz")`, d.client)},
	}
}

// hostilePage is a page that somebody else serves, with its tools at hand.
func (b *chromium) hostilePage(address string) *page {
	b.t.Helper()
	p := b.open(address)
	p.eval(hostileTools)
	return p
}

// toolsWork shows that each tool wins where it may, so that a loss means something.
func toolsWork(b *chromium, owner *page, site *hostileSite) {
	fake := startFakeHost(b.t, "127.0.0.1:0", true) // it lets our extension in
	own := b.hostilePage("chrome-extension://" + extensionID + "/options.html")
	other := b.hostilePage(site.URL)
	owner.eval(hostileTools)
	for try, p := range map[string]*page{
		fmt.Sprintf(`socket(%q, "anvesha-v1.%064d")`, fake.address(), 0): own,
		`send(location.href)`: owner, `stream(location.href + "events")`: owner,
		`load("/")`: other, `submit("/")`: other,
	} {
		if got := p.eval(try); got != "won" {
			b.t.Errorf("%s finds nothing where all is open: %v", try, got)
		}
	}
	own.close()
	other.close()
}

// tries lets a page try everything. What is lost and not quiet adds to the
// owner's list, for the right cause: it was this machine that refused it, and not
// the browser.
func (p *page) tries(host *plexus, refuse admission.Cause, list []attack) {
	p.t.Helper()
	origin, _ := p.eval("location.origin").(string)
	before := host.refused(refuse)
	for _, a := range list {
		if got := p.eval(a.try); got != "lost" {
			p.t.Errorf("%s, %s: %v", origin, a.what, got)
		}
		after := host.refused(refuse)
		if after == before && !a.quiet {
			p.t.Errorf("%s, %s: nobody refused it: %s", origin, a.what, a.try)
		}
		before = after
	}
}

// refused counts what was refused for one cause.
func (p *plexus) refused(cause admission.Cause) (count int) {
	p.t.Helper()
	for _, r := range p.status().Refused {
		if r.Cause == string(cause) {
			count += r.Count
		}
	}
	return count
}

// frames lets a page show another one in a frame, and reports whether it is shown.
func (p *page) frames(b *chromium, address string) bool {
	p.t.Helper()
	p.eval(fmt.Sprintf(`new Promise((done) => document.body.append(Object.assign(document.createElement("iframe"), { src: %q, onload: () => done(true) })))`, address))
	here, err := chromedp.Run(p.ctx, func(ctx context.Context, t *chromedp.Target) (cdppage.GetFrameTreeResult, error) {
		return cdp.Call(ctx, t, cdppage.GetFrameTree, cdp.Empty{})
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, child := range here.FrameTree.ChildFrames {
		if child.Frame.URL == address { // one that failed shows another address
			return true
		}
	}
	all, err := chromedp.Targets(b.ctx) // frames of other sites live in processes of their own
	if err != nil {
		p.t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(i *target.Info) bool {
		return i.Type == "iframe" && i.URL == address && b.page(i.TargetID).eval("location.href") == address
	})
}

// hostileSite serves pages without end and notes the cookies that reach it.
type hostileSite struct {
	*httptest.Server
	mu      sync.Mutex
	cookies []string // path and cookies
}

func startHostileSite(t *testing.T) *hostileSite {
	t.Helper()
	s := &hostileSite{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if got := r.Header.Get("Cookie"); got != "" {
			s.cookies = append(s.cookies, r.URL.Path+": "+got)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>Win a prize</title><body>")
	}))
	t.Cleanup(s.Close)
	return s
}

// seen gives the cookies that have reached it.
func (s *hostileSite) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.cookies)
}
