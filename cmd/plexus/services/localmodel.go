package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"plexus/adapters/localmodel"
	"plexus/ports"
)

// keyModel is the setting that names the model the owner took on the page: its
// base URL and its name, one a line.
const keyModel = "model"

// probePatience is how long a client may wait for a look at the models of this
// machine. A look takes a second at most, and there is one a minute at most.
const probePatience = 2 * time.Second

// LocalModel is the model of this machine: the one that the owner chose on the
// page, else the first found one whose server belongs to this account.
type LocalModel struct {
	*localmodel.Auto
	limits localmodel.Limits
	taken  atomic.Pointer[takenModel] // nil: none
}

// takenModel is the model that the owner took.
type takenModel struct {
	*localmodel.Generator
	name, url string
}

// Generate implements ports.Generator.
func (m *LocalModel) Generate(ctx context.Context, prompt ports.Prompt, emit func(text string) error) error {
	if taken := m.taken.Load(); taken != nil {
		return taken.Generate(ctx, prompt, emit)
	}
	return m.Auto.Generate(ctx, prompt, emit)
}

// InUse names the model that the owner took; "" for none.
func (m *LocalModel) InUse() (name, url string) {
	if taken := m.taken.Load(); taken != nil {
		return taken.name, taken.url
	}
	return "", ""
}

// Current gives the models that were found on this machine, and which of them answers:
// the one that the owner took, else the first that is ours; -1 for none of them.
func (m *LocalModel) Current() (found []localmodel.Found, used int) {
	found = m.Found()
	name, url := m.InUse()
	return found, slices.IndexFunc(found, func(f localmodel.Found) bool {
		if name == "" {
			return f.Ours
		}
		return f.Name == name && f.BaseURL == url
	})
}

// Available reports whether there is a model that chats, after a look when none is
// known.
func (m *LocalModel) Available() bool {
	if name, _ := m.InUse(); name != "" {
		return true
	}
	ctx, stop := context.WithTimeout(context.Background(), probePatience)
	defer stop()
	return m.Usable(ctx)
}

// CheckTaken looks at the model that the owner took. Without one there is no error.
func (m *LocalModel) CheckTaken(ctx context.Context) error {
	if taken := m.taken.Load(); taken != nil {
		return taken.Check(ctx)
	}
	return nil
}

// LoadChoice takes the model that the owner has taken before. One that can no longer
// be used is left out.
func (m *LocalModel) LoadChoice(ctx context.Context, settings ports.Settings) error {
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

// Take takes a model that was found on this machine, durably: a model at any other
// address is not taken, and neither is one that does not chat
// (ports.ErrModelUnavailable).
func (m *LocalModel) Take(ctx context.Context, settings ports.Settings, name, baseURL string) error {
	found := m.Found()
	i := slices.IndexFunc(found, func(f localmodel.Found) bool { return f.Name == name && f.BaseURL == baseURL })
	if i < 0 {
		return errors.New("use a model: none of that name was found at that address")
	}
	if err := m.Try(ctx, found[i]); err != nil {
		return fmt.Errorf("use a model: %w", err)
	}
	if err := settings.PutSetting(ctx, keyModel, baseURL+"\n"+name); err != nil {
		return fmt.Errorf("use a model: %w", err)
	}
	return m.use(name, baseURL)
}

func (m *LocalModel) use(name, url string) error {
	model, err := localmodel.New(localmodel.Config{BaseURL: url, Model: name, Limits: m.limits})
	if err != nil {
		return fmt.Errorf("use a model: %w", err)
	}
	if old := m.taken.Swap(&takenModel{model, name, url}); old != nil {
		old.Close()
	}
	return nil
}

// Close drops idle connections.
func (m *LocalModel) Close() {
	if taken := m.taken.Load(); taken != nil {
		taken.Close()
	}
	m.Auto.Close()
}
