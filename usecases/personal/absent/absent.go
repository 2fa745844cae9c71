// Package absent is what this host does not have yet: no memory, discovery, source
// or news service, no cards and no executor. Each is an area whose members look
// missing, not simulated (nova-personal §13), and whose commands are known and
// refused. An area leaves this package when its capability comes.
package absent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"plexus/domain/jsonscan"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/params"
)

// unsupported lists commands of the owner's page that this host cannot do, by the
// names behind the prefix.
func unsupported(prefix, names string) []hub.Command {
	var commands []hub.Command
	for name := range strings.FieldsSeq(names) {
		commands = append(commands, hub.Command{Method: prefix + "." + name})
	}
	return commands
}

// everywhere is a member that the owner's page and phones see alike.
func everywhere(name, text string) hub.Member {
	return hub.Member{Name: name, Desktop: hub.Constant(text), Phone: hub.Constant(text)}
}

// Sources is the area of the sources that the host would learn from.
func Sources() hub.Area {
	return hub.Area{
		Commands: unsupported("sources", "add pause resume disconnect delete sync consent authorize_computer"),
		Members:  []hub.Member{{Name: "sources", Desktop: hub.Constant(`[]`)}},
	}
}

// News is the area of the articles that would be read for the owner.
func News() hub.Area {
	return hub.Area{
		Commands: unsupported("news", "state refresh action configure convert"),
		Members: []hub.Member{{
			Name: "news",
			Desktop: hub.Constant(`{"enabled":false,"refreshing":false,"explore":false,"mode":"timeline","rank_error":null,"pending":0,"total":0,` +
				`"interests":[],"interests_seeded":false,"profile_version":0,"items":[],"saved":[],"sources":[]}`),
			Phone: hub.Constant(`{"enabled":false,"refreshing":false,"items":[],"saved":[]}`),
		}},
	}
}

// Understanding is the area of what the host would find out about its owner.
func Understanding() hub.Area {
	return hub.Area{
		Commands: unsupported("understanding", "start action"),
		Members:  []hub.Member{{Name: "understanding", Desktop: hub.Constant(`{"status":"idle"}`)}},
	}
}

// Connectors are the accounts that would be connected.
func Connectors() hub.Area {
	return hub.Area{
		Commands: append(unsupported("connector", "mail_status mail_access mail_connect local_status local_access local_connect "+
			"status link complete configure consent scopes sync pause resume disconnect delete"),
			unsupported("feishu", "status app.start app.status app.cancel app.bind login complete chats configure consent "+
				"sync pause resume disconnect delete bot.configure")...),
		Members: []hub.Member{{Name: "feishu", Desktop: hub.Constant(`null`)}, {Name: "connectors", Desktop: hub.Constant(`null`)}},
	}
}

// What a host without an executor and a memory can do.
const (
	noTasks  = `{"input":false,"cancel":false,"continue":false}`
	noMemory = `{"list":false,"get":false,"correct":false,"forgetEntry":false,"forgetSource":false,"purgeEntry":false}`
)

// Discovery is what the host would look for of its own accord. zone is the IANA
// name of its time zone; "" is UTC. Nothing changes the settings yet (§3.7).
func Discovery(zone string) hub.Area {
	if zone == "" {
		zone = "UTC"
	}
	return hub.Area{
		Commands: unsupported("discovery", "configure"),
		Members: []hub.Member{
			{
				Name:    "capabilities",
				Desktop: hub.Constant(`{"tasks":` + noTasks + `,"memory":` + noMemory + `,"discovery":false,"sources":false}`),
				Phone:   hub.Constant(`{"tasks":` + noTasks + `,"memory":` + noMemory + `}`),
			},
			{Name: "settings", Desktop: hub.Constant(`{"discovery_enabled":false,"discovery_interval_minutes":30,"timezone":` + string(jsonscan.AppendString(nil, zone)) +
				`,"quiet_start":"22:00","quiet_end":"08:00","briefing_outlook_enabled":false,"briefing_review_enabled":false,` +
				`"briefing_outlook_time":"08:30","briefing_review_time":"18:30","briefing_weekdays":[1,2,3,4,5]}`)},
		},
	}
}

// Cards are the suggestions that would be made of what the host knows, and the
// profile that it would draft.
func Cards() hub.Area {
	return hub.Area{
		Commands: append(unsupported("profile", "refresh"),
			hub.Command{Method: "context.adopt", Phone: true, Do: hub.Refuse[Card](workbench.CardNotFound)},
			hub.Command{Method: "context.dismiss", Phone: true, Do: hub.Refuse[Card](workbench.CardNotFound)},
		),
		Members: []hub.Member{
			{
				Name: "workbench_context",
				Desktop: hub.Constant(`{"status":"idle","candidate_count":0,"recap":{"text":null,"projects":[]},"empty_reason":null,` +
					`"empty_reasons":{"todos":null,"ideas":null,"goals":null},"cards":[]}`),
				Phone: hub.Constant(`{"status":"idle","recap":{"text":null,"projects":[]},"cards":[]}`),
			},
			{
				Name:    "profile_preparation",
				Desktop: hub.Constant(`{"status":"idle","draft":null,"sources":[]}`),
				Phone:   hub.Constant(`{"status":"idle","draft":null}`),
			},
		},
	}
}

// Card is the parameters of context.adopt and dismiss.
type Card struct{ ID string }

func (p *Card) Read(f *jsonform.Form) {
	params.Text(f, "id", &p.ID, params.MaxID)
}

// Refusals of a control; the client gets the receipt "rejected".
var (
	ErrUnknownTarget = errors.New("the control names a conversation that is not there")
	ErrNoExecutor    = errors.New("nothing executes tasks here")
)

// Agents are the executors of tasks: nothing of theirs waits for a decision.
func Agents() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "conversations.open_work", Phone: true, Do: hub.Refuse[OpenWork](workbench.ConversationNotFound)},
			{Method: "conversations.confirm", Phone: true, PerClient: true, Do: hub.Refuse[Confirm](workbench.ConfirmationNotOwned)},
			{Method: "conversations.approve", Phone: true, PerClient: true, Do: hub.Refuse[Approve](workbench.ApprovalNotOwned)},
			{Method: "conversations.targets", Loose: true, Do: hub.Apply(func(ports.PersonalTx, hub.Request, hub.Nothing) (any, error) {
				return json.RawMessage(`{"targets":[]}`), nil
			})},
			{Method: "conversations.target", Loose: true, Do: hub.Refuse[hub.Nothing](workbench.CodingUnavailable)},
		},
		Controls: []hub.Control{
			hub.On(func(_ context.Context, _ *hub.Client, m nova.ConfirmationDecision) error {
				return decide(m.ConversationID)
			}),
			hub.On(func(_ context.Context, _ *hub.Client, m nova.ApprovalDecision) error { return decide(m.ConversationID) }),
			hub.On(func(context.Context, *hub.Client, nova.TaskAction) error { return ErrNoExecutor }),
			hub.On(func(context.Context, *hub.Client, nova.ProgressNarration) error { return ErrNoExecutor }),
		},
		Members: []hub.Member{everywhere("pending_approvals", `[]`), everywhere("pending_confirmations", `[]`)},
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

// Bounds of parameters, in UTF-16 units where it is a text.
const (
	maxEvidenceID = 600
	maxCursor     = 256
	maxEntryID    = 256
	maxVersion    = 128
	maxContent    = 500 // trimmed
	maxPage       = 100
)

// Memory is what the host would remember of its owner. Parameters are looked at as
// if there were one.
func Memory() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "memory.list", Phone: true, Do: hub.Refuse[List](workbench.Unsupported)},
			{Method: "memory.evidence", Phone: true, Do: hub.Apply(func(ports.PersonalTx, hub.Request, Evidence) (any, error) {
				return json.RawMessage(`{"evidence":null,"state":"unavailable"}`), nil
			})},
			{Method: "memory.correct", Phone: true, Do: hub.Refuse[Correct](workbench.Unsupported)},
			{Method: "memory.forget", Phone: true, Do: hub.Refuse[Forget](workbench.Unsupported)},
			{Method: "memory.purge", Phone: true, KeepsData: true, Do: hub.Refuse[Purge](workbench.Unsupported)},
			{Method: "memory.reextract", Do: hub.Refuse[Reextract](workbench.Unsupported)},
		},
		Members: []hub.Member{everywhere("memory", `{"entries":[],"cursor":null,"overview":null}`)},
	}
}

// The parameters of the commands. Of most of them nothing is kept.
type (
	Evidence  struct{ EvidenceID string }
	List      struct{}
	Correct   struct{}
	Forget    struct{}
	Purge     struct{}
	Reextract struct{}
)

func (p *Evidence) Read(f *jsonform.Form) {
	params.Text(f, "evidence_id", &p.EvidenceID, maxEvidenceID)
	f.Want("evidence_id", !strings.Contains(p.EvidenceID, "\x00"))
}

func (*List) Read(f *jsonform.Form) {
	var cursor string
	var limit nova.Optional[uint64]
	f.Text("cursor", jsonform.Omitted, &cursor, jsonform.Units(0, maxCursor))
	f.OptionalUint("limit", jsonform.Omitted, &limit, 1, maxPage)
	if f.Has("include_expired") {
		f.Bool("include_expired", new(bool))
	}
}

func (*Correct) Read(f *jsonform.Form) {
	params.Text(f, "id", new(string), maxEntryID)
	checkVersion(f)
	params.TrimmedText(f, "content", new(string), maxContent)
}

// Read passes over a content, which clients have been seen to send.
func (*Forget) Read(f *jsonform.Form) {
	params.Text(f, "id", new(string), maxEntryID)
	checkVersion(f)
	f.Value("content", new(json.RawMessage))
}

func (*Purge) Read(f *jsonform.Form) {
	params.Text(f, "id", new(string), params.MaxRef)
	checkVersion(f)
}

func (*Reextract) Read(f *jsonform.Form) {
	params.Text(f, "id", new(string), params.MaxRef)
}

// checkVersion looks at the version of a memory entry: an integer or a string.
func checkVersion(f *jsonform.Form) {
	const name = "expected_version"
	if _, text := f.Peek(name); text {
		params.Text(f, name, new(string), maxVersion)
		return
	}
	f.Uint(name, new(uint64), 0, jsonform.MaxSafe)
}
