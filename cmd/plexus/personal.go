package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plexus/cmd/plexus/config"
	"plexus/domain/answers"
	"plexus/domain/usecases/personal"
	"plexus/ports"
)

// probePatience is how long a client may wait for a look at the models of this
// machine. A look takes a second at most, and there is one a minute at most.
const probePatience = 2 * time.Second

// newPersonal builds the personal host. Its turns share the limits of h.
func newPersonal(ctx context.Context, cfg config.Config, services *services, store *store, h nerveHost, log *slog.Logger) (*personal.Host, error) {
	deps := personal.Deps{
		Store: store.Personal(), Archive: store.Personal(), Settings: store.Settings(),
		Find: h.Find, Transcriber: services.recognizer,
		Random: rand.Reader, Now: time.Now,
		Within: context.WithTimeout,
		After:  func(wait time.Duration, call func()) func() bool { return time.AfterFunc(wait, call).Stop },
		Log:    log,
	}
	if services.model != nil {
		deps.Model = h
	}
	if services.auto != nil {
		deps.HasModel = services.auto.known
	}
	p, err := personal.New(ctx, deps, personal.Options{
		InputInstanceID: newUUID(), Language: answers.Language(cfg.Language), TimeZone: timeZone(), MaxPrompt: cfg.Limits.Prompt,
		MaxTopics: cfg.Conversations.Topics, TopicAge: time.Duration(cfg.Conversations.TopicDays) * 24 * time.Hour,
		Record: cfg.Conversations.RecordBrowser, RecordFixed: cfg.Conversations.RecordFrom != "",
	})
	if err != nil {
		return nil, fmt.Errorf("building the host: %w", err)
	}
	return p, nil
}

// recorder hands what the browser asks to the personal host. That needs the host
// of questions, which needs the recorder: so it is told last, before anything is
// served.
type recorder struct{ *personal.Host }

var _ ports.AnswerRecorder = (*recorder)(nil)

// timeZone is the IANA name of this machine's zone, or "" when it has none.
func timeZone() string {
	if name := strings.TrimPrefix(os.Getenv("TZ"), ":"); name != "" {
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	const marker = "/zoneinfo/"
	if path, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if i := strings.Index(path, marker); i >= 0 {
			return path[i+len(marker):]
		}
	}
	return ""
}
