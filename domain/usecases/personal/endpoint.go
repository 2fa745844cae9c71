package personal

import (
	"context"
	"errors"
	"fmt"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
)

// Refusals of a control that have no result to say why. The client gets the
// receipt "rejected" and nothing more.
var (
	ErrUnknownTarget = errors.New("the control names a conversation that is not there")
	ErrNoVoice       = errors.New("this host does not listen")
	ErrNoDictation   = errors.New("this host takes no dictation")
	ErrNotGranted    = errors.New("the personal extension was not granted")
	ErrNotAdmitted   = errors.New("there is no such method, or it is not for a phone")
)

// Endpoint is one attached client. Its methods may be called concurrently.
type Endpoint interface {
	// Deliver takes one control. An error refuses it and nothing more; nil is no
	// more than "it was handed over". Results come by the link. A personal.command
	// may wait for those before it, everything else returns at once or after one
	// write to the store.
	Deliver(ctx context.Context, control nova.Control) error
	// Audio takes uplink PCM16, which it does not keep. It never blocks.
	Audio(pcm []byte)
	// Snapshot gives the state as this client may see it.
	Snapshot(ctx context.Context) (nova.PersonalState, error)
	// Leave ends what belongs to the connection: its draft and its voice. Its turns
	// go on.
	Leave()
}

// endpoint implements Endpoint. Host.mu guards what may change.
type endpoint struct {
	host  *Host
	link  ports.PersonalLink
	terms Terms

	left    bool
	mode    workbench.Mode
	draft   draft
	cut     workbench.Cut // of the last snapshot
	holding int           // commands whose results are to come before any change
	held    bool          // there was one since
}

// Attach registers a client, which gets captions, results and changes from now
// on.
func (h *Host) Attach(link ports.PersonalLink, terms Terms) Endpoint {
	e := &endpoint{host: h, link: link, terms: terms}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endpoints[e] = struct{}{}
	return e
}

// Leave implements Endpoint.
func (e *endpoint) Leave() {
	h := e.host
	h.mu.Lock()
	e.left = true
	delete(h.endpoints, e)
	stop := e.draft.abandon()
	h.mu.Unlock()
	stop()
	h.stopVoice(e)
}

// Deliver implements Endpoint.
func (e *endpoint) Deliver(ctx context.Context, control nova.Control) error {
	switch m := control.(type) {
	case nova.PersonalCommand:
		return e.command(ctx, m)
	case nova.InputText:
		return e.text(ctx, m)
	case nova.InputDictation:
		return e.dictate(ctx, m)
	case nova.InputAudio:
		return e.listen(m)
	case nova.ConfirmationDecision:
		return scoped(m.ConversationID)
	case nova.ApprovalDecision:
		return scoped(m.ConversationID)
	}
	// Speech and playback of which there is none, clock and diagnostics.
	return nil
}

// scoped refuses a decision for a conversation, since nothing waits for one; it
// never falls back to another scope (decision K14).
func scoped(conversation string) error {
	if conversation != "" {
		return ErrUnknownTarget
	}
	return nil
}

// Snapshot implements Endpoint.
func (e *endpoint) Snapshot(ctx context.Context) (state nova.PersonalState, err error) {
	h := e.host
	err = h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
		parts, err := h.parts(tx, e)
		if err != nil {
			return err
		}
		state.Revision = parts.Revision
		if e.terms.Desktop {
			state.Frame, err = workbench.DesktopFrame(parts)
			return err
		}
		frame, cut, err := workbench.MobileFrame(parts)
		e.noteCut(cut)
		state.Frame = frame
		return err
	})
	if err != nil {
		return nova.PersonalState{}, fmt.Errorf("compose a snapshot: %w", err)
	}
	return state, nil
}

// noteCut warns of what a phone is not shown, once until something else is.
func (e *endpoint) noteCut(cut workbench.Cut) {
	cut.Messages = false // that old ones stay here is as it should be
	e.host.mu.Lock()
	news := cut != e.cut
	e.cut = cut
	e.host.mu.Unlock()
	if news && cut != (workbench.Cut{}) {
		e.host.deps.Log.Warn("a snapshot was cut to fit a phone", "cut", cut)
	}
}

// parts gathers what a snapshot for e shows.
func (h *Host) parts(tx ports.PersonalView, e *endpoint) (p workbench.Parts, err error) {
	if p, err = h.conversationParts(tx, e); err != nil {
		return p, err
	}
	p.TimeZone = h.opts.TimeZone
	if p.Feed, err = newestFeed(tx); err != nil {
		return p, err
	}
	if p.Items, err = allItems(tx); err != nil {
		return p, err
	}
	if p.Profile, err = profileOf(tx); err != nil {
		return p, err
	}
	p.Tasks, err = loadAll[workbench.Task](tx, areaTasks, workbench.MaxTasks)
	return p, err
}

// conversationParts is the part of a snapshot that shows conversations, with what
// no store keeps of e; nil for nobody in particular.
func (h *Host) conversationParts(tx ports.PersonalView, e *endpoint) (p workbench.Parts, err error) {
	stored, err := storedRevision(tx)
	if err != nil {
		return p, err
	}
	p.Revision, p.VoiceID, p.Mode = h.unstoredParts(stored, e)
	if p.SelectedID, err = selectedID(tx); err != nil {
		return p, err
	}
	p.Conversations, err = shown(tx, p.SelectedID, p.VoiceID)
	p.Messages = func(visit func(conversations.Message) bool) error {
		return tx.MessagesBefore(p.SelectedID, 0, workbench.MaxShownMessages, visit)
	}
	return p, err
}

// unstoredParts are those of a snapshot that no store keeps. Its revision rises
// with every change of either kind, and is read together with what it counts: a
// newer one over an older state would stay on the screen.
func (h *Host) unstoredParts(stored uint64, e *endpoint) (revision uint64, voiceID string, mode workbench.Mode) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e != nil {
		mode = e.mode
	}
	return stored + h.unstored, h.voice.owner, mode
}

// shown lists the conversations of a snapshot in their order (decision K13).
func shown(tx ports.PersonalView, selected, voice string) ([]conversations.Conversation, error) {
	var list []conversations.Conversation
	in := map[string]bool{"": true}
	for _, id := range []string{selected, voice, conversations.MainID, conversations.ProactiveID} {
		if in[id] {
			continue
		}
		in[id] = true
		c, err := tx.Conversation(id)
		switch {
		case err == nil:
			list = append(list, c)
		case !errors.Is(err, ports.ErrConversationUnknown):
			return nil, err
		}
	}
	newest, err := tx.Conversations(ports.ConversationQuery{Limit: workbench.MaxShownConversations})
	for _, c := range newest {
		if !in[c.ID] && len(list) < workbench.MaxShownConversations {
			list = append(list, c)
		}
	}
	return list, err
}

// send gives a message to every phone, or to every page, that is attached.
func (h *Host) send(desktop bool, m nova.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := range h.endpoints {
		if e.terms.Desktop == desktop {
			e.link.Send(m)
		}
	}
}

// broadcast gives a message to all.
func (h *Host) broadcast(m nova.Message) {
	h.send(false, m)
	h.send(true, m)
}

// caption shows what is being said in a conversation. A client without the
// personal extension shows one stream: that of the selected conversation.
func (h *Host) caption(c nova.Caption) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sequence++
	c.Sequence = h.sequence
	for e := range h.endpoints {
		if e.terms.Desktop || e.terms.Personal || c.ConversationID == h.selected {
			e.link.Send(c)
		}
	}
}
