package app

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plexus/adapters/sqlite"
	"plexus/domain/answers"
	"plexus/domain/nova"
	"plexus/ports"
	"plexus/usecases/ask"
	"plexus/usecases/personal"
	"plexus/usecases/personal/choice"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/topics"
)

// hostedGenerations is the default against a model on another machine.
const hostedGenerations = 8

// newQuestions builds the service that answers questions. keep records them.
func (p *process) newQuestions(keep ports.AnswerRecorder) (*ask.Service, error) {
	cfg := p.opts.Config
	deps := ask.Deps{Search: p.services.Search, Model: p.services.Model, Recorder: keep, Now: p.env.Now, Log: p.log}
	if cfg.UsesIndex() {
		deps.Index = p.store.Pages()
	}
	generations := cfg.Limits.Generations
	if generations == 0 && p.services.Model != nil && !p.services.IsLocal {
		generations = hostedGenerations
	}
	return ask.New(deps, ask.Options{
		Language: answers.Language(cfg.OwnLanguage()), NoAnswers: cfg.Model.Kind == "none", IndexShared: cfg.Index.Shared,
		MaxSearches: cfg.Limits.Searches, MaxGenerations: generations, MaxPrompt: cfg.Limits.Prompt,
	})
}

// newPersonal builds the personal host. Its turns share the limits of questions.
func (p *process) newPersonal(ctx context.Context) (*personal.Host, error) {
	cfg := p.opts.Config
	deps := personal.Deps{
		Services: hub.Services{
			Store: p.store.Personal(), Random: rand.Reader, Now: p.env.Now, Within: context.WithTimeout,
			After: func(wait time.Duration, call func()) func() bool { return time.AfterFunc(wait, call).Stop }, Log: p.log,
			NoRoom: func(err error) bool { return errors.Is(err, sqlite.ErrDiskFull) },
		},
		Archive: p.store.Personal(), Settings: p.store.Settings(), Index: p.store.Pages(), Find: p.questions.Find, Transcriber: p.services.Recognizer,
	}
	if p.services.Search != nil {
		deps.Search = p.questions.Search
	}
	if p.services.Model != nil {
		deps.Model = p.questions
	}
	if p.services.Local != nil {
		deps.HasModel = p.services.Local.Available
	}
	return personal.New(ctx, deps, personal.Options{
		InputInstanceID: newUUID(), Language: answers.Language(cfg.PhoneLanguage()), PageLanguage: nova.Language(cfg.OwnLanguage()), TimeZone: timeZone(), MaxPrompt: cfg.Limits.Prompt,
		Searches: choice.Start{On: cfg.Search.Conversations, Fixed: cfg.Search.ConversationsFrom != ""},
		Topics: topics.Options{
			MaxTopics:   cfg.Conversations.Topics,
			NoPageIndex: !cfg.UsesIndex(), Record: cfg.Conversations.RecordBrowser, RecordFixed: cfg.Conversations.RecordFrom != "",
		},
	})
}

// recorder hands what the browser asks to the personal host. The personal host
// needs the service of questions, which needs the recorder; so the recorder gets
// the host last, before anything is served.
type recorder struct{ *topics.Topics }

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
