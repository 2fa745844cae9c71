// Package novaws serves the Nova client protocol over WebSocket: /client/v1 for
// the one connected client, and the pairing paths. The rules of a connection are
// a value of domain/sessions and what it still has to write is an outbox; this
// package owns the sockets, the goroutines and the order in which things happen.
package novaws

import (
	"slices"

	"plexus/adapters/wsconn"
	"plexus/domain/nova"
	"plexus/domain/playback"
)

// Budgets in bytes of what waits (Nova client protocol §11.3). A speaker has to
// stay less than maxWaiting, 5 s of audio, ahead of the socket.
const (
	maxWaiting       = 262_144
	maxBodiesWaiting = nova.MaxPersonalText + maxWaiting
)

// frame is one message on its way to the client. Which fields count depends on
// its kind.
type frame struct {
	kind    frameKind
	buffer  *wsconn.Buffer
	epoch   uint64         // audio, terminal: the generation
	caption uint64         // captions: the sequence, for the assistant's; 0 for the user's
	fence   playback.Fence // clear, alert: what the client is told to drop
	work    string         // detail: the task
	summary string         // detail: what it says of the task
	turn    string         // partial captions: whose text it is so far; "" for a turn without a name
	view    string         // latest values: what is shown, a ticking countdown aside; "" for the bytes

	snapshot bool   // personal state and result: a snapshot is in it
	revision uint64 // of the snapshot
}

// outbox is what one client connection still has to write. It takes frames while a
// client is admitted, each into its lane, and hands them out one at a time. The
// next frame is chosen when it is handed out, so that a clear passes all waiting
// frames and no fenced frame is sent. It does no locking: the connection's send
// lock guards it. A new connection gets a new outbox.
type outbox struct {
	personal bool
	signal   func()
	admitted bool
	fence    playback.Fence
	waiting  [lanes][]frame
	sent     [lanes]string // the view last handed out; "" for none on this connection
	details  details

	ordinary int       // bytes that wait, personal bodies and latest values aside
	bodies   int       // bytes of personal bodies that wait
	writing  frameKind // of the frame that is being written; 0 for none
	inFlight int       // ordinary bytes of that frame
}

// newOutbox gives the outbox of a connection before its client is admitted. signal
// is called when there is something to send: after the frame is in its lane, with
// the send lock held, so it must not wait.
func newOutbox(personal bool, signal func()) *outbox {
	return &outbox{personal: personal, signal: signal}
}

// admit lets frames in. fence is what the process has told clients to drop so
// far: nothing of it may reach this one.
func (o *outbox) admit(fence playback.Fence) {
	o.admitted = true
	o.raise(fence)
}

// release drops everything, since the client is gone, and takes no more frames. A
// frame that is being written still belongs to the writer.
func (o *outbox) release() {
	o.admitted = false
	for l := range o.waiting {
		o.remove(lane(l), func(frame) bool { return true })
	}
	clear(o.sent[:])
	o.details = nil
}

// raise lifts the fence without a clear: the client has dropped the audio itself.
func (o *outbox) raise(fence playback.Fence) { o.fence = o.fence.Raised(fence) }

// push takes f and its buffer, whatever becomes of them.
func (o *outbox) push(f frame) pushResult {
	became := o.take(f)
	if became == queued {
		o.signal()
	} else {
		f.buffer.Put()
	}
	return became
}

func (o *outbox) take(f frame) pushResult {
	switch {
	case !o.admitted:
		return dropped
	case !o.sendable(f) || f.kind == kindResult:
		return refused
	}
	o.raise(f.fence)
	rule := frameRules[f.kind]
	switch {
	case rule.delivery == latest:
		if f.view == "" {
			f.view = string(f.buffer.B)
		}
		o.remove(rule.lane, func(frame) bool { return true })
		if f.view == o.sent[rule.lane] {
			return dropped // the client has that value already
		}
		o.add(rule.lane, f)
		return queued
	case f.kind == kindAudio && o.fenced(f), f.kind == kindDetail && slices.Contains(o.details, detail{f.work, f.summary}):
		return dropped
	case f.kind == kindPersonalState, f.snapshot, f.turn != "":
		o.remove(rule.lane, f.replaces)
	}
	if became := o.makeRoom(f); became != queued {
		return became
	}
	if f.kind == kindDetail {
		o.details.forget(f.work)
		if len(o.details) == maxDetails {
			o.details = slices.Delete(o.details, 0, 1)
		}
		o.details = append(o.details, detail{f.work, f.summary})
	}
	o.add(rule.lane, f)
	return queued
}

// replaces reports whether w, which waits, says nothing beside f: a state, a
// result with a snapshot, or the caption of a turn.
func (f frame) replaces(w frame) bool {
	switch f.kind {
	case kindPersonalState:
		return w.kind == kindPersonalState
	case kindPersonalResult:
		return w.kind == kindPersonalState && w.revision <= f.revision
	case kindCaption: // each partial one carries the whole so far
		return w.kind == kindCaption && w.turn == f.turn
	}
	return false
}

// replay takes the whole list of results, which replaces one that waits: first
// the reset, then one frame for each task.
func (o *outbox) replay(list []frame) pushResult {
	became := queued
	switch {
	case !o.admitted:
		became = dropped
	case len(list) > laneBounds[laneResults], slices.ContainsFunc(list, func(f frame) bool { return f.kind != kindResult || !o.sendable(f) }):
		became = refused
	}
	if became != queued {
		for _, f := range list {
			f.buffer.Put()
		}
		return became
	}
	o.remove(laneResults, func(frame) bool { return true })
	o.waiting[laneResults] = append(o.waiting[laneResults], list...)
	o.signal()
	return queued
}

// taskEnded drops the last detail of a task.
func (o *outbox) taskEnded(work string) { o.details.forget(work) }

// next hands out the frame to write now. ok is false when none waits, and while one
// is being written, which ends with a call of written.
func (o *outbox) next() (f frame, ok bool) {
	for o.writing == 0 {
		l := slices.IndexFunc(o.waiting[:], func(w []frame) bool { return len(w) > 0 })
		if l < 0 {
			return frame{}, false
		}
		f = o.takeAt(lane(l), 0)
		if o.fenced(f) {
			f.buffer.Put()
			continue
		}
		o.sent[l] = f.view
		o.writing = f.kind
		if !f.kind.body() { // a large body on a slow link is judged by its progress, not by its size
			o.inFlight = len(f.buffer.B)
		}
		return f, true
	}
	return frame{}, false
}

// written ends the write of f, which next handed out, well or not.
func (o *outbox) written(f frame) {
	o.writing, o.inFlight = 0, 0
	f.buffer.Put()
}

// holdsBody reports whether a personal body has not left yet.
func (o *outbox) holdsBody() bool { return o.bodies > 0 || o.writing.body() }

// sendable reports whether f's kind has business on the connection, and its bytes are
// within the bound of the kind.
func (o *outbox) sendable(f frame) bool {
	limit := nova.MaxText
	switch {
	case f.kind.extension() && !o.personal:
		return false
	case f.kind.body():
		limit = nova.MaxPersonalText
	case f.kind == kindAudio:
		limit = 6 + nova.MaxAudioHeader + nova.MaxPCM // magic and header length before them
	}
	return len(f.buffer.B) > 0 && len(f.buffer.B) <= limit
}

// fenced reports whether the client has been told to drop what f belongs to.
func (o *outbox) fenced(f frame) bool {
	switch f.kind {
	case kindAudio, kindTerminal:
		return o.fence.CoversEpoch(f.epoch)
	case kindCaption, kindFullCaption:
		return f.caption != 0 && o.fence.CoversCaption(f.caption)
	}
	return false
}

// makeRoom reports whether f is queued, and makes room for it if need be: for a
// required frame, droppable ones are removed, oldest first.
func (o *outbox) makeRoom(f frame) pushResult {
	if o.fits(f) {
		return queued
	}
	o.remove(laneMain, o.fenced)
	rule := frameRules[f.kind]
	for !o.fits(f) {
		switch {
		case rule.delivery == droppable:
			return dropped
		case o.laneFull(f) && rule.lane == laneDirect:
			return overBudget
		case o.laneFull(f) && rule.lane == lanePreempt:
			return queueFull
		case o.evict():
		case o.laneFull(f):
			return queueFull
		default:
			return overBudget
		}
	}
	return queued
}

// laneFull reports whether the lane of f is full.
func (o *outbox) laneFull(f frame) bool {
	l := frameRules[f.kind].lane
	return len(o.waiting[l]) >= laneBounds[l]
}

// fits counts personal bodies separately, so that they do not change the room that
// audio has.
func (o *outbox) fits(f frame) bool {
	if o.laneFull(f) {
		return false
	}
	total := o.ordinary + o.inFlight + len(f.buffer.B)
	if f.kind.body() {
		return total+o.bodies <= maxBodiesWaiting
	}
	return total <= maxWaiting
}

// evict drops the oldest droppable frame.
func (o *outbox) evict() bool {
	i := slices.IndexFunc(o.waiting[laneMain], func(f frame) bool { return frameRules[f.kind].delivery == droppable })
	if i < 0 {
		return false
	}
	f := o.takeAt(laneMain, i)
	if f.kind == kindDetail {
		o.details.forget(f.work) // the client has not seen it
	}
	f.buffer.Put()
	return true
}

func (o *outbox) add(l lane, f frame) {
	o.waiting[l] = append(o.waiting[l], f)
	o.count(f, len(f.buffer.B))
}

func (o *outbox) takeAt(l lane, i int) frame {
	f := o.waiting[l][i]
	o.waiting[l] = slices.Delete(o.waiting[l], i, i+1)
	o.count(f, -len(f.buffer.B))
	return f
}

// remove drops the frames of a lane that match.
func (o *outbox) remove(l lane, match func(frame) bool) {
	o.waiting[l] = slices.DeleteFunc(o.waiting[l], func(f frame) bool {
		if !match(f) {
			return false
		}
		o.count(f, -len(f.buffer.B))
		f.buffer.Put()
		return true
	})
}

// count keeps the byte budgets. Latest values are bounded by their number.
func (o *outbox) count(f frame, n int) {
	switch {
	case f.kind.body():
		o.bodies += n
	case frameRules[f.kind].delivery != latest:
		o.ordinary += n
	}
}

// maxDetails is for how many tasks the last detail is remembered.
const maxDetails = 64

// details remembers the last detail that was sent of each task, so that the same is
// not sent again. The task whose detail was sent longest ago is dropped first.
type details []detail

type detail struct{ work, summary string }

func (d *details) forget(work string) {
	*d = slices.DeleteFunc(*d, func(t detail) bool { return t.work == work })
}
