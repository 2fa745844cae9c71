package localmodel

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"plexus/adapters/outbound"
	"plexus/domain/answers"
	"plexus/ports"
)

var errEmitStopped = errors.New("the reader of the answer stopped")

// answer parses one reply and emits its text.
type answer struct {
	emit    func(string) error
	emitErr error // what emit returned, as it is
	watch   *watchdog
	join    joiner
	bytes   int // of text handed on

	reasoning    answers.Reasoning
	held         string // the beginning of the text, which is not handed on yet
	spoken       bool   // some of the text counts as the answer
	suspect      bool   // it may begin with reasoning that has no tag there
	thoughtAloud bool   // it did
	apart        bool   // reasoning comes in a member of its own

	finish  string // the end reason, unless text came after it
	bare    bool   // it came without text, as at the end of an answer
	refused bool
}

// read takes a stream, or the single JSON value of a server that does not
// stream. nil or ErrModelEmpty: it came to its end. Nothing is handed on once ctx
// has ended, even if it is here already.
func (a *answer) read(ctx context.Context, r io.Reader) error {
	in := bufio.NewReaderSize(r, 16<<10)
	first, err := firstByte(in)
	if err != nil {
		return readFault(err)
	}
	if first == '{' {
		a.watch.heard()
		return a.readWhole(ctx, in)
	}
	return a.readStream(ctx, &eventReader{in: in})
}

// firstByte peeks past white space.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.Peek(1)
		if err != nil {
			return 0, err
		}
		if bytes.IndexByte([]byte(" \t\r\n"), b[0]) < 0 {
			return b[0], nil
		}
		if _, err := in.Discard(1); err != nil {
			return 0, err
		}
	}
}

func (a *answer) readStream(ctx context.Context, events *eventReader) error {
	for {
		ev, err := events.next()
		switch {
		case errors.Is(err, io.EOF) && a.finish == "":
			return a.broken(ctx, errNoEnd)
		case errors.Is(err, io.EOF), err != nil && a.bare && ctx.Err() == nil:
			return a.end(ctx)
		case err != nil && a.bare && errors.Is(context.Cause(ctx), errIdle):
			return a.end(context.WithoutCancel(ctx)) // nothing follows the end reason
		case err != nil:
			return a.broken(ctx, safeCause(err))
		case string(bytes.TrimSpace(ev.data)) == "[DONE]":
			return a.end(ctx)
		case ev.failed:
			return a.broken(ctx, parseError(0, ev.data))
		case len(bytes.TrimSpace(ev.data)) == 0:
			continue
		}
		c, err := decodeChunk(ev.data, false)
		if err == nil {
			err = a.take(ctx, c, events.more())
		}
		if err != nil {
			return a.broken(ctx, err)
		}
	}
}

func (a *answer) readWhole(ctx context.Context, r io.Reader) error {
	data, err := io.ReadAll(outbound.Bounded(r, 8*MaxAnswer, errReplyTooBig))
	if err != nil {
		return readFault(err)
	}
	c, err := decodeChunk(data, true)
	if err != nil {
		return errNotCompletion
	}
	if c.failure == nil && c.choices == 0 {
		return errNotCompletion
	}
	if err := a.take(ctx, c, true); err != nil {
		return err
	}
	return a.end(ctx)
}

// take takes in a chunk. more: the next one is here already. An end reason is kept
// until it shows whether text follows: some servers send one with every chunk.
func (a *answer) take(ctx context.Context, c chunk, more bool) error {
	if c.failure != nil {
		return c.failure
	}
	a.refused = a.refused || c.refused
	a.apart = a.apart || c.reasoning
	text := a.join.push(c.content)
	if text != "" || c.reasoning {
		a.finish = ""
	}
	if c.reasoning || strings.TrimSpace(text) != "" {
		a.watch.heard()
	}
	if err := a.add(ctx, a.reasoning.Push, text, more); err != nil {
		return err
	}
	switch finish := strings.ToLower(c.finish); finish {
	case "":
	case "error", "abort", "cancelled", "canceled": // the text stops short
		return &serverError{word: firstCodeWord(0, []byte(finish))}
	default:
		a.finish, a.bare = finish, len(c.content) == 0 && !c.reasoning
	}
	if a.bare = a.bare && a.finish != ""; a.bare {
		a.watch.ending()
	}
	return nil
}

// add takes text through the rules of inline reasoning and hands on what is the
// answer. The beginning waits as long as more of the reply is here already, and
// where it may be reasoning that has no tag in front: that shows at its end only.
func (a *answer) add(ctx context.Context, filter func(string) (string, bool), piece string, more bool) error {
	text, takenBack := filter(piece)
	if takenBack {
		a.thoughtAloud, a.spoken, a.held = true, false, ""
		if a.bytes > 0 {
			text = answers.ThoughtEnd + text
		}
	}
	a.spoken = a.spoken || strings.TrimSpace(strings.TrimPrefix(text, answers.ThoughtEnd)) != ""
	text = a.held + text
	a.held = ""
	switch {
	case text == "":
		return nil
	case a.bytes+len(text) > MaxAnswer:
		return errReplyTooBig
	case a.bytes == 0 && (more || strings.TrimSpace(text) == "" || a.mayThink(text, false)):
		a.held = text
		return nil
	}
	return a.hand(ctx, text)
}

// mayThink reports whether text, the beginning of the answer, may be reasoning.
func (a *answer) mayThink(text string, whole bool) bool {
	return !a.apart && !a.thoughtAloud && (a.suspect || answers.MayThink(text, whole))
}

// hand emits text, unless ctx has ended.
func (a *answer) hand(ctx context.Context, text string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.bytes += len(text)
	if a.emitErr = a.emit(text); a.emitErr != nil {
		return errEmitStopped
	}
	return nil
}

// broken hands on what is held of an answer that has no orderly end, unless it may be
// reasoning.
func (a *answer) broken(ctx context.Context, fault error) error {
	if a.emitErr == nil && strings.TrimSpace(a.held) != "" && !a.mayThink(a.held, true) {
		if err := a.hand(ctx, a.held); err != nil {
			return err
		}
	}
	return fault
}

// end is the orderly end of the reply, which may have held no text.
func (a *answer) end(ctx context.Context) error {
	reason := endReason(a.finish)
	if a.refused {
		reason = ports.ErrModelRefused
	}
	err := a.add(ctx, func(string) (string, bool) { return a.reasoning.End() }, "", true)
	if held := a.held; err == nil && strings.TrimSpace(held) != "" {
		if errors.Is(reason, ports.ErrModelCut) && a.mayThink(held, true) {
			a.spoken = false // the limit was reached before the reasoning ended
		} else {
			err = a.hand(ctx, held)
		}
	}
	switch {
	case err != nil:
		return err
	case reason != nil && (a.spoken || !errors.Is(reason, ports.ErrModelCut)):
		return fmt.Errorf("%w (finish reason %q)", reason, firstCodeWord(0, []byte(a.finish)))
	case a.spoken:
		return nil
	case a.finish == "":
		return ports.ErrModelEmpty
	}
	return fmt.Errorf("%w (finish reason %q)", ports.ErrModelEmpty, firstCodeWord(0, []byte(a.finish)))
}

// endReason tells what an end reason, in lower case, means for the answer; nil for
// one that was given to its end. Gateways use the words of the services behind them.
func endReason(finish string) error {
	switch finish {
	case "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded":
		return ports.ErrModelCut
	case "content_filter", "content_filtered", "safety", "sensitive", "recitation", "blocklist", "prohibited_content", "spii", "guardrail_intervened":
		return ports.ErrModelFiltered
	case "refusal":
		return ports.ErrModelRefused
	}
	return nil
}

// ended reports whether err is one of an orderly end.
func ended(err error) bool {
	for _, end := range [...]error{ports.ErrModelEmpty, ports.ErrModelCut, ports.ErrModelFiltered, ports.ErrModelRefused} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// readFault words a failed read; an end before the first byte is a cut.
func readFault(err error) error {
	if errors.Is(err, io.EOF) {
		return errNoEnd
	}
	return safeCause(err)
}
