// Package pcm knows the one form of speech that phones send: 16 kHz, mono,
// 16 bits signed, little endian. It writes it to WAV files and reads it back.
package pcm

import (
	"errors"
	"fmt"
	"time"
)

const (
	// Rate is in samples a second.
	Rate = 16_000
	// BytesPerSecond of speech; a sample has two.
	BytesPerSecond = 2 * Rate
	// MaxSpeech bounds what is recognized at once: 60 s, in bytes
	// (nova-transport §16.3).
	MaxSpeech = 60 * BytesPerSecond
)

// What is wrong with samples.
var (
	ErrHalfSample = errors.New("the speech ends within a sample")
	ErrTooLong    = fmt.Errorf("the speech is longer than %d s", MaxSpeech/BytesPerSecond)
)

// Check refuses what is no speech of 0…MaxSpeech bytes in whole samples.
func Check(samples []byte) error {
	switch {
	case len(samples)%2 != 0:
		return ErrHalfSample
	case len(samples) > MaxSpeech:
		return ErrTooLong
	}
	return nil
}

// Duration of so many bytes of speech.
func Duration(bytes int) time.Duration {
	return time.Duration(bytes) * time.Second / BytesPerSecond
}
