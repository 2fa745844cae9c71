package portstest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/domain/retention"
	"plexus/ports"
)

// Clock is a settable time for the suites. Its methods may be called
// concurrently.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at a fixed time.
func NewClock() *Clock { return &Clock{now: visitTime()} }

// Now gives the set time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass moves the time on.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// IndexSetup is what an index is to be built with.
type IndexSetup struct {
	Bounds pages.Bounds
	Now    func() time.Time
}

// PageKeeper is an index with the store that writes to it.
type PageKeeper struct {
	ports.PageIndex
	ports.AgingPages
	Store PersonalKeeper
	Days  ports.RunDays
}

// PageIndex runs the contracts of ports.PageIndex and ports.PageWriter. build gives
// an empty index and cleans up by t.Cleanup.
func PageIndex(t *testing.T, build func(t *testing.T, s IndexSetup) PageKeeper) {
	t.Helper()
	for _, c := range []struct {
		name   string
		bounds pages.Bounds
		run    func(t *testing.T, x *index)
	}{
		{"found by words, not by syntax", pages.DefaultBounds(), findsWords},
		{"Chinese and Japanese", pages.DefaultBounds(), findsCJK},
		{"rank", pages.DefaultBounds(), ranks},
		{"replaced", pages.DefaultBounds(), replaces},
		{"kept with its change or not at all", pages.DefaultBounds(), keptWithItsChange},
		{"who finds what", pages.DefaultBounds(), separates},
		{"one result per URL", pages.DefaultBounds(), onePerURL},
		{"current page left out", pages.DefaultBounds(), excludes},
		{"limit", pages.DefaultBounds(), limits},
		{"list", pages.DefaultBounds(), lists},
		{"a part of the list", pages.DefaultBounds(), listsParts},
		{"forget", pages.DefaultBounds(), forgets},
		{"clear", pages.DefaultBounds(), clears},
		{"bound of pages", pages.Bounds{Pages: 3, Bytes: 1 << 20}, boundsCount},
		{"bound of bytes", pages.Bounds{Pages: 100, Bytes: 100}, boundsBytes},
		{"age in run-days", pages.DefaultBounds(), ages},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := NewClock()
			c.run(t, &index{PageKeeper: build(t, IndexSetup{Bounds: c.bounds, Now: clock.Now}), clock: clock})
		})
	}
}

// index is an index under test with its clock.
type index struct {
	PageKeeper
	clock *Clock
}

const reader = "chrome-extension://reader"

// add indexes a page a second after the last one.
func (x *index) add(t *testing.T, origin, name, title, text string) {
	t.Helper()
	x.clock.Pass(time.Second)
	page := pages.Page{URL: "https://example.org/" + name, Title: title, Text: text, Origin: origin}
	err := x.Store.Update(t.Context(), func(tx ports.PersonalTx) error { return tx.IndexPage(page) })
	if err != nil {
		t.Fatalf("index: %v", err)
	}
}

// keptWithItsChange: a page is there exactly when the rest of its change is.
func keptWithItsChange(t *testing.T, x *index) {
	x.add(t, reader, "tower", "The tower", "old words")
	for _, failed := range []error{errOops, nil} {
		err := x.Store.Update(t.Context(), func(tx ports.PersonalTx) error {
			page := pages.Page{URL: "https://example.org/tower", Title: "The tower", Text: "new words", Origin: reader}
			return cmp.Or(tx.IndexPage(page), tx.PutRecord("a", "r", []byte("kept"), 3), failed)
		})
		if !errors.Is(err, failed) {
			t.Fatalf("update: %v", err)
		}
		old, fresh := []string{"tower"}, []string(nil)
		if failed == nil {
			old, fresh = fresh, old
		}
		x.finds(t, ports.PageQuery{Text: "old", Reader: reader}, old...)
		x.finds(t, ports.PageQuery{Text: "new", Reader: reader}, fresh...)
		err = x.Store.View(t.Context(), func(v ports.PersonalView) error {
			_, err := v.Record("a", "r")
			return err
		})
		if (err == nil) != (failed == nil) {
			t.Errorf("after %v the record beside the page: %v", failed, err)
		}
	}
	x.holds(t, "tower")
}

func (x *index) search(t *testing.T, q ports.PageQuery) []framing.Result {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 10
	}
	found, err := x.SearchPages(t.Context(), q)
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	return found
}

// finds checks the found pages by the last part of their URLs, in order.
func (x *index) finds(t *testing.T, q ports.PageQuery, names ...string) {
	t.Helper()
	var got []string
	for _, r := range x.search(t, q) {
		got = append(got, strings.TrimPrefix(r.URL, "https://example.org/"))
	}
	if !slices.Equal(got, names) {
		t.Errorf("%q found %q; want %q", q.Text, got, names)
	}
}

func (x *index) holds(t *testing.T, names ...string) {
	t.Helper()
	listed, total, err := x.Pages(t.Context(), ports.PageList{Limit: 1000})
	if err != nil || total != len(listed) {
		t.Fatalf("list of %d: %v", total, err)
	}
	var got []string
	for _, l := range listed {
		got = append(got, strings.TrimPrefix(l.URL, "https://example.org/"))
	}
	if !slices.Equal(got, names) {
		t.Errorf("the index holds %q; want %q", got, names)
	}
}

func findsWords(t *testing.T, x *index) {
	x.add(t, reader, "tower", "The tower", "It opened to the public in 1889.\nNobody liked Crème brûlée there.")
	for _, question := range []string{"PUBLIC", "creme", "bananas 1889", "When was it opening?", `public" OR "x`, "title:public", "public*", "NEAR(public)", "-public", "^public", "public\x00"} {
		x.finds(t, ports.PageQuery{Text: question, Reader: reader}, "tower")
	}
	for _, question := range []string{"bananas", "pub", "", "?!", `"`, "*", "(", "title:", "AND OR NOT"} {
		x.finds(t, ports.PageQuery{Text: question, Reader: reader})
	}
	got := x.search(t, ports.PageQuery{Text: "public", Reader: reader})
	if len(got) != 1 || got[0].Title != "The tower" || !strings.Contains(got[0].Snippet, "opened to the public") || got[0].Score <= 0 {
		t.Errorf("result is %+v", got)
	}
}

func findsCJK(t *testing.T, x *index) {
	x.add(t, reader, "bridge", "大桥", "长江大桥于1957年建成通车。")
	x.add(t, reader, "tea", "お茶", "京都でお茶を飲みました。")
	x.finds(t, ports.PageQuery{Text: "大桥什么时候建成?", Reader: reader}, "bridge")
	x.finds(t, ports.PageQuery{Text: "お茶", Reader: reader}, "tea")
	x.finds(t, ports.PageQuery{Text: "飛行機", Reader: reader})
}

func ranks(t *testing.T, x *index) {
	filler := strings.Repeat("lorem ipsum dolor sit amet ", 20)
	x.add(t, reader, "both", "Lisbon tram", "The tram climbs through Lisbon. "+filler)
	x.add(t, reader, "body", "A city", "The tram climbs. "+filler)
	x.add(t, reader, "other", "Another city", "Nothing here. "+filler)
	for n := range 5 {
		x.add(t, reader, fmt.Sprint("filler", n), "Filler", filler)
	}
	x.finds(t, ports.PageQuery{Text: "tram", Reader: reader}, "both", "body")
	found := x.search(t, ports.PageQuery{Text: "lisbon tram", Reader: reader})
	if len(found) != 2 || found[0].Score <= found[1].Score {
		t.Errorf("scores do not fall: %+v", found)
	}
}

func replaces(t *testing.T, x *index) {
	x.add(t, reader, "page", "Old", "apples")
	x.add(t, reader, "page", "New", "pears")
	x.finds(t, ports.PageQuery{Text: "apples old", Reader: reader})
	x.finds(t, ports.PageQuery{Text: "pears", Reader: reader}, "page")
	x.holds(t, "page")
}

func separates(t *testing.T, x *index) {
	x.add(t, reader, "mine", "", "apples")
	x.add(t, "chrome-extension://other", "theirs", "", "apples apples")
	x.add(t, pages.Owner, "owners", "", "apples apples apples")
	x.finds(t, ports.PageQuery{Text: "apples", Reader: reader}, "mine")
	x.finds(t, ports.PageQuery{Text: "apples", Reader: "chrome-extension://third"})
	for _, q := range []ports.PageQuery{{Text: "apples", Reader: pages.Owner}, {Text: "apples", Reader: reader, Shared: true}} {
		if found := x.search(t, q); len(found) != 3 {
			t.Errorf("%+v found %d pages; want 3", q, len(found))
		}
	}
}

func onePerURL(t *testing.T, x *index) {
	x.add(t, reader, "same", "Mine", "apples and a great many other kinds of fruit that dilute it")
	x.add(t, "chrome-extension://other", "same", "Apples", "apples")
	x.add(t, reader, "different", "", "apples and pears")
	found := x.search(t, ports.PageQuery{Text: "apples", Reader: pages.Owner, Limit: 2})
	if len(found) != 2 || found[0].URL == found[1].URL {
		t.Fatalf("found %+v; want two URLs", found)
	}
	if found[0].Title != "Apples" {
		t.Errorf("the better row of the URL is %q; want Apples", found[0].Title)
	}
}

func excludes(t *testing.T, x *index) {
	x.add(t, reader, "here", "", "apples")
	x.add(t, reader, "there", "", "apples")
	x.finds(t, ports.PageQuery{Text: "apples", Reader: reader, ExcludeURL: "https://example.org/here"}, "there")
}

func limits(t *testing.T, x *index) {
	for n := range 12 {
		x.add(t, reader, fmt.Sprint(n), "", "apples")
	}
	for _, limit := range []int{1, 5, framing.MaxResults} {
		if found := x.search(t, ports.PageQuery{Text: "apples", Reader: reader, Limit: limit}); len(found) != min(limit, 12) {
			t.Errorf("limit %d gave %d results", limit, len(found))
		}
	}
}

func lists(t *testing.T, x *index) {
	x.add(t, reader, "one", "One", "é")
	x.add(t, pages.Owner, "two", "Two", "")
	x.add(t, reader, "three", "Three", "abc")
	x.add(t, reader, "one", "One", "éé")
	x.holds(t, "one", "three", "two")
	listed, total, err := x.Pages(t.Context(), ports.PageList{Limit: 1})
	if err != nil || len(listed) != 1 || total != 3 {
		t.Fatalf("%d rows, %v; want 1", len(listed), err)
	}
	l := listed[0]
	if l.URL != "https://example.org/one" || l.Title != "One" || l.Origin != reader || l.Bytes != 4 || !l.LastSeen.Equal(x.clock.Now()) {
		t.Errorf("row is %+v", l)
	}
}

func listsParts(t *testing.T, x *index) {
	x.add(t, reader, "one", "The Tower", "It opened in 1889.")
	x.add(t, pages.Owner, "two", "Garden", "A tower of beans.")
	x.add(t, reader, "THREE", "A city", "Nothing of it.")
	x.add(t, reader, "four%25_", "100% \"mine\"", "长江大桥")
	for _, c := range []struct {
		q     ports.PageList
		total int
		names []string
	}{
		{ports.PageList{Limit: 2}, 4, []string{"four%25_", "THREE"}},
		{ports.PageList{Limit: 2, Offset: 3}, 4, []string{"one"}},
		{ports.PageList{Limit: 2, Offset: 4}, 4, nil},
		{ports.PageList{Text: "TOWER", Limit: 9}, 2, []string{"two", "one"}},
		{ports.PageList{Text: "tower", Limit: 1, Offset: 1}, 2, []string{"one"}},
		{ports.PageList{Text: "opening tower", Limit: 9}, 1, []string{"one"}}, // all words, endings folded
		{ports.PageList{Text: " example.org/three ", Limit: 9}, 1, []string{"THREE"}},
		{ports.PageList{Text: "100%", Limit: 9}, 1, []string{"four%25_"}},
		{ports.PageList{Text: `"mine"`, Limit: 9}, 1, []string{"four%25_"}},
		{ports.PageList{Text: "大桥", Limit: 9}, 1, []string{"four%25_"}},
		{ports.PageList{Text: "%", Limit: 9}, 1, []string{"four%25_"}}, // a sign like any other
		{ports.PageList{Text: "title:tower OR", Limit: 9}, 0, nil},
		{ports.PageList{Text: "bananas", Limit: 9}, 0, nil},
	} {
		listed, total, err := x.Pages(t.Context(), c.q)
		var names []string
		for _, l := range listed {
			names = append(names, strings.TrimPrefix(l.URL, "https://example.org/"))
		}
		if err != nil || total != c.total || !slices.Equal(names, c.names) {
			t.Errorf("%+v: %q of %d, %v; want %q of %d", c.q, names, total, err, c.names, c.total)
		}
	}
}

func forgets(t *testing.T, x *index) {
	for _, name := range []string{"a/1", "a/2", "b/1"} {
		x.add(t, reader, name, "", "apples")
	}
	x.add(t, pages.Owner, "a/1", "", "apples")
	goes := func(url string) bool { return strings.HasPrefix(url, "https://example.org/a/") }
	for _, want := range []int{3, 0} {
		if n, err := x.ForgetPages(t.Context(), goes); err != nil || n != want {
			t.Errorf("forgot %d, %v; want %d", n, err, want)
		}
		x.holds(t, "b/1")
		x.finds(t, ports.PageQuery{Text: "apples", Reader: pages.Owner}, "b/1")
	}
	x.add(t, reader, "a/1", "", "apples")
	x.finds(t, ports.PageQuery{Text: "apples", Reader: pages.Owner}, "a/1", "b/1")
}

func clears(t *testing.T, x *index) {
	for n := range 3 {
		x.add(t, reader, fmt.Sprint(n), "", "apples")
	}
	for _, want := range []int{3, 0} {
		if n, err := x.ClearPages(t.Context()); err != nil || n != want {
			t.Errorf("cleared %d, %v; want %d", n, err, want)
		}
		x.holds(t)
		x.finds(t, ports.PageQuery{Text: "apples", Reader: pages.Owner})
	}
	x.add(t, reader, "again", "", "apples")
	x.finds(t, ports.PageQuery{Text: "apples", Reader: reader}, "again")
}

func boundsCount(t *testing.T, x *index) {
	for _, name := range []string{"1", "2", "3", "1", "4"} { // 1 is seen again: 2 is the oldest
		x.add(t, reader, name, "", "apples")
	}
	x.holds(t, "4", "1", "3")
	if found := x.search(t, ports.PageQuery{Text: "apples", Reader: reader}); len(found) != 3 {
		t.Errorf("found %d pages; want 3", len(found))
	}
}

func boundsBytes(t *testing.T, x *index) {
	x.add(t, reader, "1", "", strings.Repeat("a", 40))
	x.add(t, reader, "2", "", strings.Repeat("b", 60))
	x.holds(t, "2", "1") // 100 bytes are allowed
	x.add(t, reader, "3", "", "c")
	x.holds(t, "3", "2")
	x.add(t, reader, "2", "", strings.Repeat("b", 10))
	x.add(t, reader, "4", "", strings.Repeat("d", 90))
	x.holds(t, "4", "2")
}

// ages: what is indexed or stored is of the calendar's day, whatever the clock says.
func ages(t *testing.T, x *index) {
	on := func(day int64) {
		t.Helper()
		want := retention.Calendar{Day: day, CountedAt: time.UnixMilli(day).UTC(), ResumeDay: day + 1, Skip: day == 2}
		if day == 0 {
			want = retention.Calendar{}
		} else if err := x.Days.SetRunDays(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if c, err := x.Days.RunDays(t.Context()); err != nil || c != want {
			t.Errorf("run-days %+v, %v; want %+v", c, err, want)
		}
	}
	topic := func(id string, hour int) {
		t.Helper()
		c := chat(id, hour)
		c.Kind = conversations.Topic
		if err := x.Store.Update(t.Context(), func(tx ports.PersonalTx) error { return tx.PutConversation(c) }); err != nil {
			t.Fatal(err)
		}
	}
	aged := func(before int64, want string) {
		t.Helper()
		k := &keeper{x.Store}
		k.lists(t, ports.ConversationQuery{Kind: conversations.Topic, Limit: 10, Oldest: true, UpdatedBefore: before}, want)
	}
	on(0)
	x.add(t, reader, "a", "", "alpha")
	topic("a", 9)
	on(1)
	x.clock.Pass(100 * 365 * 24 * time.Hour)
	x.add(t, reader, "b", "", "beta")
	topic("b", 3)
	topic("c", 3)
	on(2)
	x.add(t, reader, "c", "", "gamma")
	topic("b", 3) // not touched: its time is the same
	topic("c", 1)
	aged(0, "a b c")
	aged(1, "a")
	aged(2, "a b")
	aged(3, "a b c")
	for word, name := range map[string]string{"alpha": "a", "beta": "b", "gamma": "c"} {
		x.finds(t, ports.PageQuery{Text: word, Reader: reader}, name)
	}
	for _, step := range []struct {
		before int64
		n      int
		left   []string
	}{{0, 0, []string{"c", "b", "a"}}, {1, 1, []string{"c", "b"}}, {2, 1, []string{"c"}}, {2, 0, []string{"c"}}} {
		if n, err := x.ForgetUnseen(t.Context(), step.before); err != nil || n != step.n {
			t.Errorf("before day %d: %d gone, %v; want %d", step.before, n, err, step.n)
		}
		x.holds(t, step.left...)
	}
}
