package absent

import (
	"context"
	"errors"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/usecases/personal/hub"
	"plexus/domain/usecases/personal/params"
	"plexus/domain/workbench"
	"plexus/ports"
)

// ErrUnknownTarget refuses a control; the client gets the receipt "rejected".
var ErrUnknownTarget = errors.New("the control names a conversation that is not there")

// Agents are the executors of tasks: nothing of theirs waits for a decision.
func Agents() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "conversations.open_work", Phone: true, Do: hub.Refuse[OpenWork](workbench.ConversationNotFound)},
			{Method: "conversations.confirm", Phone: true, PerClient: true, Do: hub.Refuse[Confirm](workbench.ConfirmationNotOwned)},
			{Method: "conversations.approve", Phone: true, PerClient: true, Do: hub.Refuse[Approve](workbench.ApprovalNotOwned)},
			{Method: "conversations.targets", Loose: true, Do: hub.Mutate(func(hub.Request, hub.Nothing) hub.Mutation {
				return hub.Mutation{Apply: func(ports.PersonalTx) (any, error) { return map[string]any{"targets": []any{}}, nil }}
			})},
			{Method: "conversations.target", Loose: true, Do: hub.Refuse[hub.Nothing](workbench.CodingUnavailable)},
		},
		Controls: []hub.Control{
			hub.On(func(_ context.Context, _ *hub.Client, m nova.ConfirmationDecision) error {
				return decide(m.ConversationID)
			}),
			hub.On(func(_ context.Context, _ *hub.Client, m nova.ApprovalDecision) error { return decide(m.ConversationID) }),
		},
		Members: []hub.Member{everywhere("pending_approvals", emptyList), everywhere("pending_confirmations", emptyList)},
	}
}

// decide refuses a decision for a conversation, since nothing waits for one; it
// never falls back to another scope (decision K14).
func decide(conversationID string) error {
	if conversationID != "" {
		return ErrUnknownTarget
	}
	return nil
}

// The parameters of conversations.open_work, confirm and approve.
type (
	OpenWork struct{ WorkID string }
	Confirm  struct {
		ID, ProposalID string
		Confirmed      bool
	}
	Approve struct {
		ID, ApprovalID string
		Approved       bool
	}
)

func (p *OpenWork) Read(f *jsonform.Form) {
	params.Text(f, "work_id", &p.WorkID, params.MaxID)
}

func (p *Confirm) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	params.Text(f, "proposal_id", &p.ProposalID, params.MaxID)
	f.Bool("confirmed", &p.Confirmed)
}

func (p *Approve) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
	params.Text(f, "approval_id", &p.ApprovalID, params.MaxID)
	f.Bool("approved", &p.Approved)
}
