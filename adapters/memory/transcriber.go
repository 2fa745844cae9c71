package memory

import (
	"context"
	"slices"
	"strings"

	"plexus/ports"
)

var _ ports.Transcriber = (*Transcriber)(nil)

// Transcriber hears the same text in every speech. Set the fields before the
// first call; calls may be concurrent.
type Transcriber struct {
	Text string                          // white space around it is taken off
	Err  error                           // in place of the text
	Wait func(ctx context.Context) error // before it answers; its error ends the call; nil: no wait

	calls recorder[[]byte]
}

// Transcribe implements ports.Transcriber, but for keeping copies of the speech.
func (s *Transcriber) Transcribe(ctx context.Context, pcm []byte) (string, error) {
	s.calls.add(slices.Clone(pcm))
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if s.Wait != nil {
		if err := s.Wait(ctx); err != nil {
			return "", err
		}
	}
	if s.Err != nil {
		return "", s.Err
	}
	return strings.TrimSpace(s.Text), nil
}

// Calls gives the speech of the first 1024 calls in order of arrival.
func (s *Transcriber) Calls() [][]byte { return s.calls.all() }
