package crash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"plexus/adapters/adminapi"
	"plexus/domain/admission"
	"plexus/domain/framing"
)

// oracle lives outside the program and remembers what it acknowledged: the size
// of each page's text whose FINAL came, each decision that was answered, and the
// token. What was under way when a life ended may have been done or not; what
// was seen once has to stay.
type oracle struct {
	mu         sync.Mutex
	pages      map[pageKey]*written
	extensions map[string]*extension // by origin; each has one key
	token      string
	freshPages []pageKey // acknowledged since the last check

	questions []*question

	acknowledged, decisions, answers, losses int
}

func newOracle() *oracle {
	return &oracle{pages: map[pageKey]*written{}, extensions: map[string]*extension{}}
}

// pageKey is what makes a page one row.
type pageKey struct {
	origin string
	number int
}

const pageURL = "https://example.org/crash/%d"

func (k pageKey) url() string { return fmt.Sprintf(pageURL, k.number) }

// marker is a word that only this page has.
func (k pageKey) marker() string { return fmt.Sprintf("unique%d", k.number) }

// context is the page with a text that is longer with each revision.
func (k pageKey) context(revision int) framing.PageContext {
	text := fmt.Sprintf("The tower %s opened in May. ", k.marker()) + strings.Repeat("Many people came along. ", k.number%60+revision)
	return framing.PageContext{URL: k.url(), Title: fmt.Sprintf("Tower %d", k.number), Extract: strings.TrimSpace(text)}
}

// written holds sizes of a page's text in bytes, 0 for no page.
type written struct{ acknowledged, sent int }

// noRow is the state of an extension that is not in the list.
const noRow admission.State = ""

// extension is one row of the list; wanted differs from state while an answer
// is awaited.
type extension struct {
	id            int64
	key           admission.Secret
	state, wanted admission.State
	fresh         bool // decided since the last check
}

// newPage gives a page that nobody has asked about.
func (o *oracle) newPage(origin string) pageKey {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := pageKey{origin, len(o.pages)}
	o.pages[k] = &written{}
	return k
}

func (o *oracle) sent(k pageKey, size int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pages[k].sent = size
}

// final: the last token of the answer about the page has come.
func (o *oracle) final(k pageKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pages[k].acknowledged = o.pages[k].sent
	o.freshPages = append(o.freshPages, k)
	o.acknowledged++
}

func (o *oracle) newExtension(key admission.Secret) (origin string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	origin = fmt.Sprintf("chrome-extension://crash%d", len(o.extensions))
	o.extensions[origin] = &extension{key: key, wanted: admission.Waiting}
	return origin
}

func (o *oracle) wants(origin string, state admission.State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.extensions[origin].wanted = state
}

// decided: what was wanted is answered.
func (o *oracle) decided(origin string, id int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.extensions[origin]
	e.id, e.state, e.fresh = id, e.wanted, true
	o.decisions++
}

// shownLosses is how many are told one by one; the others are counted.
const shownLosses = 20

// loss reports something acknowledged that is not there.
func (o *oracle) loss(t *testing.T, format string, args ...any) {
	t.Helper()
	if o.losses++; o.losses <= shownLosses {
		t.Errorf("lost: "+format, args...)
	}
}

// checkToken: the first token that was ever seen stays.
func (o *oracle) checkToken(t *testing.T, found string) {
	t.Helper()
	switch {
	case o.token == "":
		o.token = found
	case found != o.token:
		o.loss(t, "the token file has another content") // which is never shown
	}
}

// checkPages holds all pages that are stored, with their sizes, against the
// record. It takes them out of found. Of a page whose topic was cleared while it was
// asked about, an older text may rightly be there, or none.
func (o *oracle) checkPages(t *testing.T, found map[pageKey]int, cleared map[string]bool) {
	t.Helper()
	for k, w := range o.pages {
		if size := found[k]; !cleared[k.url()] && size != w.acknowledged && size != w.sent {
			o.loss(t, "page %d of %q has %d bytes; %d were acknowledged and %d sent last", k.number, k.origin, size, w.acknowledged, w.sent)
		}
		w.acknowledged, w.sent = found[k], found[k]
		delete(found, k)
	}
	for k := range found {
		t.Errorf("page %d of %q was never sent", k.number, k.origin)
	}
}

// checkExtensions does the same for the list of extensions.
func (o *oracle) checkExtensions(t *testing.T, list []adminapi.Extension) {
	t.Helper()
	found := map[string]adminapi.Extension{}
	for _, row := range list {
		if _, twice := found[row.Origin]; twice || o.extensions[row.Origin] == nil {
			t.Errorf("extension %s came twice or never asked", row.Origin)
		}
		found[row.Origin] = row
	}
	for origin, e := range o.extensions {
		row := found[origin]
		state := admission.State(row.State)
		if state != e.state && state != e.wanted || state != noRow && e.id != 0 && row.ID != e.id {
			o.loss(t, "extension %s is %q as row %d; row %d was to be %q and was asked to be %q", origin, state, row.ID, e.id, e.state, e.wanted)
		}
		if state != noRow && row.Digits != e.key.Hash().Digits() {
			o.loss(t, "extension %s has the digits %s of another key", origin, row.Digits)
		}
		e.id, e.state, e.wanted = row.ID, state, state
	}
}

// takeFresh gives what has not been looked up yet and forgets that it is fresh.
func (o *oracle) takeFresh() (found []pageKey, decided []string) {
	found = slices.Compact(slices.SortedFunc(slices.Values(o.freshPages), func(a, b pageKey) int { return a.number - b.number }))
	o.freshPages = nil
	for _, origin := range slices.Sorted(maps.Keys(o.extensions)) {
		if e := o.extensions[origin]; e.fresh {
			e.fresh = false
			decided = append(decided, origin)
		}
	}
	return found, decided
}

// check holds a life that has just begun, and that nobody else uses, against
// the record.
func (o *oracle) check(t *testing.T, d *daemon) {
	t.Helper()
	checkDatabase(t, d.database())
	o.checkToken(t, d.checkFiles(t))
	stored := storedPages(t, d.database())
	listed, err := d.admin().Pages(t.Context(), adminapi.MaxPages)
	if err != nil || len(listed) != min(len(stored), adminapi.MaxPages) {
		t.Errorf("%d pages are stored and %d are listed, %v", len(stored), len(listed), err)
	}
	cleared := clearedTopics(t, d.database())
	o.checkPages(t, stored, cleared)
	o.checkTopics(t, d.database(), cleared)
	extensions, err := d.admin().Extensions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o.checkExtensions(t, extensions)
	fresh, decided := o.takeFresh()
	for _, k := range d.notFound(t, fresh) {
		o.loss(t, "page %d was acknowledged and no search finds it", k.number)
	}
	for _, origin := range decided {
		o.checkAdmission(t, d, origin)
	}
}

// checkAdmission connects as an extension on which the owner has decided.
func (o *oracle) checkAdmission(t *testing.T, d *daemon, origin string) {
	t.Helper()
	e := o.extensions[origin]
	if e.state != admission.Allowed && e.state != admission.Blocked {
		return // a handshake would change the row
	}
	client, err := d.handshake(t.Context(), origin, e.key)
	if err == nil {
		_ = client.Close() // it only wanted to know
	}
	if in := err == nil; in != (e.state == admission.Allowed) {
		o.loss(t, "extension %s is %q and its handshake gave %v", origin, e.state, err)
	}
}
