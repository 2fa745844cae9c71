package recognizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"plexus/adapters/outbound"
	"plexus/domain/admission"
	"plexus/domain/pcm"
	"plexus/ports"
)

// maxReply bounds an answer, in bytes: of a minute's speech it has a few
// thousand, and services may add timings that nobody asked for.
const maxReply = 1 << 20

var (
	errStatus      = errors.New("the service reports an error")
	errReply       = errors.New("the service's answer is no text in JSON")
	errReplyTooBig = errors.New("the service's answer is over 1 MiB")
	errEncoding    = errors.New("the service's answer is in an encoding that was not asked for")
)

// speechPath is where speech goes, below the base URL.
const speechPath = "audio/transcriptions"

// Config names a service.
type Config struct {
	BaseURL        string           // up to and without /audio/transcriptions: "http://127.0.0.1:8000/v1"
	Model          string           // its name there
	Key            admission.Secret // empty: no Authorization header
	AllowPlainHTTP bool             // http:// to another machine
	Timeout        time.Duration    // of one recognition; 0: DefaultTimeout
}

// OpenAI is one model of one service. It keeps idle connections until Close.
// Methods may be called concurrently.
type OpenAI struct {
	transcriptions, models string // addresses
	model                  string
	// sign puts the key into a header. A closure, because a key in a field
	// would be printed by %+v of anything that holds the client.
	sign  func(http.Header)
	limit time.Duration
	http  *http.Client
}

var _ ports.Transcriber = (*OpenAI)(nil)

// NewOpenAI checks cfg, reporting all its faults together, and sends nothing.
func NewOpenAI(cfg Config) (*OpenAI, error) {
	base, err := outbound.ParseBase(cfg.BaseURL, speechPath, cfg.AllowPlainHTTP)
	if err != nil {
		err = fmt.Errorf("recognizer: %w", err)
	}
	if strings.TrimSpace(cfg.Model) == "" {
		err = errors.Join(err, errors.New("recognizer: name is missing"))
	}
	if strings.ContainsFunc(cfg.Key.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		err = errors.Join(err, errors.New("recognizer: the key holds a blank or a non-ASCII character"))
	}
	if err != nil {
		return nil, err
	}
	o := &OpenAI{
		transcriptions: base.JoinPath(speechPath).String(),
		models:         base.JoinPath("models").String(),
		model:          cfg.Model,
		sign:           func(http.Header) {},
		limit:          cfg.Timeout,
		http:           outbound.NewClient(base, nil),
	}
	if !cfg.Key.Empty() {
		o.sign = func(h http.Header) { h.Set("Authorization", "Bearer "+cfg.Key.Reveal()) }
	}
	if o.limit == 0 {
		o.limit = DefaultTimeout
	}
	return o, nil
}

// Close drops idle connections. A running Transcribe is not disturbed.
func (o *OpenAI) Close() { o.http.CloseIdleConnections() }

// Transcribe sends the speech as a WAV file; see ports.Transcriber.
func (o *OpenAI) Transcribe(ctx context.Context, samples []byte) (string, error) {
	return transcribe(ctx, o.limit, samples, func(ctx context.Context) (string, error) {
		body, contentType, err := o.form(samples)
		if err != nil {
			return "", err
		}
		raw, err := o.exchange(ctx, http.MethodPost, o.transcriptions, contentType, body)
		if err != nil {
			return "", err
		}
		var reply struct {
			Text *string `json:"text"`
		}
		if err := json.Unmarshal(raw, &reply); err != nil || reply.Text == nil {
			return "", errReply // the decoder's text may quote the answer
		}
		return *reply.Text, nil
	})
}

// Check asks for the list of models, which costs the service nothing, and does
// not look into it.
func (o *OpenAI) Check(ctx context.Context) error {
	if _, err := o.exchange(ctx, http.MethodGet, o.models, "", nil); err != nil {
		if ctx.Err() != nil {
			return errTooSlow
		}
		return err
	}
	return nil
}

// form renders the multipart body of a call.
func (o *OpenAI) form(samples []byte) (body []byte, contentType string, err error) {
	var out bytes.Buffer
	out.Grow(pcm.WAVSize(len(samples)) + 1<<10)
	w := multipart.NewWriter(&out)
	file, err := w.CreateFormFile("file", "speech.wav")
	if err == nil {
		_, err = file.Write(pcm.AppendWAV(nil, samples))
	}
	if err := errors.Join(err, w.WriteField("model", o.model), w.WriteField("response_format", "json"), w.Close()); err != nil {
		return nil, "", errors.New("the form could not be written")
	}
	return out.Bytes(), w.FormDataContentType(), nil
}

// exchange makes one request and gives the body of its answer, which has to be
// JSON and of status 200. Errors have texts of this package or of the network.
func (o *OpenAI) exchange(ctx context.Context, method, address, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, outbound.ErrNoReply
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "plexus")
	o.sign(req.Header)
	resp, err := o.http.Do(req)
	if err != nil {
		return nil, outbound.Cause(err, errReplyTooBig)
	}
	defer resp.Body.Close() // an unread rest ends the connection
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: status %d", errStatus, resp.StatusCode)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, errEncoding
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, errReply
	}
	raw, err := io.ReadAll(outbound.Bounded(resp.Body, maxReply, errReplyTooBig))
	if err != nil {
		return nil, outbound.Cause(err, errReplyTooBig)
	}
	return raw, nil
}
