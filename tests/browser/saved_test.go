package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// serveSaved serves the saved pages. OTHER in one of them stands for an origin of
// its own on the same machine.
func serveSaved(t *testing.T, pages []savedPage) *httptest.Server {
	t.Helper()
	made := map[string]savedPage{}
	for _, p := range pages {
		made["/"+p.path] = p
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := made[r.URL.Path]
		text := []byte(p.make)
		if p.make == "" {
			var err error
			if text, err = os.ReadFile(filepath.Join("testdata/pages", path.Base(r.URL.Path))); err != nil {
				http.NotFound(w, r)
				return
			}
		}
		kind := "text/html"
		if p.kind != "" {
			kind = p.kind
		}
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		other := strings.Replace(r.Host, "127.0.0.1", "localhost", 1)
		_, _ = w.Write([]byte(strings.ReplaceAll(string(text), "OTHER", other)))
	}))
	t.Cleanup(site.Close)
	return site
}

// readPage is what the extension has read of the page in front.
type readPage struct {
	Kind, Why, URL, Title, Text string
	Headings                    []int
	More                        bool
	Unread                      int
}

// TestSavedPages walks through pages of all kinds with the real program, the real
// extension and the real toolbar button: what is on the screen is read, what the
// question is about is sent, and only the host's marks become links.
func TestSavedPages(t *testing.T) {
	model := newStubModel(t)
	host := newPlexus(t, model.config())
	host.start()
	b := launch(t, extensionDir)
	b.set(map[string]any{"address": "ws://" + host.nerve, "hostToken": host.token()})
	pages := savedPages()
	site := serveSaved(t, pages)
	var panel *page
	for _, p := range pages {
		tab := b.open(site.URL + "/" + p.path)
		if panel == nil {
			panel = b.pressAction(tab)
			panel.waitText("#status", "Connected")
		} else {
			b.press(tab)
		}
		panel.wait(fmt.Sprintf(`document.querySelector("#page-title").title === %q`, site.URL+"/"+p.path))
		checkRead(t, panel, p)
		if p.uses != "" {
			checkAsked(t, panel, model, site.URL, p)
		}
		tab.close()
	}
}

// checkRead looks at the text that was read, and at what the panel says of the page.
func checkRead(t *testing.T, panel *page, p savedPage) {
	t.Helper()
	var got readPage
	text, _ := panel.eval(`import("./page.js").then((m) => m.readPage()).then(JSON.stringify)`).(string)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%s: %v", p.path, err)
	}
	wantKind := "page"
	if p.finds == nil {
		wantKind = "bare"
	}
	if got.Kind != wantKind || got.More && p.path != "made/many" {
		t.Errorf("%s is %q (%s), cut: %t", p.path, got.Kind, got.Why, got.More)
	}
	for _, want := range p.finds {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%s misses %q:\n%.2000s", p.path, want, got.Text)
		}
	}
	for _, never := range p.never {
		if strings.Contains(got.Text, never) {
			t.Errorf("%s holds %q:\n%.2000s", p.path, never, got.Text)
		}
	}
	if said := panel.text(".page"); !strings.Contains(said, p.panel) {
		t.Errorf("%s: the panel says %q, not %q", p.path, said, p.panel)
	}
}

// checkAsked asks about the page: the prompt holds the part that answers, and of the
// marks in the answer those that were offered become links, however many look alike.
func checkAsked(t *testing.T, panel *page, model *stubModel, base string, p savedPage) {
	t.Helper()
	panel.typeText("#question", p.question)
	sent, _ := panel.eval(fmt.Sprintf(`Promise.all([import("./page.js"), import("./excerpt.js")]).then(async ([m, e]) => {
		const context = m.contextOf(await m.readPage(), %q);
		return e.size(context.extract) <= e.MAX_EXTRACT ? context.extract : "too long" })`, p.question)).(string)
	if !strings.Contains(sent, p.uses) {
		t.Errorf("%s: of the page this is sent, without %q:\n%s", p.path, p.uses, sent)
	}
	panel.typeText("#question", "\r")
	var prompt struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal([]byte(receive(t, "a question to the model", model.asked)), &prompt); err != nil {
		t.Fatal(err)
	}
	last := prompt.Messages[len(prompt.Messages)-1].Content
	if first, _, _ := strings.Cut(p.uses, "["); !strings.Contains(last, first) {
		t.Errorf("%s: the prompt misses %q:\n%s", p.path, first, last)
	}
	model.say <- "As the page says [page] and [1], [99] and `[1]` too, [0] "
	model.say <- "and \\[page], [2"
	model.say <- "00]."
	model.say <- ""
	panel.waitShown("#ask")
	results, _ := panel.eval(`[...document.querySelectorAll("#results a")].map((a) => a.href).join(" ")`).(string)
	want := base + "/" + p.path
	if results != "" {
		want += " " + strings.Fields(results)[0]
	}
	if got := panel.eval(`[...document.querySelectorAll("#answer a")].map((a) => a.href).join(" ")`); got != want {
		t.Errorf("%s: links %v, want %s", p.path, got, want)
	}
	first := "1"
	if results == "" {
		first = "[1]"
	}
	if got := panel.text("#answer"); got != "As the page says This page and "+first+", [99] and [1] too, [0] and [page], [200]." {
		t.Errorf("%s: shown %q", p.path, got)
	}
}
