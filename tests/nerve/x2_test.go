package nerve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"plexus/adapters/memory"
	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/ports"
)

// heard is what a reference client knows after its loop.
type heard struct {
	results int    // SearchResult frames
	text    string // of every token
	final   string // of the last one
}

// referenceClient does what the example of the reference does: no Origin, the
// token as subprotocol, one SearchQuery, then reading until the final AiToken.
func referenceClient(ctx context.Context, addr, payload string) (h heard, err error) {
	ws, _, err := websocket.Dial(ctx, "ws://"+addr, &websocket.DialOptions{Subprotocols: []string{"anvesha-v1." + token}})
	if err != nil {
		return h, fmt.Errorf("dial: %w", err)
	}
	defer ws.CloseNow() //nolint:errcheck // it is closed already when all went well
	ws.SetReadLimit(framing.MaxFrameSize)
	if ws.Subprotocol() != "anvesha-v1."+token {
		return h, errors.New("the subprotocol was not echoed")
	}
	if err := ws.Write(ctx, websocket.MessageBinary, frame(framing.SearchQueryMsg, framing.Final, 1, payload)); err != nil {
		return h, fmt.Errorf("send: %w", err)
	}
	for {
		_, message, err := ws.Read(ctx)
		if err != nil {
			return h, fmt.Errorf("read: %w", err)
		}
		head, body, err := framing.ParseFrame(message)
		switch {
		case err != nil:
			return h, err
		case head.Type == framing.SearchResultMsg:
			h.results++
			continue
		case head.Type != framing.AiTokenMsg || head.RequestID != 1:
			return h, fmt.Errorf("a stray %v of %d", head.Type, head.RequestID)
		}
		if h.final, err = framing.DecodeAiToken(body); err != nil {
			return h, err
		}
		h.text += h.final
		if head.Flags&framing.Final != 0 {
			return h, ws.Close(websocket.StatusNormalClosure, "")
		}
	}
}

func TestX2_ReferenceClientTerminates(t *testing.T) {
	const good = `{"v":1,"query":"when did it open","context":{"url":"","title":""},"opts":{"search":true,"max_results":5}}`
	results := &memory.ScriptedSearch{Results: twoResults}
	model := &memory.ScriptedModel{Pieces: []string{"It opened ", "in 1921."}}
	notice := func(kind answers.NoticeKind) string { return answers.Notice(kind, answers.English) }
	noSearch := &memory.ScriptedSearch{Err: fmt.Errorf("%w: answered 503", ports.ErrSearchUnavailable)}
	failing := func(err error, pieces ...string) ports.Generator {
		return &memory.ScriptedModel{Pieces: pieces, Err: err}
	}
	panics := &memory.ScriptedSearch{Wait: func(context.Context) error { panic("an adapter's fault") }}
	for _, c := range []struct {
		name    string
		setup   setup
		payload string
		results int
		final   string // of the last token
		text    string // in what all of them say
	}{
		{"success", setup{search: results, model: model}, good, 1, "", "It opened in 1921."},
		{"nothing found", setup{search: &memory.ScriptedSearch{}, model: model}, good, 1, "", "It opened in 1921."},
		{"nothing configured", setup{}, good, 1, notice(answers.NothingFound), ""},
		{"refused: bare text", setup{search: results, model: model}, "when did it open", 0, "", ""},
		{"refused: version", setup{search: results, model: model}, strings.Replace(good, `"v":1`, `"v":2`, 1), 0, "", ""},
		{"refused: empty", setup{search: results, model: model}, strings.Replace(good, "when did it open", "", 1), 0, "", ""},
		{"refused: results", setup{search: results, model: model}, strings.Replace(good, ":5}", ":101}", 1), 0, "", ""},
		{"search fails", setup{search: noSearch, model: model}, good, 0, "", "It opened in 1921."},
		{"search fails, no model", setup{search: noSearch}, good, 0, notice(answers.SearchFailed), ""},
		{"search panics", setup{search: panics}, good, 0, notice(answers.SearchFailed), ""},
		{"model fails", setup{search: noSearch, model: failing(ports.ErrModelUnavailable)}, good, 0, notice(answers.ModelFailed), ""},
		{"model breaks off", setup{search: results, model: failing(ports.ErrModelInterrupted, "It ")}, good, 1, "\n\n" + notice(answers.Interrupted), "It "},
		{"model is empty", setup{search: results, model: failing(ports.ErrModelEmpty)}, good, 1, notice(answers.ModelEmpty), ""},
		{"no model is found", setup{search: noSearch, model: failing(ports.ErrNoModel)}, good, 0, notice(answers.SearchFailed), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, c.setup)
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
			defer stop()
			got, err := referenceClient(ctx, f.addr, c.payload)
			if err != nil {
				t.Fatalf("after %+v: %v", got, err)
			}
			if got.results != c.results || got.final != c.final || !strings.Contains(got.text, c.text) {
				t.Errorf("heard %+v, want %d results, %q in it and %q at the end", got, c.results, c.text, c.final)
			}
		})
	}
}
