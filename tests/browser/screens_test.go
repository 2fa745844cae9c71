package browser

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var screensDir = flag.String("screens", "", "write a picture of every state to this `directory`, which has to exist")

// savePicture writes a picture to the directory of -screens.
func savePicture(t *testing.T, name string, image []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(*screensDir, name), image, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPanelScreens walks the real side panel through its states. In each, at three
// widths and in both schemes, text has the contrast of WCAG AA and nothing runs
// over the edge; with -screens each is pictured.
func TestPanelScreens(t *testing.T) {
	idle := startFakeHost(t, "127.0.0.1:0", true)
	idle.stop()
	site := serveArticle(t)
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": idle.address()})
	tab := b.open(site.URL + "/bridge")
	panel := b.pressAction(tab)

	panel.waitText("#notice-title", "Plexus is not running")
	panel.resize(360, 720)
	panel.screenshot() // the first picture of a fresh side panel comes out in tiles
	panel.waitText("#retry", "Retry now")
	screens(t, panel, "not-running")

	host := startFakeHost(t, idle.addr, false)
	panel.waitText("#notice-title", "Not allowed yet")
	panel.waitText("#retry", "Retry now")
	screens(t, panel, "not-allowed")
	panel.eval(`chrome.storage.local.set({hostToken: "0".repeat(64)})`)
	panel.waitText("#notice-title", "The host token is not accepted")
	screens(t, panel, "wrong-token")
	panel.eval(`chrome.storage.local.set({hostToken: ""})`)

	host.page.Store("http://127.0.0.1:9010/")
	panel.waitShown("#allow")
	screens(t, panel, "allow-on-the-page")
	host.allowed.Store(true)
	panel.waitText("#status", "Connected")
	screens(t, panel, "empty")

	tab.eval(`getSelection().selectAllChildren(document.querySelector("#s"))`)
	panel.typeText("#question", "When did the bridge open, and how many people came?")
	panel.wait(`!document.querySelector("#selection").hidden || dispatchEvent(new Event("focus")) && false`)
	screens(t, panel, "question")

	panel.typeText("#question", "\r")
	q := host.nextQuestion()
	screens(t, panel, "looking")
	q.results(34, bridge...)
	panel.waitShown("#found")
	q.token("The bridge opened in 1931 after four years of work [page]. Ninety thousand people crossed on the ")
	panel.wait(`document.querySelector("#answer").textContent.endsWith("on the ")`)
	screens(t, panel, "streaming")
	q.token("first morning [2].")
	q.last("")
	panel.waitShown("#ask")
	screens(t, panel, "answer")

	panel.typeText("#question", "What did it cost?\r")
	host.nextQuestion().token("The whole bridge")
	panel.waitText("#answer", "The whole bridge")
	panel.click("#stop")
	screens(t, panel, "stopped")

	panel.typeText("#question", "Who crossed it in winter?\r")
	q = host.nextQuestion()
	q.results(3)
	q.last("")
	panel.waitShown("#nothing")
	screens(t, panel, "nothing-found")

	panel.click("#use-page")
	panel.waitText("#page-title", "Nothing of this page is sent.")
	screens(t, panel, "page-off")
	panel.click("#use-page")

	b.open(site.URL + "/other")
	panel.waitText("#page-title", "Press the Plexus button in the toolbar to use this page.")
	screens(t, panel, "page-locked")

	panel.typeText("#question", "How was it built?\r")
	q = host.nextQuestion()
	q.token("It was built from both banks at once, and the two halves of the arch")
	panel.waitText("#answer", "It was built from both banks at once, and the two halves of the arch")
	host.stop()
	panel.waitText("#notice-title", "The connection was lost")
	screens(t, panel, "reconnecting")
	startFakeHost(t, host.addr, true)
	panel.waitText("#status", "Connected")
	screens(t, panel, "interrupted")
}

// TestPanelPageScreens pictures what the panel says of pages that are long, and of
// those that cannot be read.
func TestPanelPageScreens(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	site := serveSaved(t, savedPages())
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": host.address()})
	panel := b.pressAction(b.open(site.URL + "/made/article"))
	panel.waitText("#status", "Connected")
	panel.waitShown("#whole")
	screens(t, panel, "excerpt")
	panel.click("#whole")
	panel.click("#size")
	panel.waitShown("#sent-text")
	screens(t, panel, "whole-page")
	panel.click("#size")
	for path, state := range map[string]string{"embedpdf.html": "pdf", "onlyforeign.html": "frames"} {
		b.press(b.open(site.URL + "/" + path))
		panel.waitShown("#page-bare")
		screens(t, panel, state)
	}
}

// TestOptionsScreens pictures the settings page and its refusal of a bad address.
func TestOptionsScreens(t *testing.T) {
	options := launch(t, extensionDir).open("chrome-extension://" + extensionID + "/options.html")
	options.resize(640, 620)
	screens(t, options, "settings")
	options.eval(`document.querySelector("#address").value = ""`)
	options.typeText("#address", "wss://example.org\r")
	options.waitShown("#address-bad")
	options.eval(`document.querySelector("#address").value = ""`)
	options.typeText("#address", "ws://localhost:9123/\r")
	options.waitText("#saved", "Saved.")
	if got := options.eval(`chrome.storage.local.get("address").then((v) => v.address)`); got != "ws://localhost:9123" {
		t.Errorf("saved %v", got)
	}
}

// screens looks for faults in one state and pictures it, in both schemes.
func screens(t *testing.T, p *page, state string) {
	t.Helper()
	width, height := int64(360), int64(720)
	name := "panel-" + state
	if state == "settings" {
		width, height, name = 640, 620, state
	}
	for _, w := range []int64{280, 360, 500} {
		p.resize(w, 600)
		for _, scheme := range []string{"light", "dark"} {
			p.scheme(scheme)
			if faults := p.faults(); faults != "" {
				t.Errorf("%s, %s, %d px wide:\n%s", state, scheme, w, faults)
			}
		}
	}
	p.resize(width, height)
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		image := p.screenshot()
		if *screensDir != "" {
			savePicture(t, name+"-"+scheme+".png", image)
		}
	}
}
