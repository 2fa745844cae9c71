package ask

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/ports"
)

// tape is a sink that writes down what the reader would see, in one list with
// what its index did. A call after ctx ended is written down as LATE.
type tape struct {
	mu     sync.Mutex
	events []string
	last   framing.SearchResult
	onCall func(event string) // runs before the call returns
	err    error              // in place of success
}

func (tp *tape) note(ctx context.Context, event string) error {
	tp.mu.Lock()
	if ctx.Err() != nil {
		event = "LATE " + event
	}
	tp.events = append(tp.events, event)
	tp.mu.Unlock()
	if tp.onCall != nil {
		tp.onCall(event)
	}
	if tp.err != nil {
		return tp.err
	}
	return ctx.Err()
}

func (tp *tape) Results(ctx context.Context, r framing.SearchResult) error {
	tp.last = r
	return tp.note(ctx, fmt.Sprintf("results %d", len(r.Results)))
}

func (tp *tape) Token(ctx context.Context, text string, final bool) error {
	kind := "token"
	if final {
		kind = "final"
	}
	return tp.note(ctx, fmt.Sprintf("%s %q", kind, text))
}

// tapedIndex is a page index that writes on the tape.
type tapedIndex struct {
	tape      *tape
	found     []framing.Result
	searchErr error
	onSearch  func()
	queries   []ports.PageQuery
}

func (x *tapedIndex) SearchPages(ctx context.Context, q ports.PageQuery) ([]framing.Result, error) {
	x.queries = append(x.queries, q)
	if x.onSearch != nil {
		x.onSearch()
	}
	return x.found, x.searchErr
}

func (x *tapedIndex) Pages(context.Context, ports.PageList) ([]pages.Listing, int, error) {
	return nil, 0, nil
}
func (x *tapedIndex) ForgetPages(context.Context, func(string) bool) (int, error) { return 0, nil }
func (x *tapedIndex) ClearPages(context.Context) (int, error)                     { return 0, nil }

// stage is a host with everything it calls, all of it scripted. Set search,
// model, index or record to nil to do without.
type stage struct {
	tape   *tape
	search *memory.ScriptedSearch
	model  *memory.ScriptedModel
	index  *tapedIndex
	record *tapedRecorder
	opts   Options
	now    func() time.Time
	log    *bytes.Buffer
}

func newStage() *stage {
	tp := &tape{}
	return &stage{
		tape:   tp,
		search: &memory.ScriptedSearch{Results: []framing.Result{serviceHit()}},
		model:  &memory.ScriptedModel{Pieces: []string{"Hel", "lo"}},
		index:  &tapedIndex{tape: tp},
		record: &tapedRecorder{tape: tp},
		now:    time.Now,
		log:    &bytes.Buffer{},
	}
}

func serviceHit() framing.Result {
	return framing.Result{URL: "https://service.test/", Title: "Bridges", Snippet: "The Alder Bridge opened in 1921.", Score: 3}
}

func localHit() framing.Result {
	return framing.Result{URL: "https://local.test/", Title: "Notes", Snippet: "They opened the bridge on a Monday.", Score: 1}
}

func (s *stage) service(t *testing.T) *Service {
	t.Helper()
	deps := Deps{Now: s.now, Log: slog.New(slog.NewTextHandler(s.log, nil))}
	if s.search != nil {
		deps.Search = s.search
	}
	if s.model != nil {
		deps.Model = s.model
	}
	if s.index != nil {
		deps.Index = s.index
	}
	if s.record != nil {
		deps.Recorder = s.record
	}
	h, err := New(deps, s.opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// bridgeQuestion asks about a page whose text matches; its words are markers
// that must show up nowhere else.
func bridgeQuestion() Question {
	return Question{Asker: "chrome-extension://a", Query: framing.SearchQuery{
		Query: " When did it open? ", Search: true, MaxResults: 10,
		Context: framing.PageContext{
			URL: "https://Page.test/secretpath?token=secrettoken#x", Title: "secrettitle", Selection: "secretselection.",
			Extract: "The bridge opened in 1921. It is secretextract.",
		},
	}}
}

// emptyQuestion asks without a page.
func emptyQuestion() Question {
	return Question{Asker: "chrome-extension://a", Query: framing.SearchQuery{Query: "When did it open?", Search: true, MaxResults: 10}}
}

func (s *stage) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(s.tape.events, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(s.tape.events, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// expectSilentLog fails when the log holds a word of the question or the page.
func (s *stage) expectSilentLog(t *testing.T) {
	t.Helper()
	for _, marker := range []string{"open?", "secret", "1921"} {
		if strings.Contains(s.log.String(), marker) {
			t.Errorf("the log holds %q:\n%s", marker, s.log)
		}
	}
}
