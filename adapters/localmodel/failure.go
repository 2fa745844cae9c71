package localmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plexus/adapters/outbound"
)

var (
	errFirstByte   = errors.New("no byte came in time")
	errIdle        = errors.New("the stream fell silent")
	errTotal       = errors.New("the answer took too long")
	errReplyTooBig = errors.New("reply over its limit")
	errNoEnd       = errors.New("stream ended without an end mark")
)

// serverError is the error that the server reported: its status (0 within a
// stream) and its code word, never its message, which may quote key or prompt.
type serverError struct {
	status int
	word   string
}

func (e *serverError) Error() string {
	text := "server reports an error"
	if e.status != 0 {
		text = fmt.Sprintf("status %d", e.status)
	}
	if e.word != "" {
		text += " (" + e.word + ")"
	}
	return text
}

// errorWord finds the code word of an error value: an object's code, else its
// type. A plain string is a message and gives none.
func errorWord(raw json.RawMessage) string {
	var e struct {
		Code json.RawMessage `json:"code"`
		Type json.RawMessage `json:"type"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return ""
	}
	return firstCodeWord(e.Code, e.Type)
}

// replyWord finds the code word in an error reply, wrapped in error or not.
func replyWord(raw []byte) string {
	var w wireReply
	if err := json.Unmarshal(raw, &w); err != nil {
		return ""
	}
	if word := errorWord(w.Error); word != "" {
		return word
	}
	return firstCodeWord(w.Code, w.Type)
}

// firstCodeWord gives the first value that looks like a code word or number.
func firstCodeWord(values ...json.RawMessage) string {
	for _, raw := range values {
		word := strings.Trim(string(raw), `"`)
		if word != "" && word != "null" && len(word) <= 48 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" {
			return word
		}
	}
	return ""
}

// safeCause reduces an error of a call to its cause.
func safeCause(err error) error { return outbound.Cause(err, errReplyTooBig, errEventTooLong) }
