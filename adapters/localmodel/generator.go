// Package localmodel asks a language model over the OpenAI-compatible chat
// completions interface, with streaming: Generator at an address the owner has
// named, Auto at what runs on this machine.
package localmodel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"plexus/adapters/outbound"
	"plexus/ports"
)

// Limits of one answer (decision G12), and of what is read for it.
const (
	DefaultFirstByte = 60 * time.Second
	DefaultIdle      = 30 * time.Second
	DefaultTotal     = 120 * time.Second
	MaxAnswer        = 1 << 20  // bytes of text
	MaxReply         = 64 << 20 // bytes of a stream, reasoning and framing included
)

// Limits bound one call in time. Zero means the default. Time that emit takes
// counts for Total alone.
type Limits struct {
	FirstByte time.Duration // from the call to the first byte of the reply's body
	Idle      time.Duration // between bytes
	Total     time.Duration // the whole call
}

// Key is a model service's secret. Every way of printing it gives "[redacted]".
type Key string

// String hides the key.
func (Key) String() string { return "[redacted]" }

// GoString hides the key.
func (Key) GoString() string { return "[redacted]" }

// MarshalText hides the key.
func (Key) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// Config names a model.
type Config struct {
	BaseURL        string // up to and without /chat/completions: "http://127.0.0.1:11434/v1"
	Model          string // its name there
	Key            Key    // "": no Authorization header
	AllowPlainHTTP bool   // http:// to another machine
	Limits         Limits
	Dial           outbound.Dial // nil: the network
}

// Generator is one model at one address. It keeps idle connections until Close.
// Methods may be called concurrently.
type Generator struct {
	endpoint string
	model    string
	key      Key
	limits   Limits
	http     *http.Client
}

var _ ports.Generator = (*Generator)(nil)

// New checks cfg, reporting all its faults together, and sends nothing.
func New(cfg Config) (*Generator, error) {
	base, err := outbound.ParseBase(cfg.BaseURL, cfg.AllowPlainHTTP)
	if err != nil {
		err = fmt.Errorf("model: %w", err)
	}
	if strings.TrimSpace(cfg.Model) == "" {
		err = errors.Join(err, errors.New("model: name is missing"))
	}
	if strings.ContainsFunc(string(cfg.Key), func(r rune) bool { return r <= ' ' || r > '~' }) {
		err = errors.Join(err, errors.New("model: the key holds a blank or a non-ASCII character"))
	}
	if err != nil {
		return nil, err
	}
	return &Generator{
		endpoint: base.JoinPath("chat/completions").String(),
		model:    cfg.Model,
		key:      cfg.Key,
		limits:   cfg.Limits.withDefaults(),
		http:     outbound.NewClient(base, cfg.Dial),
	}, nil
}

func (l Limits) withDefaults() Limits {
	if l.FirstByte == 0 {
		l.FirstByte = DefaultFirstByte
	}
	if l.Idle == 0 {
		l.Idle = DefaultIdle
	}
	if l.Total == 0 {
		l.Total = DefaultTotal
	}
	return l
}

// Close drops idle connections. A running Generate is not disturbed.
func (g *Generator) Close() {
	g.http.CloseIdleConnections()
}

// Generate streams the model's answer to prompt; see ports.Generator. An answer
// that its token limit ended counts as complete.
func (g *Generator) Generate(ctx context.Context, prompt ports.Prompt, emit func(text string) error) error {
	body, err := g.request(prompt)
	if err != nil {
		return fmt.Errorf("asking the model: %w: %w", ports.ErrModelUnavailable, err)
	}
	a := &answer{emit: emit}
	callCtx, w := startWatch(ctx, g.limits)
	err = g.call(callCtx, w, body, a)
	cause := context.Cause(callCtx)
	w.stop()

	var said *serverError
	if errors.As(err, &said) && g.key != "" && strings.Contains(said.word, string(g.key)) {
		said.word = "" // a server may echo what it was sent
	}
	switch {
	case a.emitErr != nil:
		return a.emitErr
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case err == nil || errors.Is(err, ports.ErrModelEmpty):
	case cause != nil: // the watch ended the call; err is only what that looked like
		err = cause
	}
	return a.outcome(err)
}

// request renders the body of a call.
func (g *Generator) request(prompt ports.Prompt) ([]byte, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	messages := make([]message, 0, 2+2*len(prompt.History))
	if prompt.System != "" {
		messages = append(messages, message{"system", prompt.System})
	}
	for _, said := range prompt.History {
		messages = append(messages, message{"user", said.User}, message{"assistant", said.Assistant})
	}
	messages = append(messages, message{"user", prompt.User})
	return json.Marshal(struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
		Stream   bool      `json:"stream"`
	}{g.model, messages, true})
}

// call makes the one request and reads its reply into a.
func (g *Generator) call(ctx context.Context, w *watch, body []byte, a *answer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.endpoint, bytes.NewReader(body))
	if err != nil {
		return outbound.ErrNoReply
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "plexus")
	if g.key != "" {
		req.Header.Set("Authorization", "Bearer "+string(g.key))
	}
	resp, err := g.http.Do(req)
	if err != nil {
		return plain(err)
	}
	defer resp.Body.Close()
	reply := outbound.Bounded(w.reader(resp.Body), MaxReply, errReplyTooBig)
	if resp.StatusCode != http.StatusOK {
		return refusal(resp.StatusCode, reply)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return errEncoding
	}
	return a.read(ctx, reply)
}

// refusal makes the error of a status, reading no more than its code word.
func refusal(status int, body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return &serverError{status: status}
	}
	return &serverError{status: status, word: replyWord(raw)}
}
