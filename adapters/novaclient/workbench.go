package novaclient

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
)

// maxPersonal is how many personal commands may wait for their results.
const maxPersonal = 32

// Workbench keeps the last snapshot of a host that is any good, as the apps do,
// also while there is no connection. The zero one is empty. Its methods may be
// called concurrently.
type Workbench struct {
	mu       sync.Mutex
	instance string // server_instance_id of the revision
	revision uint64 // of the last snapshot of this instance
	known    bool   // there is one of this instance
	snapshot workbench.MobileSnapshot
	any      bool // there is one of whichever instance
	asked    bool // a marker has led to a state command, and no snapshot has come since
}

// Snapshot gives the last snapshot; false before the first.
func (w *Workbench) Snapshot() (workbench.MobileSnapshot, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshot, w.any
}

// connected begins a connection. Revisions of another instance do not compare.
func (w *Workbench) connected(instance string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = w.known && w.instance == instance
	w.instance, w.asked = instance, false
}

// isNews wants a revision above the last.
func (w *Workbench) isNews(revision uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newer(revision)
}

// newer is isNews with mu held.
func (w *Workbench) newer(revision uint64) bool { return !w.known || revision > w.revision }

// take keeps a snapshot that is newer than the last.
func (w *Workbench) take(revision uint64, s workbench.MobileSnapshot) (taken bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.newer(revision) {
		return false
	}
	w.revision, w.known = revision, true
	w.snapshot, w.any, w.asked = s, true, false
	return true
}

// marked takes note of a marker. ask: the state is to be asked for, once until
// there is a snapshot (nova-personal §9.5).
func (w *Workbench) marked() (ask bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ask = !w.asked
	w.asked = true
	return ask
}

// Personal sends a command of the workbench and waits for its result, which may
// be a refusal. nil params are none. After 30 s it is given up with ErrNoResult
// and never sent again: whether it was done, the next snapshot shows.
func (c *Conn) Personal(ctx context.Context, method string, params any) (nova.PersonalResult, error) {
	command, err := personalCommand(method, params)
	if err != nil {
		return nova.PersonalResult{}, err
	}
	result := make(chan nova.PersonalResult, 1)
	done, err := c.expect(command.RequestID, result)
	if err != nil {
		return nova.PersonalResult{}, err
	}
	defer done()
	waiting, stop := context.WithTimeoutCause(ctx, resultWithin, ErrNoResult)
	defer stop()
	if err := c.apply(waiting, command); err != nil {
		return nova.PersonalResult{}, err
	}
	return await(waiting, c, result)
}

// expect is register for a result, within what an app lets wait.
func (c *Conn) expect(id string, result chan nova.PersonalResult) (done func(), err error) {
	if !c.ready.Personal {
		return nil, ErrNotPersonal
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.results) == maxPersonal {
		return nil, ErrTooMany
	}
	return enter(c, c.results, id, result), nil
}

func personalCommand(method string, params any) (nova.PersonalCommand, error) {
	command := nova.PersonalCommand{RequestID: newID(), Method: method}
	if params == nil {
		return command, nil
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		return command, fmt.Errorf("write the parameters of %s: %w", method, err)
	}
	command.Params = encoded
	return command, nil
}

// openWorkbench says what an app in the foreground says first. Their results
// need no waiting for: the state counts whoever asked for it.
func (c *Conn) openWorkbench() {
	c.board.connected(c.ready.ServerInstanceID)
	c.mu.Lock()
	defer c.mu.Unlock()
	presentation := nova.PersonalCommand{
		RequestID: newID(), Method: "presentation.set", Params: json.RawMessage(`{"mode":"` + string(workbench.ModeWorkbench) + `"}`),
	}
	c.post([]nova.Control{presentation, stateCommand()})
}

func stateCommand() nova.PersonalCommand {
	return nova.PersonalCommand{RequestID: newID(), Method: "state"}
}

// show takes what a message says of the workbench. A snapshot that an app cannot
// use is an error.
func (c *Conn) show(m nova.Message) error {
	switch m := m.(type) {
	case nova.PersonalState:
		return c.showState(m)
	case nova.PersonalResult:
		state, ok, err := nested(m.Data)
		switch {
		case err != nil:
			return &Fault{"a snapshot in a result cannot be read", err}
		case ok:
			return c.showState(state)
		case m.ReloadRequired:
			return c.reload()
		}
	}
	return nil
}

func (c *Conn) showState(m nova.PersonalState) error {
	if len(m.Frame) == 0 {
		if !c.board.isNews(m.Revision) {
			return nil
		}
		return c.reload()
	}
	snapshot, err := workbench.DecodeSnapshot(m.Frame)
	if err != nil {
		return &Fault{"a snapshot cannot be used", err}
	}
	if c.board.take(m.Revision, snapshot) {
		c.o.Events.snapshot(snapshot)
	}
	return nil
}

// reload asks for a state that was too large to come by itself.
func (c *Conn) reload() error {
	if !c.board.marked() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.post([]nova.Control{stateCommand()})
}

// nested finds a state in the data of a result.
func nested(data json.RawMessage) (state nova.PersonalState, ok bool, err error) {
	if kind, _ := jsonform.Read(data).Peek("type"); kind != state.Type() {
		return state, false, nil
	}
	m, err := nova.DecodeMessage(data)
	state, ok = m.(nova.PersonalState)
	return state, ok, err
}
