package browser

import (
	"strconv"
	"testing"
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
