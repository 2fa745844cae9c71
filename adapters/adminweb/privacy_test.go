package adminweb

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/ports"
)

// remember puts a page into the index, and a question about it into its topic.
func (st *stage) remember(address, title string) {
	st.t.Helper()
	page := framing.PageContext{URL: address, Title: title, Extract: "Its text about zeppelins."}
	record := st.personal.Topics.BeginAnswer(ports.AnsweredQuestion{Asker: "chrome-extension://aaaa", Question: "What?", Page: page})
	whole := ports.Answered{Text: "That.", Complete: true}
	if err := errors.Join(record.Keep(st.t.Context(), whole), record.End(st.t.Context(), whole)); err != nil {
		st.t.Fatal(err)
	}
}

func (st *stage) expectKept(what string, wantPages, wantTopics int) {
	st.t.Helper()
	_, total, err := st.index.Pages(st.t.Context(), ports.PageList{})
	sizes, failed := st.personal.Chats.Sizes(st.t.Context())
	if err != nil || failed != nil || total != wantPages || sizes.Topics != wantTopics {
		st.t.Fatalf("%s: %d pages and %d topics are kept, %v, %v; want %d and %d", what, total, sizes.Topics, err, failed, wantPages, wantTopics)
	}
}

func TestPrivacy_ListsSearchesAndForgets(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	wantText(t, b.get("privacy/pages"), "No page is remembered")
	for i := range 60 {
		st.pass(1e9)
		st.remember(fmt.Sprintf("https://www.bank.test/%d?a=1&b=2", i), fmt.Sprint("Account ", i))
	}
	st.remember("https://news.test/", "<b>News</b>")
	first := b.get("privacy/pages")
	wantText(t, first, "&lt;b&gt;News", "Account 59", "1–50 of 61", "privacy/forget?page=https%3A%2F%2Fwww.bank.test%2F59%3Fa%3D1%26b%3D2")
	wantNoText(t, first, "Account 10<")
	wantText(t, b.get("privacy/pages?from=50"), "Account 10<", "51–61 of 61")
	wantText(t, b.get("privacy/pages?from=-7&q=+account+59"), "Account 59")
	wantNoText(t, b.get("privacy/pages?q=account+59"), "Account 58", "News")
	wantText(t, b.get("privacy/pages?q=zebra"), "No remembered page fits")

	wantText(t, b.get("privacy/forget?page=https://news.test/"), "Forget this page?", "https://news.test/", `name="topics" value="true" checked`)
	b.must("privacy/forget", url.Values{"page": {"https://news.test/"}, "topics": {"true"}})
	st.expectKept("a page", 60, 60)
	b.must("privacy/forget", url.Values{"page": {"https://www.bank.test/1?a=1&b=2"}})
	st.expectKept("a page alone", 59, 60)
	wantText(t, b.get("privacy/forget?site=bank.*"), "Forget everything of bank.*?")
	at, page := b.must("privacy/forget", url.Values{"site": {"bank.*"}, "topics": {"true"}})
	if at != "privacy/pages?done=pages-forgotten" {
		t.Errorf("it leads to %s", at)
	}
	wantText(t, page, "It is erased.", "No page is remembered")
	st.expectKept("a site", 0, 0)
	st.remember("https://news.test/", "News")
	wantText(t, b.get("privacy/forget"), "Forget all remembered pages?")
	b.must("privacy/forget", nil)
	st.expectKept("all pages", 0, 1)
	for _, path := range []string{"privacy/forget?page=file:///etc/passwd", "privacy/forget?site=*"} {
		if code, _ := b.status(path); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
		if code, _ := b.post("privacy/forget", url.Values{"site": {"*"}}); code != http.StatusNotFound {
			t.Errorf("forget a star: %d", code)
		}
	}
	st.expectKept("what is no page", 0, 1)
}

func TestPrivacy_DeletingTopicsOffersToForgetThePages(t *testing.T) {
	for name, c := range map[string]struct {
		form                  url.Values
		wantPages, wantTopics int
	}{"ticked": {url.Values{"pages": {"true"}}, 0, 0}, "not ticked": {nil, 2, 0}} {
		st := newStage(t)
		b := st.enter()
		st.remember("https://bank.test/", "Bank")
		st.remember("https://news.test/", "News")
		wantText(t, b.get("topics/delete"), `name="pages" value="true" checked`)
		b.must("topics/delete", c.form)
		st.expectKept(name, c.wantPages, c.wantTopics)
	}
	for ticked, want := range map[string]int{"true": 1, "": 2} {
		st := newStage(t)
		b := st.enter()
		st.remember("https://bank.test/"+strings.Repeat("a", 600), "Bank")
		st.remember("https://news.test/", "News")
		list, _, err := st.personal.Chats.Conversations(t.Context(), 0, 9)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if c.Title == "Bank" {
				wantText(t, b.get("conversations/"+c.ID+"/delete"), `name="page" value="true" checked`)
				b.must("conversations/"+c.ID+"/delete", url.Values{"page": {ticked}})
			}
		}
		st.expectKept("one topic, "+ticked, want, 1)
	}
}

func TestPrivacy_ExcludesSites(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	st.remember("https://www.bank.test/", "Bank")
	wantText(t, b.get("privacy"), "No site is excluded.", `name="forget" value="true" checked`)
	_, page := b.must("privacy/exclude", url.Values{"site": {"https://bank.test/login"}})
	wantText(t, page, "bank.test", "From now on nothing is kept of that site.")
	st.expectKept("excluded", 1, 1)
	b.must("privacy/exclude", url.Values{"site": {"bank.test"}, "forget": {"true"}})
	st.expectKept("excluded and forgotten", 0, 0)
	code, page := b.post("privacy/exclude", url.Values{"site": {"bank.test:443"}, "forget": {"true"}})
	if code != http.StatusUnprocessableEntity {
		t.Errorf("with a port: %d", code)
	}
	wantText(t, page, "Leave the port away", `value="bank.test:443"`)
	for i := range pages.MaxSites - 1 {
		if err := st.personal.Privacy.Exclude(t.Context(), pages.Site(fmt.Sprint("s", i, ".test"))); err != nil {
			t.Fatal(err)
		}
	}
	if code, page = b.post("privacy/exclude", url.Values{"site": {"more.test"}}); code != http.StatusUnprocessableEntity {
		t.Errorf("beyond the bound: %d", code)
	}
	wantText(t, page, "Remove one first.")
	b.must("privacy/include", url.Values{"site": {"bank.test"}})
	if code, _ = b.post("privacy/include", url.Values{"site": {"*"}}); code != http.StatusNotFound {
		t.Errorf("include a star: %d", code)
	}
	if on := st.personal.Privacy.Excluded(); len(on) != pages.MaxSites-1 {
		t.Errorf("%d are excluded", len(on))
	}
}

func TestPrivacy_SwitchesAndSizes(t *testing.T) {
	st := newStage(t)
	b := st.enter()
	st.statusSource.overview.DataDir = "/data/of-the-owner"
	wantText(t, b.get("privacy"), "searxng at search.example", "180 days", "/data/of-the-owner", "Phones")
	at, _ := b.must("privacy/search", url.Values{"on": {"true"}})
	if at != "privacy?done=searching" || !st.personal.Turns.Searches.On() {
		t.Errorf("switched on: %s", at)
	}
	wantNoText(t, b.get("conversations/chat:main"), "Search the web")
	b.must("privacy/search", url.Values{"on": {"false"}})
	wantText(t, b.get("conversations/chat:main"), "Search the web")
	if at, _ := b.must("privacy/remember", url.Values{"on": {"false"}}); at != "privacy?done=not-recording" {
		t.Errorf("it leads to %s", at)
	}
	if on, _ := st.personal.Topics.Recording(); on {
		t.Error("recording is still on")
	}
	for typed, want := range map[string]string{"bridges": "/search bridges", "/search towers": "/search towers"} {
		if code, at := b.post("conversations/chat:main", url.Values{"text": {typed}, "search": {"true"}}); code != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", typed, code, at)
		}
		wantText(t, b.get("conversations/chat:main"), want)
	}
	wantNoText(t, b.get("conversations/chat:main"), "/search /search")
}
