package playback

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// modelSpeech is one generation in the model, which forgets nothing.
type modelSpeech struct {
	g       Generation
	state   string // open, terminal, fenced, ended
	frames  uint64
	started bool
	cut     bool
	due     time.Time
}

// model states the rules of playback over the list of everything ever said.
type model struct {
	connected  bool
	said       []*modelSpeech
	captions   uint64
	assistant  uint64
	fence      Fence
	endedTwice bool
}

func (m *model) inState(states ...string) []*modelSpeech {
	var found []*modelSpeech
	for _, s := range m.said {
		if slices.Contains(states, s.state) {
			found = append(found, s)
		}
	}
	return found
}

func (m *model) current() *modelSpeech {
	if c := m.inState("open", "terminal"); len(c) > 0 {
		return c[0]
	}
	return nil
}

func (m *model) end(s *modelSpeech, o Outcome, played uint64) Ending {
	m.endedTwice = m.endedTwice || s.state == "ended"
	s.state = "ended"
	return Ending{s.g, o, played}
}

func (s *modelSpeech) heard(played uint64) Outcome {
	if s.started || played > 0 {
		return Interrupted
	}
	return Suppressed
}

func (m *model) interrupt(now time.Time) (fx Effects) {
	c := m.current()
	if c == nil {
		return fx
	}
	m.fence = Fence{c.g.Epoch, max(m.fence.Caption, m.assistant)}
	fx.Cancel = c.g
	if c.frames == 0 {
		fx.Ended = append(fx.Ended, m.end(c, Suppressed, 0))
		return fx
	}
	fx.Clear = c.g
	if waiting := m.inState("fenced"); len(waiting) == maxUncleared {
		fx.Ended = append(fx.Ended, m.end(waiting[0], waiting[0].heard(0), 0))
	}
	c.state, c.due = "fenced", now.Add(ClearTimeout)
	return fx
}

func (m *model) disconnect() (fx Effects) {
	m.connected = false
	for _, s := range m.inState("fenced", "open", "terminal") {
		if s.state != "fenced" {
			fx.Cancel = s.g
		}
		fx.Ended = append(fx.Ended, m.end(s, s.heard(0), 0))
	}
	m.fence.Epoch = uint64(len(m.said))
	return fx
}

func (m *model) expire(now time.Time) (fx Effects) {
	for _, s := range m.inState("fenced") {
		if !s.due.After(now) {
			fx.Ended = append(fx.Ended, m.end(s, s.heard(0), 0))
		}
	}
	return fx
}

func (m *model) finish(s *modelSpeech, cut bool) (fx Effects) {
	switch {
	case s.state != "open":
	case s.frames == 0:
		fx.Ended = append(fx.Ended, m.end(s, Suppressed, 0))
	default:
		s.state, s.cut = "terminal", cut
		fx.Terminal = s.g
	}
	return fx
}

// acknowledge is what done, cleared or stopped of s leads to.
func (m *model) acknowledge(kind string, s *modelSpeech, played uint64) (fx Effects) {
	switch {
	case kind == "done" && s.state == "terminal" && !s.cut:
		fx.Ended = append(fx.Ended, m.end(s, Spoken, played))
	case kind == "done" && s.state == "terminal", kind == "cleared" && s.state == "fenced":
		fx.Ended = append(fx.Ended, m.end(s, s.heard(played), played))
	case kind == "stopped" && (s.state == "open" || s.state == "terminal"):
		m.fence = Fence{s.g.Epoch, max(m.fence.Caption, m.assistant)}
		fx.Cancel = s.g
		fx.Ended = append(fx.Ended, m.end(s, s.heard(played), played))
	}
	return fx
}

// run drives the state and the model side by side.
type run struct {
	*testing.T
	random *rand.Rand
	state  State
	model  model
	now    time.Time
	step   int
}

// anySpeech picks a generation, mostly a recent one.
func (r *run) anySpeech() *modelSpeech {
	n := len(r.model.said)
	if n == 0 {
		return &modelSpeech{g: Generation{"never", 1}, state: "ended"}
	}
	return r.model.said[n-1-min(n-1, int(r.random.ExpFloat64()*2))]
}

func (r *run) same(what string, got, want any) {
	r.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		r.Fatalf("step %d, %s: %s, the model says %s", r.step, what, g, w)
	}
}

func TestPlayback_AgreesWithAModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := &run{T: t, random: rand.New(rand.NewPCG(seed, 0)), now: begin()}
	for r.step = range 8_000 {
		r.now = r.now.Add(time.Duration(r.random.IntN(300)) * time.Millisecond)
		r.event()
		r.check()
	}
}

func (r *run) event() {
	s, m := &r.state, &r.model
	sp, played := r.anySpeech(), uint64(r.random.IntN(2)*700)
	switch r.random.IntN(16) {
	case 0, 1, 2:
		r.open()
	case 3, 4, 5:
		seq, ok := s.Next(sp.g)
		r.same("next", []any{seq, ok}, []any{map[bool]uint64{true: sp.frames}[sp.state == "open"], sp.state == "open"})
		if ok {
			sp.frames++
		}
	case 6:
		r.same("finish", s.Finish(sp.g), m.finish(sp, false))
	case 7:
		r.same("cut short", s.CutShort(sp.g), m.finish(sp, true))
	case 8:
		r.same("interrupt", s.Interrupt(r.now), m.interrupt(r.now))
	case 9:
		s.Started(sp.g)
		sp.started = true
	case 10:
		r.same("done", s.Done(sp.g, played), m.acknowledge("done", sp, played))
	case 11:
		r.same("cleared", s.Cleared(sp.g, played), m.acknowledge("cleared", sp, played))
	case 12:
		r.same("stopped", s.Stopped(sp.g, played), m.acknowledge("stopped", sp, played))
	case 13:
		r.same("expire", s.Expire(r.now), m.expire(r.now))
	case 14:
		r.caption(sp)
	case 15:
		r.connection()
	}
}

func (r *run) open() {
	m := &r.model
	id := fmt.Sprint("u-", len(m.said))
	g, fx, ok := r.state.Open(id, r.now)
	if !m.connected {
		r.same("open without a client", []any{g, fx, ok}, []any{Generation{}, Effects{}, false})
		return
	}
	want := m.interrupt(r.now)
	m.said = append(m.said, &modelSpeech{g: Generation{id, uint64(len(m.said) + 1)}, state: "open"})
	r.same("open", []any{g, fx, ok}, []any{m.said[len(m.said)-1].g, want, true})
}

func (r *run) caption(sp *modelSpeech) {
	m := &r.model
	if r.random.IntN(3) == 0 {
		m.captions++
		r.same("user caption", r.state.UserCaption(), m.captions)
		return
	}
	if r.random.IntN(8) == 0 {
		m.fence.Caption = max(m.fence.Caption, m.assistant)
		r.same("alert", r.state.Alert(), m.fence)
		return
	}
	seq, ok := r.state.AssistantCaption(sp.g)
	if sp.g.Epoch <= m.fence.Epoch {
		r.same("caption of fenced speech", []any{seq, ok}, []any{0, false})
		return
	}
	m.captions++
	m.assistant = m.captions
	r.same("assistant caption", []any{seq, ok}, []any{m.captions, true})
}

func (r *run) connection() {
	if r.random.IntN(4) > 0 {
		r.state.Connect()
		r.model.connected = true
		return
	}
	r.same("disconnect", r.state.Disconnect(), r.model.disconnect())
}

// check compares what can be asked at any time, and the rules that hold always.
func (r *run) check() {
	m := &r.model
	r.same("fence", r.state.Fence(), m.fence)
	r.same("quiet", r.state.Quiet(), len(m.inState("open", "terminal", "fenced")) == 0)
	at, waiting := r.state.Deadline()
	if fenced := m.inState("fenced"); waiting != (len(fenced) > 0) || waiting && !at.Equal(fenced[0].due) {
		r.Fatalf("step %d: deadline %v, %v", r.step, at, waiting)
	}
	if n := len(m.inState("open", "terminal")); n > 1 {
		r.Fatalf("step %d: %d generations are current", r.step, n)
	}
	if m.endedTwice {
		r.Fatalf("step %d: a generation ended twice", r.step)
	}
}
