package wsconn

// Outbox is what one connection still has to write: an urgent lane, whose frames
// pass those of the main lane, and a main lane whose frames belong to requests.
// Each lane is bounded in messages and bytes. It does no locking: the
// connection's send lock guards it together with the request table. The zero value is
// empty.
type Outbox struct {
	urgent lane
	main   lane
}

// Bounds of each lane (NERVE: 256 frames and 1 MiB).
const (
	laneMessages = 256
	laneBytes    = 1 << 20
)

// PushUrgent queues b ahead of every main frame, behind earlier urgent ones.
// false: the lane is full and b is still the caller's.
func (o *Outbox) PushUrgent(b *Buffer) bool { return o.urgent.push(item{buffer: b}) }

// Push queues b of a request on the main lane. false: no room, b is still the
// caller's.
func (o *Outbox) Push(request uint64, b *Buffer) bool {
	return o.main.push(item{buffer: b, request: request})
}

// Pop gives the next buffer to write; nil when there is none.
func (o *Outbox) Pop() *Buffer {
	if b := o.urgent.pop(); b != nil {
		return b
	}
	return o.main.pop()
}

// Drop removes every queued frame of a request.
func (o *Outbox) Drop(request uint64) { o.main.drop(func(i item) bool { return i.request == request }) }

// Clear removes everything.
func (o *Outbox) Clear() {
	all := func(item) bool { return true }
	o.urgent.drop(all)
	o.main.drop(all)
}

// Empty reports whether nothing is queued.
func (o *Outbox) Empty() bool { return o.urgent.len() == 0 && o.main.len() == 0 }

type item struct {
	buffer  *Buffer
	request uint64
}

// lane is a first-in, first-out queue on a slice that is reused.
type lane struct {
	items []item
	head  int
	bytes int // that wait
}

func (l *lane) len() int { return len(l.items) - l.head }

// push keeps the bounds of the lane. An empty one takes any frame, so that one larger
// than all its bytes still passes.
func (l *lane) push(i item) bool {
	n := len(i.buffer.B)
	if l.len() > 0 && (l.len() == laneMessages || l.bytes+n > laneBytes) {
		return false
	}
	l.bytes += n
	if l.head > 0 && len(l.items) == cap(l.items) {
		l.compact()
	}
	l.items = append(l.items, i)
	return true
}

func (l *lane) pop() *Buffer {
	if l.len() == 0 {
		return nil
	}
	b := l.items[l.head].buffer
	l.items[l.head] = item{}
	l.head++
	l.bytes -= len(b.B)
	if l.head == len(l.items) {
		l.items, l.head = l.items[:0], 0
	}
	return b
}

func (l *lane) drop(match func(item) bool) {
	l.compact()
	kept := l.items[:0]
	for _, i := range l.items {
		if match(i) {
			l.bytes -= len(i.buffer.B)
			i.buffer.Put()
			continue
		}
		kept = append(kept, i)
	}
	clear(l.items[len(kept):])
	l.items = kept
}

func (l *lane) compact() {
	n := copy(l.items, l.items[l.head:])
	clear(l.items[n:])
	l.items, l.head = l.items[:n], 0
}
