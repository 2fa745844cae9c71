// Package voice knows which conversation speaks and listens. That is not stored: a
// host begins without. The command that turns it on, conversations.voice, is in
// package chats, because its result is the conversations.
package voice

import (
	"context"
	"sync"
	"time"

	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
)

// startLimit bounds the start of the voice runtime: every command waits for it.
const startLimit = 30 * time.Second

// Voice is the voice of the host: of one conversation at a time.
type Voice struct {
	hub     *hub.Hub
	runtime ports.VoiceRuntime
	busy    func(conversationID string) bool

	mu    sync.Mutex
	state state
}

// state is zero while voice is off.
type state struct {
	owner    string // conversation
	from     *hub.Client
	stop     func() // of the runtime
	changing string // conversation in which voice starts or stops now; owner is "" then
}

func (s state) idle() bool { return s.owner == "" && s.changing == "" }

// New makes it. Without a runtime the host cannot speak. busy reports whether texts
// are on their way in a conversation: voice starts in none of these.
func New(h *hub.Hub, runtime ports.VoiceRuntime, busy func(conversationID string) bool) *Voice {
	return &Voice{hub: h, runtime: runtime, busy: busy}
}

// Area is what the hub has to know of it.
func (v *Voice) Area() hub.Area {
	return hub.Area{
		Leave: func(c *hub.Client) { v.stopIf(func(s state) bool { return s.from == c }) },
		Stop:  v.Stop,
	}
}

// Owner is the conversation that speaks, "" for none.
func (v *Voice) Owner() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state.owner
}

// Owns reports whether a conversation speaks.
func (v *Voice) Owns(conversationID string) bool { return v.Owner() == conversationID }

// IsOn reports whether voice is on in a conversation, or about to be.
func (v *Voice) IsOn(conversationID string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state.owner == conversationID || v.state.changing == conversationID
}

// Idle reports whether voice is off and not being started.
func (v *Voice) Idle() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state.idle()
}

// Start starts the runtime for a conversation. started is false when it runs there
// already. Errors are workbench.Refusal.
func (v *Voice) Start(ctx context.Context, conversationID string, from *hub.Client) (started bool, err error) {
	v.mu.Lock()
	now := v.state
	if now.idle() {
		v.state.changing = conversationID // set before turns are looked for, so that no text is admitted in between
	}
	v.mu.Unlock()
	switch {
	case now.owner == conversationID:
		return false, nil
	case !now.idle():
		return false, workbench.VoiceActive
	}
	stop, err := v.run(ctx, conversationID)
	v.mu.Lock()
	if err == nil && !from.Left() {
		v.state = state{owner: conversationID, from: from, stop: stop}
		v.mu.Unlock()
		v.hub.RaiseRevision() // clients are told when the command has been stored
		return true, nil
	}
	v.mu.Unlock()
	if err == nil { // the client went while voice was being started
		v.end(stop)
		err = workbench.VoiceUnavailable
	}
	v.mu.Lock()
	v.state = state{}
	v.mu.Unlock()
	return false, err
}

// run starts the runtime if the conversation is free for it.
func (v *Voice) run(ctx context.Context, conversationID string) (stop func(), err error) {
	switch {
	case v.runtime == nil:
		return nil, workbench.VoiceUnavailable
	case v.busy(conversationID):
		return nil, workbench.ConversationBusy
	}
	ctx, cancel := v.hub.Within(ctx, startLimit)
	defer cancel()
	defer v.hub.Interruptible(cancel)()
	err = hub.SafeCall(func() (err error) {
		stop, err = v.runtime.StartVoice(ctx, conversationID)
		return err
	})
	if err != nil {
		v.hub.Log.Warn("voice could not be started", "cause", err)
		return nil, workbench.VoiceUnavailable
	}
	return stop, nil
}

// Stop ends voice.
func (v *Voice) Stop() { v.stopIf(func(state) bool { return true }) }

func (v *Voice) stopIf(wanted func(state) bool) {
	v.mu.Lock()
	if v.state.owner == "" || !wanted(v.state) {
		v.mu.Unlock()
		return
	}
	ended := v.state
	v.state = state{changing: ended.owner}
	v.mu.Unlock()
	v.hub.RaiseRevision()
	v.end(ended.stop)
	v.mu.Lock()
	v.state = state{}
	v.mu.Unlock()
	v.hub.NotifyAll()
}

// end stops the runtime; it may take its time.
func (v *Voice) end(stop func()) {
	if err := hub.SafeCall(func() error { stop(); return nil }); err != nil {
		v.hub.Log.Error("voice could not be stopped", "cause", err)
	}
}
