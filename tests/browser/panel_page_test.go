package browser

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plexus/adapters/hostfiles"
)

// TestPanelSaysWhatIsSent: how much of a long page, and the very text; the whole page
// goes only when the person says so, and a new page begins anew (D17).
func TestPanelSaysWhatIsSent(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	site := serveSaved(t, madePages())
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": host.address()})
	panel := b.pressAction(b.open(site.URL + "/made/article"))
	panel.waitText("#status", "Connected")
	panel.wait(`/^(3\.\d|4) of 2\d\d KB used$/.test(document.querySelector("#size").innerText)`)
	panel.typeText("#question", "When was the dam finished?")
	panel.click("#size")
	panel.wait(`document.querySelector("#sent-text").innerText.includes("finished in 1962")`)
	shown := panel.eval(`document.querySelector("#sent-text").textContent`)
	panel.typeText("#question", "\r")
	q := host.nextQuestion()
	if q.body.Context["extract"] != shown || q.body.Context["extract_kind"] != "excerpt" {
		t.Errorf("shown\n%v\nsent\n%v", shown, q.body.Context)
	}
	if total, err := strconv.Atoi(q.body.Context["extract_total"]); err != nil || total < 200_000 || len(q.body.Context["extract"]) > 4095 {
		t.Errorf("%d bytes of %d (%v)", len(q.body.Context["extract"]), total, err)
	}
	q.last("In 1962.")
	panel.waitShown("#ask")

	panel.click("#whole")
	panel.wait(`document.querySelector("#whole").ariaPressed === "true" && /^6\d of 2\d\d KB used$/.test(document.querySelector("#size").innerText)`)
	panel.typeText("#question", "And the whole?\r")
	q = host.nextQuestion()
	if n := len(q.body.Context["extract"]); n < 60_000 || n > 65_536 {
		t.Errorf("of the whole page %d bytes are sent", n)
	}
	q.last("Yes.")
	panel.waitShown("#ask")
	b.press(b.open(site.URL + "/made/data.json"))
	panel.waitText("#size", "All of its text is sent: 0.1 KB")
	panel.wait(`document.querySelector("#whole").hidden && document.querySelector("#whole").ariaPressed === "false"`)
	panel.click("#use-page")
	panel.wait(`document.querySelector("#sent-box").hidden`)
}

// TestPanelTokenIsTriedBeforeItIsOffered: a host that says that the token is wrong is
// offered nothing, so that it keeps no row for it; of one that does not say, the panel
// shows which digits it lists the token under.
func TestPanelTokenIsTriedBeforeItIsOffered(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	host.token.Store(strings.Repeat("a", 64))
	b := launch(t, extensionDir)
	b.set(map[string]any{"hostToken": strings.Repeat("b", 64)})
	panel := b.openPanel(host.address())
	panel.waitText("#notice-title", "The host token is not accepted")
	panel.click("#retry")
	panel.waitText("#retry", "Retry now")
	if offered := host.offered.Load(); offered != nil {
		t.Errorf("the wrong token was offered: %v", offered)
	}
	if panel.eval(`document.querySelector("#digits").checkVisibility()`) != false {
		t.Error("digits are shown that no host knows")
	}
	panel.eval(fmt.Sprintf(`chrome.storage.local.set({hostToken: %q})`, strings.Repeat("a", 64)))
	panel.waitText("#status", "Connected")

	silent := startFakeHost(t, "127.0.0.1:0", false)
	panel.eval(fmt.Sprintf(`chrome.storage.local.set({address: %q})`, silent.address()))
	panel.waitText("#notice-title", "The host token is not accepted")
	panel.waitShown("#digits")
	want := panel.eval(fmt.Sprintf(`import("./admission.js").then((m) => m.fourDigits(%q))`, strings.Repeat("a", 64)))
	if got := panel.text("#digits"); got != want {
		t.Errorf("digits %s, want %v", got, want)
	}
}

// TestPanelOffersTheOwnersPage: the link leads to the row, on this machine only.
func TestPanelOffersTheOwnersPage(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", false)
	host.page.Store("https://evil.test/")
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#notice-title", "Not allowed yet")
	if panel.eval(`document.querySelector("#allow").checkVisibility()`) != false {
		t.Error("a page elsewhere is offered")
	}
	host.page.Store("http://127.0.0.1:9010/")
	panel.waitShown("#allow")
	if got, want := panel.eval(`document.querySelector("#allow").href`), "http://127.0.0.1:9010/#extension="+panel.text("#digits"); got != want {
		t.Errorf("the link leads to %v, want %s", got, want)
	}
}

// TestAllowOnThePage: with the real program the link's address leads to the row that
// waits, its button under the finger, and one press lets the extension in; before
// signing in as well as after.
func TestAllowOnThePage(t *testing.T) {
	host := newPlexus(t, "")
	host.start()
	b := launch(t, extensionDir)
	panel := b.openPanel("ws://" + host.nerve)
	panel.waitText("#notice-title", "Not allowed yet")
	panel.waitShown("#allow")
	link := "http://" + host.at.Admin + "/#extension=" + panel.text("#digits")
	if got := panel.eval(`document.querySelector("#allow").href`); got != link {
		t.Errorf("the panel leads to %v, want %s", got, link)
	}
	owner := b.window("about:blank#")
	owner.do(chromedp.Navigate(link))
	owner.wait(`document.querySelector("#code")`)
	code := signInCode.FindStringSubmatch(host.run("open", "--print-code"))
	owner.typeText("#code", code[2]+"\r")
	focused := `document.activeElement.matches(".extension.waits button.primary")`
	owner.wait(focused)
	owner.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	owner.wait(focused + ` && location.pathname.endsWith("/extensions")`)
	owner.do(chromedp.KeyEvent("\r"))
	panel.waitText("#status", "Connected")
}

// TestPanelTriesItsTokenAtThePlexus: with the real program a wrong token leaves no row
// to be allowed, and the right one opens the socket.
func TestPanelTriesItsTokenAtThePlexus(t *testing.T) {
	host := newPlexus(t, "")
	host.start()
	b := launch(t, extensionDir)
	b.set(map[string]any{"hostToken": strings.Repeat("b", 64)})
	panel := b.openPanel("ws://" + host.nerve)
	panel.waitText("#notice-title", "The host token is not accepted")
	if rows := host.run("extensions", "list", "--json"); strings.Contains(rows, "chrome-extension") {
		t.Errorf("a row waits: %s", rows)
	}
	token, err := hostfiles.ReadToken(strings.TrimSpace(host.run("token", "path")))
	if err != nil {
		t.Fatal(err)
	}
	b.set(map[string]any{"hostToken": token.Reveal()})
	panel.waitText("#status", "Connected")
	host.run("extensions", "remove", "1")
	panel.waitText("#notice-title", "The host token is not accepted")
}

// TestPanelAsksAgain: a failure leaves the question and a way on.
func TestPanelAsksAgain(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#status", "Connected")
	panel.typeText("#question", "Why does it rain?\r")
	for _, fails := range []func(question){
		func(q question) { q.last("[The model did not answer.]") },
		func(q question) { q.send(typeResult, flagFinal, map[string]any{"results": 7}) },
	} {
		q := host.nextQuestion()
		if q.body.Query != "Why does it rain?" {
			t.Errorf("asked %q", q.body.Query)
		}
		fails(q)
		panel.waitShown("#again")
		panel.waitText("#asked", "Why does it rain?")
		panel.click("#again")
	}
	host.nextQuestion().last("Because.")
	panel.waitText("#answer", "Because.")
}
