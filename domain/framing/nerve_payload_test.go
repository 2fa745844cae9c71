package framing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"plexus/domain/framing"
)

var fullQuery = framing.SearchQuery{
	Query: "when did it open?",
	Context: framing.PageContext{
		URL: "https://site.test/a", Title: "Page \"A\"", Selection: "chosen\nwords", Extract: "part of the <b>page</b> é👋",
		Total: 21_000, Kind: framing.Excerpt,
	},
	Search: true, MaxResults: 10,
}

func TestSearchQueryRoundTrip(t *testing.T) {
	bare := framing.SearchQuery{Query: "q", MaxResults: framing.MaxResults}
	for _, q := range []framing.SearchQuery{fullQuery, bare} {
		payload := framing.AppendSearchQuery(nil, q)
		got, err := framing.DecodeSearchQuery(payload)
		if err != nil || got != q {
			t.Errorf("%s: %+v, %v", payload, got, err)
		}
	}
	want := `{"v":1,"query":"q","context":{"url":"","title":""},"opts":{"search":false,"max_results":100}}`
	if got := string(framing.AppendSearchQuery(nil, bare)); got != want {
		t.Errorf("encoded %s, want %s", got, want)
	}
}

// What our extension adds is skipped by a reader of NERVE V1, so nothing in it makes a
// query wrong (decision D17).
func TestD17_TheAddedMembersSpoilNothing(t *testing.T) {
	for _, tc := range []struct {
		members string
		total   uint64
		kind    framing.ExtractKind
	}{
		{`"extract_total":21000,"extract_kind":"excerpt"`, 21000, framing.Excerpt},
		{`"extract_kind":"selection"`, 0, framing.SelectionPart},
		{`"extract_total":-1,"extract_kind":"Whole"`, 0, ""},
		{`"extract_total":1.0,"extract_kind":null`, 0, ""},
		{`"extract_total":99999999999999999999,"extract_kind":["whole"]`, 0, ""},
		{`"extract_total":{"a":[1,{"b":null}]},"extract_kind":"\ud800"`, 0, ""},
		{`"extract_total":1,"extract_total":2,"extract_kind":"whole","extract_kind":"other"`, 2, ""},
		{`"extract_total":"7","?extract_total":5`, 0, ""},
	} {
		payload := `{"v":1,"query":"q","context":{"url":"","title":"",` + tc.members + `},"opts":{"search":false,"max_results":1}}`
		q, err := framing.DecodeSearchQuery([]byte(payload))
		if err != nil || q.Context.Total != tc.total || q.Context.Kind != tc.kind {
			t.Errorf("%s: %d, %q, %v", tc.members, q.Context.Total, q.Context.Kind, err)
		}
	}
	for _, broken := range []string{`"extract_total":01`, `"extract_kind":"a`, `"extract_total":`} {
		payload := `{"v":1,"query":"q","context":{"url":"","title":"",` + broken + `},"opts":{"search":false,"max_results":1}}`
		if _, err := framing.DecodeSearchQuery([]byte(payload)); err == nil {
			t.Errorf("%s is no JSON and was taken", broken)
		}
	}
}

func TestSearchQueryOutlivesTheFrame(t *testing.T) {
	payload := framing.AppendSearchQuery(nil, fullQuery)
	got, err := framing.DecodeSearchQuery(payload)
	if err != nil {
		t.Fatal(err)
	}
	clear(payload)
	if got != fullQuery {
		t.Errorf("changed with the buffer: %+v", got)
	}
}

// The first stage wins over the second, and the second has an order.
func TestQ2_StagesAndTheirOrder(t *testing.T) {
	const format = `{"v":%s,"query":%s,"context":{"url":"","title":""},"opts":{"search":true,"max_results":%s}}`
	cases := []struct {
		v, query, limit string
		kind            framing.QueryErrorKind
		value           uint32
		text            string
	}{
		{"2", `""`, "0", framing.QueryVersion, 2, "search query: UnsupportedVersion(2)"},
		{"0", `"q"`, "1", framing.QueryVersion, 0, "search query: UnsupportedVersion(0)"},
		{"255", `"q"`, "1", framing.QueryVersion, 255, "search query: UnsupportedVersion(255)"},
		{"256", `"q"`, "1", framing.QueryJSON, 0, "search query: Json: number misspelt or out of range"},
		{"1", `""`, "0", framing.QueryEmpty, 0, "search query: EmptyQuery"},
		{"1", `"q"`, "0", framing.QueryMaxResults, 0, "search query: MaxResultsOutOfRange(0)"},
		{"1", `"q"`, "101", framing.QueryMaxResults, 101, "search query: MaxResultsOutOfRange(101)"},
		{"1", `"q"`, "4294967295", framing.QueryMaxResults, math.MaxUint32, "search query: MaxResultsOutOfRange(4294967295)"},
		{"1", `"q"`, "4294967296", framing.QueryJSON, 0, "search query: Json: number misspelt or out of range"},
		{"2", `""`, `"0"`, framing.QueryJSON, 0, "search query: Json: wrong type"},
	}
	for _, c := range cases {
		payload := fmt.Sprintf(format, c.v, c.query, c.limit)
		got, err := framing.DecodeSearchQuery([]byte(payload))
		var refused *framing.QueryError
		if !errors.As(err, &refused) || refused.Kind != c.kind || refused.Value != c.value || err.Error() != c.text {
			t.Errorf("%s: %v, want %s", payload, err, c.text)
		}
		if got != (framing.SearchQuery{}) {
			t.Errorf("%s: refused, yet returns %+v", payload, got)
		}
	}
}

func TestRefusalsNeverQuoteThePayload(t *testing.T) {
	const secret = "hush-hush"
	for _, payload := range []string{
		secret, `"` + secret + `"`, `{"query":"` + secret + `"}`, `{"` + secret + `":1}`,
		`{"v":1,"query":"` + secret + `\ud800","context":{},"opts":{}}`,
		`{"v":2,"query":"` + secret + `","context":{"url":"","title":""},"opts":{"search":true,"max_results":1}}`,
	} {
		_, err := framing.DecodeSearchQuery([]byte(payload))
		if err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", payload, err)
		}
	}
}

func TestSearchResultFrame(t *testing.T) {
	r := framing.SearchResult{
		Results: []framing.Result{{URL: "https://go.test/doc", Title: "Go docs", Snippet: "Guides <b>&</b> references", Score: 0.92}},
		TookMS:  34,
	}
	frame, dropped := framing.AppendSearchResult([]byte("before"), 9, r)
	h, payload, err := framing.ParseFrame([]byte(strings.TrimPrefix(string(frame), "before")))
	if err != nil || dropped != 0 || h.Type != framing.SearchResultMsg || h.Flags != framing.Final || h.RequestID != 9 {
		t.Fatalf("header %+v, %d dropped, error %v", h, dropped, err)
	}
	want := `{"results":[{"url":"https://go.test/doc","title":"Go docs","snippet":"Guides <b>&</b> references","score":0.92}],"took_ms":34}`
	if string(payload) != want {
		t.Errorf("payload %s, want %s", payload, want)
	}
	empty, _ := framing.AppendSearchResult(nil, 1, framing.SearchResult{TookMS: math.MaxInt64})
	if got, want := string(empty[framing.HeaderSize:]), `{"results":[],"took_ms":9223372036854775807}`; got != want {
		t.Errorf("payload %s, want %s", got, want)
	}
}

func TestR2_HundredLongTitlesFitOneFrame(t *testing.T) {
	var r framing.SearchResult
	for i := range framing.MaxResults {
		r.Results = append(r.Results, framing.Result{
			URL: fmt.Sprintf("https://site.test/%d", i), Title: strings.Repeat("é\"", 20_000/3), Score: float32(framing.MaxResults - i),
		})
	}
	frame, dropped := framing.AppendSearchResult(nil, 1, r)
	if len(frame) > framing.MaxFrameSize {
		t.Fatalf("frame of %d bytes", len(frame))
	}
	_, payload, err := framing.ParseFrame(frame)
	if err != nil {
		t.Fatal(err)
	}
	got, err := framing.DecodeSearchResult(payload)
	if err != nil {
		t.Fatal(err)
	}
	kept := len(got.Results)
	if kept+dropped != framing.MaxResults || kept == 0 || dropped == 0 {
		t.Fatalf("%d kept, %d dropped", kept, dropped)
	}
	for i, hit := range got.Results {
		if hit != r.Results[i] {
			t.Fatalf("result %d is %q, want the best first", i, hit.URL)
		}
	}
	if one := len(frame) / kept; len(frame)+one < framing.MaxFrameSize {
		t.Errorf("%d bytes leave room for another result of %d", len(frame), one)
	}
}

// One result that is filled up to the last byte of the frame stays, one byte
// more and it goes.
func TestR2_TheLastByteOfTheFrame(t *testing.T) {
	result := func(title int) framing.SearchResult {
		return framing.SearchResult{Results: []framing.Result{{Title: strings.Repeat("x", title)}}, TookMS: 7}
	}
	bare, _ := framing.AppendSearchResult(nil, 1, result(0))
	room := framing.MaxFrameSize - len(bare)
	if frame, dropped := framing.AppendSearchResult(nil, 1, result(room)); dropped != 0 || len(frame) != framing.MaxFrameSize {
		t.Errorf("%d bytes, %d dropped", len(frame), dropped)
	}
	frame, dropped := framing.AppendSearchResult(nil, 1, result(room+1))
	if got := string(frame[framing.HeaderSize:]); dropped != 1 || got != `{"results":[],"took_ms":7}` {
		t.Errorf("payload %.80s, %d dropped", got, dropped)
	}
}

func TestAiTokenFrame(t *testing.T) {
	for _, c := range []struct {
		text  string
		final bool
		flags framing.Flags
	}{
		{"Hello", false, framing.Stream}, {"", true, framing.Final}, {"a\n\"b\" é👋\x01", true, framing.Final},
	} {
		frame := framing.AppendAiToken(nil, 3, c.text, c.final)
		h, payload, err := framing.ParseFrame(frame)
		if err != nil || h.Type != framing.AiTokenMsg || h.Flags != c.flags || h.RequestID != 3 {
			t.Fatalf("header %+v, error %v", h, err)
		}
		if got, err := framing.DecodeAiToken(payload); err != nil || got != c.text {
			t.Errorf("%s: %q, %v", payload, got, err)
		}
	}
	if got := string(framing.AppendAiToken(nil, 1, "", true)[framing.HeaderSize:]); got != `{"t":""}` {
		t.Errorf("sentinel payload %s", got)
	}
}

// The longest token fits however badly it escapes; a longer one is cut, not torn.
func TestLongestAiToken(t *testing.T) {
	for name, unit := range map[string]string{"plain": "a", "escaped": "\x01", "invalid": "\xff", "four bytes": "👋"} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(unit, framing.MaxTokenText/len(unit)+1)
			frame := framing.AppendAiToken(nil, 1, text, true)
			_, payload, err := framing.ParseFrame(frame)
			if err != nil {
				t.Fatal(err)
			}
			var out struct{ T string }
			if err := json.Unmarshal(payload, &out); err != nil {
				t.Fatal(err)
			}
			if got, want := utf8.RuneCountInString(out.T), framing.MaxTokenText/len(unit); got != want {
				t.Errorf("%d code points arrive, want %d", got, want)
			}
		})
	}
}

func TestSplitToken(t *testing.T) {
	cases := []struct {
		text       string
		limit      int
		head, tail string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", ""},
		{"abc", 2, "ab", "c"},
		{"aéb", 2, "a", "éb"},
		{"aéb", 3, "aé", "b"},
		{"a日b", 3, "a", "日b"},
		{"a👋b", 4, "a", "👋b"},
		{"a👋b", 5, "a👋", "b"},
		{"👋b", 3, "👋", "b"}, // never an empty head
		{"ab", 0, "a", "b"},
		{"ab", -1, "a", "b"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80", "\x80"}, // not UTF-8: nothing to tear
	}
	for _, c := range cases {
		head, tail := framing.SplitToken(c.text, c.limit)
		if head != c.head || tail != c.tail {
			t.Errorf("%q at %d: %q and %q, want %q and %q", c.text, c.limit, head, tail, c.head, c.tail)
		}
	}
	text := strings.Repeat("aé日👋", 100)
	for limit := range 9 {
		var back strings.Builder
		for head, tail := framing.SplitToken(text, limit); head != ""; head, tail = framing.SplitToken(tail, limit) {
			if !utf8.ValidString(head) || len(head) > max(limit, utf8.UTFMax) {
				t.Fatalf("limit %d: piece %q", limit, head)
			}
			back.WriteString(head)
		}
		if back.String() != text {
			t.Errorf("limit %d: the pieces differ from the text", limit)
		}
	}
}
