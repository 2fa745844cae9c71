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
	"plexus/ports"
)

var errEmitStopped = errors.New("the reader of the answer stopped")

// answer parses one reply and emits its text.
type answer struct {
	emit         func(string) error
	emitErr      error // what emit returned, as it is
	join         joiner
	leadingSpace []byte // white space that no text has followed yet
	bytes        int    // of text handed on
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
		case errors.Is(err, io.EOF):
			return errNoEnd
		case err != nil:
			return safeCause(err)
		case string(bytes.TrimSpace(ev.data)) == "[DONE]":
			return a.end("")
		case ev.failed:
			return parseError(0, ev.data)
		case len(bytes.TrimSpace(ev.data)) == 0:
			continue
		}
		c, err := decodeChunk(ev.data, false)
		if err != nil {
			return err
		}
		if done, err := a.take(ctx, c); done || err != nil {
			return err
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
	if done, err := a.take(ctx, c); done || err != nil {
		return err
	}
	return a.end("")
}

// take emits the text of a chunk; done when the chunk was the last.
func (a *answer) take(ctx context.Context, c chunk) (done bool, err error) {
	if c.failure != nil {
		return false, c.failure
	}
	if err := a.emitText(ctx, a.join.push(c.content)); err != nil {
		return false, err
	}
	switch c.finish {
	case "":
		return false, nil
	case "error", "abort", "cancelled", "content_filter": // the text stops short
		return false, &serverError{word: firstCodeWord(0, []byte(c.finish))}
	}
	return true, a.end(c.finish)
}

// emitText emits text. White space at the beginning waits for what follows it: alone,
// as some models leave it after their reasoning, it is no answer.
func (a *answer) emitText(ctx context.Context, text string) error {
	switch {
	case text == "":
		return nil
	case a.bytes+len(a.leadingSpace)+len(text) > MaxAnswer:
		return errReplyTooBig
	case a.bytes == 0 && strings.TrimSpace(text) == "":
		a.leadingSpace = append(a.leadingSpace, text...)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	text = string(a.leadingSpace) + text
	a.leadingSpace = nil
	a.bytes += len(text)
	if a.emitErr = a.emit(text); a.emitErr != nil {
		return errEmitStopped
	}
	return nil
}

// end is the orderly end of the reply, which may have held no text.
func (a *answer) end(finish string) error {
	switch {
	case a.bytes > 0:
		return nil
	case finish == "":
		return ports.ErrModelEmpty
	}
	return fmt.Errorf("%w (finish reason %q)", ports.ErrModelEmpty, firstCodeWord(0, []byte(finish)))
}

// readFault words a failed read; an end before the first byte is a cut.
func readFault(err error) error {
	if errors.Is(err, io.EOF) {
		return errNoEnd
	}
	return safeCause(err)
}
