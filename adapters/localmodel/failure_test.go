package localmodel

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plexus/domain/admission"
	"plexus/ports"
)

// Each server words it in its own way; the owner is told which limit helps.
func TestFailure_ContextTooLongNamesTheLimit(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		word   string
	}{
		"llama.cpp": {400, `{"error":{"code":400,"message":"request (4390 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error","n_prompt_tokens":4390,"n_ctx":4096}}`,
			"status 400 (exceed_context_size_error): request (4390 tokens) exceeds the available context size (4096 tokens)"},
		"OpenAI": {400, `{"error":{"message":"This model's maximum context length is 4096 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
			"status 400 (context_length_exceeded): This model's maximum context length is 4096 tokens."},
		"vLLM": {400, `{"object":"error","message":"This model's maximum context length is 512 tokens. However, you requested 900 tokens","type":"BadRequestError","code":400}`,
			"status 400 (BadRequestError): This model's maximum"},
		"LM Studio": {400, `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`, "status 400: Trying to keep"},
		"Anthropic": {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}`, "(invalid_request_error): prompt is too long"},
		"a gateway": {413, `<html>413</html>`, "status 413"},
		"on an 500": {500, `{"error":{"message":"the input is too large for the context window"}}`, "status 500: the input"},
		"in a stream": {200, "data: " + `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}` + "\n\n",
			"(exceed_context_size_error): the request exceeds"},
	} {
		t.Run(name, func(t *testing.T) {
			g := stubModel(t, func(r reply, _ *http.Request) {
				r.w.WriteHeader(c.status)
				r.write(c.body)
			})
			err := checkAnswer(t, g, "", unavailable)
			if !errors.Is(err, errContextTooLong) || !strings.Contains(err.Error(), "limits.prompt_bytes") || !strings.Contains(err.Error(), c.word) {
				t.Errorf("got %q; want the limit and %q", err, c.word)
			}
			if refusesChat(err) {
				t.Error("it counts as a model that does not chat")
			}
		})
	}
	for _, other := range []string{
		`{"error":{"message":"rate limit reached for the context window","code":"rate_limit_exceeded"}}`,
	} {
		g := stubModel(t, func(r reply, _ *http.Request) { r.w.WriteHeader(429); r.write(other) })
		if err := checkAnswer(t, g, "", unavailable); errors.Is(err, errContextTooLong) {
			t.Errorf("got %q", err)
		}
	}
}

// What a server repeats of prompt, answer and key stays out of every error.
func TestFailure_RepeatsNothing(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"cannot answer: secret question","type":"invalid_request_error"}}`,
		`{"error":{"message":"last read: '{\"content\":\"Answer brief"}}`,
		`{"error":{"message":"bad key ` + testKey + `"}}`,
		`{"error":"Authorization: Bearer ` + testKey + ` is no good"}`,
		`{"message":"see http://anna:secret@10.0.0.1/ for secret question"}`,
		`{"error":{"type":"secret","message":"earlier you said: Nobody"}}`,
	} {
		g := stubModel(t, func(r reply, _ *http.Request) { r.w.WriteHeader(422); r.write(body) })
		prompt := ports.Prompt{System: "Answer briefly.", User: "secret question", History: []ports.Exchange{{User: "Who", Assistant: "Nobody"}}}
		err := g.Generate(t.Context(), prompt, func(string) error { return nil })
		for _, secret := range []string{testKey, "0123", "secret", "brief", "anna", "Nobody"} {
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s gives %v, which holds %q", body, err, secret)
			}
		}
	}
}

// site serves paths, and 404 for every other one.
func site(t *testing.T, pages map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("%s was asked without the key", req.URL)
		}
		body, ok := pages[req.Method+" "+req.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			body = "404 page not found"
		}
		reply{t, w}.write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A wrong path and an unknown model are the same 404; the list of models tells them
// apart, for a question and for a look.
func TestFailure_WhichPartOfTheAddressIsWrong(t *testing.T) {
	const list = `{"object":"list","data":[{"id":"llama3.2:latest"},{"id":"bge-m3:latest"},{"id":"a\u202eb"}]}`
	answer := events(content(`"Hello"`), "[DONE]")
	for name, c := range map[string]struct {
		path, model string
		pages       map[string]string
		fails       string // in the error of a question; "" for an answer
		doubt       bool   // of Check
		checked     string // in the error of Check; "" for none
	}{
		"right":           {"/v1", "llama3.2:latest", map[string]string{"GET /v1/models": list, "POST /v1/chat/completions": answer}, "", false, ""},
		"without its tag": {"/v1", "llama3.2", map[string]string{"GET /v1/models": list, "POST /v1/chat/completions": answer}, "", false, ""},
		"pasted whole":    {"/v1/chat/completions ", "llama3.2", map[string]string{"GET /v1/models": list, "POST /v1/chat/completions": answer}, "", false, ""},
		"without /v1": {"", "llama3.2", map[string]string{"GET /v1/models": list}, "lacks /v1 at its end: set base_url to http://127.0.0.1:", false,
			"lacks /v1 at its end: set base_url to http://127.0.0.1:"},
		"without /v1, deeper": {"/openai/", "m", map[string]string{"GET /openai/v1/models": list}, "/openai/v1: ", false, "/openai/v1"},
		"an unknown model": {"/v1", "llama4", map[string]string{"GET /v1/models": list},
			`lists no model "llama4"; it has llama3.2:latest, bge-m3:latest: status 404: 404 page not found`, true, `lists no model "llama4"; it has llama3.2:latest, bge-m3:latest`},
		"no model at all":  {"/v1", "m", map[string]string{"GET /v1/models": `{"data":[]}`}, "it has none", true, "it has none"},
		"a server of more": {"/v1", "bge-m3", map[string]string{"GET /v1/models": list}, "does not chat with it", false, ""},
		"another program":  {"/v1", "m", nil, "nothing answers at the path of base_url", true, "no list of models at this address (status 404: 404 page not found)"},
		"no list":          {"/v1", "m", map[string]string{"POST /v1/chat/completions": answer}, "", true, "see that the path is right"},
		"a page":           {"", "m", map[string]string{"GET /models": "<html>"}, "nothing answers at the path", true, "it is no list of models"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGenerator(t, Config{BaseURL: site(t, c.pages) + c.path, Model: c.model, Key: admission.NewSecret(testKey)})
			_, err := ask(t, t.Context(), g)
			if (err == nil) != (c.fails == "") || err != nil && (!strings.Contains(err.Error(), c.fails) || !errors.Is(err, ports.ErrModelUnavailable)) {
				t.Errorf("a question ends with %v; want %q", err, c.fails)
			}
			err = g.Check(t.Context())
			if (err == nil) != (c.checked == "") || errors.Is(err, ErrDoubtful) != c.doubt || err != nil && !strings.Contains(err.Error(), c.checked) {
				t.Errorf("a look gives %v; want %q, in doubt: %v", err, c.checked, c.doubt)
			}
		})
	}
}

// A look tells what a question would be told.
func TestCheck_Faults(t *testing.T) {
	for status, want := range map[int]string{401: "status 401 (invalid_api_key): Incorrect key […]", 403: "status 403", 500: "status 500", 302: "status 302"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect key %s","code":"invalid_api_key"}}`, testKey)
		}))
		g := newGenerator(t, Config{BaseURL: s.URL + "/v1", Model: "m", Key: admission.NewSecret(testKey)})
		if err := g.Check(t.Context()); err == nil || errors.Is(err, ErrDoubtful) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), testKey) {
			t.Errorf("%d gives %v", status, err)
		}
		s.Close()
	}
	g := newGenerator(t, Config{BaseURL: fmt.Sprintf("http://127.0.0.1:%d/v1", refusingPort(t)), Model: "m"})
	if err := g.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody there gives %v", err)
	}
}

func TestNotListed_IsBounded(t *testing.T) {
	var rows []listedModel
	for range 500 {
		rows = append(rows, listedModel{ID: strings.Repeat("m", 150)})
	}
	if text := notListed(rows, "x"); len(text) > 500 || !strings.HasSuffix(text, "and 495 more") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}
