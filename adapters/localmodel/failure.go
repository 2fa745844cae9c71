package localmodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"plexus/adapters/outbound"
	"plexus/ports"
)

var (
	errFirstWord   = errors.New("no word came in time")
	errIdle        = errors.New("the stream fell silent")
	errTotal       = errors.New("the answer took too long")
	errReplyTooBig = errors.New("reply over its limit")
	errNoEnd       = errors.New("stream ended without an end mark")
)

// serverError is the error that the server reported: its status (0 within a
// stream), its code word, and its message.
type serverError struct {
	status  int
	word    string
	message string // as it came, so never shown: it may quote the key or the prompt
	said    string // what may be shown of it, after clean
}

func (e *serverError) Error() string {
	text := "server reports an error"
	if e.status != 0 {
		text = fmt.Sprintf("status %d", e.status)
	}
	if e.word != "" {
		text += " (" + e.word + ")"
	}
	if e.said != "" {
		text += ": " + e.said
	}
	return text
}

// clean makes ready what may be shown of e, which came as answer to a prompt with a key,
// perhaps after the beginning of an answer.
func (e *serverError) clean(key string, prompt ports.Prompt, answered string) {
	sent := []string{prompt.System, prompt.User, answered}
	for _, x := range prompt.History {
		sent = append(sent, x.User, x.Assistant)
	}
	e.said = outbound.Said(e.message, key, sent...)
	if _, err := strconv.Atoi(e.word); err != nil && outbound.Said(e.word, key, sent...) != e.word {
		e.word = ""
	}
}

// parseError reads an error reply. The error may be wrapped in error or not, be a text or
// an object, and the whole may be a line of plain text.
func parseError(status int, raw []byte) *serverError {
	e := &serverError{status: status}
	type fault struct {
		Error   json.RawMessage `json:"error"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	var outer, inner fault
	if err := json.Unmarshal(raw, &outer); err != nil {
		if line := bytes.TrimSpace(raw); len(line) <= maxErrorLine && !bytes.ContainsAny(line, "<{") {
			e.message = string(line)
		}
		return e
	}
	if json.Unmarshal(outer.Error, &inner) == nil { // an object
		e.word = firstCodeWord(status, inner.Code, inner.Type)
	}
	if e.word == "" {
		e.word = firstCodeWord(status, outer.Code, outer.Type)
	}
	for _, text := range []json.RawMessage{inner.Message, outer.Error, outer.Message, outer.Detail} {
		if json.Unmarshal(text, &e.message) == nil && e.message != "" {
			break
		}
	}
	return e
}

// maxErrorLine bounds an error that is a line of plain text, in bytes.
const maxErrorLine = 300

// firstCodeWord gives the first value that looks like a code word, and of numbers the
// first that is not the status again.
func firstCodeWord(status int, values ...json.RawMessage) string {
	number := ""
	for _, raw := range values {
		word := strings.Trim(string(raw), `"`)
		if word == "" || word == "null" || len(word) > 48 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			return word
		}
		if number == "" && n != status {
			number = word
		}
	}
	return number
}

// contextTooLong reports whether the server refused the length of what it was asked.
// There is no common word for it.
func (e *serverError) contextTooLong() bool {
	all := strings.ToLower(e.word + " " + e.message)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(all, w) })
	}
	switch {
	case e.status == http.StatusRequestEntityTooLarge:
		return true
	case e.status != 0 && (e.status < 400 || e.status == http.StatusTooManyRequests):
		return false
	}
	return has("context") && has("exceed", "length", "size", "window", "maximum", "overflow", "too long", "too large") ||
		has("prompt", "input") && has("too long", "too many tokens")
}

// errContextTooLong names the limit that helps.
var errContextTooLong = errors.New("the prompt is longer than the model's context: set limits.prompt_bytes lower, or give the model a longer context")

// safeCause reduces an error of a call to its cause.
func safeCause(err error) error { return outbound.Cause(err, errReplyTooBig, errEventTooLong) }
