package localmodel

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"plexus/domain/answers"
	"plexus/ports"
)

// D19: an end reason counts only when no text follows it.
func TestD19_EndReasons(t *testing.T) {
	with := func(text, finish string) string {
		return `{"choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":"` + finish + `"}]}`
	}
	const usage = `{"choices":[],"usage":{"total_tokens":3}}`
	tests := []struct {
		name string
		data []string
		want string
		end  error
	}{
		{"with every chunk", []string{with("Hel", "stop"), with("lo ", "stop"), with("you", "stop"), "[DONE]"}, "Hello you", complete},
		{"with every chunk, no DONE", []string{with("Hel", "stop"), with("lo", "stop")}, "Hello", complete},
		{"with every chunk, then a failure", []string{with("Hel", "stop"), with("lo", "stop"), `{"error":{"code":"overloaded"}}`}, "Hello", interrupted},
		{"with every chunk but the last", []string{with("Hel", "stop"), content(`"lo"`)}, "Hello", interrupted},
		{"another one later", []string{with("Hel", "stop"), with("lo", "length"), usage, "[DONE]"}, "Hello", cut},
		{"length with every chunk but the last", []string{with("Hel", "length"), with("lo", "stop"), "[DONE]"}, "Hello", complete},
		{"before the text", []string{finish("stop"), content(`"Hello"`), finish("stop")}, "Hello", complete},
		{"again, after usage", []string{content(`"Hello"`), finish("stop"), usage, finish("stop"), usage}, "Hello", complete},
		{"an empty delta behind it", []string{content(`"Hello"`), finish("length"), content(`""`), "[DONE]"}, "Hello", cut},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkAnswer(t, stubBody(t, events(tt.data...)), tt.want, tt.end)
		})
	}
}

// pieces renders a text as chunks.
func pieces(t *testing.T, text ...string) (data []string) {
	t.Helper()
	for _, piece := range text {
		literal, err := json.Marshal(piece)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, content(string(literal)))
	}
	return data
}

func TestD19_InlineReasoning(t *testing.T) {
	tests := []struct {
		name, text, finish, want string
		end                      error
	}{
		{"begun and ended", "<think>\nsecret\n</think>\n\nHello", "stop", "Hello", complete},
		{"the end alone", "The person asks a secret.\n</think>\n\nHello", "stop", "Hello", complete},
		{"never ended", "<think>secret", "length", "", empty},
		{"never begun nor ended", "Okay, the secret is", "length", "", empty},
		{"nothing behind it", "<think>secret</think>\n", "stop", "", empty},
		{"cut behind it", "<think>secret</think>Hello", "length", "Hello", cut},
		{"only sounds like it", "The user is Hello.", "stop", "The user is Hello.", complete},
		{"another name", "<thinking>secret</thinking>Hello", "stop", "Hello", complete},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for at := range tt.text {
				data := append(pieces(t, tt.text[:at], tt.text[at:]), finish(tt.finish), "[DONE]")
				checkAnswer(t, stubBody(t, events(data...)), tt.want, tt.end)
			}
			data := append(pieces(t, strings.Split(tt.text, "")...), finish(tt.finish), "[DONE]")
			g := stubModel(t, func(r reply, _ *http.Request) { r.events(data...) }) // flushed one by one
			checkAnswer(t, g, tt.want, tt.end)
		})
	}
}

// Reasoning that could not be told from an answer is taken back where that is possible,
// and the next answer of the same model waits for the end of it.
func TestD19_LateEndOfReasoning(t *testing.T) {
	shown := make(chan struct{})
	thoughts := []string{"A year is", " wanted.\n</think>", "\n\nHello"}
	calls := 0
	g := stubModel(t, func(r reply, req *http.Request) {
		drain(req)
		calls++
		for i, data := range pieces(t, thoughts...) {
			r.events(data)
			if calls == 1 && i == 0 {
				<-shown
			}
		}
		r.events("[DONE]")
	})
	text := ""
	err := g.Generate(t.Context(), testPrompt, func(piece string) error {
		if text == "" {
			close(shown)
		}
		text += piece
		return nil
	})
	if !strings.HasPrefix(text, "A year is") || answers.Spoken(text) != "Hello" || err != nil {
		t.Errorf("emitted %q, of which counts %q; %v", text, answers.Spoken(text), err)
	}
	checkAnswer(t, g, "Hello", complete)
}

func TestD19_NothingButLateReasoningIsEmpty(t *testing.T) {
	shown := make(chan struct{})
	g := stubModel(t, func(r reply, req *http.Request) {
		drain(req)
		r.events(pieces(t, "A year is")...)
		<-shown
		r.events(append(pieces(t, " wanted.</think>\n"), finish("length"))...)
	})
	err := g.Generate(t.Context(), testPrompt, func(string) error {
		select {
		case <-shown:
		default:
			close(shown)
		}
		return nil
	})
	if !errors.Is(err, ports.ErrModelEmpty) {
		t.Errorf("ended with %v", err)
	}
}

// A server that has a member for reasoning puts none into the text.
func TestD19_AnswerIsNotHeldWhereReasoningIsApart(t *testing.T) {
	shown := make(chan struct{})
	g := stubModel(t, func(r reply, req *http.Request) {
		drain(req)
		r.events(`{"choices":[{"delta":{"reasoning_content":"secret"}}]}`)
		r.events(pieces(t, "The user ")...)
		<-shown
		r.events(append(pieces(t, "is Hello."), "[DONE]")...)
	})
	text := ""
	err := g.Generate(t.Context(), testPrompt, func(piece string) error {
		if text == "" {
			close(shown)
		}
		text += piece
		return nil
	})
	if text != "The user is Hello." || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}
