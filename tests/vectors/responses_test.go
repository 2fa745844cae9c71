package vectors_test

import (
	"bytes"
	"math"
	"testing"

	"plexus/domain/framing"
)

// responseVector is one entry of nerve-response-vectors.json.
type responseVector struct {
	Name       string
	Type       string
	PayloadHex string `json:"payload_hex"`
	Accepted   bool   `json:"accepted_by_rust_client"`
}

func responseVectors(t *testing.T) []responseVector {
	t.Helper()
	return load[responseVector](t, "nerve-response-vectors.json", 35)
}

// refusedByUs lists what the reference client reads and our own decoder does
// not. This host never sends either.
var refusedByUs = map[string]string{
	"score-too-big-for-f32": "the reference reads infinity, a Score is finite",
	"took-u64-max":          "TookMS is an int64",
}

func TestR1_ClientsReadWhatTheReferenceReads(t *testing.T) {
	for _, v := range responseVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			want := v.Accepted && refusedByUs[v.Name] == ""
			if err := decodeResponse(t, v); (err == nil) != want {
				t.Errorf("error %v, want accepted = %v", err, want)
			}
		})
	}
}

func decodeResponse(t *testing.T, v responseVector) error {
	t.Helper()
	var err error
	switch payload := unhex(t, v.PayloadHex); v.Type {
	case "SearchResult":
		_, err = framing.DecodeSearchResult(payload)
	case "AiToken":
		_, err = framing.DecodeAiToken(payload)
	default:
		t.Fatalf("unknown type %q", v.Type)
	}
	return err
}

// The accepted vectors that are spelled as this host spells them come out of the
// encoder byte for byte.
func TestR1_EncoderSpellsTheVectors(t *testing.T) {
	one := func(r framing.Result, took int64) framing.SearchResult {
		return framing.SearchResult{Results: []framing.Result{r}, TookMS: took}
	}
	hit := framing.Result{URL: "u", Title: "t", Snippet: "s", Score: 0.92}
	integer, zero, empty := hit, hit, hit
	integer.Score, zero.Score = 1, 0
	empty.Title, empty.Snippet = "", ""
	results := map[string]framing.SearchResult{
		"result-example":   one(hit, 34),
		"result-empty":     {},
		"score-integer":    one(integer, 34),
		"score-zero":       one(zero, 34),
		"item-title-empty": one(empty, 34),
		"result-two": {Results: []framing.Result{
			{URL: "u", Title: "t", Snippet: "s", Score: 1.5}, {URL: "u", Title: "t", Snippet: "s", Score: -0.25},
		}, TookMS: 1},
	}
	tokens := map[string]string{"token-hello": "Hello", "token-empty": "", "token-newline": "a\nb"}

	met := 0
	for _, v := range responseVectors(t) {
		var frame []byte
		if r, ok := results[v.Name]; ok {
			frame, _ = framing.AppendSearchResult(nil, 1, r)
		} else if text, ok := tokens[v.Name]; ok {
			frame = framing.AppendAiToken(nil, 1, text, true)
		} else {
			continue
		}
		met++
		if got, want := frame[framing.HeaderSize:], unhex(t, v.PayloadHex); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded %s, want %s", v.Name, got, want)
		}
	}
	if met != len(results)+len(tokens) {
		t.Errorf("met %d vectors, want %d", met, len(results)+len(tokens))
	}
}

// What a result turns into never takes one of the shapes that clients refuse.
func TestR1_HostileValuesStayReadable(t *testing.T) {
	hostile := framing.SearchResult{
		Results: []framing.Result{
			{Score: float32(math.NaN())},
			{Score: float32(math.Inf(1)), URL: "\xff", Title: "\x00\x1f\"\\</script>", Snippet: "a\xe2\x82"},
			{Score: math.MaxFloat32}, {Score: math.SmallestNonzeroFloat32},
		},
		TookMS: -5,
	}
	frame, dropped := framing.AppendSearchResult(nil, math.MaxUint64, hostile)
	if dropped != 0 {
		t.Fatalf("%d results dropped", dropped)
	}
	h, payload, err := framing.ParseFrame(frame)
	if err != nil || h.Type != framing.SearchResultMsg || h.Flags != framing.Final || h.RequestID != math.MaxUint64 {
		t.Fatalf("header %+v, error %v", h, err)
	}
	got, err := framing.DecodeSearchResult(payload)
	if err != nil {
		t.Fatal(err)
	}
	if got.TookMS != 0 || len(got.Results) != 4 {
		t.Fatalf("decoded %+v", got)
	}
	want := framing.Result{URL: "\ufffd", Title: "\x00\x1f\"\\</script>", Snippet: "a\ufffd\ufffd"}
	if got.Results[1] != want {
		t.Errorf("decoded %+v, want %+v", got.Results[1], want)
	}
	if got.Results[0].Score != 0 || got.Results[2].Score != math.MaxFloat32 || got.Results[3].Score != math.SmallestNonzeroFloat32 {
		t.Errorf("scores %v", got.Results)
	}
	if !bytes.Contains(payload, []byte("</script>")) {
		t.Error("angle brackets were escaped")
	}
}
