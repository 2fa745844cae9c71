package localmodel

import (
	"bytes"
	"encoding/json"
	"errors"
)

var (
	errNotJSON       = errors.New("malformed event in the stream")
	errNotCompletion = errors.New("the reply is no chat completion")
)

// wireReply is what we read of a chunk, or of a whole completion: there the
// choice holds message instead of delta.
type wireReply struct {
	Object  string          `json:"object"`
	Choices []wireChoice    `json:"choices"`
	Error   json.RawMessage `json:"error"`
}

type wireChoice struct {
	Delta        wireMessage `json:"delta"`
	Message      wireMessage `json:"message"`
	FinishReason string      `json:"finish_reason"`
}

type wireMessage struct {
	Content   json.RawMessage `json:"content"`
	Refusal   json.RawMessage `json:"refusal"` // said in place of content
	Reasoning json.RawMessage `json:"reasoning"`
	// ReasoningContent is the name that DeepSeek, vLLM and llama.cpp use.
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Thinking         json.RawMessage `json:"thinking"`
}

// chunk is the meaning of one event.
type chunk struct {
	content   []byte // as joiner takes it; empty: nothing for the reader
	refused   bool   // content is why the model does not answer
	reasoning bool   // it holds reasoning in a member of its own
	finish    string // finish_reason, or ""
	failure   error  // the server reports an error
	choices   int
}

// decodeChunk reads one JSON value: an event of a stream, or a whole completion.
// The text of reasoning and tool calls is left where it is: it is not the answer.
func decodeChunk(data []byte, complete bool) (chunk, error) {
	var w wireReply
	if err := json.Unmarshal(data, &w); err != nil {
		return chunk{}, errNotJSON // the library's text quotes the content
	}
	if len(w.Error) > 0 && string(w.Error) != "null" {
		return chunk{failure: parseError(0, data)}, nil
	}
	if w.Object == "error" {
		return chunk{failure: parseError(0, data)}, nil
	}
	c := chunk{choices: len(w.Choices)}
	if c.choices == 0 {
		return c, nil
	}
	first := w.Choices[0]
	c.finish = first.FinishReason
	// Some services repeat the whole answer so far as message beside each delta.
	said := first.Delta
	if complete {
		said = first.Message
	}
	c.content = appendContent(nil, said.Content)
	c.reasoning = filled(said.Reasoning) || filled(said.ReasoningContent) || filled(said.Thinking) ||
		len(c.content) == 0 && bytes.Contains(said.Content, []byte(`"thinking"`))
	if refusal := appendContent(nil, said.Refusal); len(refusal) > 0 {
		c.content, c.refused = append(c.content, refusal...), true
	}
	return c, nil
}

func filled(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

// appendContent appends the text of a content value: a string, null, or parts.
func appendContent(dst []byte, raw json.RawMessage) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return dst
	}
	switch raw[0] {
	case '"':
		return appendUnquoted(dst, raw)
	case '[':
		var parts []struct {
			Type string          `json:"type"`
			Text json.RawMessage `json:"text"`
		}
		if err := json.Unmarshal(raw, &parts); err != nil {
			return dst // parts of an unknown shape hold no text for us
		}
		for _, p := range parts {
			if (p.Type == "" || p.Type == "text") && len(p.Text) > 0 && p.Text[0] == '"' {
				dst = appendUnquoted(dst, p.Text)
			}
		}
	}
	return dst
}
