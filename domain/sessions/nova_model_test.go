package sessions

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"plexus/domain/nova"
)

// novaRun drives one session with random events, as a connection would, and
// holds what it does against what must always be true.
type novaRun struct {
	t   *testing.T
	rng *rand.Rand
	n   *Nova
	now time.Time

	log     []string
	ready   bool
	closed  CloseReason
	calls   []Call         // that are out
	repeats map[string]int // deliveries of a request
}

func (r *novaRun) fail(format string, args ...any) {
	r.t.Helper()
	r.t.Fatalf("%s\nafter %q", fmt.Sprintf(format, args...), r.log)
}

// event names what happens and checks its effects.
func (r *novaRun) event(name string, f func() Effects) {
	r.log = append(r.log, name)
	e := f()
	if r.closed != 0 && (len(e.Send) > 0 || e.Call != nil || e.Audio != nil || e.Close != 0) {
		r.fail("a closed session gave %+v", e)
	}
	for _, m := range e.Send {
		r.sent(m)
	}
	if e.Call != nil {
		if len(r.calls) > 0 {
			r.fail("a call while another one is out: %+v", e)
		}
		if d, ok := e.Call.(Deliver); ok {
			r.delivered(d)
		}
		r.calls = append(r.calls, e.Call)
	}
	if e.Audio != nil && (!r.ready || r.n.phase != ready) {
		r.fail("audio of a client that was not admitted")
	}
	if e.Close != 0 {
		r.closed = e.Close
	}
	if r.n.Busy() != (len(r.calls) > 0) && r.closed == 0 {
		r.fail("busy is %v with %d calls out", r.n.Busy(), len(r.calls))
	}
	if len(r.n.ledger.entries) > MaxCommands || readySent(r.n) && !r.ready {
		r.fail("%d entries in the ledger, ready sent: %v", len(r.n.ledger.entries), r.ready)
	}
}

func (r *novaRun) sent(m nova.Message) {
	if _, is := m.(nova.Ready); is {
		if r.ready {
			r.fail("ready twice")
		}
		r.ready = true
	}
	if !r.ready {
		r.fail("%s before ready", m.Type())
	}
}

func (r *novaRun) delivered(d Deliver) {
	if c, ok := d.Control.(nova.SpeechOnset); ok {
		r.repeats[c.SpeechID]++
	}
}

// step is one random event. A connection hands in no message while it is busy;
// results and time come whenever they like.
func (r *novaRun) step() {
	r.now = r.now.Add(time.Duration(r.rng.IntN(400)) * time.Millisecond)
	if len(r.calls) > 0 && r.rng.IntN(3) > 0 {
		r.answer()
		return
	}
	switch r.rng.IntN(20) {
	case 0, 1, 2, 3:
		r.event("tick", func() Effects { return r.n.Tick(r.now) })
	case 4:
		if r.rng.IntN(100) == 0 {
			r.event("overflow", r.n.Overflow)
		}
	case 5:
		if r.rng.IntN(100) == 0 {
			r.event("stop", func() Effects { return r.n.End(Shutdown) })
		}
	case 6: // a result that nobody waits for
		if len(r.calls) == 0 {
			r.event("stray result", func() Effects { return r.n.Delivered(nil) })
		}
	default:
		if !r.n.Busy() {
			r.message()
		}
	}
}

func (r *novaRun) message() {
	if r.n.phase == awaitingHello {
		if r.rng.IntN(10) > 0 {
			return // it takes its time
		}
		members := []string{"", `,"capabilities":["personal"]`, `,"language":"fr"`, `,"media":null`}[max(0, r.rng.IntN(8)-4)]
		r.event("hello"+members, func() Effects { return r.n.Text(helloWith(members), r.now) })
		return
	}
	switch k := r.rng.IntN(2000); {
	case k == 0:
		r.event("odd PCM", func() Effects { return r.n.Binary([]byte{1}) })
	case k == 1:
		r.event("nonsense", func() Effects { return r.n.Text([]byte("{}"), r.now) })
	case k < 20:
		r.event("PCM", func() Effects { return r.n.Binary([]byte{1, 2}) })
	case k < 30:
		r.event("stale", func() Effects { return r.n.Text(command("s", server, onset("s")), r.now) })
	default:
		id, speech := fmt.Sprint(r.rng.IntN(400)), ""
		if speech = id; r.rng.IntN(10) == 0 {
			speech += " changed"
		}
		r.event("command "+speech, func() Effects { return r.n.Text(command(id, connection, onset(speech)), r.now) })
	}
}

func (r *novaRun) answer() {
	call := r.calls[0]
	r.calls = nil
	failed := r.rng.IntN(10) == 0
	var err error
	if failed {
		err = errors.New("no")
	}
	r.event(fmt.Sprintf("%T answered, failed: %v", call, failed), func() Effects {
		switch call.(type) {
		case CheckToken:
			if failed {
				return r.n.TokenChecked(TokenUnknown)
			}
			return r.n.TokenChecked(TokenKnown)
		case AcquireSlot:
			return r.n.SlotAcquired(!failed, Offer{Input: nova.Input(r.rng.IntN(3)), Personal: r.rng.IntN(2) == 0})
		case Admission:
			return r.n.AdmissionDone(err, r.now)
		}
		return r.n.Delivered(err)
	})
}

// TestNova_AgreesWithItsInvariants: nothing before ready, no call while one is
// out, at most one close and nothing after it, and no command delivered twice.
func TestNova_AgreesWithItsInvariants(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ends := map[CloseReason]int{}
	for i := range 150 {
		r := &novaRun{
			t: t, rng: rand.New(rand.NewPCG(seed, uint64(i))), n: newNova(), now: start,
			repeats: map[string]int{},
		}
		for range 2000 {
			r.step()
		}
		for id, times := range r.repeats {
			if times > 1 {
				r.fail("command %q was delivered %d times", id, times)
			}
		}
		ends[r.closed]++
	}
	for _, reason := range []CloseReason{HelloTimeout, AuthRejected, UnsupportedMedia, UnsupportedLanguage, ConcurrentClient, ProtocolFault, ControlCapacity} {
		if ends[reason] == 0 {
			t.Errorf("no session ended with %v: the events are not varied enough (%v)", reason, ends)
		}
	}
}
