package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plexus/domain/admission"
	"plexus/web"
)

// TestWhole_PhoneFromThePage is a person's first phone, with nothing configured:
// the real program, the real page, a picture of its code, `plexus phone`. What is
// thrown out stays out, over a restart and over a backup that still has it.
func TestWhole_PhoneFromThePage(t *testing.T) {
	host := newPlexus(t, "")
	host.start()
	b := launch(t, extensionDir)
	owner := host.signIn(b)
	payload := showCode(t, owner, "home.example.org:8443")
	file := filepath.Join(host.home, "payload")
	if err := os.WriteFile(file, []byte(payload), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()

	owner.mark()
	phone := host.phone(folder, "--payload-file", file)
	owner.wait(`document.querySelector("h1").innerText === "Paired with Plexus phone" && document.body.innerText.includes("You are done")`)
	owner.stayed("that a phone has paired")

	const connected = `document.querySelector("#live .badge.good")?.innerText === "Connected now"`
	owner.click(`nav a[href$="/devices"]`)
	owner.wait(connected)
	owner.mark()
	phone.quit()
	owner.wait(`document.querySelector("#live .row") && !(` + connected + `)`)
	phone = host.phone(folder)
	owner.wait(connected)
	owner.stayed("that a phone has gone and come back")

	pairing, err := os.ReadFile(pairingOf(folder))
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(host.home, "backup.db")
	host.run("backup", backup)
	owner.click("a.danger")
	owner.waitText("h1", "Revoke Plexus phone?")
	owner.click("main button.danger")
	owner.waitText(".empty .strong", "No phone is paired")
	phone.thrownOut("after it was revoked")
	if _, err := os.Stat(pairingOf(folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the phone keeps a pairing that is no more: %v", err)
	}
	host.phone(clone(t, pairing)).thrownOut("with a copy of its pairing")
	host.stop()
	host.start()
	host.phone(clone(t, pairing)).thrownOut("after a restart of the host")
	host.stop()
	if out := host.run("restore", backup); !strings.Contains(out, "Left out: Plexus phone") {
		t.Errorf("restore says:\n%s", out)
	}
	host.start()
	host.phone(clone(t, pairing)).thrownOut("after a backup with it was restored")
	owner = host.enterByLink(b)
	owner.click(`nav a[href$="/devices"]`)
	owner.waitText(".empty .strong", "No phone is paired")
}

// showCode goes from the overview to a code in at most three clicks, and gives
// what the page offers for copying, which is what pictures of the code say.
func showCode(t *testing.T, owner *page, address string) (payload string) {
	t.Helper()
	clicks := 0
	press := func(selector string) {
		clicks++
		owner.click(selector)
	}
	press(`main .steps a[href$="/pair"]`)
	owner.waitText("h1", "Pair a phone")
	owner.typeText("#address", address)
	press("#address ~ button")
	owner.waitText("h1", "Scan this with your phone")
	if clicks > 3 {
		t.Errorf("it takes %d clicks to a code", clicks)
	}
	payload, _ = owner.eval(`document.querySelector("#payload").value`).(string)
	if !strings.Contains(payload, `"wss://`+address+`/client/v1"`) || owner.text(".host") != address {
		t.Errorf("the phone is sent elsewhere: %s", owner.text(".host"))
	}
	owner.eval(`(navigator.clipboard.writeText = async (text) => { window.copied = text }, true)`)
	owner.click(`[data-copy="payload"]`)
	if owner.eval("window.copied") != payload {
		t.Error("the button copies another text than it shows")
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, scale := range []float64{1, 2} {
			owner.scheme(scheme)
			owner.window(1280, 900, scale)
			if got := readCode(t, owner.screenshot()); got != payload {
				t.Errorf("%s, scale %v: the picture says %q, the page %q", scheme, scale, got, payload)
			}
		}
	}
	return payload
}

// TestWhole_ExtensionFromThePage lets our extension in and throws it out, all on
// the owner's page; the panel beside another page follows by itself.
func TestWhole_ExtensionFromThePage(t *testing.T) {
	host := newPlexus(t, "")
	host.start()
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": "ws://" + host.nerve})
	tab := b.open(serveArticle(t).URL + "/bridge")
	owner := host.signIn(b)
	owner.mark()

	panel := b.pressAction(tab)
	panel.waitText("#notice-title", "Not allowed yet")
	panel.mark()
	owner.wait(`document.querySelectorAll(".waits").length === 1`)
	owner.stayed("who asks")
	if got, want := owner.text(".waits .digits"), panel.text("#digits"); !strings.Contains(got, want) || len(want) != 4 {
		t.Errorf("the page shows the digits %q, the panel %q", got, want)
	}
	if got := owner.text(".waits .mono"); got != "chrome-extension://"+extensionID {
		t.Errorf("the page shows the origin %q", got)
	}

	owner.click(".waits .primary")
	owner.wait(`document.querySelector(".banner.good")?.innerText.startsWith("Allowed.") && !document.querySelector(".waits")`)
	panel.waitText("#status", "Connected")
	panel.typeText("#question", "When did the bridge open?\r")
	panel.wait(`document.querySelector("#answer").innerText.includes("opened in 1931")`)
	panel.waitShown("#ask")

	owner.click(`nav a[href$="/extensions"]`)
	owner.click("[data-extension] .danger")
	panel.waitText("#notice-title", "Not allowed yet")
	owner.wait(`document.querySelector(".banner.good")?.innerText.startsWith("Removed")`)
	panel.stayed("what the owner decided")
}

// TestWhole_HostilePagesReachNothing: pages under a foreign name, under a name that
// is bound to this machine, and of another port, and an extension that may fetch
// from this machine, try all three listeners. Nothing opens, nothing is read, nothing
// changes, and the owner's page names who tried.
func TestWhole_HostilePagesReachNothing(t *testing.T) {
	host := newPlexus(t, "")
	host.start()
	site := startHostileSite(t)
	b := launch(t, extensionDir, chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"), chromedp.Flag("no-proxy-server", true))
	owner := host.signIn(b)
	asking := b.openPanel("ws://" + host.nerve)
	asking.waitText("#notice-title", "Not allowed yet")
	asking.close()
	base, _ := owner.eval("location.pathname").(string)

	toolsWork(b, owner, site)

	foreign := strings.Replace(site.URL, "127.0.0.1", "evil.example", 1)
	for _, address := range []string{foreign, site.URL} {
		p := b.hostilePage(address + "/")
		for _, name := range []string{"127.0.0.1", "evil.example"} {
			d := host.listeners(name, base)
			p.tries(host, d.refuse, slices.Concat(d.forTools(), d.forPhones(), d.forOwner(), d.forPages()))
		}
		if !p.frames(b, site.URL+"/framed") {
			t.Fatal("a frame that is shown is not noticed")
		}
		for _, path := range []string{"/", base, base + "devices"} {
			if p.frames(b, "http://"+host.at.Admin+path) {
				t.Errorf("%s shows %s in a frame", address, path)
			}
		}
	}
	greedy := "chrome-extension://" + b.load("testdata/greedy")
	d := host.listeners("127.0.0.1", base)
	b.hostilePage(greedy+"/page.html").tries(host, d.refuse, slices.Concat(d.forPhones(), d.forOwner()))
	rebinds(host, b, base)
	stealsCookies(t, b, site, base)

	namesThem(owner, foreign, site.URL, greedy)
	if s := host.status(); len(s.Waiting) != 1 || s.Connections != 0 || s.Phones.Paired != 0 || s.Phones.Connected != 0 || s.Phones.PublicURL != "" || s.Phones.Invitation {
		t.Errorf("something has changed: %+v", s)
	}
}

// rebinds opens the listeners themselves under a foreign name: what they answer is all
// that a page of that name gets, and its own origin opens nothing either.
func rebinds(host *plexus, b *chromium, base string) {
	d := host.listeners("evil.example", base)
	for door, says := range map[string]string{d.admin: "forbidden", d.client: "This name is not accepted here."} {
		p := b.hostilePage("http://" + door + "/")
		if got := p.text("body"); !strings.HasPrefix(got, says) {
			host.t.Errorf("%s says %q", door, got)
		}
		for _, try := range []string{
			fmt.Sprintf(`socket("ws://%s/client/v1")`, door), fmt.Sprintf(`send("%ssignout", {method: "POST"})`, base),
			fmt.Sprintf(`send("%s")`, base), fmt.Sprintf(`stream("%sevents")`, base), `send("/healthz")`,
		} {
			if got := p.eval(try); got != "lost" {
				host.t.Errorf("rebound to %s, %s: %v", door, try, got)
			}
		}
	}
}

// stealsCookies looks for the session's cookie from another port of the same name,
// to which browsers send cookies too.
func stealsCookies(t *testing.T, b *chromium, site *hostileSite, base string) {
	t.Helper()
	for _, path := range []string{"/", "/s/", "/s/guessed/"} {
		if got := b.open(site.URL + path).eval("document.cookie"); got != "" {
			t.Errorf("%s of another port reads the cookie %v", path, got)
		}
	}
	if got := site.seen(); len(got) != 0 {
		t.Errorf("another port was sent cookies: %q", got)
	}
	// Somebody who knew the secret path still could not read it in a page.
	if got := b.open(site.URL + base).eval("document.cookie"); got != "" {
		t.Errorf("the cookie can be read by script: %v", got)
	}
	// Nor does a cookie of its own lock the owner out, who goes on after this.
	b.open(site.URL).eval(`(document.cookie = "plexus_session=" + "0".repeat(64) + "; path=/", true)`)
}

// namesThem reads the list of refused attempts on the owner's page.
func namesThem(owner *page, origins ...string) {
	owner.t.Helper()
	owner.click(`nav a[href$="/refused"]`)
	owner.waitText("h1", "Refused")
	causes := web.English().Causes
	for _, origin := range origins {
		owner.wait(fmt.Sprintf(`[...document.querySelectorAll("#live li")].some((row) => row.querySelector(".strong").innerText === %q && row.querySelector(".mono").innerText === %q)`,
			causes[string(admission.WebOrigin)], origin))
	}
	owner.wait(fmt.Sprintf(`[...document.querySelectorAll("#live li .strong")].some((e) => e.innerText === %q)`, causes[string(admission.WrongHost)]))
}
