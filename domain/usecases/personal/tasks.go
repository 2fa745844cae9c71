package personal

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"plexus/domain/workbench"
	"plexus/ports"
)

// lookAtTasks is what the tasks.* methods answer that change nothing.
func lookAtTasks(tx ports.PersonalView, req request) (any, error) {
	switch op := req.op.(type) {
	case nil:
		return nil, workbench.InvalidRequest
	case workbench.ListTasks:
		return listTasks(tx)
	case workbench.GetTask:
		t, err := task(tx, op.TaskID)
		if err != nil {
			return nil, err
		}
		return workbench.ViewTask(t, op.After, req.from.terms.Caller()), nil
	}
	return nil, workbench.Unsupported
}

// taskSteps are those of the tasks.* methods that change one. Tasks are kept, and
// nothing here executes one.
func (h *Host) taskSteps(req request) (steps, bool) {
	caller := req.from.terms.Caller()
	switch op := req.op.(type) {
	case workbench.DelegateTask:
		return doing(func(tx ports.PersonalTx) (any, error) { return h.delegate(tx, op) }), true
	case workbench.ControlTask:
		return changingTask(op.Fence, func(t workbench.Task) (workbench.Task, error) { return workbench.Control(t, op, caller) }), true
	case workbench.CancelTask:
		return changingTask(op.Fence, func(t workbench.Task) (workbench.Task, error) { return workbench.Cancel(t, op.Fence) }), true
	case workbench.InputTask:
		return refusingTask(op.Fence, workbench.TaskInputUnavailable), true
	case workbench.ContinueTask:
		return refusingTask(op.Fence, workbench.TaskRuntimeMissing), true
	case workbench.ReconcileTask:
		return refusingTask(op.Fence, workbench.TaskRuntimeMissing), true
	case workbench.CompleteTodo:
		return refusingTask(op.Fence, workbench.TaskRuntimeMissing), true
	}
	return steps{}, false
}

func listTasks(tx ports.PersonalView) (any, error) {
	tasks, err := loadAll[workbench.Task](tx, areaTasks, workbench.MaxTasks)
	rows := make([]*workbench.ShownTask, len(tasks))
	for i, t := range tasks {
		rows[i] = t.Shown()
	}
	return rows, err
}

func task(tx ports.PersonalView, id string) (workbench.Task, error) {
	t, ok, err := load[workbench.Task](tx, areaTasks, id)
	if err == nil && !ok {
		err = workbench.TaskNotFound
	}
	return t, err
}

// changingTask changes a task that the client has seen as it is.
func changingTask(f workbench.Fence, change func(workbench.Task) (workbench.Task, error)) steps {
	return doing(func(tx ports.PersonalTx) (any, error) {
		t, err := task(tx, f.TaskID)
		if err == nil {
			t, err = change(t)
		}
		if err != nil {
			return nil, err
		}
		return t.Shown(), save(tx, areaTasks, t.ID, t, 0)
	})
}

// refusingTask is what needs an executor.
func refusingTask(f workbench.Fence, why workbench.Refusal) steps {
	return changingTask(f, func(t workbench.Task) (workbench.Task, error) {
		return t, cmp.Or(workbench.CheckFence(t, f), error(why))
	})
}

func (h *Host) delegate(tx ports.PersonalTx, op workbench.DelegateTask) (any, error) {
	c, err := conversation(tx, op.ConversationID)
	if err != nil {
		return nil, err
	}
	if err := makeRoomForTask(tx); err != nil {
		return nil, err
	}
	t := workbench.Delegate(h.newID("task:"), op, c.Generation)
	return t.Shown(), save(tx, areaTasks, t.ID, t, 0)
}

// makeRoomForTask removes the oldest tasks that have ended until there is room
// for another one. Those that wait stay, and then there may be none.
func makeRoomForTask(tx ports.PersonalTx) error {
	tasks, err := loadAll[workbench.Task](tx, areaTasks, workbench.MaxTasks)
	if err != nil || len(tasks) < workbench.MaxTasks {
		return err
	}
	ended := slices.IndexFunc(tasks, workbench.Task.Ended)
	if ended < 0 {
		return workbench.StoreCapacity
	}
	return tx.DropRecord(areaTasks, tasks[ended].ID)
}

// presentation is what a presentation.set answers with.
type presentation struct {
	Mode      workbench.Mode    `json:"mode"`
	Returned  []string          `json:"returned_task_ids"`
	Revisions map[string]uint64 `json:"task_control_revisions"`
}

// presentationSteps are those of presentation.*. The identity of a set is
// reserved in a write of its own, so that no other request can have it even when
// the rest fails.
func (h *Host) presentationSteps(req request) steps {
	e := req.from
	op, isSet := req.op.(workbench.SetPresentation)
	if !isSet {
		return doing(func(ports.PersonalTx) (any, error) { return e.presented() })
	}
	s := doing(func(tx ports.PersonalTx) (any, error) { return handBack(tx, op.Mode, e.terms.Caller()) })
	s.before = h.reserving(req)
	s.after = func() {
		h.mu.Lock()
		e.mode = op.Mode
		h.unstored++ // the page is shown it
		h.mu.Unlock()
		h.announce()
	}
	s.failed = func() workbench.Refusal { return workbench.PresentationFailed }
	return s
}

// handBack gives the caller's tasks back to the host, unless it goes on showing
// the workbench.
func handBack(tx ports.PersonalTx, mode workbench.Mode, caller workbench.Caller) (any, error) {
	p := presentation{Mode: mode, Returned: []string{}, Revisions: map[string]uint64{}}
	if mode == workbench.ModeWorkbench {
		return p, nil
	}
	tasks, err := loadAll[workbench.Task](tx, areaTasks, workbench.MaxTasks)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		returned, changed := workbench.HandBack(t, caller)
		if !changed {
			continue
		}
		if err := save(tx, areaTasks, t.ID, returned, 0); err != nil {
			return nil, err
		}
		p.Returned = append(p.Returned, t.ID)
		p.Revisions[t.ID] = returned.ControlRevision
	}
	return p, nil
}

// presented says how the client shows the host.
func (e *endpoint) presented() (any, error) {
	e.host.mu.Lock()
	defer e.host.mu.Unlock()
	switch e.mode {
	case "":
		return nil, workbench.PresentationUnset
	case workbench.ModeBackground:
		return nil, workbench.PresentationHidden
	}
	return map[string]workbench.Mode{"mode": e.mode}, nil
}

// reserving keeps the identity of a request for its payload.
func (h *Host) reserving(req request) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		err := h.update(ctx, func(tx ports.PersonalTx) error {
			reserved, ok, err := load[string](tx, areaHandbacks, req.key)
			switch {
			case err != nil:
				return err
			case ok && reserved != req.fingerprint:
				return workbench.RequestConflict
			case ok:
				return errUnchanged
			}
			return save(tx, areaHandbacks, req.key, req.fingerprint, workbench.MaxHandbacks)
		})
		if refusal := (workbench.Refusal("")); err != nil && !errors.As(err, &refusal) {
			h.deps.Log.Error("a change of presentation could not be stored", "error", err)
			return workbench.PresentationFailed
		}
		return err
	}
}
