package browser

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"plexus/domain/answers"
)

var bridge = []found{
	{URL: "https://bridges.test/valley", Title: "The Valley Bridge", Snippet: "A steel arch of 503 metres over the lower valley, opened to trains and walkers alike.", Score: 3.1},
	{URL: "https://archive.test/1931", Title: "Opening day, 1931", Snippet: "Ninety thousand people crossed on the first morning.", Score: 2.4},
	{URL: "javascript:alert(1)", Title: "Not an address", Snippet: "", Score: 0.1},
}

// TestPanelAsksAndStreams: results as they come, text as it comes, marks as links,
// nothing but text from outside.
func TestPanelAsksAndStreams(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#status", "Connected")
	panel.typeText("#question", "When did the bridge open?\r")
	q := host.nextQuestion()
	if q.body.V != 1 || q.body.Query != "When did the bridge open?" || q.body.Opts["search"] != true || q.body.Opts["max_results"] != 10.0 {
		t.Errorf("query %+v", q.body)
	}
	panel.waitShown("#stop")
	q.results(34, bridge...)
	panel.wait(`document.querySelectorAll("#results li").length === 3`)
	q.token("It opened in 1931 [")
	panel.waitText("#answer", "It opened in 1931")
	q.token("2], <b>not</b> [9] nor [3].")
	q.last("")
	panel.waitShown("#ask")
	panel.waitText("#answer", "It opened in 1931 2, <b>not</b> [9] nor [3].")
	links := panel.eval(`[...document.querySelectorAll("#exchange a")].map((a) => [a.href, a.target, a.rel].join(" ")).join("\n")`)
	want := "https://archive.test/1931 _blank noopener noreferrer\nhttps://bridges.test/valley _blank noopener noreferrer\nhttps://archive.test/1931 _blank noopener noreferrer"
	if links != want {
		t.Errorf("links\n%v\nwant\n%s", links, want)
	}
}

// TestPanelStops: the button and Escape both cancel on the wire.
func TestPanelStops(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#status", "Connected")
	for _, stop := range []func(){
		func() { panel.click("#stop") },
		func() { panel.typeText("#question", "\x1b") },
	} {
		panel.typeText("#question", "Tell me everything\r")
		q := host.nextQuestion()
		q.token("Once upon")
		panel.waitText("#answer", "Once upon")
		stop()
		if id := receive(t, "a Cancel", host.cancels); id != q.id {
			t.Errorf("cancelled %d, asked %d", id, q.id)
		}
		panel.waitText("#note-text", "Stopped.")
		q.token(" a time")
		panel.waitShown("#ask")
		if got := panel.text("#answer"); got != "Once upon" {
			t.Errorf("a late token was shown: %q", got)
		}
	}
}

// TestPanelNotRunningThenNotAllowedThenIn walks a person's first minutes (CR-16, CR-19).
func TestPanelNotRunningThenNotAllowedThenIn(t *testing.T) {
	first := startFakeHost(t, "127.0.0.1:0", false)
	first.stop()
	panel := launch(t, extensionDir).openPanel(first.address())
	panel.waitText("#notice-title", "Plexus is not running")
	panel.waitText("#commands code", "plexus serve")
	if got := panel.eval(`document.querySelector("#ask").disabled`); got != true {
		t.Error("a question can be asked while nothing runs")
	}

	host := startFakeHost(t, first.addr, false)
	panel.click("#retry")
	panel.waitText("#notice-title", "Not allowed yet")
	offered, _ := host.offered.Load().(string)
	key, ok := strings.CutPrefix(offered, "anvesha-v1.")
	if !ok || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(key) {
		t.Fatalf("offered %q", offered)
	}
	hash := sha256.Sum256([]byte(key))
	panel.waitText("#digits", fmt.Sprintf("%04d", binary.BigEndian.Uint32(hash[:])%10000))
	if got := panel.text("#commands"); !strings.Contains(got, "plexus extensions allow "+panel.text("#digits")) {
		t.Errorf("commands: %s", got)
	}

	host.allowed.Store(true)
	panel.waitText("#status", "Connected")
	panel.wait(`document.querySelector("#notice").hidden`)
}

// TestPanelInterrupted: what came before a loss stays, is marked, and is never
// taken for complete (CR-32); a restarted host is found again without a click.
func TestPanelInterrupted(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#status", "Connected")
	panel.typeText("#question", "Why?\r")
	q := host.nextQuestion()
	q.token("Because of the")
	panel.waitText("#answer", "Because of the")
	host.stop()
	panel.wait(`document.querySelector("#note-text").textContent.startsWith("Interrupted")`)
	panel.waitText("#answer", "Because of the")

	again := startFakeHost(t, host.addr, true)
	panel.waitText("#status", "Connected")
	panel.click("#again")
	if q := again.nextQuestion(); q.body.Query != "Why?" {
		t.Errorf("asked again: %q", q.body.Query)
	}
}

// TestPanelHostSentence: a sentence of the host is not shown as an answer, and an
// answer the host calls interrupted does not look whole (CR-32).
func TestPanelHostSentence(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#status", "Connected")
	panel.typeText("#question", "One?\r")
	q := host.nextQuestion()
	q.results(3)
	q.last("[The model did not answer.]")
	panel.waitText("#note-text", "The model did not answer.")
	panel.typeText("#question", "Two?\r")
	q = host.nextQuestion()
	q.token("Half an")
	q.last("\n\n[The answer was interrupted.]")
	panel.waitText("#note-text", "The answer was interrupted.")
	panel.waitText("#answer", "Half an")
	for _, language := range []answers.Language{answers.English, answers.Chinese} {
		for _, kind := range answers.NoticeKinds() {
			sentence := answers.Notice(kind, language)
			if got := panel.eval(fmt.Sprintf(`import("./marks.js").then((m) => m.hostSentence(%q))`, sentence)); got != strings.Trim(sentence, "[]") {
				t.Errorf("%s is taken for an answer", sentence)
			}
		}
	}
	panel.typeText("#question", "Three?\r")
	q = host.nextQuestion()
	q.results(3)
	q.last("")
	panel.waitShown("#nothing")
}

// TestPanelSpeaksChinese: the language set wins over the browser's, and Enter that
// picks a candidate of an input method asks nothing.
func TestPanelSpeaksChinese(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	b := launch(t, extensionDir)
	b.set(map[string]any{"language": "zh-CN"})
	panel := b.openPanel(host.address())
	panel.waitText("#status", "已连接")
	if got := panel.eval("document.documentElement.lang"); got != "zh-CN" {
		t.Errorf("lang %v", got)
	}
	panel.typeText("#question", "大桥何时通车")
	panel.eval(`document.querySelector("#question").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", isComposing: true, cancelable: true}))`)
	panel.typeText("#question", "？\r")
	if q := host.nextQuestion(); q.body.Query != "大桥何时通车？" {
		t.Errorf("asked %q", q.body.Query)
	}
}

// TestPanelKeepsFocus: attempts to connect go on behind a notice without taking
// the focus from its buttons.
func TestPanelKeepsFocus(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", false)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#notice-title", "Not allowed yet")
	panel.eval(`document.querySelector(".copy").focus()`)
	panel.eval(`new MutationObserver(() => (window.tries = (window.tries ?? 0) + 1)).observe(document.querySelector("#retry"), {childList: true})`)
	panel.wait(`window.tries >= 4`)
	if got := panel.eval(`document.activeElement.className`); got != "copy" {
		t.Errorf("the focus went to %v", got)
	}
}

const article = `<!doctype html><title>The Valley Bridge</title>
<nav>Home News Contact</nav>
<main><h1>The Valley Bridge</h1><p>The bridge opened in 1931 <b>after four</b> years of work. %s</p>
<p hidden>A hidden secret.</p><p style="display:none">Another secret.</p><aside>Buy our calendar.</aside>
<table><tr><th>Length</th><td>503 m</td></tr></table><div style="display:contents"><p>It is painted green.</p></div>
<p style="opacity:0">A faint secret.</p><form><input value="typed"><textarea>draft</textarea></form><script>var code = 1;</script><p id="s">It carries two tracks.</p></main>
<footer>Imprint</footer>`

func serveArticle(t *testing.T) *httptest.Server {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, article, strings.Repeat("Word follows word here. ", 20))
	}))
	t.Cleanup(site.Close)
	return site
}

// TestPanelUsesThePage presses the real toolbar button, asks about the page in
// front in the real side panel, then switches "use this page" off (D14).
func TestPanelUsesThePage(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	site := serveArticle(t)
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": host.address()})
	tab := b.open(site.URL + "/bridge")
	panel := b.pressAction(tab)
	panel.waitText("#status", "Connected")
	panel.waitText("#page-title", "The Valley Bridge")
	tab.eval(`getSelection().selectAllChildren(document.querySelector("#s"))`)
	panel.typeText("#question", "When did it open?\r")
	q := host.nextQuestion()
	got := q.body.Context
	if got["url"] != site.URL+"/bridge" || got["title"] != "The Valley Bridge" || got["selection"] != "It carries two tracks." {
		t.Errorf("context %v", got)
	}
	for _, want := range []string{"The bridge opened in 1931 after four years of work.", "It carries two tracks.", "Length 503 m", "It is painted green."} {
		if !strings.Contains(got["extract"], want) {
			t.Errorf("extract misses %q: %s", want, got["extract"])
		}
	}
	for _, never := range []string{"secret", "calendar", "typed", "draft", "code", "Home", "Imprint"} {
		if strings.Contains(got["extract"], never) {
			t.Errorf("extract holds %q: %s", never, got["extract"])
		}
	}
	q.token("In 1931 [page].")
	q.last("")
	panel.wait(fmt.Sprintf(`document.querySelector("#answer a")?.href === %q`, site.URL+"/bridge"))

	steal := `chrome.tabs.query({active: true, currentWindow: true}).then(([tab]) => chrome.scripting.executeScript({target: {tabId: tab.id},
		func: () => chrome.storage.local.get("key").then(() => "read", () => "refused")})).then(([r]) => r.result)`
	if got := panel.eval(steal); got != "refused" {
		t.Errorf("the key, from a script in the page's process: %v", got)
	}

	panel.click("#use-page")
	panel.waitText("#page-title", "Nothing of this page is sent.")
	panel.typeText("#question", "And now?\r")
	if got := host.nextQuestion().body.Context; len(got) != 2 || got["url"] != "" || got["title"] != "" {
		t.Errorf("with the page off: %v", got)
	}
	b.open(site.URL + "/other")
	panel.waitText("#page-title", "Press the Plexus button in the toolbar to use this page.")
	panel.click("#use-page")
	panel.typeText("#question", "What is here?\r")
	if got := host.nextQuestion().body.Context; len(got) != 2 || got["url"] != "" {
		t.Errorf("of a page the button was not pressed on: %v", got)
	}
}

// TestPanelWithoutText: of a page that has no text, such as a PDF or a canvas, title
// and address are used, and the panel says that it is only these.
func TestPanelWithoutText(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "<!doctype html><title>A map</title><canvas></canvas>")
	}))
	t.Cleanup(site.Close)
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": host.address()})
	panel := b.pressAction(b.open(site.URL + "/map"))
	panel.waitText("#status", "Connected")
	panel.waitShown("#page-bare")
	panel.typeText("#question", "What is here?\r")
	if got := host.nextQuestion().body.Context; len(got) != 2 || got["title"] != "A map" || got["url"] != site.URL+"/map" {
		t.Errorf("context %v", got)
	}
}
