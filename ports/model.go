package ports

import (
	"context"
	"errors"

	"plexus/domain/answers"
)

// Prompt is what a model is asked: instructions that are ours, and one message
// that holds the question and the quoted, untrusted material. A turn of a
// conversation has what was said before it, oldest first: each exchange is a
// message of the user and the model's reply to it, neither empty, and they stand
// between the instructions and the message.
type Prompt struct {
	System  string
	User    string
	History []Exchange
}

// Exchange is one earlier message of the user with the answer to it.
type Exchange = answers.Exchange

// Generator is a model that streams text.
//
// Generate calls emit in order from the calling goroutine, each piece valid
// UTF-8 and not empty, and stops at the first error of emit or when ctx ends
// (then it returns that error; the upstream call is aborted, also before its
// first byte). nil means a complete answer was emitted. It does not change the
// prompt. Reasoning is not emitted. Where it is not known for such before it has
// gone out, answers.ThoughtEnd follows it: answers.Spoken of the text is the answer.
// The errors below can be told apart with errors.Is; their texts name the cause
// for the log and hold no key and no content.
type Generator interface {
	Generate(ctx context.Context, prompt Prompt, emit func(text string) error) error
}

var (
	// ErrNoModel: none is configured or found; nothing was sent anywhere.
	ErrNoModel = errors.New("no model")
	// ErrModelUnavailable: the model did not answer; nothing was emitted.
	ErrModelUnavailable = errors.New("model unavailable")
	// ErrModelInterrupted: the stream broke off after something was emitted.
	ErrModelInterrupted = errors.New("model interrupted")
	// ErrModelEmpty: it ended without text, for instance after only reasoning.
	ErrModelEmpty = errors.New("model gave no answer")
	// ErrModelCut: what was emitted ends at the model's limit of tokens.
	ErrModelCut = errors.New("answer cut at the model's limit")
	// ErrModelFiltered: a filter of the service ended the answer, also before its
	// first word.
	ErrModelFiltered = errors.New("answer stopped by a filter")
	// ErrModelRefused: the model will not answer; what was emitted may say why.
	ErrModelRefused = errors.New("model refused to answer")
)

// EndNotice gives the sentence that says how a model's answer ended; 0 for an error
// that is none of an end, such as ErrModelUnavailable, and for nil.
func EndNotice(err error) answers.NoticeKind {
	switch {
	case errors.Is(err, ErrModelEmpty):
		return answers.ModelEmpty
	case errors.Is(err, ErrModelCut):
		return answers.Cut
	case errors.Is(err, ErrModelFiltered):
		return answers.Filtered
	case errors.Is(err, ErrModelRefused):
		return answers.Refused
	}
	return 0
}

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

// ErrTranscriberUnavailable: the recognizer did not answer, or not with a text.
var ErrTranscriberUnavailable = errors.New("recogniser unavailable")

// VoiceRuntime speaks and listens for one conversation at a time.
//
// StartVoice returns when speaking and listening have begun, or with the error for
// which they have not. ctx bounds the start alone: a start that ctx ends early is
// given up; a voice that has started goes on after ctx. stop ends it and waits
// until it has ended; it is called once.
type VoiceRuntime interface {
	StartVoice(ctx context.Context, conversationID string) (stop func(), err error)
}
