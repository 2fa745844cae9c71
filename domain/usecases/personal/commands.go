package personal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
)

// request is one personal.command on its way.
type request struct {
	id          string
	method      string
	op          workbench.Command // nil: its parameters are not in order
	key         string            // in the ledger
	fingerprint string
	from        *endpoint
}

// command runs a personal.command and sends its result, and then a snapshot.
func (e *endpoint) command(ctx context.Context, m nova.PersonalCommand) error {
	if !e.terms.Desktop {
		switch {
		case !e.terms.Personal:
			return ErrNotGranted
		case nova.MethodAdmission(m.Method) != nova.MethodAdmitted:
			return ErrNotAdmitted
		}
	}
	caller := e.terms.Caller()
	op, err := workbench.ParseCommand(m.Method, m.Params)
	if errors.Is(err, workbench.ErrMethodUnknown) {
		return ErrNotAdmitted
	}
	return e.host.run(ctx, request{
		id: m.RequestID, method: m.Method, op: op, from: e,
		key: workbench.ReceiptKey(caller, m.Method, m.RequestID), fingerprint: workbench.Fingerprint(m.Method, m.Params),
	})
}

// run gives a command its turn and sends its result. An error means that nobody
// waits for it any more: its connection has ended before its turn came.
func (h *Host) run(ctx context.Context, req request) error {
	if err := h.commands.enter(ctx); err != nil {
		if refusal := (workbench.Refusal("")); errors.As(err, &refusal) {
			req.from.hold()
			req.from.answer(req, refused(refusal), 0)
			return nil
		}
		return fmt.Errorf("wait for a command's turn: %w", err)
	}
	defer h.commands.leave()
	req.from.hold()
	result, revision := refused(workbench.Unavailable), uint64(0)
	defer func() { req.from.answer(req, result, revision) }() // also after a panic: the client waits

	ctx = context.WithoutCancel(ctx) // it was admitted: it is seen through
	done, shown, err := h.execute(ctx, req)
	if err != nil {
		h.deps.Log.Error("a command could not be carried out", "method", req.method, "error", err)
		return nil
	}
	result, revision = done, shown
	return nil
}

// hold keeps changes back from the link until the answer to a command has gone
// out, so that the result comes before what it brings about.
func (e *endpoint) hold() {
	e.host.mu.Lock()
	defer e.host.mu.Unlock()
	e.holding++
}

// answer sends a result, ends hold, and announces the state as it is then, unless
// the result carries it. shown is the revision of the snapshot in it, 0 for none.
func (e *endpoint) answer(req request, r workbench.Result, shown uint64) {
	e.link.Send(nova.PersonalResult{
		RequestID: req.id, Error: string(r.Error), Data: r.Data, ReloadRequired: r.ReloadRequired,
		InputStatus: r.InputStatus, InputTaskID: r.InputTaskID, Revision: shown,
	})
	h := e.host
	h.mu.Lock()
	defer h.mu.Unlock()
	if newest := h.revision + h.unstored; newest > shown && (e.held || workbench.Recorded(req.method)) {
		e.link.Changed(newest)
	}
	if e.holding--; e.holding == 0 {
		e.held = false
	}
}

func refused(r workbench.Refusal) workbench.Result { return workbench.Result{Error: r} }

// execute looks the command up in the ledger and carries it out if it is new. An
// error is a failure of the store: nothing has happened, and nothing is recorded.
func (h *Host) execute(ctx context.Context, req request) (result workbench.Result, revision uint64, err error) {
	if !workbench.Recorded(req.method) {
		result, err = h.look(ctx, req)
		return result, 0, err
	}
	known, result, err := h.recall(ctx, req)
	if known || err != nil {
		return result, 0, err
	}
	steps := h.steps(req)
	if steps.before != nil {
		if err := steps.before(ctx); err != nil {
			steps = refusing(err)
		}
	}
	if steps.always != nil {
		defer steps.always()
	}
	err = h.update(ctx, func(tx ports.PersonalTx) error {
		data, err := steps.change(tx)
		if err == nil && steps.shows {
			data, err = h.conversationsView(tx)
		}
		if result, err = outcome(data, err); err != nil {
			return err
		}
		stored, keep := workbench.Stored(req.method, result)
		if !keep {
			return errUnchanged // only refusals are not kept: nothing was done
		}
		if _, isState := req.op.(workbench.State); isState && result.Error == "" {
			stored.ReloadRequired = true // its data is composed once this is stored
		}
		return save(tx, areaReceipts, req.key, workbench.Receipt{Fingerprint: req.fingerprint, Result: stored}, workbench.MaxReceipts)
	})
	if err != nil {
		if steps.failed != nil {
			h.deps.Log.Error("a command could not be stored", "method", req.method, "error", err)
			return refused(steps.failed()), 0, nil
		}
		return workbench.Result{}, 0, err
	}
	if result.Error == "" && steps.after != nil {
		steps.after()
	}
	if _, isState := req.op.(workbench.State); isState && result.Error == "" {
		return h.stateResult(ctx, req.from)
	}
	return result, 0, nil
}

// look carries out a command that changes nothing and leaves no receipt.
func (h *Host) look(ctx context.Context, req request) (result workbench.Result, err error) {
	err = h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
		result, err = outcome(lookAtTasks(tx, req))
		return err
	})
	return result, err
}

// outcome makes a result of what a change gave. Only what is no refusal stays an
// error.
func outcome(data any, err error) (workbench.Result, error) {
	refusal := workbench.Refusal("")
	switch {
	case errors.As(err, &refusal):
		return refused(refusal), nil
	case err != nil:
		return workbench.Result{}, err
	case data == nil:
		return workbench.Result{}, nil
	}
	if composed, ok := data.(json.RawMessage); ok { // its size was chosen: json.Marshal would escape it
		return workbench.Result{Data: composed}, nil
	}
	body, err := json.Marshal(data)
	return workbench.Result{Data: body}, err
}

// recall finds what became of the same request before.
func (h *Host) recall(ctx context.Context, req request) (known bool, result workbench.Result, err error) {
	err = h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
		receipt, ok, err := load[workbench.Receipt](tx, areaReceipts, req.key)
		if err != nil || !ok {
			return err
		}
		known, result = true, receipt.Result
		if receipt.Fingerprint != req.fingerprint {
			result = refused(workbench.Conflict(req.method))
		}
		return nil
	})
	return known, result, err
}

// stateResult is the snapshot that a state command asks for, not older than the
// command.
func (h *Host) stateResult(ctx context.Context, e *endpoint) (workbench.Result, uint64, error) {
	state, err := e.Snapshot(ctx)
	if err != nil {
		return workbench.Result{}, 0, err
	}
	if state.Frame == nil {
		return workbench.Result{ReloadRequired: true}, 0, nil
	}
	return workbench.Result{Data: state.Frame}, state.Revision, nil
}

// steps is how one command is carried out. change runs in a transaction, and
// checks everything before it writes: what it wrote stays even when it refuses.
// The others may be nil.
type steps struct {
	before func(ctx context.Context) error                 // outside; a refusal ends the command
	change func(tx ports.PersonalTx) (data any, err error) // in the transaction that stores the receipt
	shows  bool                                            // the data is the conversations as they are then
	after  func()                                          // once that is durable and was no refusal
	always func()                                          // in any case, at the end
	failed func() workbench.Refusal                        // the store failed: undo before, and say what to tell
}

func refusing(err error) steps {
	return steps{change: func(ports.PersonalTx) (any, error) { return nil, err }}
}

func doing(change func(tx ports.PersonalTx) (any, error)) steps { return steps{change: change} }

// steps finds out what a command does.
func (h *Host) steps(req request) steps {
	switch op := req.op.(type) {
	case nil:
		return refusing(workbench.InvalidRequest)
	case workbench.State:
		return doing(func(tx ports.PersonalTx) (any, error) { return nil, h.expireFeed(tx) })
	case workbench.FeedAction:
		return doing(func(tx ports.PersonalTx) (any, error) { return h.actOnFeed(tx, op) })
	case workbench.LifeMutate:
		return doing(func(tx ports.PersonalTx) (any, error) { return h.mutateLife(tx, req.id, req.fingerprint, op.Op) })
	case workbench.MemoryEvidence:
		return doing(func(ports.PersonalTx) (any, error) {
			return map[string]any{"state": "unavailable", "evidence": nil}, nil
		})
	case workbench.AdoptCard, workbench.DismissCard:
		return refusing(workbench.CardNotFound) // there are no cards
	case workbench.SetPresentation, workbench.SeenPresentation:
		return h.presentationSteps(req)
	}
	if s, ok := h.conversationSteps(req); ok {
		return s
	}
	if s, ok := h.taskSteps(req); ok {
		return s
	}
	return refusing(workbench.Unsupported)
}

// mutateLife changes the owner's lists. Its own results outlive the ledger's.
func (h *Host) mutateLife(tx ports.PersonalTx, requestID, fingerprint string, op workbench.LifeOp) (any, error) {
	type lifeResult struct {
		Fingerprint string                `json:"payload"`
		Outcome     workbench.LifeOutcome `json:"result"`
	}
	before, ok, err := load[lifeResult](tx, areaLife, requestID)
	switch {
	case err != nil:
		return nil, err
	case ok && before.Fingerprint != fingerprint:
		return nil, workbench.RequestIDConflict
	case ok:
		return before.Outcome, nil
	}
	done, err := workbench.Mutate(shelf{tx}, requestID, op, h.now())
	if err != nil {
		return nil, err
	}
	return done, save(tx, areaLife, requestID, lifeResult{fingerprint, done}, workbench.MaxLifeReceipts)
}

// newestFeed is the feed as it is shown.
func newestFeed(tx ports.PersonalView) ([]workbench.FeedItem, error) {
	items, err := loadAll[workbench.FeedItem](tx, areaFeed, workbench.MaxFeed)
	slices.Reverse(items)
	return items, err
}

// expireFeed marks what is out of date.
func (h *Host) expireFeed(tx ports.PersonalTx) error {
	items, err := loadAll[workbench.FeedItem](tx, areaFeed, workbench.MaxFeed)
	if err != nil {
		return err
	}
	for _, item := range items {
		if late, changed := workbench.Expire(item, h.now()); changed {
			if err := save(tx, areaFeed, late.ID, late, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *Host) actOnFeed(tx ports.PersonalTx, op workbench.FeedAction) (any, error) {
	if err := h.expireFeed(tx); err != nil {
		return nil, err
	}
	item, ok, err := load[workbench.FeedItem](tx, areaFeed, op.ID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, workbench.NotFound
	}
	item, err = workbench.Act(item, op.Action, op.SnoozeUntil, h.now())
	if err != nil {
		return nil, err
	}
	return item.Shown(), save(tx, areaFeed, item.ID, item, 0)
}
