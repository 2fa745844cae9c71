package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"plexus/adapters/adminapi"
	"plexus/adapters/recognizer"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/doctor"
)

func (s *services) addRecognizer(cfg config.Recognizer) error {
	switch cfg.Kind {
	case "openai":
		service, err := recognizer.NewOpenAI(recognizer.Config{
			BaseURL: cfg.BaseURL, Model: cfg.Name, Key: cfg.Key, AllowPlainHTTP: cfg.PlainHTTP,
		})
		if err != nil {
			return fmt.Errorf("recognizer.kind openai: %w", err)
		}
		s.recognizer, s.hears = service, service.Check
		s.close.add(func() error { service.Close(); return nil })
	case "command":
		command, err := recognizer.NewCommand(cfg.Command, cfg.Dir)
		if err != nil {
			return fmt.Errorf("recognizer.kind command: %w", err)
		}
		s.recognizer, s.hears = command, command.Check
	}
	return nil
}

// dictationConfig are the lines of the configuration that switch dictation on,
// for a program that many have.
const dictationConfig = `[recognizer]
kind = "command"
command = ["whisper-cli", "-m", "/path/to/ggml-base.bin", "-l", "auto", "-nt", "-np", "-f"]
`

// recognizerStatus looks whether the recogniser can be used. What phones are
// offered is for offer to say, once the model is known too.
func (i *instance) recognizerStatus(ctx context.Context) adminapi.Recognizer {
	cfg := i.opts.cfg.Recognizer
	r := adminapi.Recognizer{Service: adminapi.Service{Kind: cfg.Kind, URL: cfg.BaseURL}, Name: cfg.Name}
	if cfg.Kind == "command" {
		r.Name = filepath.Base(cfg.Command[0])
	}
	if i.services.recognizer == nil {
		r.Reach = adminapi.Off
		return r
	}
	reached(&r.Service, within(ctx, i.services.hears))
	return r
}

// offer adds what phones are offered with that model (decision K10), and what
// switches on the rest.
func offer(r *adminapi.Recognizer, m adminapi.Model) {
	r.TextInput = hasModel(m)
	r.Dictation = r.TextInput && r.Reach != adminapi.Off
	if r.TextInput && !r.Dictation {
		r.Config = dictationConfig
	}
}

// hasModel: there is one, although it may not answer just now.
func hasModel(m adminapi.Model) bool {
	return m.Reach == adminapi.Reachable || m.Reach == adminapi.Unreachable
}

func recognizerText(r adminapi.Recognizer) string {
	switch {
	case r.Reach == adminapi.Off:
		return "off (recognizer.kind is none)"
	case r.Kind == "command" && r.Reach == adminapi.Unreachable:
		return r.Name + ": cannot be used: " + r.Problem
	case r.Kind == "command":
		return r.Name + ": can be used"
	}
	return r.Name + ", " + serviceText(r.Service)
}

// offered says what phones get, and how they get the rest.
func (b *page) offered(r adminapi.Recognizer) {
	switch {
	case r.Dictation:
		b.line("", "phones are offered text and dictation")
	case !r.TextInput:
		b.line("", "phones are offered neither text nor dictation, because there is no model")
	default:
		b.line("", "%s. To switch it on, put into the configuration:", doctor.TextNeedsDictation)
		for line := range strings.Lines(r.Config) {
			b.line("", "    %s", strings.TrimSuffix(line, "\n"))
		}
	}
}
