package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"plexus/adapters/localmodel"
	"plexus/ports"
)

// keyModel is the setting that names the model the owner took on the page: its
// base URL and its name, one a line.
const keyModel = "model"

// localModel is the model of this machine: the one that the owner took on the
// page, else the one that is found and ours.
type localModel struct {
	*localmodel.Auto
	limits localmodel.Limits

	mu    sync.Mutex
	taken *localmodel.Generator // nil: none
	name  string
	url   string
}

// Generate implements ports.Generator.
func (m *localModel) Generate(ctx context.Context, prompt ports.Prompt, emit func(text string) error) error {
	m.mu.Lock()
	taken := m.taken
	m.mu.Unlock()
	if taken != nil {
		return taken.Generate(ctx, prompt, emit)
	}
	return m.Auto.Generate(ctx, prompt, emit)
}

// inUse names the model that the owner took; "" for none.
func (m *localModel) inUse() (name, url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.name, m.url
}

// known reports whether there is a model to ask, after a look when none is known.
func (m *localModel) known() bool {
	if name, _ := m.inUse(); name != "" {
		return true
	}
	ctx, stop := context.WithTimeout(context.Background(), probePatience)
	defer stop()
	_ = m.Probe(ctx) // without a look in time there is none
	return slices.ContainsFunc(m.Found(), func(f localmodel.Found) bool { return f.Ours })
}

// adopt takes the model that the owner has taken before. One that can no longer
// be used is left out.
func (m *localModel) adopt(ctx context.Context, settings ports.Settings) error {
	stored, err := settings.Settings(ctx)
	if err != nil {
		return fmt.Errorf("load settings: %w", err)
	}
	url, name, ok := strings.Cut(stored[keyModel], "\n")
	if !ok {
		return nil
	}
	return m.use(name, url)
}

func (m *localModel) use(name, url string) error {
	taken, err := localmodel.New(localmodel.Config{BaseURL: url, Model: name, Limits: m.limits})
	if err != nil {
		return fmt.Errorf("use a model: %w", err)
	}
	m.mu.Lock()
	old := m.taken
	m.taken, m.name, m.url = taken, name, url
	m.mu.Unlock()
	if old != nil {
		old.Close()
	}
	return nil
}

// Close drops idle connections.
func (m *localModel) Close() {
	m.mu.Lock()
	taken := m.taken
	m.mu.Unlock()
	if taken != nil {
		taken.Close()
	}
	m.Auto.Close()
}
