package browser

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// reply is a line that client.mjs prints.
type reply struct {
	ID      string `json:"id"`
	Results *int   `json:"results"`
	Text    string `json:"text"`
	End     string `json:"end"`
	Closed  string `json:"closed"`
}

// runClient asks with a JavaScript client under Node, which sends no Origin, and
// gives one reply per question.
func runClient(t *testing.T, host *plexus, token, firstID string, queries ...string) []reply {
	t.Helper()
	args := append([]string{"--experimental-websocket", "--no-warnings", "client.mjs", "ws://" + host.nerve, token, firstID}, queries...)
	out, err := exec.CommandContext(t.Context(), "node", args...).Output()
	if err != nil {
		t.Fatalf("the client: %v\n%s", err, out)
	}
	var replies []reply
	for line := range bytes.Lines(out) {
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("the client printed %q: %v", line, err)
		}
		replies = append(replies, r)
	}
	return replies
}

// TestX1_JavaScriptClient: a client written from the document, with ids up to
// 2^64−1 as BigInt and lengths in UTF-8 bytes, let in by the host token.
func TestX1_JavaScriptClient(t *testing.T) {
	host := newPlexus(t, "language = \"en\"\n[model]\nkind = \"extractive\"\n")
	host.start()
	got := runClient(t, host, host.token(), "18446744073709551614", "When did the café 日本 open?", "How many rooms are there?")
	if len(got) != 2 {
		t.Fatalf("replies %+v", got)
	}
	// The Ping before them took 2^64−2.
	for i, want := range []reply{{ID: "18446744073709551615", Text: "The café 日本 opened in 1931."}, {ID: "0", Text: "It has two rooms."}} {
		if got[i].ID != want.ID || !strings.Contains(got[i].Text, want.Text) || got[i].End != "done" {
			t.Errorf("reply %d: %+v, want %+v", i, got[i], want)
		}
	}
	for _, token := range []string{"", strings.Repeat("0", 64)} {
		if got := runClient(t, host, token, "1", "q"); len(got) != 1 || got[0].Closed != "refused" {
			t.Errorf("with token %q: %+v", token, got)
		}
	}
}

// TestX2_ReadsUntilFinalToken: a client that reads until an AiToken with FINAL
// comes to an end on success, on a refused query and when the model fails.
func TestX2_ReadsUntilFinalToken(t *testing.T) {
	model := newStubModel(t)
	model.fail = func(body string) bool { return strings.Contains(body, "break") }
	host := newPlexus(t, model.config())
	host.start()
	go func() {
		<-model.asked
		model.say <- "Well."
		model.say <- ""
	}()
	got := runClient(t, host, host.token(), "1", "works", "", "break")
	if len(got) != 3 {
		t.Fatalf("replies %+v", got)
	}
	for i, want := range []string{"Well.", "", "[The model did not answer.]"} {
		if got[i].End != "done" || !strings.Contains(got[i].Text, want) || (want == "" && got[i].Text != "") {
			t.Errorf("reply %d: %+v, want %q", i, got[i], want)
		}
	}
	if got[1].Results != nil {
		t.Error("a refused query had results")
	}
}
