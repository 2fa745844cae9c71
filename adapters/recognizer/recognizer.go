// Package recognizer turns speech into text, by an OpenAI-compatible service
// (OpenAI) or by a program of this machine (Command). Each implements
// ports.Transcriber.
//
// Speech goes to the one that the owner has configured and nowhere else. What
// comes back is text from outside: bounded, made valid UTF-8 and one line. No
// error holds a key, a text or what the other side wrote.
package recognizer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/domain/pcm"
	"plexus/ports"
)

// DefaultTimeout bounds one recognition (nova-transport §16.3).
const DefaultTimeout = 30 * time.Second

// errTooSlow ends a recognition at its own time limit.
var errTooSlow = errors.New("no text came in time")

// transcribe does what every recognizer needs: it checks the samples, applies the
// time limit, cleans the text, and wraps errors as the port asks.
func transcribe(ctx context.Context, limit time.Duration, samples []byte, recognize func(ctx context.Context) (string, error)) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := pcm.Check(samples); err != nil {
		return "", fault(err)
	}
	if len(samples) == 0 {
		return "", nil
	}
	limited, stop := context.WithTimeoutCause(ctx, limit, errTooSlow)
	defer stop()
	text, err := recognize(limited)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && errors.Is(context.Cause(limited), errTooSlow):
		return "", fault(errTooSlow)
	case err != nil:
		return "", fault(err)
	}
	return oneLine(text), nil
}

// fault wraps what went wrong; err has to be a text of this package or of the
// system, never one that quotes the other side.
func fault(err error) error {
	return fmt.Errorf("recognising speech: %w: %w", ports.ErrTranscriberUnavailable, err)
}
