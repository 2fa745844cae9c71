package nerve_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/admission"
	"plexus/domain/sessions"
	"plexus/ports"
	"plexus/usecases/browsers"
)

// hookedRegistry runs hook once between a look-up and whatever follows it, which
// is the moment that a race would have to hit.
type hookedRegistry struct {
	ports.ExtensionRegistry
	hook    func()
	lookups int
}

func (r *hookedRegistry) FindExtension(ctx context.Context, origin string, key admission.KeyHash) (admission.Extension, error) {
	row, err := r.ExtensionRegistry.FindExtension(ctx, origin, key)
	r.lookups++
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
func hourlyHost(t *testing.T, registry *hookedRegistry) *browsers.Registry {
	t.Helper()
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	h, err := browsers.New(browsers.Deps{
		Extensions: registry, Token: keeper{}, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { now = now.Add(time.Hour); return now },
	}, browsers.Options{TokenHash: admission.HashKey(token)})
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
			request := admission.HandshakeRequest{Origins: []string{ourOrigin}, Protocols: []string{"anvesha-v1." + c.key}}
			h.Admit(t.Context(), request)
			rows, err := h.Extensions(t.Context())
			if err != nil || len(rows) != 1 {
				t.Fatalf("rows %+v (%v)", rows, err)
			}
			allow(t, h, rows[0].ID)
			registry.hook = func() { remove(t, h, rows[0].ID) }
			if v := h.Admit(t.Context(), request); v.Admitted {
				link := &heldLink{}
				if _, ok := h.Attach(t.Context(), v, link); ok && link.reason != sessions.ExtensionRemoved {
					t.Error("a removed extension is inside")
				}
			}
			if rows, err = h.Extensions(t.Context()); err != nil || rows[0].State != admission.Blocked {
				t.Errorf("the row is %q (%v), want blocked", rows[0].State, err)
			}
			if v := h.Admit(t.Context(), request); v.Admitted {
				t.Error("a removed extension comes in again")
			}
		})
	}
}

// TestD6_AttachSeesWhatChangedSinceTheVerdict: between a verdict and its link lies
// the upgrade, which a slow peer can draw out.
func TestD6_AttachSeesWhatChangedSinceTheVerdict(t *testing.T) {
	byKey := admission.HandshakeRequest{Origins: []string{ourOrigin}, Protocols: []string{"anvesha-v1." + keyOf(0)}}
	byToken := admission.HandshakeRequest{Origins: []string{ourOrigin}, Protocols: []string{"anvesha-v1." + token}}
	tool := admission.HandshakeRequest{Protocols: []string{"anvesha-v1." + token}}
	forget := func(t *testing.T, h *browsers.Registry, id int64) {
		if err := h.ForgetExtension(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	rotate := func(t *testing.T, h *browsers.Registry, _ int64) {
		if err := h.RotateToken(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	nothing := func(*testing.T, *browsers.Registry, int64) {}
	elsewhere := func(t *testing.T, h *browsers.Registry, _ int64) { remove(t, h, 2) }
	for _, c := range []struct {
		name    string
		request admission.HandshakeRequest
		change  func(*testing.T, *browsers.Registry, int64)
		inside  bool
	}{
		{"key, nothing", byKey, nothing, true},
		{"key, another removed", byKey, elsewhere, true},
		{"key, removed", byKey, remove, false},
		{"key, forgotten", byKey, forget, false},
		{"key, token rotated", byKey, rotate, true},
		{"token, nothing", byToken, nothing, true},
		{"token, removed", byToken, remove, false},
		{"token, forgotten", byToken, forget, false},
		{"token, rotated", byToken, rotate, false},
		{"tool, another removed", tool, elsewhere, true},
		{"tool, rotated", tool, rotate, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hourlyHost(t, &hookedRegistry{ExtensionRegistry: memory.NewExtensions()})
			other := admission.HandshakeRequest{Origins: []string{otherOrigin}, Protocols: byKey.Protocols}
			first := c.request
			if len(first.Origins) == 0 {
				first = byKey // a tool has no row
			}
			for id, request := range []admission.HandshakeRequest{first, other} {
				h.Admit(t.Context(), request)
				allow(t, h, int64(id+1))
			}
			v := h.Admit(t.Context(), c.request)
			if !v.Admitted {
				t.Fatalf("refused: %s", v.Cause)
			}
			c.change(t, h, v.Peer.RowID)
			detach, ok := h.Attach(t.Context(), v, &heldLink{})
			if ok != c.inside {
				t.Errorf("inside: %v, want %v", ok, c.inside)
			}
			if ok {
				detach()
			}
			if n := h.LiveConnections(); n != 0 {
				t.Errorf("%d links are left", n)
			}
		})
	}
}

// TestD6_OneRequestLooksUpFewKeys: a header holds hundreds of keys, and each
// look-up is a question to the disk.
func TestD6_OneRequestLooksUpFewKeys(t *testing.T) {
	registry := &hookedRegistry{ExtensionRegistry: memory.NewExtensions()}
	h := hourlyHost(t, registry)
	var keys []string
	for n := range 200 {
		keys = append(keys, "anvesha-v1."+keyOf(n))
	}
	h.Admit(t.Context(), admission.HandshakeRequest{Origins: []string{ourOrigin}, Protocols: keys})
	if registry.lookups == 0 || registry.lookups > 8 {
		t.Errorf("%d look-ups for one request", registry.lookups)
	}
}
