// Package localmodel asks a language model over the OpenAI-compatible chat
// completions interface, with streaming: Generator at an address the owner has
// named, Auto at what runs on this machine.
package localmodel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"plexus/adapters/outbound"
	"plexus/domain/admission"
	"plexus/ports"
)

// Limits of one answer (decision G12), and of what is read for it.
const (
	DefaultFirstWord = 60 * time.Second
	DefaultIdle      = 30 * time.Second
	DefaultTotal     = 120 * time.Second
	MaxAnswer        = 1 << 20  // bytes of text
	MaxReply         = 64 << 20 // bytes of a stream, reasoning and framing included
)

// Limits bound one call in time. Zero means the default. Time that emit takes
// counts for Total alone.
type Limits struct {
	FirstWord time.Duration // from the call to the first word, of reasoning too
	Idle      time.Duration // between bytes, from then on
	Total     time.Duration // the whole call
}

// chatPath is where questions go, below the base URL.
const chatPath = "chat/completions"

// Config names a model.
type Config struct {
	BaseURL        string           // up to and without /chat/completions: "http://127.0.0.1:11434/v1"
	Model          string           // its name there
	Key            admission.Secret // empty: no Authorization header
	AllowPlainHTTP bool             // http:// to another machine
	Limits         Limits
	Dial           outbound.Dial // nil: the network
}

// Generator is one model at one address. It keeps idle connections until Close.
// Methods may be called concurrently.
type Generator struct {
	base  *url.URL
	model string
	// key gives the key. A function, because a key in a field would be printed by
	// %+v of anything that holds the Generator.
	key    func() string
	limits Limits
	http   *http.Client
	// thinksAloud: its last reply began with reasoning and had no tag there.
	thinksAloud atomic.Bool
}

var _ ports.Generator = (*Generator)(nil)

// New checks cfg, reporting all its faults together, and sends nothing.
func New(cfg Config) (*Generator, error) {
	base, err := outbound.ParseBase(cfg.BaseURL, chatPath, cfg.AllowPlainHTTP)
	if err != nil {
		err = fmt.Errorf("model: %w", err)
	}
	if strings.TrimSpace(cfg.Model) == "" {
		err = errors.Join(err, errors.New("model: name is missing"))
	}
	if strings.ContainsFunc(cfg.Key.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		err = errors.Join(err, errors.New("model: the key holds a blank or a non-ASCII character"))
	}
	if err != nil {
		return nil, err
	}
	return &Generator{
		base:  base,
		model: cfg.Model,
		key:   cfg.Key.Reveal,
		limits: Limits{
			FirstWord: cmp.Or(cfg.Limits.FirstWord, DefaultFirstWord),
			Idle:      cmp.Or(cfg.Limits.Idle, DefaultIdle),
			Total:     cmp.Or(cfg.Limits.Total, DefaultTotal),
		},
		http: outbound.NewClient(base, cfg.Dial),
	}, nil
}

// IsLocal reports whether the model is on this machine.
func (g *Generator) IsLocal() bool { return outbound.IsLoopback(g.base.Hostname()) }

// Close drops idle connections. A running Generate is not disturbed.
func (g *Generator) Close() {
	g.http.CloseIdleConnections()
}

// Generate streams the model's answer to prompt; see ports.Generator.
func (g *Generator) Generate(ctx context.Context, prompt ports.Prompt, emit func(text string) error) error {
	body, err := g.request(prompt, 0)
	if err != nil {
		return fmt.Errorf("asking the model: %w: %w", ports.ErrModelUnavailable, err)
	}
	var answered strings.Builder
	callCtx, w := startWatchdog(ctx, g.limits)
	a := &answer{watch: w, suspect: g.thinksAloud.Load(), emit: func(text string) error {
		answered.WriteString(text)
		return emit(text)
	}}
	err = g.call(callCtx, w, body, a)
	var reported *serverError // cleaned before anything puts its text into another
	if errors.As(err, &reported) {
		reported.clean(g.key(), prompt, answered.String())
	}
	cause := context.Cause(callCtx)
	if cause == nil {
		err = g.explain(callCtx, err)
	}
	w.stop()
	if a.bytes > 0 {
		g.thinksAloud.Store(a.thoughtAloud)
	}

	switch {
	case a.emitErr != nil:
		return a.emitErr
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case err == nil || ended(err):
	case cause != nil: // the watch ended the call; err is only what that looked like
		err = cause
	}
	switch { // what a fault is depends on whether text has gone out
	case err == nil:
		return nil
	case ended(err):
		return fmt.Errorf("asking the model: %w", err)
	case a.bytes > 0:
		return fmt.Errorf("reading the answer: %w: %w", ports.ErrModelInterrupted, err)
	}
	return fmt.Errorf("asking the model: %w: %w", ports.ErrModelUnavailable, err)
}

// request renders the body of a call. maxTokens bounds the answer; 0: the model does.
func (g *Generator) request(prompt ports.Prompt, maxTokens int) ([]byte, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	messages := make([]message, 0, 2+2*len(prompt.History))
	if prompt.System != "" {
		messages = append(messages, message{"system", prompt.System})
	}
	for _, e := range prompt.History {
		messages = append(messages, message{"user", e.User}, message{"assistant", e.Assistant})
	}
	messages = append(messages, message{"user", prompt.User})
	return json.Marshal(struct {
		Model     string    `json:"model"`
		Messages  []message `json:"messages"`
		Stream    bool      `json:"stream"`
		MaxTokens int       `json:"max_tokens,omitempty"`
	}{g.model, messages, true, maxTokens})
}

// call makes the one request and reads its reply into a.
func (g *Generator) call(ctx context.Context, w *watchdog, body []byte, a *answer) error {
	resp, err := g.post(ctx, body)
	if err != nil {
		return safeCause(err)
	}
	defer resp.Body.Close()
	reply := outbound.Bounded(watchedReader{w, resp.Body}, MaxReply, errReplyTooBig)
	if resp.StatusCode != http.StatusOK {
		w.heard()
		return readError(resp.StatusCode, reply)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return errEncoding
	}
	return a.read(ctx, reply)
}

// post makes one request for an answer.
func (g *Generator) post(ctx context.Context, body []byte) (*http.Response, error) {
	req, err := newRequest(ctx, http.MethodPost, g.base.JoinPath(chatPath), g.key(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	return g.http.Do(req)
}

// newRequest makes a signed request.
func newRequest(ctx context.Context, method string, address *url.URL, key string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, outbound.ErrNoReply // the library's text quotes the address
	}
	req.Header.Set("User-Agent", "plexus")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req, nil
}

// readError reads the error reply of a status. One that is cut off or too large says as
// much as none.
func readError(status int, reply io.Reader) *serverError {
	raw, err := io.ReadAll(io.LimitReader(reply, 64<<10))
	if err != nil {
		raw = nil
	}
	return parseError(status, raw)
}
