package novaws

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"plexus/domain/nova"
	"plexus/domain/playback"
)

// modelOutbox states the rules over one flat list of all that waits, oldest
// first, and counts nothing ahead of time.
type modelOutbox struct {
	admitted bool
	list     []frame
	fence    playback.Fence
	shown    map[frameKind]string
	told     []detail
	out      *frame // in flight
}

func (m *modelOutbox) among(match func(frame) bool) (found []frame) {
	for _, f := range m.list {
		if match(f) {
			found = append(found, f)
		}
	}
	return found
}

func (m *modelOutbox) drop(match func(frame) bool) {
	m.list = slices.DeleteFunc(m.list, match)
}

func (m *modelOutbox) fenced(f frame) bool {
	sound := f.kind == kindAudio || f.kind == kindTerminal
	caption := f.kind == kindCaption || f.kind == kindFullCaption
	return sound && f.epoch <= m.fence.Epoch || caption && f.caption > 0 && f.caption <= m.fence.Caption
}

// laneOf names the queue that a kind waits in, in the order of the wire.
func laneOf(k frameKind) int {
	switch k {
	case kindReply:
		return 0
	case kindClear, kindAlert:
		return 1
	case kindExecutorState:
		return 3
	case kindProjectState:
		return 4
	case kindApproval:
		return 5
	case kindTasks:
		return 6
	case kindResult:
		return 7
	}
	return 2
}

func canGo(f frame) bool {
	return slices.Contains([]frameKind{kindCaption, kindProgress, kindDetail, kindPing}, f.kind)
}

// room says whether f has a place in its lane, and whether its bytes fit.
func (m *modelOutbox) room(f frame) (place, bytes bool) {
	mates := m.among(func(w frame) bool { return laneOf(w.kind) == laneOf(f.kind) })
	ordinary, bodies := 0, 0
	for _, w := range m.list {
		switch {
		case w.kind.body():
			bodies += len(w.buffer.B)
		case laneOf(w.kind) < 3:
			ordinary += len(w.buffer.B)
		}
	}
	if m.out != nil && !m.out.kind.body() {
		ordinary += len(m.out.buffer.B)
	}
	sum := ordinary + len(f.buffer.B)
	if f.kind.body() {
		return len(mates) < 128, sum+bodies <= 1<<20+256<<10
	}
	return len(mates) < 128, sum <= 256<<10
}

func (m *modelOutbox) push(f frame) pushResult {
	if !m.admitted {
		return dropped
	}
	m.fence = playback.Fence{Epoch: max(m.fence.Epoch, f.fence.Epoch), Caption: max(m.fence.Caption, f.fence.Caption)}
	if laneOf(f.kind) > 2 {
		m.drop(func(w frame) bool { return w.kind == f.kind })
		if f.view == m.shown[f.kind] {
			return dropped
		}
		m.list = append(m.list, f)
		return queued
	}
	if f.kind == kindAudio && m.fenced(f) || f.kind == kindDetail && slices.Contains(m.told, detail{f.work, f.summary}) {
		return dropped
	}
	m.drop(func(w frame) bool {
		switch f.kind {
		case kindPersonalState:
			return w.kind == kindPersonalState
		case kindPersonalResult:
			return w.kind == kindPersonalState && f.snapshot && w.revision <= f.revision
		}
		return f.kind == kindCaption && f.turn != "" && w.turn == f.turn
	})
	if place, bytes := m.room(f); !place || !bytes {
		m.drop(func(w frame) bool { return laneOf(w.kind) == 2 && m.fenced(w) })
	}
	for {
		place, bytes := m.room(f)
		if place && bytes {
			break
		}
		i := slices.IndexFunc(m.list, canGo)
		switch {
		case canGo(f):
			return dropped
		case !place && laneOf(f.kind) == 0:
			return overBudget
		case !place && (laneOf(f.kind) == 1 || i < 0):
			return queueFull
		case i < 0:
			return overBudget
		}
		if m.list[i].kind == kindDetail {
			m.forget(m.list[i].work)
		}
		m.list = slices.Delete(m.list, i, i+1)
	}
	if f.kind == kindDetail {
		m.forget(f.work)
		m.told = append(m.told, detail{f.work, f.summary})
		m.told = m.told[max(0, len(m.told)-64):]
	}
	m.list = append(m.list, f)
	return queued
}

func (m *modelOutbox) forget(work string) {
	m.told = slices.DeleteFunc(m.told, func(d detail) bool { return d.work == work })
}

func (m *modelOutbox) next() (f frame, ok bool) {
	if m.out != nil {
		return frame{}, false
	}
	m.drop(m.fenced) // none of it will ever leave
	for l := range 8 {
		i := slices.IndexFunc(m.list, func(w frame) bool { return laneOf(w.kind) == l })
		if i < 0 {
			continue
		}
		f = m.list[i]
		m.list = slices.Delete(m.list, i, i+1)
		if l > 2 && l < 7 {
			m.shown[f.kind] = f.view
		}
		m.out = &f
		return f, true
	}
	return frame{}, false
}

// outboxRun drives an outbox and the model side by side.
type outboxRun struct {
	*testing.T
	random  *rand.Rand
	outbox  *outbox
	model   *modelOutbox
	step    int
	epoch   uint64
	caption uint64
	fates   map[pushResult]int
}

func (r *outboxRun) reconnect() {
	r.outbox = newOutbox(true, func() {})
	r.model = &modelOutbox{shown: map[frameKind]string{}}
}

func (r *outboxRun) same(what string, got, want any) {
	r.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		r.Fatalf("step %d, %s: %s, the model says %s", r.step, what, g, w)
	}
}

// copyOf gives f a buffer of its own, since the outbox keeps the one it gets.
func copyOf(f frame) frame {
	c := labeled(f.kind, string(f.buffer.B))
	c.epoch, c.caption, c.fence, c.work, c.summary, c.view = f.epoch, f.caption, f.fence, f.work, f.summary, f.view
	c.turn, c.snapshot, c.revision = f.turn, f.snapshot, f.revision
	return c
}

// anyFrame makes a frame up, with a fence near what was last said.
func (r *outboxRun) anyFrame(k frameKind) frame {
	f := labeled(k, fmt.Sprintf("step %d;", r.step))
	size := 0
	switch k {
	case kindAudio:
		r.epoch += uint64(r.random.IntN(20) / 19)
		f.epoch = r.epoch - uint64(r.random.IntN(2))
		if r.step/1000%2 == 0 { // else the lanes run out before the bytes
			size = r.random.IntN(6_000)
		}
	case kindTerminal:
		f.epoch = r.epoch
	case kindCaption, kindFullCaption:
		r.caption++
		if r.random.IntN(3) > 0 {
			f.caption = r.caption
		}
		if turn := r.random.IntN(9); k == kindCaption && turn > 5 {
			f.turn = fmt.Sprint("turn ", turn)
		}
	case kindClear:
		f.fence = playback.Fence{Epoch: r.epoch - min(r.epoch, uint64(r.random.IntN(3))), Caption: r.caption - min(r.caption, uint64(r.random.IntN(9)))}
	case kindAlert:
		f.fence.Caption = r.caption
	case kindPersonalState, kindPersonalResult:
		size = r.random.IntN(nova.MaxPersonalText - 100)
		f.snapshot, f.revision = k == kindPersonalState || r.random.IntN(2) == 0, uint64(r.random.IntN(9))
	case kindDetail:
		f.work, f.summary = fmt.Sprint(r.random.IntN(80)), fmt.Sprint(r.random.IntN(2))
	case kindExecutorState, kindProjectState, kindApproval, kindTasks:
		f.view = fmt.Sprint("view ", r.random.IntN(3))
	}
	f.buffer.B = append(f.buffer.B, make([]byte, size)...)
	return f
}

func TestOutbox_AgreesWithAModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := &outboxRun{T: t, random: rand.New(rand.NewPCG(seed, 0)), epoch: 1, fates: map[pushResult]int{}}
	r.reconnect()
	stalled := false
	met := func(f pushResult) bool { return r.fates[f] > 0 }
	rare := func() bool { return !met(queueFull) || !met(overBudget) } // some seeds take longer to meet these
	for r.step = 0; r.step < 30_000 || rare() && r.step < 300_000; r.step++ {
		if r.random.IntN(300) == 0 {
			stalled = !stalled
		}
		r.event(stalled)
	}
	for _, f := range []pushResult{queued, dropped, queueFull, overBudget} {
		if !met(f) {
			t.Errorf("pushResult %d was never met", f)
		}
	}
}

// event does one thing; a stalled client writes little.
func (r *outboxRun) event(stalled bool) {
	switch n := r.random.IntN(1000); {
	case n < 2:
		r.outbox.release()
		r.reconnect()
	case n < 12:
		fence := playback.Fence{Epoch: r.epoch - 1}
		r.outbox.admit(fence)
		r.model.admitted, r.model.fence.Epoch = true, max(r.model.fence.Epoch, fence.Epoch)
	case n < 20:
		work := fmt.Sprint(r.random.IntN(80))
		r.outbox.taskEnded(work)
		r.model.forget(work)
	case n < 30:
		r.replay()
	case n < 600 || stalled && n < 960:
		r.push()
	default:
		r.write()
	}
}

// push mostly pushes what there is most of.
func (r *outboxRun) push() {
	k := kindReply + frameKind(r.random.IntN(int(kindResult-kindReply)))
	switch r.random.IntN(8) {
	case 0, 1, 2:
		k = kindAudio
	case 3:
		k = kindCaption
	case 4:
		k = kindReply
	}
	if k.body() && r.random.IntN(10) > 0 {
		k = kindAnswer
	}
	f := r.anyFrame(k)
	want := r.model.push(copyOf(f))
	got := r.outbox.push(f)
	r.same(fmt.Sprint("push of kind ", k), got, want)
	r.fates[got]++
}

func (r *outboxRun) replay() {
	if !r.model.admitted {
		return
	}
	var list, copies []frame
	for i := range r.random.IntN(4) {
		f := labeled(kindResult, fmt.Sprintf("result %d of step %d", i, r.step))
		list, copies = append(list, f), append(copies, copyOf(f))
	}
	r.same("replay", r.outbox.replay(list), queued)
	r.model.drop(func(f frame) bool { return f.kind == kindResult })
	r.model.list = append(r.model.list, copies...)
}

// write ends the write in flight, or begins the next.
func (r *outboxRun) write() {
	if r.model.out != nil && r.random.IntN(4) > 0 {
		r.outbox.written(copyOf(*r.model.out))
		r.model.out = nil
		return
	}
	want, wantOK := r.model.next()
	got, ok := r.outbox.next()
	r.same("next", ok, wantOK)
	if ok {
		r.same("the frame", string(got.buffer.B), string(want.buffer.B))
	}
}

// empty reports whether nothing waits.
func (o *outbox) empty() bool {
	return !slices.ContainsFunc(o.waiting[:], func(w []frame) bool { return len(w) > 0 })
}
