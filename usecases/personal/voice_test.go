package personal_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/usecases/personal/absent"
	"plexus/usecases/personal/dictation"
)

const (
	speakMain = `{"id":"chat:main","enabled":true}`
	hushMain  = `{"id":"chat:main","enabled":false}`
)

// voiceOf is the voice_id that a client sees, "" for null.
func voiceOf(c *client) string {
	c.Helper()
	if id := c.see().Conversations.VoiceID; id != nil {
		return *id
	}
	return ""
}

func TestP50_TextToTheVoiceOwnerIsRefusedToOthersNot(t *testing.T) {
	runtime := &speaker{}
	staged(t, func(s *stage) {
		phone := s.phone()
		other := s.chat("Other")
		phone.done("v", "conversations.voice", speakMain)
		if cause := phone.say("a", "chat:main", "no"); cause != nova.SubmissionFailed {
			s.Fatalf("text to the owner: %q", cause)
		}
		phone.accept("b", other, "yes")
		if n := len(s.messages("chat:main")); n != 0 {
			s.Fatalf("%d messages", n)
		}
		phone.done("w", "conversations.voice", hushMain)
		phone.accept("c", "chat:main", "again")
		if runtime.runs() != 0 {
			s.Fatal("the runtime goes on")
		}
	}, runtime.plug)
}

func TestP51_VoiceStartsOnceAndAFailureLeavesTextUsable(t *testing.T) {
	runtime := &speaker{err: errors.New("no microphone")}
	staged(t, func(s *stage) {
		phone := s.phone()
		other := s.chat("Other")
		phone.refuse("1", "conversations.voice", speakMain, workbench.VoiceUnavailable)
		if voiceOf(phone) != "" {
			s.Fatal("a failed start owns voice")
		}
		phone.accept("a", "chat:main", "text still works")
		runtime.set(func() { runtime.err = nil })
		phone.refuse("2", "conversations.voice", `{"id":"none","enabled":true}`, workbench.ConversationNotFound)
		phone.done("3", "conversations.voice", speakMain)
		phone.done("4", "conversations.voice", speakMain) // nothing happens
		phone.refuse("5", "conversations.voice", `{"id":"`+other+`","enabled":true}`, workbench.VoiceActive)
		phone.refuse("6", "conversations.voice", `{"id":"`+other+`","enabled":false}`, workbench.VoiceNotOwned)
		if voiceOf(phone) != "chat:main" || runtime.most != 1 {
			s.Fatalf("owner %q, %d ran", voiceOf(phone), runtime.most)
		}
		s.Stop()
		if runtime.runs() != 0 {
			s.Fatal("voice outlives the host")
		}
		phone.refuse("7", "conversations.voice", speakMain, workbench.Unavailable)
		s.start()
		if phone = s.phone(); voiceOf(phone) != "" {
			s.Fatalf("after a restart %q owns voice", voiceOf(phone))
		}
	}, runtime.plug)
}

func TestP51_WithoutARuntimeVoiceIsUnavailable(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		phone.refuse("1", "conversations.voice", speakMain, workbench.VoiceUnavailable)
		phone.refuse("2", "conversations.voice", hushMain, workbench.VoiceNotOwned)
		phone.accept("a", "chat:main", "text works")
	})
}

func TestVoiceWaitsForTheTextOfItsConversation(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		gate := make(chan struct{})
		s.model.then(waits(gate, "done"))
		phone.accept("a", "chat:main", "runs")
		phone.refuse("1", "conversations.voice", speakMain, workbench.ConversationBusy)
		close(gate)
		synctest.Wait()
		phone.done("2", "conversations.voice", speakMain)
	}, new(speaker).plug)
}

// A text is being stored while voice is asked for: one of the two gives way.
func TestVoiceAndATextOnItsWayDoNotPassEachOther(t *testing.T) {
	staged(t, func(s *stage) {
		phone, disk := s.phone(), make(chan struct{})
		blocked := false
		s.store.BeforeCommit(func() error {
			if !blocked {
				blocked = true
				<-disk
			}
			return nil
		})
		if err := phone.deliver(nova.InputText{Text: "on its way", RequestID: "a", ConversationID: "chat:main"}); err != nil {
			s.Fatal(err)
		}
		synctest.Wait()
		if !blocked {
			s.Fatal("the text is not being stored")
		}
		go func() { _ = phone.deliver(command("v", "conversations.voice", speakMain)) }()
		synctest.Wait()
		close(disk)
		if r := got[nova.PersonalResult](phone); len(r) != 1 || r[0].Error != string(workbench.ConversationBusy) {
			s.Fatalf("voice: %+v", r)
		}
	}, new(speaker).plug)
}

// While voice starts or stops in a conversation its text is refused, other text
// is not, and there is never a second run of the runtime.
func TestTextDuringAVoiceTransition(t *testing.T) {
	begin, end := make(chan struct{}), make(chan struct{})
	runtime := &speaker{}
	staged(t, func(s *stage) {
		begin, end = make(chan struct{}), make(chan struct{})
		runtime.begin, runtime.end = begin, end
		phone, desktop := s.phone(), s.desktop()
		other := s.chat("Other")
		go func() { _ = phone.deliver(command("v", "conversations.voice", speakMain)) }()
		synctest.Wait()
		if cause := phone.say("a", "chat:main", "no"); cause != nova.SubmissionFailed {
			s.Fatalf("text while voice starts: %q", cause)
		}
		if err := phone.draft("d", nova.DictationStart); !errors.Is(err, workbench.VoiceActive) {
			s.Fatalf("dictation while voice starts: %v", err)
		}
		phone.accept("b", other, "yes")
		close(begin)
		if r := got[nova.PersonalResult](phone); len(r) != 1 || r[0].Error != "" {
			s.Fatalf("voice: %+v", r)
		}
		go phone.Leave()
		synctest.Wait()
		if cause := desktop.say("c", "chat:main", "no"); cause != nova.SubmissionFailed {
			s.Fatalf("text while voice stops: %q", cause)
		}
		desktop.refuse("w", "conversations.voice", speakMain, workbench.VoiceActive)
		close(end)
		synctest.Wait()
		desktop.done("x", "conversations.voice", speakMain)
		if runtime.most != 1 {
			s.Fatalf("%d ran at a time", runtime.most)
		}
	}, runtime.plug, hearing("heard"))
}

// The client goes while voice is being started for it.
func TestVoiceOfAClientThatLeftEnds(t *testing.T) {
	runtime := &speaker{}
	staged(t, func(s *stage) {
		begin := make(chan struct{})
		runtime.begin = begin
		phone, desktop := s.phone(), s.desktop()
		go func() { _ = phone.deliver(command("v", "conversations.voice", speakMain)) }()
		synctest.Wait()
		phone.Leave()
		close(begin)
		synctest.Wait()
		if voiceOf(desktop) != "" || runtime.runs() != 0 {
			s.Fatalf("owner %q, %d run", voiceOf(desktop), runtime.runs())
		}
		desktop.accept("a", "chat:main", "text works")
	}, runtime.plug)
}

// A runtime that hangs holds up neither the next command nor the host's end.
func TestP51_AStartOfVoiceHasItsTime(t *testing.T) {
	runtime := &speaker{}
	staged(t, func(s *stage) {
		runtime.begin = make(chan struct{}) // never
		phone, began := s.phone(), time.Now()
		phone.sendOff("v", "conversations.voice", speakMain)
		phone.sendOff("c", "conversations.create", `{}`)
		time.Sleep(30*time.Second - time.Millisecond)
		if r := got[nova.PersonalResult](phone); len(r) != 0 {
			s.Fatalf("too early: %+v", r)
		}
		time.Sleep(time.Millisecond)
		r := got[nova.PersonalResult](phone)
		if len(r) != 2 || r[0].Error != string(workbench.VoiceUnavailable) || r[1].Error != "" || voiceOf(phone) != "" {
			s.Fatalf("after %v: %+v", time.Since(began), r)
		}
		phone.sendOff("w", "conversations.voice", speakMain)
		began = time.Now()
		if s.Stop(); time.Since(began) != 0 {
			s.Errorf("the end took %v", time.Since(began))
		}
		if r := got[nova.PersonalResult](phone); len(r) != 1 || r[0].Error != string(workbench.VoiceUnavailable) {
			s.Errorf("at the end: %+v", r)
		}
	}, runtime.plug)
}

func TestP52_SelectingDoesNotMoveVoice(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		other := s.chat("Other")
		phone.done("v", "conversations.voice", speakMain)
		phone.done("s", "conversations.select", `{"id":"`+other+`"}`)
		if seen := phone.see().Conversations; seen.SelectedID != other || voiceOf(phone) != "chat:main" {
			s.Fatalf("%+v", seen)
		}
	}, new(speaker).plug)
}

// A topic that speaks may be opened, but what it is about does not change, and no
// text comes between.
func TestOpenFeedWhereVoiceIsOn(t *testing.T) {
	staged(t, func(s *stage) {
		phone, late := s.phone(), time.Now().Add(time.Hour)
		same := feedItem("f2", "task:1", late)
		same.WhyNow = "because of f1"
		s.put("feed", "f1", feedItem("f1", "task:1", late))
		s.put("feed", "f2", same)
		s.put("feed", "f3", feedItem("f3", "task:1", late))
		phone.done("o1", "conversations.open_feed", `{"feed_id":"f1"}`)
		topic := phone.see().Conversations.SelectedID
		before := len(s.messages(topic))
		phone.done("v", "conversations.voice", `{"id":"`+topic+`","enabled":true}`)
		phone.done("o2", "conversations.open_feed", `{"feed_id":"f2"}`)
		phone.refuse("o3", "conversations.open_feed", `{"feed_id":"f3"}`, workbench.VoiceActive)
		if n := len(s.messages(topic)); n != before {
			s.Errorf("%d messages, then %d", before, n)
		}
		if _, about, err := s.Conversation(s.Context(), topic); err != nil || about.Text != "because of f1" {
			s.Errorf("it is about %q, %v", about.Text, err)
		}
	}, new(speaker).plug)
}

// What the store does not take is undone: the runtime stops again.
func TestVoiceThatCannotBeStoredStopsAgain(t *testing.T) {
	runtime := &speaker{}
	staged(t, func(s *stage) {
		phone := s.phone()
		s.store.FailNext(errors.New("the disk is full"))
		phone.refuse("v", "conversations.voice", speakMain, workbench.Unavailable)
		if voiceOf(phone) != "" || runtime.runs() != 0 {
			s.Fatalf("owner %q, %d run", voiceOf(phone), runtime.runs())
		}
		phone.done("v", "conversations.voice", speakMain)
	}, runtime.plug)
}

func TestN58_NothingUnscopedGetsPastVoiceOwnership(t *testing.T) {
	staged(t, func(s *stage) {
		phone, other := s.phone(), s.chat("Other")
		if err := phone.deliver(nova.InputAudio{}); !errors.Is(err, dictation.ErrNoVoice) {
			s.Fatalf("audio without voice: %v", err)
		}
		phone.done("v", "conversations.voice", speakMain)
		for _, id := range []string{"", other} {
			if err := phone.deliver(nova.InputAudio{ConversationID: id}); !errors.Is(err, workbench.VoiceNotOwned) {
				s.Fatalf("audio for %q: %v", id, err)
			}
			start := nova.InputDictation{ID: "d", Action: nova.DictationStart, ConversationID: id}
			if err := phone.deliver(start); !errors.Is(err, workbench.VoiceActive) {
				s.Fatalf("dictation for %q: %v", id, err)
			}
		}
		phone.Audio(make([]byte, 640))
		if err := phone.deliver(nova.InputDictation{ID: "d", Action: nova.DictationFinish}); !errors.Is(err, dictation.ErrDraftUnknown) {
			s.Fatalf("finish: %v", err)
		}
		if err := phone.deliver(nova.InputAudio{ConversationID: "chat:main"}); err != nil {
			s.Fatalf("audio for the owner: %v", err)
		}
		phone.done("b", "presentation.set", `{"mode":"background"}`)
		if err := phone.deliver(nova.InputAudio{ConversationID: "chat:main"}); !errors.Is(err, workbench.PresentationHidden) {
			s.Fatalf("audio in the background: %v", err)
		}
	}, new(speaker).plug, hearing("heard"))
}

func TestN59_P63_ScopedDecisionsReachNobodyElse(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		for _, m := range []nova.Control{
			nova.ConfirmationDecision{ProposalID: "p", Confirmed: true, ConversationID: "none"},
			nova.ApprovalDecision{Executor: "codex", ApprovalID: "a", Decision: nova.Accept, ConversationID: "none"},
		} {
			if err := phone.deliver(m); !errors.Is(err, absent.ErrUnknownTarget) {
				s.Fatalf("%s: %v", m.Kind(), err)
			}
		}
	})
}

// As far as a host without speech can: there is no generation that a playback
// report could name, so whatever it names nothing happens. The rest of N46 waits
// for speech.
func TestN46_PlaybackOfNothingDoesNothing(t *testing.T) {
	staged(t, func(s *stage) {
		phone := s.phone()
		gate := make(chan struct{})
		s.model.then(waits(gate, "undisturbed"))
		phone.accept("a", "chat:main", "runs")
		before := phone.see().Revision
		g := nova.Generation{UtteranceID: "u", Epoch: 1}
		for _, m := range []nova.Control{
			nova.PlaybackDone{Generation: g}, nova.PlaybackDone{Generation: g}, nova.PlaybackStopped{Generation: g},
			nova.PlaybackCleared{Generation: g, PlayedMS: nova.Some[uint64](5)}, nova.SpeechOnset{SpeechID: "s"},
		} {
			if err := phone.deliver(m); err != nil {
				s.Fatalf("%s: %v", m.Kind(), err)
			}
		}
		if after := phone.see().Revision; after != before {
			s.Fatalf("revision %d, then %d", before, after)
		}
		close(gate)
		if all := s.messages("chat:main"); len(all) != 2 || all[1].Text != "undisturbed" {
			s.Fatalf("stored %+v", all)
		}
	})
}
