package nerve_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/admission"
	"plexus/domain/host"
	"plexus/domain/sessions"
	"plexus/ports"
)

// hookedRegistry runs hook once between a look-up and whatever follows it, which
// is the moment that a race would have to hit.
type hookedRegistry struct {
	ports.ExtensionRegistry
	hook func()
}

func (r *hookedRegistry) FindExtension(ctx context.Context, origin string, key admission.KeyHash) (admission.Extension, error) {
	row, err := r.ExtensionRegistry.FindExtension(ctx, origin, key)
	if hook := r.hook; hook != nil {
		r.hook = nil
		hook()
	}
	return row, err
}

// heldLink records why it was closed.
type heldLink struct {
	mu     sync.Mutex
	reason sessions.CloseReason
}

func (l *heldLink) Close(reason sessions.CloseReason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reason = reason
}

// hourlyHost is a host whose clock moves an hour with every look at it, so that
// each visit is stored.
func hourlyHost(t *testing.T, registry *hookedRegistry) *host.Host {
	t.Helper()
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	h, err := host.New(host.Deps{
		Extensions: registry, Token: keeper{}, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { now = now.Add(time.Hour); return now },
	}, host.Options{TokenHash: admission.HashKey(token)})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestD6_AVisitDoesNotUndoARemoval: the owner removes a row just as its extension
// comes by; storing the visit must not store the old decision with it.
func TestD6_AVisitDoesNotUndoARemoval(t *testing.T) {
	for name, c := range map[string]struct {
		key    string
		before admission.State
	}{
		"by key":   {keyOf(0), admission.Allowed},
		"by token": {token, admission.ByToken},
	} {
		t.Run(name, func(t *testing.T) {
			registry := &hookedRegistry{ExtensionRegistry: memory.NewExtensions()}
			h := hourlyHost(t, registry)
			knock := admission.Knock{Origins: []string{ourOrigin}, Protocols: []string{"anvesha-v1." + c.key}}
			h.Admit(t.Context(), knock)
			rows, err := h.Extensions(t.Context())
			if err != nil || len(rows) != 1 {
				t.Fatalf("rows %+v (%v)", rows, err)
			}
			allow(t, h, rows[0].ID)
			registry.hook = func() { remove(t, h, rows[0].ID) }
			if v := h.Admit(t.Context(), knock); v.Admitted {
				link := &heldLink{}
				if _, ok := h.Attach(t.Context(), v, link); ok && link.reason != sessions.ExtensionRemoved {
					t.Error("a removed extension is inside")
				}
			}
			if rows, err = h.Extensions(t.Context()); err != nil || rows[0].State != admission.Blocked {
				t.Errorf("the row is %q (%v), want blocked", rows[0].State, err)
			}
			if v := h.Admit(t.Context(), knock); v.Admitted {
				t.Error("a removed extension comes in again")
			}
		})
	}
}
