package localmodel

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"plexus/ports"
)

// end names how an answer is to end.
var (
	complete    error
	interrupted = ports.ErrModelInterrupted
	unavailable = ports.ErrModelUnavailable
	empty       = ports.ErrModelEmpty
	cut         = ports.ErrModelCut
	filtered    = ports.ErrModelFiltered
	refused     = ports.ErrModelRefused
)

func checkAnswer(t *testing.T, g ports.Generator, want string, end error) error {
	t.Helper()
	got, err := ask(t, t.Context(), g)
	if got != want {
		t.Errorf("emitted %q; want %q", got, want)
	}
	if !errors.Is(err, end) {
		t.Errorf("ended with %v; want %v", err, end)
	}
	return err
}

// events renders data lines as one body.
func events(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}

func TestCR29_EmptyChoices(t *testing.T) {
	const usage = `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	common := []string{
		`{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}`,
		content(`""`), content(`"Hel"`), content(`"lo"`),
		`{"choices":null}`, `{"usage":{"total_tokens":3}}`, `{"choices":[{}]}`, `{"choices":[{"delta":null,"finish_reason":null}]}`, `{}`, `null`,
	}
	done := events(append(common, usage, "[DONE]")...)
	tests := []struct{ name, body string }{
		{"usage before DONE", done},
		{"usage after finish_reason", events(append(common, finish("stop"), usage, "[DONE]")...)},
		{"bytes after DONE", done + "data: garbage\n\nmore"},
		{"second DONE", done + "data: [DONE]\n\n"},
		{"text after DONE", done + events(content(`" again"`))},
		{"CRLF", strings.ReplaceAll(done, "\n", "\r\n")},
		{"DONE without an end of line", strings.TrimSpace(done)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkAnswer(t, stubBody(t, tt.body), "Hello", complete)
		})
	}
}

func TestCR30_TextCutAnywhere(t *testing.T) {
	const text = "你好世界 🌍 👨‍👩‍👧"
	long := strings.Repeat("世", (200<<10)/3)
	halves := events(content(`"a\ud83c"`), content(`"\udf0db"`), content("\"\xe4\xbd\""), content("\"\xa0\""), "[DONE]")
	plain := events(content(`"`+text+`"`), "[DONE]")
	tests := []struct{ name, body, want string }{
		{"text", plain, text},
		{"halves of characters over two chunks", halves, "a🌍b你"},
		{"CRLF", strings.ReplaceAll(plain, "\n", "\r\n"), text},
		{"comments", ": ping\n\n" + plain, text},
		{"data without blank", strings.ReplaceAll(plain, "data: ", "data:"), text},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := stubModel(t, func(r reply, _ *http.Request) {
				for _, b := range bytewise(tt.body) {
					r.write(b)
				}
			})
			checkAnswer(t, g, tt.want, complete)
		})
	}
	t.Run("a line of 200 KB", func(t *testing.T) {
		checkAnswer(t, stubBody(t, events(content(`"`+long+`"`), "[DONE]")), long, complete)
	})
	t.Run("cut for good at the end", func(t *testing.T) {
		checkAnswer(t, stubBody(t, events(content("\"a\xe4\xbd\""), finish("length"))), "a", cut)
	})
}

func TestCR32_CutStreamIsNotComplete(t *testing.T) {
	hello := content(`"Hello"`)
	tests := []struct {
		name, body, want string
		end              error
		cause            string
	}{
		{"1 EOF without an end mark", events(hello), "Hello", interrupted, "without an end mark"},
		{"1 EOF before any text", events(content(`""`)), "", unavailable, "without an end mark"},
		{"1 nothing at all", "", "", unavailable, "without an end mark"},
		{"1 EOF in a line", events(hello) + `data: {"choices":[{"del`, "Hello", interrupted, "malformed"},
		{"2 DONE without finish_reason", events(hello, "[DONE]"), "Hello", complete, ""},
		{"2 finish_reason without DONE", events(hello, finish("stop")), "Hello", complete, ""},
		{"2 finish_reason beside the text", events(`{"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}`), "Hello", complete, ""},
		{"3 length", events(hello, finish("length"), "[DONE]"), "Hello", cut, `"length"`},
		{"3 length, by another word", events(hello, finish("MAX_TOKENS")), "Hello", cut, `"max_tokens"`},
		{"3 stopped by a filter", events(hello, finish("content_filter"), "[DONE]"), "Hello", filtered, "content_filter"},
		{"3 stopped by a filter at once", events(finish("SAFETY"), "[DONE]"), "", filtered, "safety"},
		{"3 refused", events(`{"choices":[{"delta":{"refusal":"Hel"}}]}`, `{"choices":[{"delta":{"refusal":"lo"}}]}`, finish("stop"), "[DONE]"), "Hello", refused, ""},
		{"3 refused by its end reason", events(finish("refusal"), "[DONE]"), "", refused, ""},
		{"6 error", events(hello, `{"error":{"message":"Hello `+testKey+`","code":"overloaded"}}`), "Hello", interrupted, "(overloaded)"},
		{"6 error as a string", events(hello, `{"error":"secret"}`), "Hello", interrupted, "reports an error"},
		{"6 error with a number", events(hello, `{"error":{"code":502,"type":"x"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`), "Hello", interrupted, "(x)"},
		{"6 error null is none", events(`{"error":null,"choices":[{"delta":{"content":"Hello"}}]}`, "[DONE]"), "Hello", complete, ""},
		{"6 error object", events(hello, `{"object":"error","message":"secret","type":"server_error"}`), "Hello", interrupted, "(server_error)"},
		{"6 error event", events(hello) + "event: error\ndata: {\"code\":\"overloaded\"}\n\n", "Hello", interrupted, "(overloaded)"},
		{"6 error field", events(hello) + "error: {\"code\":500}\n\n", "Hello", interrupted, "(500)"},
		{"6 error before any text", events(`{"error":{"code":"overloaded"}}`), "", unavailable, "(overloaded)"},
		{"garbage after text", events(hello, "secret {"), "Hello", interrupted, "malformed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := checkAnswer(t, stubBody(t, tt.body), tt.want, tt.end)
			if tt.end != nil && !strings.Contains(err.Error(), tt.cause) {
				t.Errorf("%q does not name the cause %q", err, tt.cause)
			}
		})
	}
}

// The broken ends that only a raw connection can make; 7, silence, is in
// TestG12_ModelTimeLimits.
func TestCR32_BrokenConnection(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	chunked := func(body string) string { return head + "Transfer-Encoding: chunked\r\n\r\n" + body }
	text := events(content(`"Hello"`))
	hello := fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
	tests := []struct {
		name, raw string
		reset     bool
	}{
		{"4 TCP reset in a line", head + "\r\n" + events(content(`"Hello"`)) + `data: {"cho`, true},
		{"5 malformed trailer", chunked(hello + "0\r\nbroken trailer\r\n\r\n"), false},
		{"5 error in the trailer", chunked(hello + "0\r\nX-Stream-Error: overloaded\r\n\r\n"), false},
		{"chunk cut", chunked(hello + "20\r\ndata: "), false},
		{"malformed chunk size", chunked(hello + "zz\r\n"), false},
		{"shorter than its length", head + "Content-Length: 5000\r\n\r\n" + events(content(`"Hello"`)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := make(chan struct{})
			g := rawModel(t, tt.raw, func() bool {
				if tt.reset {
					<-got // a reset destroys what has not been read
				}
				return tt.reset
			})
			text := ""
			err := g.Generate(t.Context(), testPrompt, func(s string) error {
				text += s
				close(got)
				return nil
			})
			if text != "Hello" || !errors.Is(err, interrupted) {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

func TestCR34_OnlyReasoning(t *testing.T) {
	thought := func(field string) string { return `{"choices":[{"delta":{"` + field + `":"secret thought"}}]}` }
	var think []string
	for range 150 {
		think = append(think, thought("reasoning_content"), thought("reasoning"))
	}
	think = slices.Clip(think)
	call := func(i, args string) string {
		return `{"choices":[{"delta":{"content":null,"tool_calls":[{"index":` + i + `,"function":{"arguments":"` + args + `"}}]}}]}`
	}
	calls := []string{
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"rm"}},{"index":1,"function":{"name":"ls"}}]}}]}`,
		call("0", `{\"pa`), call("1", `{}`), call("0", `th\":`), call("0", `1}`),
	}
	both := func(delta, message string) string {
		return `{"choices":[{"delta":{"content":"` + delta + `"},"message":{"content":"` + message + `"}}]}`
	}
	hello := content(`"Hello"`)
	tests := []struct {
		name string
		data []string
		want string
		end  error
	}{
		{"1 reasoning, then its budget ends", append(think, finish("length"), "[DONE]"), "", empty},
		{"1 reasoning, then DONE", append(think, "[DONE]"), "", empty},
		{"1 reasoning, then white space", append(think, content(`"\n\n"`), content(`" "`), finish("length")), "", empty},
		{"2 white space before text stays", []string{content(`"\n\n"`), content(`" "`), hello, finish("stop")}, "\n\n Hello", complete},
		{"2 reasoning, then text", append(think, hello, finish("stop")), "Hello", complete},
		{"3 tool calls beside text", append(calls, hello, finish("tool_calls")), "Hello", complete},
		{"3 tool calls alone", append(calls, finish("tool_calls")), "", empty},
		{"4 arguments cut by length", append(calls[:3:3], finish("length")), "", empty},
		{"5 content null", []string{content("null"), hello, content("null"), "[DONE]"}, "Hello", complete},
		{"6 content in parts", []string{content(`[{"type":"text","text":"Hel"},{"type":"thinking","thinking":[{"type":"text","text":"secret"}]},{"type":"image_url","image_url":{}},{"text":"lo"}]`), "[DONE]"}, "Hello", complete},
		{"6 parts of an unknown shape", []string{content(`["x",7]`), content(`{"a":1}`), content(`7`), hello, "[DONE]"}, "Hello", complete},
		{"answer so far beside each delta", []string{both("Hel", "Hel"), both("lo", "Hello"), "[DONE]"}, "Hello", complete},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkAnswer(t, stubBody(t, events(tt.data...)), tt.want, tt.end)
		})
	}
	err := checkAnswer(t, stubBody(t, events(append(think, finish("length"))...)), "", empty)
	if !strings.Contains(err.Error(), `"length"`) {
		t.Errorf("%q does not name the finish reason", err)
	}
}

// A server may ignore that we asked for a stream.
func TestReplyWithoutStream(t *testing.T) {
	whole := func(message, finish string) string {
		return "\n " + `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":` + message + `},"finish_reason":"` + finish + `"}],"usage":{}}` + "\n"
	}
	tests := []struct {
		name, body, want string
		end              error
	}{
		{"text", whole(`"Hello"`, "stop"), "Hello", complete},
		{"cut by length", whole(`"Hello"`, "length"), "Hello", cut},
		{"reasoning in the text", whole(`"<think>secret</think>Hello"`, "stop"), "Hello", complete},
		{"nothing but reasoning", whole(`"<think>secret"`, "length"), "", empty},
		{"refusal", `{"choices":[{"message":{"content":null,"refusal":"Hello"},"finish_reason":"stop"}]}`, "Hello", refused},
		{"parts", whole(`[{"type":"text","text":"Hello"}]`, "stop"), "Hello", complete},
		{"no text", whole(`null`, "length"), "", empty},
		{"error", `{"error":{"message":"secret","code":"overloaded"}}`, "", unavailable},
		{"no completion", `{"models":[]}`, "", unavailable},
		{"cut", `{"choices":[{"message":{"content":"Hello`, "", unavailable},
		{"twice", whole(`"Hello"`, "stop") + whole(`"Hello"`, "stop"), "", unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkAnswer(t, stubBody(t, tt.body), tt.want, tt.end)
		})
	}
}

// drain reads a whole request body.
func drain(req *http.Request) string {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return ""
	}
	return string(body)
}
