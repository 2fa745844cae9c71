package wsconn

import (
	"sync"
	"time"
)

// Frame is one message on its way out. A Queue gives it to the Writer, which
// gives it back when it is written.
type Frame struct {
	Buffer *Buffer
	Text   bool // a text message; else a binary one
}

// Queue holds what a connection still has to write: in what order and within
// what bounds, and what is dropped, is the listener's own. The Writer alone calls
// these methods, and calls Written for each frame before the next Next.
type Queue interface {
	// Next takes out the frame to write now; ok is false when none waits.
	Next() (f Frame, ok bool)
	// Written takes back the frame that Next gave. err is that of the write.
	Written(f Frame, err error)
}

// Writer writes the frames of one connection, in a goroutine of its own, and
// keeps the connection alive.
type Writer struct {
	queue     Queue
	write     func(Frame) error
	closeNow  func()
	keepAlive *KeepAlive

	wake chan struct{} // there may be something to write
	turn chan struct{} // full while a write is running

	stopOnce sync.Once
	stopped  chan struct{}
	limit    *time.Timer // armed by Stop
}

// NewWriter builds a Writer, which Run starts. write writes one frame, within
// limits of its own; closeNow frees it when it is stuck. keepAlive may be nil.
func NewWriter(queue Queue, write func(Frame) error, closeNow func(), keepAlive *KeepAlive) *Writer {
	return &Writer{
		queue: queue, write: write, closeNow: closeNow, keepAlive: keepAlive,
		wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
}

// Wake says that the queue has something. It never blocks.
func (w *Writer) Wake() { Signal(w.wake) }

// Signal wakes the goroutine that receives from a channel of capacity 1, now or at
// its next receive.
func Signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// Run writes until Stop, and then what the queue still gives. failed is called with
// the error that ends the connection: the error of a write, or ErrPeerTimeout.
func (w *Writer) Run(failed func(error)) {
	intervals := w.keepAlive.start()
	defer w.keepAlive.stop()
	for {
		var err error
		select {
		case <-w.wake:
			err = w.drain()
		case <-intervals:
			err = w.keepAlive.intervalOver()
		case <-w.stopped:
			_ = w.drain() // the connection ends either way
			w.limit.Stop()
			return
		}
		if err != nil {
			failed(err)
		}
	}
}

// drain writes until nothing is queued.
func (w *Writer) drain() error {
	w.turn <- struct{}{}
	defer w.Unlock()
	for {
		f, ok := w.queue.Next()
		if !ok {
			return nil
		}
		err := w.write(f)
		w.queue.Written(f, err)
		if err != nil {
			return err
		}
	}
}

// TryLock takes the turn to write, if it is free, for a caller that then writes by
// itself and calls Unlock. That saves two switches of goroutines. Nothing may be
// queued: taking the turn and looking must be one critical section.
func (w *Writer) TryLock() bool {
	select {
	case w.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// Unlock gives the turn back.
func (w *Writer) Unlock() { <-w.turn }

// Busy reports whether a write is running.
func (w *Writer) Busy() bool { return len(w.turn) > 0 }

// Stop lets Run write what is queued and return, within limit: then the connection
// is closed even if the peer does not read. It never blocks; the first call counts.
func (w *Writer) Stop(limit time.Duration) {
	w.stopOnce.Do(func() {
		w.limit = time.AfterFunc(limit, w.closeNow)
		close(w.stopped)
	})
}
