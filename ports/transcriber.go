package ports

import (
	"context"
	"errors"
)

// Transcriber turns speech into text.
//
// Transcribe takes 16 kHz mono PCM16, little endian, at most 60 s of it, and does
// not keep it. It returns at once when ctx ends, with ctx's error, and leaves
// nothing running. Speech in which no word was found is "" without an error.
// Faults wrap ErrTranscriberUnavailable; their texts name the cause for the log
// and hold no key and nothing that was said.
type Transcriber interface {
	Transcribe(ctx context.Context, pcm []byte) (text string, err error)
}

// ErrTranscriberUnavailable: the recogniser did not answer, or not with a text.
var ErrTranscriberUnavailable = errors.New("recogniser unavailable")

// VoiceRuntime speaks and listens for one conversation at a time.
//
// StartVoice returns once it does, or with why it does not. stop ends it, is
// called once, and waits.
type VoiceRuntime interface {
	StartVoice(ctx context.Context, conversationID string) (stop func(), err error)
}
