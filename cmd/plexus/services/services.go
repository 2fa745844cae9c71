// Package services builds what the host calls out to over the network: the search
// service, the model and the recognizer.
package services

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"plexus/adapters/localmodel"
	"plexus/adapters/recognizer"
	"plexus/adapters/searchapi"
	"plexus/cmd/plexus/config"
	"plexus/ports"
)

// Services are what the host calls out to over the network.
type Services struct {
	Search     ports.SearchProvider            // nil: none
	WarmSearch func(ctx context.Context) error // connects to it; nil: none

	Model      ports.Generator                 // nil: none
	CheckModel func(ctx context.Context) error // whether it answers; nil: none, or it is in Local
	Local      *LocalModel                     // nil unless model.kind is auto
	IsLocal    bool                            // it runs on this machine, so for two questions at once; a hosted one takes more

	Recognizer      ports.Transcriber               // nil: none
	CheckRecognizer func(ctx context.Context) error // whether it can be used; nil: none

	closers []func()
}

// Build checks the settings of search, model and recognizer, all faults together, and
// sends nothing.
func Build(cfg config.Config, log *slog.Logger) (*Services, error) {
	s := &Services{}
	err := errors.Join(s.addSearch(cfg, log), s.addModel(cfg, log), s.addRecognizer(cfg.Recognizer))
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close drops idle connections.
func (s *Services) Close() {
	for _, f := range s.closers {
		f()
	}
}

func (s *Services) addSearch(cfg config.Config, log *slog.Logger) error {
	settings := searchapi.Config{
		BaseURL: cfg.Search.URL, Key: cfg.Search.Key, Cache: true,
		ConnectTimeout: cfg.Limits.SearchConnect, Timeout: cfg.Limits.SearchTotal,
		Log: log, Now: time.Now,
	}
	var search *searchapi.Service
	var err error
	switch cfg.Search.Kind {
	case "anvesha":
		search, err = searchapi.NewAnvesha(settings)
	case "searxng":
		search, err = searchapi.NewSearXNG(settings)
	case "brave":
		search, err = searchapi.NewBrave(settings)
	default:
		return nil // the page index alone, or nothing
	}
	if err != nil {
		return fmt.Errorf("search.kind %s: %w", cfg.Search.Kind, err)
	}
	s.Search, s.WarmSearch = search, search.Warm
	s.closers = append(s.closers, search.Close)
	return nil
}

func (s *Services) addModel(cfg config.Config, log *slog.Logger) error {
	wait := localmodel.Limits{FirstWord: cfg.Limits.ModelFirstByte, Idle: cfg.Limits.ModelBetween, Total: cfg.Limits.ModelTotal}
	switch cfg.Model.Kind {
	case "auto":
		auto, err := localmodel.NewAuto(localmodel.AutoConfig{Limits: wait, Now: time.Now, Log: log})
		if err != nil {
			return fmt.Errorf("model.kind auto: %w", err)
		}
		local := &LocalModel{Auto: auto, limits: wait}
		s.Model, s.Local, s.IsLocal = local, local, true
		s.closers = append(s.closers, local.Close)
	case "openai":
		model, err := localmodel.New(localmodel.Config{
			BaseURL: cfg.Model.BaseURL, Model: cfg.Model.Name, Key: cfg.Model.Key,
			AllowPlainHTTP: cfg.Model.PlainHTTP, Limits: wait,
		})
		if err != nil {
			return fmt.Errorf("model.kind openai: %w", err)
		}
		s.Model, s.CheckModel, s.IsLocal = model, model.Check, model.IsLocal()
		s.closers = append(s.closers, model.Close)
	}
	return nil
}

func (s *Services) addRecognizer(cfg config.Recognizer) error {
	switch cfg.Kind {
	case "openai":
		service, err := recognizer.NewOpenAI(recognizer.Config{
			BaseURL: cfg.BaseURL, Model: cfg.Name, Key: cfg.Key, AllowPlainHTTP: cfg.PlainHTTP,
		})
		if err != nil {
			return fmt.Errorf("recognizer.kind openai: %w", err)
		}
		s.Recognizer, s.CheckRecognizer = service, service.Check
		s.closers = append(s.closers, service.Close)
	case "command":
		command, err := recognizer.NewCommand(cfg.Command, cfg.Dir)
		if err != nil {
			return fmt.Errorf("recognizer.kind command: %w", err)
		}
		s.Recognizer, s.CheckRecognizer = command, command.Check
	}
	return nil
}
