// Package tasks keeps the work that was asked for: tasks.*, and the member tasks of
// the snapshot (nova-personal §3.10, §8.3, §8.4). Nothing here executes a task.
package tasks

import (
	"cmp"
	"slices"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/params"
	"plexus/usecases/personal/stored"
)

// taskKind is the kind of a task's record.
const taskKind = "task"

// Tasks is the work that was asked for.
type Tasks struct{ hub *hub.Hub }

// New makes it.
func New(h *hub.Hub) *Tasks { return &Tasks{h} }

// Area is what the hub has to know of it. Request IDs are each client's own.
func (t *Tasks) Area() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "tasks.list", Phone: true, PerClient: true, Do: hub.Query(list)},
			{Method: "tasks.get", Phone: true, PerClient: true, Do: hub.Query(get)},
			{Method: "tasks.delegate", Phone: true, PerClient: true, Do: hub.Apply(t.delegate)},
			{Method: "tasks.control", Phone: true, PerClient: true, Do: hub.Apply(func(tx ports.PersonalTx, r hub.Request, p Control) (any, error) {
				return change(tx, p.TaskID, func(t Task) (Task, error) { return TakeControl(t, p, r.Client.Terms.Caller()) })
			})},
			{Method: "tasks.cancel", Phone: true, PerClient: true, Do: hub.Apply(func(tx ports.PersonalTx, _ hub.Request, p Precondition) (any, error) {
				return change(tx, p.TaskID, func(t Task) (Task, error) { return Cancel(t, p) })
			})},
			{Method: "tasks.input", Phone: true, PerClient: true, Do: refuse[Input](workbench.TaskInputUnavailable)},
			{Method: "tasks.continue", Phone: true, PerClient: true, Do: refuse[Precondition](workbench.TaskRuntimeMissing)},
			{Method: "tasks.reconcile", Phone: true, PerClient: true, Do: refuse[Reconciliation](workbench.TaskRuntimeMissing)},
			{Method: "tasks.complete_todo", Phone: true, PerClient: true, Do: refuse[Completion](workbench.TaskRuntimeMissing)},
		},
		Members: []hub.Member{{Name: "tasks", Desktop: section, Phone: section}},
	}
}

// Bounds of parameters, in UTF-16 units where it is a text.
const (
	maxGoal       = 16_000
	maxAcceptance = 64 // lines
	maxCriterion  = 2_000
	maxInput      = 16_000
)

// The parameters of tasks.get, delegate, control, input, reconcile and
// complete_todo; those of cancel and continue are a Precondition. An Optional that
// is not Set, and a string that is "", was not given.
type (
	Look struct {
		TaskID         string
		After          uint64
		InputRequestID string
	}
	Delegation struct {
		ConversationID, Goal, OriginRef, Route string
		Acceptance                             []string
		Todo                                   nova.Optional[nova.TodoRef]
	}
	Control struct {
		Precondition
		Takeover bool // else return
	}
	Input struct {
		Precondition
		SessionID, Text string
	}
	Reconciliation struct {
		Precondition
		Done bool // else not_run
	}
	Completion struct {
		Precondition
		Version uint64
	}
)

// InputFor tells the hub for which task a text was.
func (p Input) InputFor() string { return p.TaskID }

func (p *Look) Read(f *jsonform.Form) {
	params.Text(f, "task_id", &p.TaskID, params.MaxRef)
	if f.Has("after") {
		f.Uint("after", &p.After, 0, jsonform.MaxSafe)
	}
	params.OptionalText(f, "input_request_id", &p.InputRequestID, params.MaxID)
}

func (p *Delegation) Read(f *jsonform.Form) {
	params.Text(f, "conversation_id", &p.ConversationID, params.MaxID)
	params.Text(f, "goal", &p.Goal, maxGoal)
	jsonform.Texts(f, "acceptance", jsonform.Required, &p.Acceptance, 0, maxAcceptance, jsonform.Units(0, maxCriterion))
	params.Text(f, "origin_ref", &p.OriginRef, params.MaxRef)
	params.OptionalText(f, "execution_route", &p.Route, params.MaxRef)
	jsonform.OptionalObject(f, "todo_ref", jsonform.Omitted, &p.Todo, func(f *jsonform.Form, t *nova.TodoRef) {
		params.Text(f, "id", &t.ID, params.MaxRef)
		f.Uint("version", &t.Version, 0, jsonform.MaxSafe)
	})
}

func (p *Control) Read(f *jsonform.Form) {
	p.Precondition.Read(f)
	p.Takeover = readEither(f, "action", "takeover", "return")
}

func (p *Input) Read(f *jsonform.Form) {
	p.Precondition.Read(f)
	params.Text(f, "session_id", &p.SessionID, params.MaxRef)
	params.Text(f, "text", &p.Text, maxInput)
}

func (p *Reconciliation) Read(f *jsonform.Form) {
	p.Precondition.Read(f)
	p.Done = readEither(f, "resolution", "done", "not_run")
}

func (p *Completion) Read(f *jsonform.Form) {
	p.Precondition.Read(f)
	f.Uint("todo_version", &p.Version, 0, jsonform.MaxSafe)
}

func (p *Precondition) Read(f *jsonform.Form) {
	params.Text(f, "task_id", &p.TaskID, params.MaxRef)
	f.Uint("control_revision", &p.ControlRevision, 0, jsonform.MaxSafe)
	f.Uint("goal_revision", &p.GoalRevision, 0, jsonform.MaxSafe)
}

// readEither is one of two words, and reports whether it is the first.
func readEither(f *jsonform.Form, name, first, second string) bool {
	var word string
	jsonform.Choice(f, name, jsonform.Required, &word, first, second)
	return word == first
}

func section(tx ports.PersonalView, _ *hub.Client) (hub.Value, error) {
	tasks, err := stored.All[Task](tx, taskKind, MaxTasks)
	return Value(tasks), err
}

func list(tx ports.PersonalView, _ hub.Request, _ hub.Nothing) (any, error) {
	tasks, err := stored.All[Task](tx, taskKind, MaxTasks)
	rows := make([]*workbench.TaskRow, len(tasks))
	for i, t := range tasks {
		rows[i] = Row(t)
	}
	return rows, err
}

func get(tx ports.PersonalView, r hub.Request, p Look) (any, error) {
	t, err := find(tx, p.TaskID)
	if err != nil {
		return nil, err
	}
	return ViewOf(t, p.After, r.Client.Terms.Caller()), nil
}

// find looks a task up; a missing one is workbench.TaskNotFound.
func find(tx ports.PersonalView, id string) (Task, error) {
	t, ok, err := stored.Load[Task](tx, taskKind, id)
	if err == nil && !ok {
		err = workbench.TaskNotFound
	}
	return t, err
}

// change changes a task and gives its row.
func change(tx ports.PersonalTx, id string, change func(Task) (Task, error)) (any, error) {
	t, err := find(tx, id)
	if err == nil {
		t, err = change(t)
	}
	if err != nil {
		return nil, err
	}
	return Row(t), stored.Save(tx, taskKind, t.ID, t, 0)
}

// refuse is the handler of what needs an executor. That the client has not seen the
// task as it is comes first.
func refuse[P interface{ seen() Precondition }, R hub.Parameters[P]](why workbench.Refusal) hub.Handler {
	return hub.Apply[P, R](func(tx ports.PersonalTx, _ hub.Request, p P) (any, error) {
		t, err := find(tx, p.seen().TaskID)
		return nil, cmp.Or(err, Check(t, p.seen()), error(why))
	})
}

// delegate keeps a new task. The oldest ones that have ended make room for it; those
// that wait stay, and then there may be none.
func (t *Tasks) delegate(tx ports.PersonalTx, _ hub.Request, p Delegation) (any, error) {
	c, err := stored.Conversation(tx, p.ConversationID)
	if err != nil {
		return nil, err
	}
	tasks, err := stored.All[Task](tx, taskKind, MaxTasks)
	if err != nil {
		return nil, err
	}
	if len(tasks) >= MaxTasks {
		ended := slices.IndexFunc(tasks, Task.Ended)
		if ended < 0 {
			return nil, workbench.StoreCapacity
		}
		if err := tx.DropRecord(taskKind, tasks[ended].ID); err != nil {
			return nil, err
		}
	}
	made := Delegate(t.hub.NewID("task:"), p, c.Generation)
	return Row(made), stored.Save(tx, taskKind, made.ID, made, 0)
}

// Release gives the tasks that the caller holds back to the host.
func Release(tx ports.PersonalTx, caller workbench.Caller) (released []Task, err error) {
	tasks, err := stored.All[Task](tx, taskKind, MaxTasks)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		t, changed := ReleaseControl(t, caller)
		if !changed {
			continue
		}
		if err := stored.Save(tx, taskKind, t.ID, t, 0); err != nil {
			return nil, err
		}
		released = append(released, t)
	}
	return released, nil
}
