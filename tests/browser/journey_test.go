package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestJourney is a person's first hour with the real program, the real extension
// and the real toolbar button: not running, not allowed, allowed without a
// restart, an answer about the page in front, results from a page asked about
// before, a stopped answer, a restart of the host, a removal (CR-16, CR-18, CR-19).
func TestJourney(t *testing.T) {
	model := newStubModel(t)
	host := newPlexus(t, model.config())
	host.start()
	host.stop()
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": "ws://" + host.nerve})
	site := serveArticle(t)
	tab := b.open(site.URL + "/bridge")
	panel := b.pressAction(tab)

	panel.waitText("#notice-title", "Plexus is not running")
	host.start()
	panel.waitText("#notice-title", "Not allowed yet")
	list := host.run("extensions", "list")
	if digits := panel.text("#digits"); len(digits) != 4 || !strings.Contains(list, digits) {
		t.Errorf("the panel shows %q, the list\n%s", digits, list)
	}
	allow := strings.Fields(panel.text("#commands code"))
	host.run(allow[1:]...)
	panel.waitText("#status", "Connected")

	askAboutPage(t, panel, model, site.URL)
	askWithResults(t, b, panel, model, site)

	panel.typeText("#question", "Tell me everything about it\r")
	receive(t, "a question to the model", model.asked)
	model.say <- "It is long"
	panel.waitText("#answer", "It is long")
	panel.click("#stop")
	receive(t, "the end of the model's work", model.gone)
	panel.waitText("#note-text", "Stopped.")

	panel.typeText("#question", "And how long exactly?\r")
	receive(t, "a question to the model", model.asked)
	model.say <- "It is"
	panel.waitText("#answer", "It is")
	host.stop()
	panel.wait(`document.querySelector("#note-text").textContent.startsWith("Interrupted")`)
	host.start()
	panel.waitText("#status", "Connected")

	host.run("extensions", "remove", "chrome-extension://"+extensionID)
	panel.waitText("#notice-title", "Not allowed yet")
	allow = strings.Fields(panel.text("#commands code"))
	host.run(allow[1:]...)
	panel.waitText("#status", "Connected")
}

func askAboutPage(t *testing.T, panel *page, model *stubModel, address string) {
	t.Helper()
	panel.typeText("#question", "When did the bridge open?\r")
	prompt := receive(t, "a question to the model", model.asked)
	if !strings.Contains(prompt, "The bridge opened in 1931 after four years of work.") {
		t.Errorf("the prompt misses the page: %s", prompt)
	}
	model.say <- "It opened "
	panel.waitText("#answer", "It opened")
	model.say <- "in 1931 [page]."
	panel.wait(fmt.Sprintf(`document.querySelector("#answer a")?.href === %q`, address+"/bridge"))
	model.say <- ""
	panel.waitShown("#ask")
}

// askWithResults asks on another page about the one before it.
func askWithResults(t *testing.T, b *chromium, panel *page, model *stubModel, site *httptest.Server) {
	t.Helper()
	second := b.open(site.URL + "/other")
	b.press(second)
	panel.waitText("#page-title", "The Valley Bridge")
	panel.typeText("#question", "Which bridge has two tracks?\r")
	receive(t, "a question to the model", model.asked)
	panel.wait(fmt.Sprintf(`document.querySelector("#results a")?.href === %q`, site.URL+"/bridge"))
	model.say <- "This one [1]."
	panel.wait(fmt.Sprintf(`document.querySelector("#answer a")?.href === %q`, site.URL+"/bridge"))
	model.say <- ""
	panel.waitShown("#ask")
}

// TestWebPagesAreRefused: a web page that knows everything (address and host
// token) still gets no socket and reads no answer.
func TestWebPagesAreRefused(t *testing.T) {
	host := newPlexus(t, "")
	host.start()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "<!doctype html><title>Curious</title>")
	}))
	t.Cleanup(site.Close)
	b := launch(t, extensionDir)
	for _, from := range []string{site.URL, strings.Replace(site.URL, "127.0.0.1", "localhost", 1)} {
		tab := b.open(from)
		try := fmt.Sprintf(`new Promise((done) => {
			const socket = new WebSocket("ws://%s", ["anvesha-v1.%s"]);
			socket.onopen = () => done("opened");
			socket.onclose = (e) => done("closed " + e.code);
		})`, host.nerve, host.token())
		if got := tab.eval(try); got != "closed 1006" {
			t.Errorf("a socket from %s: %v", from, got)
		}
		read := fmt.Sprintf(`fetch("http://%s/", {method: "POST", body: ""}).then(() => "answered", (e) => e.name)`, host.nerve)
		if got := tab.eval(read); got != "TypeError" {
			t.Errorf("a fetch from %s: %v", from, got)
		}
	}
}

// TestTokenInSettings: with the host token in its settings the extension is in at
// once, and a wrong one is named as such.
func TestTokenInSettings(t *testing.T) {
	host := newPlexus(t, "")
	host.start()
	b := launch(t, extensionDir)
	b.set(map[string]any{"hostToken": strings.Repeat("0", 64)})
	panel := b.openPanel("ws://" + host.nerve)
	panel.waitText("#notice-title", "The host token is not accepted")
	b.set(map[string]any{"hostToken": host.token()})
	panel.waitText("#status", "Connected")
}
