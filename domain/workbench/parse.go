package workbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
)

// ErrMethodUnknown: no personal.command has this method. Its answer is a rejected
// receipt, not a result (decision K2).
var ErrMethodUnknown = errors.New("workbench: unknown method")

// Bounds of parameters that end up in no stored value of their own, in UTF-16
// units (nova-personal §4 to §8).
const (
	maxID         = 128 // of a conversation, a message, a feed item, a card
	maxRef        = 512 // of a task, a session, an item, an origin
	maxGoal       = 16_000
	maxAcceptance = 64
	maxCriterion  = 2_000 // of one acceptance line
	maxTaskInput  = 16_000
	maxContent    = 500 // of a memory entry, trimmed
	maxMemoryPage = 100
)

// ParseCommand reads the parameters of a method; empty stands for {}. Unknown
// members, missing ones and values out of their bounds are InvalidRequest. A
// method without a form is NotHere if it exists, else ErrMethodUnknown. No error
// quotes a parameter.
func ParseCommand(method string, params json.RawMessage) (Command, error) {
	form, here := commandForms[method]
	switch {
	case !here && nova.MethodAdmission(method) == nova.MethodUnknown:
		return nil, ErrMethodUnknown
	case !here:
		return NotHere{}, nil
	case len(params) == 0:
		params = json.RawMessage("{}")
	}
	f := jsonform.Read(params)
	if !form.loose {
		f.Strict()
	}
	c := form.read(f)
	if _, err := f.Done(); err != nil {
		return nil, fmt.Errorf("workbench: read %s: %w: %w", method, InvalidRequest, err)
	}
	return c, nil
}

// commandForm reads one method.
type commandForm struct {
	read  func(*jsonform.Form) Command
	loose bool // members that the form does not name are passed over
}

// commandForms lists the methods whose parameters are looked at.
var commandForms = map[string]commandForm{
	"state":                   {read: readCommand[State], loose: true},
	"feed.action":             {read: readCommand[FeedAction]},
	"conversations.create":    {read: readCommand[CreateConversation]},
	"conversations.select":    {read: readCommand[SelectConversation]},
	"conversations.read":      {read: readCommand[ReadConversation]},
	"conversations.clear":     {read: readCommand[ClearConversation]},
	"conversations.open_feed": {read: readCommand[OpenFeed]},
	"conversations.voice":     {read: readCommand[SetVoice]},
	"conversations.open_work": {read: readCommand[OpenWork]},
	"conversations.confirm":   {read: readCommand[Confirm]},
	"conversations.approve":   {read: readCommand[Approve]},
	"conversations.targets":   {read: readCommand[CodingTargets], loose: true},
	"conversations.target":    {read: readCommand[CodingTarget], loose: true},
	"life.mutate":             {read: readCommand[LifeMutate], loose: true}, // strict from its op on
	"memory.evidence":         {read: readCommand[MemoryEvidence]},
	"memory.list":             {read: readMemory(listMemory)},
	"memory.correct":          {read: readMemory(correctMemory)},
	"memory.forget":           {read: readMemory(forgetMemory)},
	"memory.purge":            {read: readMemory(purgeMemory)},
	"memory.reextract":        {read: readMemory(reextractMemory)},
	"context.adopt":           {read: readCommand[AdoptCard]},
	"context.dismiss":         {read: readCommand[DismissCard]},
	"presentation.set":        {read: readCommand[SetPresentation]},
	"presentation.seen":       {read: readCommand[SeenPresentation]},
	"tasks.list":              {read: readCommand[ListTasks]},
	"tasks.get":               {read: readCommand[GetTask]},
	"tasks.delegate":          {read: readCommand[DelegateTask]},
	"tasks.control":           {read: readCommand[ControlTask]},
	"tasks.input":             {read: readCommand[InputTask]},
	"tasks.cancel":            {read: readCommand[CancelTask]},
	"tasks.continue":          {read: readCommand[ContinueTask]},
	"tasks.reconcile":         {read: readCommand[ReconcileTask]},
	"tasks.complete_todo":     {read: readCommand[CompleteTodo]},
}

// readCommand reads the command C. P is *C.
func readCommand[C Command, P interface {
	*C
	read(*jsonform.Form)
}](f *jsonform.Form) Command {
	var c C
	P(&c).read(f)
	return c
}

// readMemory checks the parameters of a method that needs a memory.
func readMemory(check func(*jsonform.Form)) func(*jsonform.Form) Command {
	return func(f *jsonform.Form) Command {
		check(f)
		return MemoryOther{}
	}
}

// The commands without parameters.
func (*State) read(*jsonform.Form)         {}
func (*CodingTargets) read(*jsonform.Form) {}
func (*CodingTarget) read(*jsonform.Form)  {}
func (*ListTasks) read(*jsonform.Form)     {}

func (c *FeedAction) read(f *jsonform.Form) {
	formText(f, "id", &c.ID, maxID)
	jsonform.Choice(f, "action", jsonform.Required, &c.Action,
		FeedOpen, FeedExpand, FeedPresented, FeedNotified, FeedSnooze, FeedDismiss, FeedAct)
	formTime(f, "snooze_until", &c.SnoozeUntil)
}

func (c *CreateConversation) read(f *jsonform.Form) {
	formOptional(f, "title", &c.Title, conversations.MaxTitle)
}
func (c *SelectConversation) read(f *jsonform.Form) { formText(f, "id", &c.ID, maxID) }

func (c *ReadConversation) read(f *jsonform.Form) {
	formText(f, "id", &c.ID, maxID)
	formText(f, "through_message_id", &c.Through, maxID)
}

func (c *ClearConversation) read(f *jsonform.Form) {
	formText(f, "id", &c.ID, maxID)
	f.OptionalUint("expected_generation", jsonform.Omitted, &c.Expected, 0, jsonform.MaxSafe)
}

func (c *OpenFeed) read(f *jsonform.Form) {
	formText(f, "feed_id", &c.FeedID, maxID)
	formOptional(f, "label", &c.Label, MaxFeedLabel)
}

func (c *SetVoice) read(f *jsonform.Form) {
	formText(f, "id", &c.ID, maxID)
	f.Bool("enabled", &c.Enabled)
}

func (c *OpenWork) read(f *jsonform.Form) { formText(f, "work_id", &c.WorkID, maxID) }

func (c *Confirm) read(f *jsonform.Form) {
	formText(f, "id", &c.ID, maxID)
	formText(f, "proposal_id", &c.ProposalID, maxID)
	f.Bool("confirmed", &c.Confirmed)
}

func (c *Approve) read(f *jsonform.Form) {
	formText(f, "id", &c.ID, maxID)
	formText(f, "approval_id", &c.ApprovalID, maxID)
	f.Bool("approved", &c.Approved)
}

func (c *MemoryEvidence) read(f *jsonform.Form) {
	formText(f, "evidence_id", &c.EvidenceID, 600)
	f.Want("evidence_id", !strings.Contains(c.EvidenceID, "\x00"))
}

func listMemory(f *jsonform.Form) {
	var cursor string
	var limit nova.Optional[uint64]
	f.Text("cursor", jsonform.Omitted, &cursor, jsonform.Units(0, 256))
	f.OptionalUint("limit", jsonform.Omitted, &limit, 1, maxMemoryPage)
	if f.Has("include_expired") {
		f.Bool("include_expired", new(bool))
	}
}

func correctMemory(f *jsonform.Form) {
	formText(f, "id", new(string), 256)
	formVersion(f, "expected_version")
	formTrimmed(f, "content", new(string), maxContent)
}

// forgetMemory passes over a content, which clients have been seen to send.
func forgetMemory(f *jsonform.Form) {
	formText(f, "id", new(string), 256)
	formVersion(f, "expected_version")
	f.Value("content", new(json.RawMessage))
}

func purgeMemory(f *jsonform.Form) {
	formText(f, "id", new(string), maxRef)
	formVersion(f, "expected_version")
}

func reextractMemory(f *jsonform.Form) { formText(f, "id", new(string), maxRef) }

func (c *AdoptCard) read(f *jsonform.Form)   { formText(f, "id", &c.ID, maxID) }
func (c *DismissCard) read(f *jsonform.Form) { formText(f, "id", &c.ID, maxID) }

func (c *SetPresentation) read(f *jsonform.Form) {
	jsonform.Choice(f, "mode", jsonform.Required, &c.Mode, ModeBackground, ModeWorkbench, ModeOrb)
}

func (c *SeenPresentation) read(f *jsonform.Form) {
	formOptional(f, "approval_id", &c.ApprovalID, maxID)
	formOptional(f, "conversation_id", &c.ConversationID, maxID)
	formOptional(f, "proposal_id", &c.ProposalID, maxID)
}

func (c *GetTask) read(f *jsonform.Form) {
	formText(f, "task_id", &c.TaskID, maxRef)
	if f.Has("after") {
		f.Uint("after", &c.After, 0, jsonform.MaxSafe)
	}
	formOptional(f, "input_request_id", &c.InputRequestID, maxID)
}

func (c *DelegateTask) read(f *jsonform.Form) {
	formText(f, "conversation_id", &c.ConversationID, maxID)
	formText(f, "goal", &c.Goal, maxGoal)
	jsonform.Texts(f, "acceptance", jsonform.Required, &c.Acceptance, 0, maxAcceptance, jsonform.Units(0, maxCriterion))
	formText(f, "origin_ref", &c.OriginRef, maxRef)
	formOptional(f, "execution_route", &c.Route, maxRef)
	jsonform.OptionalObject(f, "todo_ref", jsonform.Omitted, &c.Todo, func(f *jsonform.Form, t *nova.TodoRef) {
		formText(f, "id", &t.ID, maxRef)
		f.Uint("version", &t.Version, 0, jsonform.MaxSafe)
	})
}

func (c *ControlTask) read(f *jsonform.Form) {
	c.Fence.read(f)
	c.Takeover = formEither(f, "action", "takeover", "return")
}

func (c *InputTask) read(f *jsonform.Form) {
	c.Fence.read(f)
	formText(f, "session_id", &c.SessionID, maxRef)
	formText(f, "text", &c.Text, maxTaskInput)
}

func (c *CancelTask) read(f *jsonform.Form)   { c.Fence.read(f) }
func (c *ContinueTask) read(f *jsonform.Form) { c.Fence.read(f) }

func (c *ReconcileTask) read(f *jsonform.Form) {
	c.Fence.read(f)
	c.Done = formEither(f, "resolution", "done", "not_run")
}

func (c *CompleteTodo) read(f *jsonform.Form) {
	c.Fence.read(f)
	f.Uint("todo_version", &c.Version, 0, jsonform.MaxSafe)
}

func (e *Fence) read(f *jsonform.Form) {
	formText(f, "task_id", &e.TaskID, maxRef)
	f.Uint("control_revision", &e.ControlRevision, 0, jsonform.MaxSafe)
	f.Uint("goal_revision", &e.GoalRevision, 0, jsonform.MaxSafe)
}

// formText is a string of 1 to high UTF-16 units.
func formText(f *jsonform.Form, name string, v *string, high int) {
	f.Text(name, jsonform.Required, v, jsonform.Units(1, high))
}

// formOptional is a formText that may be left out.
func formOptional(f *jsonform.Form, name string, v *string, high int) {
	f.Text(name, jsonform.Omitted, v, jsonform.Units(1, high))
}

// formTrimmed is a formText without the white space around it.
func formTrimmed(f *jsonform.Form, name string, v *string, high int) {
	f.Text(name, jsonform.Required, v, func(s string) bool { return jsonform.Units(1, high)(trim(s)) })
	*v = trim(*v)
}

func trim(s string) string { return strings.TrimFunc(s, jsonform.IsTrimmed) }

// formEither is one of two words, and reports whether it is the first.
func formEither(f *jsonform.Form, name, first, second string) bool {
	var word string
	jsonform.Choice(f, name, jsonform.Required, &word, first, second)
	return word == first
}

// formVersion is the version of a memory entry: an integer or a string.
func formVersion(f *jsonform.Form, name string) {
	if _, text := f.Peek(name); text {
		formText(f, name, new(string), 128)
		return
	}
	f.Uint(name, new(uint64), 0, jsonform.MaxSafe)
}

// formTime is an ISO time that may be left out: RFC 3339 with a literal Z.
func formTime(f *jsonform.Form, name string, v *time.Time) {
	var s string
	f.Text(name, jsonform.Omitted, &s, func(s string) bool {
		_, ok := parseTime(s)
		return ok
	})
	*v, _ = parseTime(s)
}

// parseTime refuses what time.Parse is lenient about: a comma before the
// fraction, hours of one digit.
func parseTime(s string) (time.Time, bool) {
	rest, ok := strings.CutSuffix(s, "Z")
	whole, fraction, dotted := strings.Cut(rest, ".")
	if !ok || !shaped(whole, "0000-00-00T00:00:00") || dotted && (fraction == "" || !digits(fraction)) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// isDate is the rule of a date: YYYY-MM-DD, and in the calendar.
func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && shaped(s, "0000-00-00")
}

// shaped reports whether s has a digit wherever shape has a 0, and elsewhere what
// shape has.
func shaped(s, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i := range len(s) {
		if want := shape[i]; want == '0' && !digits(s[i:i+1]) || want != '0' && s[i] != want {
			return false
		}
	}
	return true
}

func digits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
