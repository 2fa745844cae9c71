// Package presentation knows how each client shows the host: presentation.*, and
// the member presentation_mode of the owner's page (nova-personal §8.1).
package presentation

import (
	"context"
	"errors"
	"sync"

	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/params"
	"plexus/usecases/personal/stored"
	"plexus/usecases/personal/tasks"
)

// identityKind is the kind of the records that reserve a request of
// presentation.set: its receipt's key → its fingerprint.
const (
	identityKind  = "handback"
	maxIdentities = 256
)

// Presentation is the modes of the clients that have set one.
type Presentation struct {
	hub *hub.Hub

	mu    sync.Mutex
	modes map[*hub.Client]workbench.Mode
}

// New makes it.
func New(h *hub.Hub) *Presentation {
	return &Presentation{hub: h, modes: map[*hub.Client]workbench.Mode{}}
}

// Area is what the hub has to know of it.
func (p *Presentation) Area() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "presentation.set", Phone: true, PerClient: true, RetriesRefusals: true, Do: hub.Mutate(p.set)},
			{Method: "presentation.seen", Phone: true, Do: hub.Apply(p.seen)},
		},
		Members: []hub.Member{{Name: "presentation_mode", Desktop: func(_ ports.PersonalView, c *hub.Client) (hub.Value, error) {
			return Value(p.Mode(c)), nil
		}}},
		Leave: func(c *hub.Client) {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.modes, c)
		},
	}
}

// Value is the member presentation_mode.
func Value(m workbench.Mode) hub.Value {
	return hub.Value{Fixed: workbench.OptionalText(string(m))}
}

// Mode is how a client shows the host; "" when it has not said.
func (p *Presentation) Mode(c *hub.Client) workbench.Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.modes[c]
}

// Mode is the parameters of presentation.set.
type Mode struct{ Mode workbench.Mode }

// Seen is the parameters of presentation.seen.
type Seen struct{ ApprovalID, ConversationID, ProposalID string }

func (p *Mode) Read(f *jsonform.Form) {
	jsonform.Choice(f, "mode", jsonform.Required, &p.Mode, workbench.ModeBackground, workbench.ModeWorkbench, workbench.ModeOrb)
}

func (p *Seen) Read(f *jsonform.Form) {
	params.OptionalText(f, "approval_id", &p.ApprovalID, params.MaxID)
	params.OptionalText(f, "conversation_id", &p.ConversationID, params.MaxID)
	params.OptionalText(f, "proposal_id", &p.ProposalID, params.MaxID)
}

// answer is what a presentation.set answers with.
type answer struct {
	Mode      workbench.Mode    `json:"mode"`
	Returned  []string          `json:"returned_task_ids"`
	Revisions map[string]uint64 `json:"task_control_revisions"`
}

// set changes the mode of a client and gives the tasks that it holds back to the
// host, unless it goes on showing the workbench. The identity of the request is
// reserved in a write of its own, so that no other request can have it even when
// the rest fails.
func (p *Presentation) set(r hub.Request, asked Mode) hub.Mutation {
	return hub.Mutation{
		Prepare: func(ctx context.Context) error { return p.reserve(ctx, r) },
		Apply: func(tx ports.PersonalTx) (any, error) {
			a := answer{Mode: asked.Mode, Returned: []string{}, Revisions: map[string]uint64{}}
			if asked.Mode == workbench.ModeWorkbench {
				return a, nil
			}
			released, err := tasks.Release(tx, r.Client.Terms.Caller())
			for _, t := range released {
				a.Returned = append(a.Returned, t.ID)
				a.Revisions[t.ID] = t.ControlRevision
			}
			return a, err
		},
		Committed: func() {
			p.mu.Lock()
			if !r.Client.Left() {
				p.modes[r.Client] = asked.Mode
			}
			p.mu.Unlock()
			p.hub.RaiseRevision() // the page shows the mode
			p.hub.NotifyAll()
		},
		Failed: func() workbench.Refusal { return workbench.PresentationFailed },
	}
}

// reserve keeps the identity of a request for its payload.
func (p *Presentation) reserve(ctx context.Context, r hub.Request) error {
	err := p.hub.Update(ctx, func(tx ports.PersonalTx) error {
		reserved, ok, err := stored.Load[string](tx, identityKind, r.Key)
		switch {
		case err != nil:
			return err
		case ok && reserved != r.Fingerprint:
			return workbench.RequestConflict
		case ok:
			return hub.ErrUnchanged
		}
		return stored.Save(tx, identityKind, r.Key, r.Fingerprint, maxIdentities)
	})
	if refusal := (workbench.Refusal("")); err != nil && !errors.As(err, &refusal) {
		p.hub.Log.Error("a change of presentation could not be stored", "error", err)
		return workbench.PresentationFailed
	}
	return err
}

// seen says how the client shows the host.
func (p *Presentation) seen(_ ports.PersonalTx, r hub.Request, _ Seen) (any, error) {
	switch m := p.Mode(r.Client); m {
	case "":
		return nil, workbench.PresentationUnset
	case workbench.ModeBackground:
		return nil, workbench.PresentationHidden
	default:
		return map[string]workbench.Mode{"mode": m}, nil
	}
}
