package personal

import (
	"context"
	"errors"
	"strings"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
)

// voiceStartLimit bounds the start of the voice runtime: every command waits for
// it.
const voiceStartLimit = 30 * time.Second

// voice says which conversation speaks and listens. It is not stored: a host
// begins without. Host.mu guards it.
type voice struct {
	owner    string // conversation, "" for none
	from     *endpoint
	session  *session
	changing string // conversation in which voice starts or stops now; owner is "" then
}

// session is one run of the voice runtime.
type session struct{ stop func() }

func (h *Host) voiceOwner() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.voice.owner
}

func (h *Host) ownsVoice(conversationID string) bool { return h.voiceOwner() == conversationID }

// voiceAt reports whether voice is on in a conversation, or about to be.
func (h *Host) voiceAt(conversationID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.voice.owner == conversationID || h.voice.changing == conversationID
}

// voicing enables or disables voice. The runtime starts before the command is
// stored, and stops again when it cannot be.
func (h *Host) voicing(op workbench.SetVoice, from *endpoint) steps {
	started := false
	s := showing(func(ports.PersonalTx) (string, error) { return "", nil })
	s.before = func(ctx context.Context) error {
		err := h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
			_, err := conversation(tx, op.ID)
			return err
		})
		if err != nil {
			return err
		}
		if !op.Enabled {
			if !h.ownsVoice(op.ID) {
				return workbench.VoiceNotOwned
			}
			h.stopVoice(nil)
			return nil
		}
		started, err = h.startVoice(ctx, op.ID, from)
		return err
	}
	s.failed = func() workbench.Refusal {
		if started {
			h.stopVoice(nil)
		}
		return workbench.Unavailable
	}
	return s
}

// startVoice starts the runtime for a conversation. started is false when it
// runs there already.
func (h *Host) startVoice(ctx context.Context, conversationID string, from *endpoint) (started bool, err error) {
	h.mu.Lock()
	now := h.voice
	if now == (voice{}) {
		h.voice.changing = conversationID // before the look for turns: no text gets past both
	}
	h.mu.Unlock()
	switch {
	case now.owner == conversationID:
		return false, nil
	case now != (voice{}):
		return false, workbench.VoiceActive
	}
	session, err := h.runVoice(ctx, conversationID)
	h.mu.Lock()
	if err == nil && !from.left {
		h.voice = voice{owner: conversationID, from: from, session: session}
		h.unstored++
		h.mu.Unlock()
		return true, nil
	}
	h.mu.Unlock()
	if err == nil { // it went while voice was being started
		h.endSession(session)
		err = workbench.VoiceUnavailable
	}
	h.mu.Lock()
	h.voice = voice{}
	h.mu.Unlock()
	return false, err
}

// runVoice starts the runtime if the conversation is free for it.
func (h *Host) runVoice(ctx context.Context, conversationID string) (*session, error) {
	switch {
	case h.deps.Voice == nil:
		return nil, workbench.VoiceUnavailable
	case h.lines.busy(conversationID):
		return nil, workbench.ConversationBusy
	}
	ctx, cancel := h.deps.Within(ctx, voiceStartLimit)
	defer cancel()
	defer h.commands.cut(cancel)()
	s := &session{}
	err := guard(func() (err error) {
		s.stop, err = h.deps.Voice.StartVoice(ctx, conversationID)
		return err
	})
	if err != nil {
		h.deps.Log.Warn("voice could not be started", "cause", err)
		return nil, workbench.VoiceUnavailable
	}
	return s, nil
}

// stopVoice ends voice, or only that of from unless it is nil.
func (h *Host) stopVoice(from *endpoint) {
	h.mu.Lock()
	if h.voice.owner == "" || from != nil && h.voice.from != from {
		h.mu.Unlock()
		return
	}
	ended := h.voice
	h.voice = voice{changing: ended.owner}
	h.unstored++
	h.mu.Unlock()
	h.endSession(ended.session)
	h.mu.Lock()
	h.voice = voice{}
	h.mu.Unlock()
	h.announce()
}

// endSession stops the runtime; it may take its time.
func (h *Host) endSession(s *session) {
	if err := guard(func() error { s.stop(); return nil }); err != nil {
		h.deps.Log.Error("voice could not be stopped", "cause", err)
	}
}

// listen is input.audio: what is said goes to the voice owner.
func (e *endpoint) listen(m nova.InputAudio) error {
	h := e.host
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e.draft.Open():
		return conversations.ErrDraftOpen
	case e.mode == workbench.ModeBackground:
		return workbench.PresentationHidden
	case h.voice.owner == "":
		return ErrNoVoice
	case h.voice.owner != m.ConversationID:
		return workbench.VoiceNotOwned
	}
	return nil
}

// draft is a dictation with what has to end with it. Host.mu guards it.
type draft struct {
	conversations.Draft
	number uint64 // which draft of the connection: IDs may come again
	unwind []func()
}

// abandon drops the draft, whatever it does. The caller runs the result without
// the lock.
func (d *draft) abandon() func() {
	unwind := d.unwind
	*d = draft{number: d.number}
	return func() {
		for _, undo := range unwind {
			undo()
		}
	}
}

func (e *endpoint) dictating() bool {
	e.host.mu.Lock()
	defer e.host.mu.Unlock()
	return e.draft.Open()
}

// dictate takes an input.dictation (nova-transport §16.3).
func (e *endpoint) dictate(ctx context.Context, m nova.InputDictation) error {
	switch m.Action {
	case nova.DictationStart:
		return e.startDraft(ctx, m)
	case nova.DictationFinish:
		return e.finishDraft(m.ID)
	}
	e.host.mu.Lock()
	stop := func() {}
	if e.draft.ID == m.ID {
		stop = e.draft.abandon()
	}
	e.host.mu.Unlock()
	stop()
	return nil // clients cancel after every draft, whether it is there or not
}

func (e *endpoint) startDraft(ctx context.Context, m nova.InputDictation) error {
	h := e.host
	if h.Input() != nova.TextAndDictation {
		return ErrNoDictation
	}
	if m.ConversationID != "" {
		if err := h.deps.Store.View(ctx, func(tx ports.PersonalView) error {
			_, err := conversation(tx, m.ConversationID)
			return err
		}); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e.left:
		return ErrNoDictation
	case h.voice != (voice{}):
		return workbench.VoiceActive
	case e.mode == workbench.ModeBackground:
		return workbench.PresentationHidden
	}
	if err := e.draft.Start(m.ID, m.ConversationID); err != nil {
		return err
	}
	e.draft.number++
	number := e.draft.number
	stop := h.deps.After(conversations.DraftLife, func() { e.failDraft(number) })
	e.draft.unwind = append(e.draft.unwind, func() { stop() })
	return nil
}

// Audio implements Endpoint. Without a draft there is nobody to listen.
func (e *endpoint) Audio(pcm []byte) {
	e.host.mu.Lock()
	number := e.draft.number
	err := e.draft.Add(pcm)
	e.host.mu.Unlock()
	if err != nil {
		e.failDraft(number)
	}
}

// failDraft ends a draft of which nothing will come. A client that was not told
// would wait.
func (e *endpoint) failDraft(number uint64) { e.endDraft(number, "") }

// endDraft sends a draft's result, if it is still the one that is wanted.
func (e *endpoint) endDraft(number uint64, text string) {
	e.host.mu.Lock()
	if !e.draft.Open() || e.draft.number != number {
		e.host.mu.Unlock()
		return
	}
	result := nova.Transcription{ID: e.draft.ID, ConversationID: e.draft.ConversationID, Text: text}
	stop := e.draft.abandon()
	e.link.Send(result)
	e.host.mu.Unlock()
	stop()
}

func (e *endpoint) finishDraft(id string) error {
	h := e.host
	h.mu.Lock()
	defer h.mu.Unlock()
	pcm, err := e.draft.Finish(id)
	if err != nil {
		return err
	}
	number := e.draft.number
	ctx, cancel := h.deps.Within(h.group.ctx, conversations.RecognitionLimit)
	e.draft.unwind = append(e.draft.unwind, cancel)
	if !h.group.start(func(context.Context) { e.recognise(ctx, number, pcm) }) {
		return workbench.RuntimeClosed
	}
	return nil
}

// recognise turns a frozen draft into its text.
func (e *endpoint) recognise(ctx context.Context, number uint64, pcm []byte) {
	text := ""
	if len(pcm) > 0 {
		err := guard(func() (err error) {
			text, err = e.host.deps.Transcriber.Transcribe(ctx, pcm)
			return err
		})
		if err != nil {
			text = ""
			if !errors.Is(err, context.Canceled) {
				e.host.deps.Log.Warn("speech was not recognised", "cause", err)
			}
		}
	}
	text = strings.TrimFunc(strings.ToValidUTF8(text, "\uFFFD"), jsonform.IsTrimmed)
	if jsonform.UnitCount(text) > nova.MaxInputUnits {
		text = ""
	}
	e.endDraft(number, text)
}
