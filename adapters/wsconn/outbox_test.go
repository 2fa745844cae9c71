package wsconn

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// unpooled gives a buffer of n bytes that never enters the pool, since its
// array is too large, so that a test may know it by its address.
func unpooled(array []byte, n int) *Buffer { return &Buffer{B: array[:n]} }

func array() []byte { return make([]byte, 4<<20) }

func TestOutbox_UrgentPassesAndEachLaneKeepsItsOrder(t *testing.T) {
	o, a := Outbox{}, array()
	m1, m2, u1, u2 := unpooled(a, 1), unpooled(a, 1), unpooled(a, 1), unpooled(a, 1)
	if !o.Push(1, m1) || !o.PushUrgent(u1) || !o.Push(2, m2) || !o.PushUrgent(u2) {
		t.Fatal("an empty outbox refused")
	}
	for n, want := range []*Buffer{u1, u2, m1, m2, nil} {
		if o.Empty() != (want == nil) {
			t.Errorf("after %d: Empty is %v", n, o.Empty())
		}
		if got := o.Pop(); got != want {
			t.Errorf("buffer %d is not the one expected", n)
		}
	}
}

func TestOutbox_Bounds(t *testing.T) {
	a := array()
	lanes := map[string]func(o *Outbox, b *Buffer) bool{
		"urgent": func(o *Outbox, b *Buffer) bool { return o.PushUrgent(b) },
		"main":   func(o *Outbox, b *Buffer) bool { return o.Push(1, b) },
	}
	for lane, push := range lanes {
		for _, tc := range []struct {
			name       string
			size, fits int
		}{
			{"as many as may be queued", 1, laneMessages},
			{"as many bytes as may be queued", laneBytes / 4, 4},
			{"one byte too many", laneBytes/4 + 1, 3},
			{"larger than the whole lane, alone", 2 * laneBytes, 1},
		} {
			o := Outbox{}
			for n := range tc.fits {
				if !push(&o, unpooled(a, tc.size)) {
					t.Fatalf("%s, %s: buffer %d of %d was refused", lane, tc.name, n, tc.fits)
				}
			}
			if push(&o, unpooled(a, tc.size)) {
				t.Errorf("%s, %s: more than %d were taken", lane, tc.name, tc.fits)
			}
			o.Pop()
			if !push(&o, unpooled(a, tc.size)) {
				t.Errorf("%s, %s: a place was not given back", lane, tc.name)
			}
		}
	}
}

func TestOutbox_DropTakesOneRequestAndItsBudget(t *testing.T) {
	o, a := Outbox{}, array()
	stays, urgent := unpooled(a, 10), unpooled(a, 10)
	for range 3 {
		o.Push(7, unpooled(a, laneBytes/4))
	}
	o.Push(8, stays)
	o.PushUrgent(urgent)
	o.Drop(7)
	o.Drop(99) // unknown
	if got := o.main.bytes; got != 10 {
		t.Errorf("%d bytes are counted, want the 10 that stay", got)
	}
	if o.Pop() != urgent || o.Pop() != stays || o.Pop() != nil {
		t.Error("Drop took more or less than its request")
	}
}

func TestOutbox_ClearEmptiesBothLanesAndTheBudget(t *testing.T) {
	o, a := Outbox{}, array()
	for range laneMessages {
		o.Push(1, unpooled(a, 100))
		o.PushUrgent(unpooled(a, 100))
	}
	o.Pop()
	o.Clear()
	if !o.Empty() || o.Pop() != nil {
		t.Error("something is left")
	}
	for _, l := range []*lane{&o.urgent, &o.main} {
		if l.len() != 0 || l.bytes != 0 {
			t.Errorf("%d messages and %d bytes are still counted", l.len(), l.bytes)
		}
	}
}

// modelLane is a lane as plainly as it can be written.
type modelLane []item

func (m modelLane) bytes() (sum int) {
	for _, i := range m {
		sum += len(i.buffer.B)
	}
	return sum
}

func (m *modelLane) push(i item) bool {
	if len(*m) > 0 && (len(*m) >= laneMessages || m.bytes()+len(i.buffer.B) > laneBytes) {
		return false
	}
	*m = append(*m, i)
	return true
}

func (m *modelLane) pop() *Buffer {
	if len(*m) == 0 {
		return nil
	}
	b := (*m)[0].buffer
	*m = (*m)[1:]
	return b
}

func TestOutbox_AgreesWithAModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	a := array()
	for range 50 {
		o := Outbox{}
		var urgent, main modelLane
		for step := range 2000 {
			b := unpooled(a, 1+random.IntN(1<<random.IntN(22)))
			request := random.Uint64N(4)
			var got, want any
			switch k := random.IntN(100); {
			case k < 25:
				got, want = o.PushUrgent(b), urgent.push(item{buffer: b})
			case k < 65:
				got, want = o.Push(request, b), main.push(item{buffer: b, request: request})
			case k < 95:
				next := urgent.pop()
				if next == nil {
					next = main.pop()
				}
				got, want = o.Pop(), next
			case k < 99:
				o.Drop(request)
				main = slices.DeleteFunc(slices.Clone(main), func(i item) bool { return i.request == request })
			default:
				o.Clear()
				urgent, main = nil, nil
			}
			if got != want {
				t.Fatalf("step %d: got %v, the model %v", step, got, want)
			}
			if o.Empty() != (len(urgent)+len(main) == 0) || o.urgent.bytes != urgent.bytes() ||
				o.main.bytes != main.bytes() || o.main.len() != len(main) {
				t.Fatalf("step %d: the outbox counts otherwise than the model", step)
			}
		}
	}
}

// TestLane_KeepsNoBuffer: what has left the queue must not be held by it.
func TestLane_KeepsNoBuffer(t *testing.T) {
	o, a := Outbox{}, array()
	for n := range 100 {
		o.Push(uint64(n%2), unpooled(a, 1))
	}
	for range 30 {
		o.Pop()
	}
	o.Drop(0)
	held := 0
	for _, i := range o.main.items[:cap(o.main.items)] {
		if i.buffer != nil {
			held++
		}
	}
	if held != o.main.len() {
		t.Errorf("the queue of %d holds %d buffers", o.main.len(), held)
	}
}

func TestBuffer_LargeOnesAreNotPooled(t *testing.T) {
	for range 100 {
		large := &Buffer{B: make([]byte, 0, maxPooled+1)}
		large.Put()
		b := GetBuffer()
		if cap(b.B) > maxPooled {
			t.Fatal("a large buffer came back from the pool")
		}
		b.B = append(b.B, "left over"...)
		b.Put()
		if b := GetBuffer(); len(b.B) != 0 {
			t.Fatalf("a buffer came with %d bytes in it", len(b.B))
		}
	}
}
