package app

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"

	"plexus/cmd/plexus/config"
)

const redacted = "[redacted]"

// newLogger builds the process's logger. Nothing secret is meant to reach it; the
// redaction guards against mistakes.
func newLogger(w io.Writer, cfg config.Log) *slog.Logger {
	var least slog.Level
	if err := least.UnmarshalText([]byte(cfg.Level)); err != nil {
		least = slog.LevelInfo // package config refuses any other word
	}
	opts := &slog.HandlerOptions{Level: least, ReplaceAttr: newRedactor()}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// newRedactor hides attributes whose name says that they are secret or content,
// and keys and tokens inside any text.
func newRedactor() func([]string, slog.Attr) slog.Attr {
	secret := regexp.MustCompile(`anvesha-v1\.[^\s",]+|(?i:bearer\s+)[^\s",]+|\b[0-9a-fA-F]{64}\b`)
	hidden := map[string]bool{
		"token": true, "key": true, "api_key": true, "secret": true, "password": true, "authorization": true,
		"query": true, "question": true, "answer": true, "text": true, "payload": true, "body": true,
		"selection": true, "extract": true, "snippet": true, "title": true,
	}
	return func(_ []string, a slog.Attr) slog.Attr {
		if hidden[strings.ToLower(a.Key)] {
			return slog.String(a.Key, redacted)
		}
		var text string
		switch value := a.Value.Resolve(); value.Kind() {
		case slog.KindString:
			text = value.String()
		case slog.KindDuration:
			return slog.String(a.Key, value.Duration().String()) // JSON would give bare nanoseconds
		case slog.KindAny:
			text = fmt.Sprint(value.Any())
		default:
			return a
		}
		if clean := secret.ReplaceAllString(text, redacted); clean != text {
			return slog.String(a.Key, clean)
		}
		return a
	}
}
