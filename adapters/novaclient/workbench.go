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
	// requested: the state was asked for, and no snapshot has come since.
	requested bool
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
	w.instance, w.requested = instance, false
}

// take keeps the snapshot of m, which an app must be able to use, if it is newer than
// the last. news: it is, or its marker tells of one that was too large to come.
func (w *Workbench) take(m nova.PersonalState) (snapshot workbench.MobileSnapshot, news bool, err error) {
	isMarker := len(m.Frame) == 0
	if !isMarker {
		if snapshot, err = workbench.DecodeSnapshot(m.Frame); err != nil {
			return snapshot, false, &Fault{"a snapshot cannot be used", err}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	news = !w.known || m.Revision > w.revision
	if news && !isMarker {
		w.revision, w.known = m.Revision, true
		w.snapshot, w.any, w.requested = snapshot, true, false
	}
	return snapshot, news, nil
}

// Personal sends a command of the workbench and waits for its result, which may
// be a refusal. nil params are none. After 30 s it is given up with ErrNoResult
// and never sent again: whether it was done, the next snapshot shows.
func (c *Conn) Personal(ctx context.Context, method string, params any) (nova.PersonalResult, error) {
	command := nova.PersonalCommand{RequestID: newID(), Method: method}
	if params != nil {
		encoded, err := json.Marshal(params)
		if err != nil {
			return nova.PersonalResult{}, fmt.Errorf("write the parameters of %s: %w", method, err)
		}
		command.Params = encoded
	}
	if !c.ready.Personal {
		return nova.PersonalResult{}, ErrNotPersonal
	}
	select {
	case c.personal <- struct{}{}:
		defer func() { <-c.personal }()
	default:
		return nova.PersonalResult{}, ErrTooMany
	}
	result, done := c.results.expect(command.RequestID)
	defer done()
	waiting, stop := context.WithTimeoutCause(ctx, resultWithin, ErrNoResult)
	defer stop()
	if err := c.apply(waiting, command); err != nil {
		return nova.PersonalResult{}, err
	}
	return await(waiting, c, result)
}

func stateCommand() nova.PersonalCommand {
	return nova.PersonalCommand{RequestID: newID(), Method: "state"}
}

// takeResult looks for a state in the data of a result.
func (c *Conn) takeResult(m nova.PersonalResult) error {
	var state nova.PersonalState
	if kind, _ := jsonform.Read(m.Data).Peek("type"); kind == state.Type() {
		decoded, err := nova.DecodeMessage(m.Data)
		if err != nil {
			return &Fault{"a snapshot in a result cannot be read", err}
		}
		if state, ok := decoded.(nova.PersonalState); ok {
			return c.takeState(state)
		}
	}
	if m.ReloadRequired {
		return c.reload()
	}
	return nil
}

// takeState takes a snapshot, or a marker of one that was too large.
func (c *Conn) takeState(m nova.PersonalState) error {
	snapshot, news, err := c.workbench.take(m)
	switch {
	case err != nil || !news:
		return err
	case len(m.Frame) == 0:
		return c.reload()
	}
	notify(c.options.Events.Snapshot, snapshot)
	return nil
}

// reload asks for the state because it was too large to come by itself: once until
// there is a snapshot (nova-personal §9.5).
func (c *Conn) reload() error {
	w := c.workbench
	w.mu.Lock()
	asked := w.requested
	w.requested = true
	w.mu.Unlock()
	if asked {
		return nil
	}
	return c.uplink.command(newID(), stateCommand())
}
