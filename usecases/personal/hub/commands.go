package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"plexus/domain/jsonscan"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/stored"
)

// stateMethod asks for the snapshot: the one command of the hub itself.
const stateMethod = "state"

// Nothing is the parameters of a command that has none.
type Nothing struct{}

// Read implements Parameters.
func (*Nothing) Read(*jsonform.Form) {}

// Admits reports whether a phone may call a method.
func (h *Hub) Admits(method string) bool { return h.methods[method].Phone }

// read reads the parameters of a command; empty stands for {}. Unknown members,
// missing ones and values out of their bounds are workbench.InvalidRequest. No
// error quotes a parameter.
//
// The fingerprint identifies what the command asks, in order or not: equal for
// two that mean the same, whatever the order of their members and the spelling of
// their numbers. Params that have no canonical form, which no command has that
// came through nova.DecodeControl, count as they are written.
func (c Command) read(params json.RawMessage) (asked call, fingerprint string, err error) {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	f := jsonform.Read(params)
	text := append(jsonscan.AppendString([]byte{'['}, c.Method), ',')
	if canonical, err := jsonform.AppendCanonical(text, f); err == nil {
		text = canonical
	} else {
		text = append(text, params...)
	}
	fingerprint = sum(append(text, ']'))
	if c.Do.read == nil {
		return call{mutate: func(Request) Mutation { return refusing(workbench.Unsupported) }}, fingerprint, nil
	}
	if !c.Loose {
		f.Strict()
	}
	asked = c.Do.read(f)
	if _, err := f.Done(); err != nil {
		return asked, fingerprint, fmt.Errorf("read parameters of %s: %w: %w", c.Method, workbench.InvalidRequest, err)
	}
	return asked, fingerprint, nil
}

// command runs a personal.command and sends its result, and then announces the
// state. An error means that the client gets no result: the command was refused
// before it had one, or its connection has ended before its turn came.
func (c *Client) command(ctx context.Context, m nova.PersonalCommand) error {
	h := c.hub
	command, known := h.methods[m.Method]
	switch {
	case !c.Terms.Desktop && !c.Terms.Personal:
		return ErrNotGranted
	case !known, !c.Terms.Desktop && !command.Phone:
		return ErrNotAdmitted
	}
	asked, fingerprint, invalid := command.read(m.Params)
	req := Request{ID: m.RequestID, Key: command.receiptKey(c.Terms.Caller(), m.RequestID), Fingerprint: fingerprint, Client: c}

	result, revision := Result{Error: workbench.Unavailable}, uint64(0)
	if err := h.commands.enter(ctx); err != nil {
		if !errors.As(err, &result.Error) {
			return fmt.Errorf("wait for a command's turn: %w", err)
		}
		c.hold()
		c.answer(command, req, asked.failed(result), 0)
		return nil
	}
	defer h.commands.leave()
	c.hold()
	defer func() { c.answer(command, req, asked.failed(result), revision) }() // also after a panic: the client waits

	ctx = context.WithoutCancel(ctx) // an admitted command is completed even if its client goes
	done, carried, err := h.run(ctx, command, req, asked, invalid)
	if err != nil {
		h.Log.Error("a command could not be carried out", "method", m.Method, "error", err)
		return nil
	}
	result, revision = done, carried
	return nil
}

// hold keeps changes back from the link until the answer to a command has gone
// out, so that the result comes before what it brings about.
func (c *Client) hold() {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.holding++
}

// answer sends a result, ends hold, and announces the state as it is then, unless
// the result carries it. revision is that of the snapshot in it, 0 for none.
func (c *Client) answer(command Command, req Request, r Result, revision uint64) {
	c.link.Send(nova.PersonalResult{
		RequestID: req.ID, Error: string(r.Error), Data: r.Data, ReloadRequired: r.ReloadRequired,
		InputStatus: r.InputStatus, InputTaskID: r.InputTaskID, Revision: revision,
	})
	h := c.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if newest := h.revision + h.unstored; newest > revision && (c.changed || !command.Do.query) {
		c.link.Changed(newest)
	}
	if c.holding--; c.holding == 0 {
		c.changed = false
	}
}

// run carries a command out, unless the ledger knows it. revision is that of a
// snapshot in the result. An error is a failure of the store: nothing has happened,
// and nothing is recorded.
func (h *Hub) run(ctx context.Context, command Command, req Request, asked call, invalid error) (result Result, revision uint64, err error) {
	if command.Do.query {
		if invalid != nil {
			result, err = outcome(nil, invalid)
			return result, 0, err
		}
		err = h.Store.View(ctx, func(tx ports.PersonalView) error {
			result, err = outcome(asked.query(tx, req))
			return err
		})
		return result, 0, err
	}
	known, result, err := command.recall(ctx, h.Store, req)
	if known || err != nil {
		return result, 0, err
	}
	m := refusing(invalid)
	if invalid == nil {
		m = asked.mutate(req)
	}
	if m.Prepare != nil {
		if err := m.Prepare(ctx); err != nil {
			m = refusing(err)
		}
	}
	if m.Finally != nil {
		defer m.Finally()
	}
	isState := command.Method == stateMethod
	err = h.Update(ctx, func(tx ports.PersonalTx) error {
		if result, err = outcome(m.Apply(tx)); err != nil {
			return err
		}
		kept, keep := command.recorded(result)
		if !keep {
			return ErrUnchanged // only refusals are not kept: nothing was done
		}
		if isState && result.Error == "" {
			kept.ReloadRequired = true // its data is composed once this is stored
		}
		return stored.Save(tx, receiptKind, req.Key, receipt{req.Fingerprint, kept}, MaxReceipts)
	})
	switch {
	case err != nil && m.Failed != nil:
		h.Log.Error("a command could not be stored", "method", command.Method, "error", err)
		return Result{Error: m.Failed()}, 0, nil
	case err != nil:
		return Result{}, 0, err
	case result.Error != "":
		return result, 0, nil
	}
	if m.Committed != nil {
		m.Committed()
	}
	if !isState {
		return result, 0, nil
	}
	state, err := req.Client.Snapshot(ctx)
	switch {
	case err != nil:
		return Result{}, 0, err
	case state.Frame == nil:
		return Result{ReloadRequired: true}, 0, nil
	}
	return Result{Data: state.Frame}, state.Revision, nil
}

// outcome makes a result of what a command gave. An error that is not a refusal is
// returned.
func outcome(data any, err error) (Result, error) {
	refusal := workbench.Refusal("")
	switch {
	case errors.As(err, &refusal):
		return Result{Error: refusal}, nil
	case err != nil:
		return Result{}, err
	case data == nil:
		return Result{}, nil
	}
	if composed, ok := data.(json.RawMessage); ok { // its size was chosen: json.Marshal would escape it
		return Result{Data: composed}, nil
	}
	body, err := json.Marshal(data)
	return Result{Data: body}, err
}
