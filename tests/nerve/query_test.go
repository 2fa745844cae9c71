package nerve_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/framing"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/ask"
)

var twoResults = []framing.Result{
	{URL: "https://a.test/", Title: "A", Snippet: "first", Score: 2},
	{URL: "https://b.test/", Title: "B", Snippet: "second", Score: 1},
}

func answering() setup {
	return setup{
		search: &memory.ScriptedSearch{Results: twoResults},
		model:  &memory.ScriptedModel{Pieces: []string{"It ", "opened ", "in 1921."}},
	}
}

// shape tells frames by type and flags, for instance "SearchResult/2 AiToken/1".
func shape(frames []got) string {
	var parts []string
	for _, g := range frames {
		parts = append(parts, g.Type.String()+"/"+string('0'+rune(g.Flags)))
	}
	return strings.Join(parts, " ")
}

func text(t *testing.T, frames []got) string {
	t.Helper()
	var b strings.Builder
	for _, g := range frames {
		if g.Type != framing.AiTokenMsg {
			continue
		}
		token, err := framing.DecodeAiToken([]byte(g.payload))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(token)
	}
	return b.String()
}

func TestB6_SearchThenTokensThenFinal(t *testing.T) {
	onBoth(t, answering(), func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, query(7, framing.SearchQuery{Query: "when did it open", Search: true, MaxResults: 2}))
		frames := untilFinal(t, w, 7)
		if got, want := shape(frames), "SearchResult/2 AiToken/1 AiToken/1 AiToken/1 AiToken/2"; got != want {
			t.Errorf("frames %s, want %s", got, want)
		}
		if got := text(t, frames); got != "It opened in 1921." {
			t.Errorf("the answer reads %q", got)
		}
		r, err := framing.DecodeSearchResult([]byte(frames[0].payload))
		if err != nil || !slices.Equal(r.Results, twoResults) {
			t.Errorf("results %+v (%v), want %+v", r.Results, err, twoResults)
		}
	})
}

func TestB7_WithoutSearchNothingIsSearched(t *testing.T) {
	s := answering()
	onBoth(t, s, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, askFrame(7))
		if got, want := shape(untilFinal(t, w, 7)), "AiToken/1 AiToken/1 AiToken/1 AiToken/2"; got != want {
			t.Errorf("frames %s, want %s", got, want)
		}
		if calls := s.search.(*memory.ScriptedSearch).Calls(); len(calls) != 0 {
			t.Errorf("%d searches were made", len(calls))
		}
	})
}

const sentinel = `{"t":""}`

// refused checks that a payload ends with the sentinel alone, that the log names
// the kind and not the payload, and that the connection goes on.
func refused(t *testing.T, payload, kind string) {
	t.Helper()
	onBoth(t, answering(), func(t *testing.T, f *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, frame(framing.SearchQueryMsg, framing.Final, 11, payload), ping(12))
		frames := untilEcho(t, w, 12)
		if len(frames) != 1 || frames[0].Type != framing.AiTokenMsg || frames[0].Flags != framing.Final ||
			frames[0].RequestID != 11 || frames[0].payload != sentinel {
			t.Fatalf("frames %s, want the sentinel of 11 alone", shape(frames))
		}
		waitFor(t, "the log line of the refusal", func() bool { return strings.Contains(f.log.String(), "a query was refused") })
		if log := f.log.String(); !strings.Contains(log, kind) || !strings.Contains(log, "request_id=11") {
			t.Errorf("the log does not name kind %s and request 11:\n%s", kind, log)
		}
	})
}

func TestB8_UndecodableQueryEndsAlone(t *testing.T) {
	for _, payload := range []string{"", "{}", "query A", `{"v":1`, `[1,"q"]`, "\xff"} {
		refused(t, payload, "Json")
	}
}

func TestB9_RefusedQueryEndsAlone(t *testing.T) {
	refused(t, `{"v":2,"query":"q","context":{"url":"","title":""},"opts":{"search":false,"max_results":1}}`, "UnsupportedVersion(2)")
	refused(t, `{"v":1,"query":"","context":{"url":"","title":""},"opts":{"search":false,"max_results":1}}`, "EmptyQuery")
	refused(t, `{"v":1,"query":"q","context":{"url":"","title":""},"opts":{"search":false,"max_results":101}}`, "MaxResultsOutOfRange(101)")
}

func TestB10_WhitespaceFindsNothing(t *testing.T) {
	s := answering()
	onBoth(t, s, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, query(3, framing.SearchQuery{Query: " \t\n", Search: true, MaxResults: 10}))
		frames := untilFinal(t, w, 3)
		if got, want := shape(frames), "SearchResult/2 AiToken/2"; got != want {
			t.Fatalf("frames %s, want %s", got, want)
		}
		if frames[0].payload != `{"results":[],"took_ms":0}` || frames[1].payload != sentinel {
			t.Errorf("payloads %s and %s", frames[0].payload, frames[1].payload)
		}
		if calls := s.search.(*memory.ScriptedSearch).Calls(); len(calls) != 0 {
			t.Errorf("%d searches were made", len(calls))
		}
	})
}

func TestB11_FlagsOfAQueryDoNotMatter(t *testing.T) {
	onBoth(t, answering(), func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		payload := string(framing.AppendSearchQuery(nil, framing.SearchQuery{Query: "q", MaxResults: 1}))
		for i, flags := range []framing.Flags{0, 1, 2, 3, 0xf0} {
			send(t, w, frame(framing.SearchQueryMsg, flags, uint64(i), payload))
			if got := text(t, untilFinal(t, w, uint64(i))); got != "It opened in 1921." {
				t.Errorf("flags %#02x: the answer reads %q", flags, got)
			}
		}
	})
}

func TestB12_DuplicateInFlightIsIgnored(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, f *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, askFrame(1))
		<-begun
		// A good one, and a bad one whose sentinel would end the first.
		send(t, w, askFrame(1), frame(framing.SearchQueryMsg, framing.Final, 1, "{}"), ping(2))
		expectEcho(t, w, 2)
		if len(begun) != 0 || len(ended) != 0 {
			t.Error("the duplicate started or ended something")
		}
		waitFor(t, "the log line", func() bool { return strings.Contains(f.log.String(), sessions.ErrDuplicateRequest.Error()) })
		send(t, w, cancel(1))
		<-ended
	})
}

func TestB13_AnEndedIDIsNew(t *testing.T) {
	onBoth(t, answering(), func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		for range 300 { // at once after FINAL, each time
			send(t, w, askFrame(1))
			if got := text(t, untilFinal(t, w, 1)); got != "It opened in 1921." {
				t.Fatalf("the answer reads %q", got)
			}
		}
	})
}

func TestB14_The1025thIsRefusedAlone(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	onBoth(t, setup{answer: answer}, func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		for id := range uint64(sessions.MaxInflight) {
			send(t, w, askFrame(id))
		}
		for range sessions.MaxInflight {
			<-begun
		}
		send(t, w, askFrame(5000), ping(1))
		frames := untilEcho(t, w, 1)
		if len(frames) != 1 || frames[0].RequestID != 5000 || frames[0].payload != sentinel || frames[0].Flags != framing.Final {
			t.Fatalf("frames %s, want the sentinel of 5000", shape(frames))
		}
		if len(ended) != 0 {
			t.Error("a request in flight ended")
		}
		send(t, w, cancel(0)) // makes room for one
		<-ended
		send(t, w, askFrame(5001))
		<-begun
		_ = w.Close()
		for range sessions.MaxInflight {
			<-ended
		}
	})
}

func TestB43_HalfClosedPeerGetsItsAnswer(t *testing.T) {
	release := make(chan struct{})
	s := setup{answer: func(ctx context.Context, _ ask.Question, sink ports.AnswerSink) {
		<-release
		if err := errors.Join(sink.Token(ctx, "late", false), sink.Token(ctx, "", true)); err != nil {
			t.Errorf("the answer could not be sent: %v", err)
		}
	}}
	f := start(t, s)
	w := f.dialUnix(t)
	send(t, w, askFrame(1))
	if err := w.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	close(release)
	if got := text(t, untilFinal(t, w, 1)); got != "late" {
		t.Errorf("the answer reads %q", got)
	}
	expectEnd(t, w, 0)
}

// TestPanic_EndsOneRequestOnly: whatever an adapter does, the others live.
func TestPanic_EndsOneRequestOnly(t *testing.T) {
	s := setup{answer: func(ctx context.Context, q ask.Question, sink ports.AnswerSink) {
		_ = sink.Token(ctx, "half", false) // the panic is what is tested
		panic("an adapter's fault")
	}}
	onBoth(t, s, func(t *testing.T, f *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		send(t, w, askFrame(1))
		if got := shape(untilFinal(t, w, 1)); got != "AiToken/1 AiToken/2" {
			t.Errorf("frames %s", got)
		}
		send(t, w, ping(2))
		expectEcho(t, w, 2)
		log := f.log.String()
		if !strings.Contains(log, "an answer panicked") || strings.Contains(log, "an adapter's fault") {
			t.Errorf("the log must name the panic and keep its value, which may hold what was asked:\n%s", log)
		}
	})
}

// TestTook_IsNeverNegative guards the one number of a SearchResult.
func TestTook_IsNeverNegative(t *testing.T) {
	s := answering()
	s.search = &memory.ScriptedSearch{Results: twoResults, Wait: func(ctx context.Context) error {
		timer := time.NewTimer(15 * time.Millisecond)
		defer timer.Stop()
		<-timer.C
		return nil
	}}
	f := start(t, s)
	w := f.dialUnix(t)
	send(t, w, query(1, framing.SearchQuery{Query: "q", Search: true, MaxResults: 2}))
	r, err := framing.DecodeSearchResult([]byte(untilFinal(t, w, 1)[0].payload))
	if err != nil || r.TookMS < 10 {
		t.Errorf("took_ms %d (%v), want what the search took", r.TookMS, err)
	}
}
