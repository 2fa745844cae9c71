package status

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"plexus/adapters/localmodel"
	"plexus/cmd/plexus/config"
	"plexus/cmd/plexus/services"
)

// probeLimit bounds one look at a service.
const probeLimit = 2 * time.Second

// Probes are what one look at the services has seen.
type Probes struct {
	Search     Service
	Model      Model
	Recognizer Recognizer
}

// Probe looks at all services at the same time, which takes a few seconds at most.
func Probe(ctx context.Context, cfg config.Config, s *services.Services) (seen Probes) {
	var looking sync.WaitGroup
	looking.Go(func() { seen.Model, seen.Recognizer = ProbeSpeech(ctx, cfg, s) })
	seen.Search = Service{Kind: cfg.Search.Kind, URL: cfg.Search.URL}
	switch {
	case cfg.Search.Kind == "none":
		seen.Search.Reach = Off
	case s.WarmSearch == nil:
		seen.Search.Reach = BuiltIn
	default:
		seen.Search.try(ctx, s.WarmSearch)
	}
	looking.Wait()
	return seen
}

// dictationConfig are the lines of the configuration that switch dictation on,
// for a program that many have.
const dictationConfig = `[recognizer]
kind = "command"
command = ["whisper-cli", "-m", "/path/to/ggml-base.bin", "-l", "auto", "-nt", "-np", "-f"]
`

// ProbeSpeech looks at what phones are offered: the model, and the recognizer with
// it (decision K10).
func ProbeSpeech(ctx context.Context, cfg config.Config, s *services.Services) (m Model, r Recognizer) {
	var looking sync.WaitGroup
	looking.Go(func() { m = probeModel(ctx, cfg.Model, s) })
	r = Recognizer{Service: Service{Kind: cfg.Recognizer.Kind, URL: cfg.Recognizer.BaseURL, Reach: Off}, Name: cfg.Recognizer.Name}
	if r.Kind == "command" {
		r.Name = filepath.Base(cfg.Recognizer.Command[0])
	}
	if s.Recognizer != nil {
		r.try(ctx, s.CheckRecognizer)
	}
	looking.Wait()
	// There is a model, although it may not answer just now.
	r.TextInput = m.Reach == Reachable || m.Reach == Unreachable
	r.Dictation = r.TextInput && r.Reach != Off
	if r.TextInput && !r.Dictation {
		r.Config = dictationConfig
	}
	return m, r
}

func probeModel(ctx context.Context, cfg config.Model, s *services.Services) Model {
	m := Model{Service: Service{Kind: cfg.Kind, URL: cfg.BaseURL}, Name: cfg.Name}
	switch {
	case cfg.Kind == "none":
		m.Reach = Off
	case s.Model == nil:
		m.Reach = BuiltIn
	case s.Local != nil:
		m.try(ctx, s.Local.Probe) // its problem is told, whatever was found before
		looking, stop := context.WithTimeout(ctx, probeLimit)
		s.Local.Usable(looking)
		stop()
		m.Reach = NotFound
		found, used := s.Local.Current()
		for i, f := range found {
			if i == used {
				m.Reach, m.Name, m.URL = Reachable, f.Name, f.BaseURL
			}
			m.Found = append(m.Found, FoundModel{
				Name: f.Name, BaseURL: f.BaseURL, Server: f.Server, Used: i == used, Config: f.ConfigLines(),
			})
		}
		for _, p := range s.Local.PassedOver() {
			m.PassedOver = append(m.PassedOver, PassedModel{Name: p.Name, Server: p.Server, Cause: p.Cause})
		}
		if name, address := s.Local.InUse(); name != "" {
			m.Name, m.URL = name, address
			m.try(ctx, s.Local.CheckTaken)
		}
	default:
		m.try(ctx, s.CheckModel)
	}
	return m
}

// try looks whether the service answers in time, by asking it as a question would.
func (s *Service) try(ctx context.Context, look func(context.Context) error) {
	ctx, stop := context.WithTimeout(ctx, probeLimit)
	defer stop()
	s.Reach = Reachable
	err := look(ctx)
	if err == nil {
		return
	}
	s.Problem = err.Error()
	if !errors.Is(err, localmodel.ErrDoubtful) {
		s.Reach = Unreachable
	}
}
