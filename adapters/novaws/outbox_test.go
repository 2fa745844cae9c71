package novaws

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/playback"
)

// labelled gives a frame whose bytes are label.
func labeled(k frameKind, label string) frame {
	b := wsconn.GetBuffer()
	b.B = append(b.B, label...)
	return frame{kind: k, buffer: b}
}

// sized gives a frame of n bytes.
func sized(k frameKind, n int) frame {
	return frame{kind: k, buffer: &wsconn.Buffer{B: make([]byte, n)}}
}

func audio(epoch, sequence uint64) frame {
	f := labeled(kindAudio, fmt.Sprintf("audio %d/%d", epoch, sequence))
	f.epoch = epoch
	return f
}

func terminal(epoch uint64) frame {
	f := labeled(kindTerminal, fmt.Sprintf("terminal %d", epoch))
	f.epoch = epoch
	return f
}

// spoken is a caption of the assistant.
func spoken(k frameKind, sequence uint64) frame {
	f := labeled(k, fmt.Sprintf("caption %d", sequence))
	f.caption = sequence
	return f
}

func clearing(fence playback.Fence) frame {
	f := labeled(kindClear, fmt.Sprintf("clear %d", fence.Epoch))
	f.fence = fence
	return f
}

func viewed(k frameKind, label, view string) frame {
	f := labeled(k, label)
	f.view = view
	return f
}

// openOutbox gives an outbox with an admitted client.
func openOutbox(personal bool) *outbox {
	o := newOutbox(personal, func() {})
	o.admit(playback.Fence{})
	return o
}

func pushAll(t *testing.T, o *outbox, frames ...frame) {
	t.Helper()
	for i, f := range frames {
		if became := o.push(f); became != queued {
			t.Fatalf("frame %d of kind %d is %d, want it queued", i, f.kind, became)
		}
	}
}

// drain writes everything and gives the labels in the order of the wire.
func drain(o *outbox) []string {
	labels := []string{}
	for f, ok := o.next(); ok; f, ok = o.next() {
		labels = append(labels, string(f.buffer.B))
		o.written(f)
	}
	return labels
}

func wantWire(t *testing.T, o *outbox, want ...string) {
	t.Helper()
	if got := drain(o); !slices.Equal(got, want) {
		t.Errorf("on the wire: %q, want %q", got, want)
	}
	if !o.empty() || o.ordinary != 0 || o.bodies != 0 {
		t.Errorf("drained, but %d and %d bytes are counted", o.ordinary, o.bodies)
	}
}

func TestN25_ClearOvertakesQueuedAudio(t *testing.T) {
	o := openOutbox(false)
	pushAll(t, o, audio(1, 0), audio(1, 1), audio(2, 0), labeled(kindAnswer, "answer"), audio(3, 0),
		clearing(playback.Fence{Epoch: 2}), audio(3, 1))
	wantWire(t, o, "clear 2", "answer", "audio 3/0", "audio 3/1")
}

func TestN26_ALateClearAdmitsNothingAgain(t *testing.T) {
	o := openOutbox(false)
	pushAll(t, o, audio(4, 0), clearing(playback.Fence{Epoch: 5, Caption: 9}), clearing(playback.Fence{Epoch: 2, Caption: 3}))
	for epoch := uint64(1); epoch <= 5; epoch++ {
		if became := o.push(audio(epoch, 7)); became != dropped {
			t.Errorf("audio of generation %d is %d as it enters, want it dropped", epoch, became)
		}
	}
	pushAll(t, o, spoken(kindFullCaption, 8), audio(6, 0))
	wantWire(t, o, "clear 5", "clear 2", "audio 6/0")
}

func TestN27_AnAlertFencesAssistantCaptionsAlone(t *testing.T) {
	o := openOutbox(false)
	alert := labeled(kindAlert, "alert")
	alert.fence = playback.Fence{Caption: 11}
	pushAll(t, o, audio(1, 0), spoken(kindCaption, 10), labeled(kindCaption, "user"), spoken(kindFullCaption, 11),
		labeled(kindFullCaption, "user's last"), spoken(kindCaption, 12), alert, terminal(1))
	wantWire(t, o, "alert", "audio 1/0", "user", "user's last", "caption 12", "terminal 1")
}

func TestN28_TheTerminalOfAClearedGenerationIsDropped(t *testing.T) {
	o := openOutbox(false)
	pushAll(t, o, audio(1, 0), terminal(1), audio(2, 0), terminal(2), clearing(playback.Fence{Epoch: 1}), terminal(1))
	wantWire(t, o, "clear 1", "audio 2/0", "terminal 2")
	// The client dropped it itself: no clear goes out.
	pushAll(t, o, audio(3, 0), terminal(3))
	o.raise(playback.Fence{Epoch: 3})
	wantWire(t, o)
}

func TestN29_AWriteInFlightIsNotOvertaken(t *testing.T) {
	o := openOutbox(false)
	pushAll(t, o, audio(1, 0), audio(1, 1))
	f, _ := o.next()
	pushAll(t, o, clearing(playback.Fence{Epoch: 1}))
	if g, ok := o.next(); ok {
		t.Fatalf("%q is handed out beside a write in flight", g.buffer.B)
	}
	if got := string(f.buffer.B); got != "audio 1/0" {
		t.Errorf("in flight is %q", got)
	}
	o.written(f)
	wantWire(t, o, "clear 1")
}

func TestN30_WhatOverflowDoes(t *testing.T) {
	times := func(n int, f func() frame) (all []frame) {
		for range n {
			all = append(all, f())
		}
		return all
	}
	sound := func() frame { return audio(1, 0) }
	partial := func() frame { return labeled(kindCaption, "partial") }
	progress := func() frame { return labeled(kindProgress, "progress") }
	clear1 := func() frame { return clearing(playback.Fence{}) }
	reply := func() frame { return labeled(kindReply, "reply") }
	for _, c := range []struct {
		name     string
		waiting  []frame
		push     frame
		want     pushResult
		survivor string // must still be there ("" for any)
		gone     string // must not
	}{
		{"audio on audio ends the connection", times(128, sound), sound(), queueFull, "", ""},
		{"a partial caption is dropped", times(128, sound), partial(), dropped, "", "partial"},
		{"a detail is dropped", times(128, sound), labeled(kindDetail, "detail"), dropped, "", "detail"},
		{"a ping is dropped", times(128, sound), labeled(kindPing, "ping"), dropped, "", "ping"},
		{"audio evicts a partial caption", slices.Concat(times(64, sound), times(1, partial), times(63, sound)), audio(1, 9), queued, "audio 1/9", "partial"},
		{"a full caption evicts progress", slices.Concat(times(127, sound), times(1, progress)), labeled(kindFullCaption, "full"), queued, "full", "progress"},
		{"an answer evicts one and no more", slices.Concat(times(126, sound), times(1, progress), times(1, partial)), labeled(kindAnswer, "answer"), queued, "partial", "progress"},
		{"a droppable does not evict another", slices.Concat(times(127, sound), times(1, partial)), progress(), dropped, "partial", "progress"},
		{"a clear too many is fatal", slices.Concat(times(128, clear1), times(1, partial)), clear1(), queueFull, "partial", ""},
		{"an alert too many is fatal", times(128, clear1), labeled(kindAlert, "alert"), queueFull, "", "alert"},
		{"a reply too many is fatal", slices.Concat(times(128, reply), times(1, partial)), reply(), overBudget, "partial", ""},
		{"the last place", times(127, sound), audio(1, 9), queued, "audio 1/9", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := openOutbox(false)
			pushAll(t, o, c.waiting...)
			if got := o.push(c.push); got != c.want {
				t.Errorf("pushResult %d, want %d", got, c.want)
			}
			wire := drain(o)
			if c.survivor != "" && !slices.Contains(wire, c.survivor) {
				t.Errorf("%q is gone", c.survivor)
			}
			if c.gone != "" && slices.Contains(wire, c.gone) {
				t.Errorf("%q is still there", c.gone)
			}
		})
	}
}

func TestN30_FencedFramesGiveWayToNewerSpeech(t *testing.T) {
	o := openOutbox(false)
	for i := range uint64(128) {
		pushAll(t, o, audio(1, i))
	}
	pushAll(t, o, clearing(playback.Fence{Epoch: 1}), audio(2, 0))
	wantWire(t, o, "clear 1", "audio 2/0")
}

func TestN31_TheSignalComesAfterTheFrameIsInTheQueue(t *testing.T) {
	signals := 0
	var o *outbox
	o = newOutbox(true, func() {
		signals++
		if o.empty() {
			t.Error("the signal comes before the frame")
		}
	})
	push := func(f frame, wantSignal bool) {
		t.Helper()
		before := signals
		o.push(f)
		if got := signals != before; got != wantSignal {
			t.Errorf("kind %d: signalled %v, want %v", f.kind, got, wantSignal)
		}
	}
	push(audio(1, 0), false) // nobody is admitted
	o.admit(playback.Fence{Epoch: 1})
	push(audio(1, 0), false) // fenced
	push(sized(kindAnswer, 0), false)
	for k := kindReply; k < kindResult; k++ {
		f := labeled(k, "x")
		f.epoch = 2
		drain(o)
		push(f, true)
	}
	drain(o)
	if o.replay([]frame{labeled(kindResult, "reset")}); o.empty() {
		t.Error("the results do not wait")
	}
	// Drains are serialised: N29 shows that a second one finds nothing.
	f, _ := o.next()
	push(audio(2, 1), true)
	if _, ok := o.next(); ok {
		t.Error("two frames are out at once")
	}
	o.written(f)
	wantWire(t, o, "audio 2/1")
}

func TestN32_OnlyTheLatestStateIsSent(t *testing.T) {
	o := openOutbox(false)
	pushAll(t, o, labeled(kindExecutorState, "idle"), labeled(kindExecutorState, "running"))
	wantWire(t, o, "running")
	pushAll(t, o, labeled(kindExecutorState, "idle"))
	if became := o.push(labeled(kindExecutorState, "running")); became != dropped {
		t.Errorf("the state that was sent is %d, want it dropped", became)
	}
	wantWire(t, o)
	// What is in flight counts as sent.
	pushAll(t, o, labeled(kindExecutorState, "idle"))
	f, _ := o.next()
	pushAll(t, o, labeled(kindExecutorState, "preparing"))
	o.push(labeled(kindExecutorState, "idle"))
	o.written(f)
	wantWire(t, o)
}

func TestN33_EqualViewsAreNotRepeatedOnOneConnection(t *testing.T) {
	for _, k := range []frameKind{kindProjectState, kindApproval, kindExecutorState, kindTasks} {
		first := openOutbox(false)
		pushAll(t, first, viewed(k, "59.5 s left", "p-1 until noon"))
		wantWire(t, first, "59.5 s left")
		if became := first.push(viewed(k, "58 s left", "p-1 until noon")); became != dropped {
			t.Errorf("kind %d: an equal view is %d, want it dropped", k, became)
		}
		pushAll(t, first, viewed(k, "0 s left", "p-2 until one"))
		wantWire(t, first, "0 s left")
		first.release()
		next := openOutbox(false)
		pushAll(t, next, viewed(k, "57 s left", "p-2 until one"))
		wantWire(t, next, "57 s left")
		next.release() // and one that is used again knows as little
		next.admit(playback.Fence{})
		pushAll(t, next, viewed(k, "56 s left", "p-2 until one"))
		wantWire(t, next, "56 s left")
	}
}

func TestN34_NothingIsQueuedWhileNobodyIsThere(t *testing.T) {
	o := newOutbox(true, func() { t.Error("a signal although nobody is there") })
	everything := func(when string) {
		t.Helper()
		for k := kindReply; k < kindResult; k++ {
			if became := o.push(labeled(k, "x")); became != dropped {
				t.Errorf("%s, kind %d is %d, want it dropped", when, k, became)
			}
		}
		if became := o.replay([]frame{labeled(kindResult, "x")}); became != dropped {
			t.Errorf("%s, results are %d, want them dropped", when, became)
		}
		wantWire(t, o)
	}
	everything("before admission")
	o.signal = func() {}
	o.admit(playback.Fence{})
	pushAll(t, o, labeled(kindReply, "x"), clearing(playback.Fence{}), audio(1, 0), labeled(kindTasks, "x"), sized(kindPersonalResult, 20_000))
	o.replay([]frame{labeled(kindResult, "x")})
	f, _ := o.next()
	o.release()
	o.written(f)
	wantWire(t, o)
	everything("after release")
	// The next connection begins behind the fence, so no half utterance goes on.
	next := newOutbox(false, func() {})
	next.admit(playback.Fence{Epoch: 1})
	if became := next.push(audio(1, 1)); became != dropped {
		t.Errorf("the rest of an old utterance is %d, want it dropped", became)
	}
}

func TestN35_N38_ARefusedFrameDisturbsNothing(t *testing.T) {
	const text = nova.MaxText
	for _, c := range []struct {
		name     string
		personal bool
		f        frame
		want     pushResult
	}{
		{"empty", false, sized(kindAnswer, 0), refused},
		{"text of 16384", false, sized(kindAnswer, text), queued},
		{"text of 16385", false, sized(kindAnswer, text+1), refused},
		{"text of 16385, personal client", true, sized(kindFullCaption, text+1), refused},
		{"reply of 16385", false, sized(kindReply, text+1), refused},
		{"approval of 16385", false, sized(kindApproval, text+1), refused},
		{"small personal frame for any client", false, sized(kindPersonal, 10), refused},
		{"personal state for any client", false, sized(kindPersonalState, 10), refused},
		{"personal state of 1 MiB", true, sized(kindPersonalState, 1<<20), queued},
		{"personal result of 1 MiB", true, sized(kindPersonalResult, 1<<20), queued},
		{"personal result over 1 MiB", true, sized(kindPersonalResult, 1<<20+1), refused},
		{"other personal frame of 16385", true, sized(kindPersonal, text+1), refused},
		{"largest audio", false, func() frame { f := sized(kindAudio, 67_590); f.epoch = 1; return f }(), queued},
		{"larger audio", false, sized(kindAudio, 67_591), refused},
		{"a result alone", false, sized(kindResult, 10), refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := openOutbox(c.personal)
			pushAll(t, o, audio(1, 0), viewed(kindApproval, "approval", "a-1"))
			if got := o.push(c.f); got != c.want {
				t.Errorf("pushResult %d, want %d", got, c.want)
			}
			if c.want == refused {
				wantWire(t, o, "audio 1/0", "approval")
			}
		})
	}
}

func TestN37_ASlowClientIsLimitedInBytes(t *testing.T) {
	sound := func(n int) frame { f := sized(kindAudio, n); f.epoch = 1; return f }
	fill := func(t *testing.T, o *outbox) { // to the last byte
		t.Helper()
		for range 8 {
			pushAll(t, o, sound(maxWaiting/8))
		}
	}
	t.Run("queued", func(t *testing.T) {
		o := openOutbox(false)
		fill(t, o)
		if became := o.push(sound(2)); became != overBudget {
			t.Errorf("one frame more is %d, want it over budget", became)
		}
	})
	t.Run("the one in flight counts", func(t *testing.T) {
		o := openOutbox(false)
		fill(t, o)
		f, _ := o.next()
		if became := o.push(sound(2)); became != overBudget {
			t.Errorf("beside a write in flight it is %d, want it over budget", became)
		}
		o.written(f)
		pushAll(t, o, sound(maxWaiting/8))
	})
	t.Run("droppable frames go first", func(t *testing.T) {
		o := openOutbox(false)
		pushAll(t, o, sized(kindCaption, 8_000), sized(kindProgress, 8_000))
		for _, n := range []int{67_000, 67_000, 67_000, 29_000} {
			pushAll(t, o, sound(n))
		}
		if became := o.push(sized(kindCaption, 16_000)); became != queued {
			t.Fatalf("a caption that fits is %d", became)
		}
		if became := o.push(sized(kindCaption, 16_000)); became != dropped {
			t.Errorf("a caption that does not fit is %d, want it dropped", became)
		}
		pushAll(t, o, sound(30_000)) // evicts all three
		if n := len(o.waiting[laneMain]); n != 5 {
			t.Errorf("%d frames wait, want the audio alone", n)
		}
	})
	t.Run("personal bodies do not loosen it for audio", func(t *testing.T) {
		o := openOutbox(true)
		pushAll(t, o, sized(kindPersonalResult, 1<<20))
		fill(t, o)
		if became := o.push(sound(2)); became != overBudget {
			t.Errorf("audio beside a body is %d, want it over budget", became)
		}
	})
	t.Run("personal bodies have their own limit", func(t *testing.T) {
		o := openOutbox(true)
		pushAll(t, o, sized(kindPersonalResult, 1<<20), sized(kindPersonalResult, maxWaiting))
		if became := o.push(sized(kindPersonalResult, 1)); became != overBudget {
			t.Errorf("a body more is %d, want it over budget", became)
		}
	})
	t.Run("a body in flight on a slow link is no fault", func(t *testing.T) {
		o := openOutbox(true)
		pushAll(t, o, sized(kindPersonalState, 900<<10))
		if _, ok := o.next(); !ok {
			t.Fatal("nothing to write")
		}
		pushAll(t, o, sized(kindPersonalState, 900<<10), sound(2))
	})
}

func TestOutbox_EmptiesItsPlacesInOrder(t *testing.T) {
	o := openOutbox(true)
	var reversed []frame
	for k := kindTasks; k >= kindReply; k-- {
		if frameRules[k].lane != laneMain {
			reversed = append(reversed, labeled(k, fmt.Sprint(k)))
		}
	}
	o.replay([]frame{labeled(kindResult, "reset"), labeled(kindResult, "work")})
	pushAll(t, o, reversed...)
	pushAll(t, o, audio(1, 0), labeled(kindPersonal, "personal"))
	wantWire(t, o, fmt.Sprint(kindReply), fmt.Sprint(kindAlert), fmt.Sprint(kindClear), "audio 1/0", "personal",
		fmt.Sprint(kindExecutorState), fmt.Sprint(kindProjectState), fmt.Sprint(kindApproval), fmt.Sprint(kindTasks), "reset", "work")
}

func TestOutbox_ReplaysTheWholeListAfterAChange(t *testing.T) {
	o := openOutbox(false)
	list := func(n int, label string) (all []frame) {
		for i := range n {
			all = append(all, labeled(kindResult, fmt.Sprint(label, i)))
		}
		return all
	}
	o.replay(list(3, "a"))
	f, _ := o.next()
	o.written(f)
	if became := o.replay(list(2, "b")); became != queued {
		t.Errorf("a new list is %d", became)
	}
	wantWire(t, o, "b0", "b1")
	if became := o.replay(list(66, "c")); became != refused {
		t.Errorf("66 frames are %d, want them refused", became)
	}
	if became := o.replay(append(list(1, "c"), sized(kindResult, nova.MaxText+1))); became != refused {
		t.Errorf("a result too large is %d, want the list refused", became)
	}
	wantWire(t, o)
	if became := o.replay(list(65, "d")); became != queued || len(drain(o)) != 65 {
		t.Errorf("65 frames are %d", became)
	}
}

func TestOutbox_ANewerSnapshotReplacesOneThatWaits(t *testing.T) {
	o := openOutbox(true)
	pushAll(t, o, labeled(kindPersonalState, "old"), labeled(kindPersonalResult, "result"), labeled(kindPersonalState, "new"))
	wantWire(t, o, "result", "new")
}

// snapshotted is a state or a result with a snapshot of that revision.
func snapshotted(k frameKind, revision uint64) frame {
	f := labeled(k, fmt.Sprint("revision ", revision))
	f.snapshot, f.revision = true, revision
	return f
}

// TestP71_AResultReplacesTheStateThatWaits: not a newer one, and none where it has
// no snapshot; it makes the room that it needs.
func TestP71_AResultReplacesTheStateThatWaits(t *testing.T) {
	o := openOutbox(true)
	pushAll(t, o, snapshotted(kindPersonalState, 5), snapshotted(kindPersonalResult, 4), labeled(kindPersonalResult, "mere"))
	wantWire(t, o, "revision 5", "revision 4", "mere")
	pushAll(t, o, snapshotted(kindPersonalState, 5), labeled(kindAnswer, "answer"), snapshotted(kindPersonalResult, 5))
	wantWire(t, o, "answer", "revision 5")
	large := func(k frameKind) frame {
		f := sized(k, 900<<10)
		f.snapshot = true
		return f
	}
	pushAll(t, o, large(kindPersonalState), large(kindPersonalResult))
	if drain(o); o.holdsBody() {
		t.Error("a body is left")
	}
}

func TestOutbox_HoldsABodyUntilItIsWritten(t *testing.T) {
	for _, k := range []frameKind{kindPersonalState, kindPersonalResult} {
		o := openOutbox(true)
		if pushAll(t, o, labeled(k, "body"), audio(1, 0)); !o.holdsBody() {
			t.Error("a body that waits is not held")
		}
		f, _ := o.next()
		if !o.holdsBody() {
			t.Error("a body that is being written is not held")
		}
		if o.written(f); o.holdsBody() {
			t.Error("a body that was written is held")
		}
	}
}

// TestOutbox_ANewerPartialCaptionReplacesOneThatWaits: of its own turn. Finals and
// captions without a turn stay, and everything keeps its order.
func TestOutbox_ANewerPartialCaptionReplacesOneThatWaits(t *testing.T) {
	partial := func(turn, label string) frame {
		f := labeled(kindCaption, label)
		f.turn = turn
		return f
	}
	o := openOutbox(false)
	pushAll(t, o, partial("a", "a1"), partial("", "x"), audio(1, 0), partial("b", "b1"), partial("a", "a2"), partial("", "y"),
		labeled(kindFullCaption, "a whole"), partial("b", "b2"), labeled(kindCaption, "final"), partial("a", "a3"))
	wantWire(t, o, "x", "audio 1/0", "y", "a whole", "b2", "final", "a3")
}

// TestP59_AReceiptSurvivesAFullOutboxOfDroppables: each one that comes makes one of
// them go, and none is lost.
func TestP59_AReceiptSurvivesAFullOutboxOfDroppables(t *testing.T) {
	o := openOutbox(true)
	for range laneBounds[laneMain] {
		pushAll(t, o, labeled(kindCaption, "partial"))
	}
	answer, ok := frameOf(nova.TextResult{})
	if answer.buffer = labeled(0, "receipt").buffer; !ok {
		t.Fatal("a receipt has no kind")
	}
	pushAll(t, o, answer)
	wire := drain(o)
	if len(wire) != laneBounds[laneMain] || wire[len(wire)-1] != "receipt" {
		t.Errorf("%d frames, the last is %s", len(wire), wire[len(wire)-1])
	}
}

func TestOutbox_SuppressesARepeatedDetail(t *testing.T) {
	o := openOutbox(false)
	tell := func(work, summary string) pushResult {
		f := labeled(kindDetail, work+" "+summary)
		f.work, f.summary = work, summary
		return o.push(f)
	}
	for _, c := range []struct {
		work, summary string
		want          pushResult
	}{
		{"w1", "reads", queued}, {"w1", "reads", dropped}, {"w2", "reads", queued},
		{"w1", "writes", queued}, {"w1", "reads", queued}, {"w2", "reads", dropped},
	} {
		if got := tell(c.work, c.summary); got != c.want {
			t.Errorf("%s %s is %d, want %d", c.work, c.summary, got, c.want)
		}
	}
	o.taskEnded("w1")
	if got := tell("w1", "reads"); got != queued {
		t.Errorf("a detail of a task that begins again is %d", got)
	}
	drain(o)
	for i := range maxDetails { // push w1 and w2 out of memory
		tell(fmt.Sprint("other", i), "reads")
	}
	drain(o)
	if got := tell("w2", "reads"); got != queued || len(o.details) != maxDetails {
		t.Errorf("a forgotten detail is %d, %d are remembered", got, len(o.details))
	}
	// One that was evicted has not been seen.
	for range 127 {
		pushAll(t, o, audio(1, 0))
	}
	pushAll(t, o, audio(1, 1))
	if got := slices.Contains(drain(o), "w2 reads"); got {
		t.Fatal("the detail was not evicted")
	}
	if got := tell("w2", "reads"); got != queued {
		t.Errorf("a detail that was evicted is %d when it comes again", got)
	}
	o.release()
	o.admit(playback.Fence{})
	if got := tell("w2", "reads"); got != queued {
		t.Errorf("a detail that the last client was told is %d for the next", got)
	}
}

func TestOutbox_OwnsWhatItIsGiven(t *testing.T) {
	o := openOutbox(false)
	f := labeled(kindAnswer, strings.Repeat("x", 100))
	pushAll(t, o, f)
	got, ok := o.next()
	if !ok || got.buffer != f.buffer || !bytes.Equal(got.buffer.B, f.buffer.B) {
		t.Error("the frame handed out is not the one pushed")
	}
}
