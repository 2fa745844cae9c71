package wsconn

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const wholeFrame = "12345678"

// watchedPipe is a WatchdogConn with its reader, which takes frames of eight bytes,
// and the peer's end. It counts the deadlines that are set.
type watchedPipe struct {
	net.Conn // counts
	watchdog *WatchdogConn
	reader   *bufio.Reader
	peer     net.Conn
	reads    int // read deadlines set
	writes   int // write deadlines set
}

func newWatchedPipe(t *testing.T, begun bool) *watchedPipe {
	t.Helper()
	ours, peer := net.Pipe()
	w := &watchedPipe{Conn: ours, peer: peer}
	w.watchdog = NewWatchdogConn(w, DefaultLimits(), begun)
	w.reader = bufio.NewReader(w.watchdog)
	t.Cleanup(func() { _, _ = ours.Close(), peer.Close() })
	return w
}

func (w *watchedPipe) SetReadDeadline(t time.Time) error {
	w.reads++
	return w.Conn.SetReadDeadline(t)
}

func (w *watchedPipe) SetWriteDeadline(t time.Time) error {
	w.writes++
	return w.Conn.SetWriteDeadline(t)
}

func (w *watchedPipe) frame() error {
	_, err := io.ReadFull(w.reader, make([]byte, len(wholeFrame)))
	if err == nil {
		w.watchdog.FrameDone(w.reader.Buffered())
	}
	return err
}

// step is one thing that the peer does after a pause.
type step struct {
	pause time.Duration
	send  string
}

// TestWatchdog_ReadLimit: ten seconds from the first byte of a frame to its last,
// however it trickles, and no limit between frames.
func TestWatchdog_ReadLimit(t *testing.T) {
	const s = time.Second
	half, rest := wholeFrame[:4], wholeFrame[4:]
	for _, tc := range []struct {
		name   string
		begun  bool
		steps  []step
		frames int           // that arrive
		cut    time.Duration // after the start; 0: never
	}{
		{"a frame an hour", false, []step{{time.Hour, wholeFrame}, {time.Hour, wholeFrame}, {time.Hour, ""}}, 2, 0},
		{"half a frame", false, []step{{20 * s, half}}, 0, 30 * s},
		{"one byte", false, []step{{0, half[:1]}}, 0, 10 * s},
		{"a trickle does not buy time", false, []step{{0, "1"}, {3 * s, "2"}, {3 * s, "3"}, {3 * s, "4"}, {3 * s, "5"}}, 0, 10 * s},
		{"just in time, then silence", false, []step{{0, half}, {9 * s, rest}, {time.Hour, ""}}, 1, 0},
		{"each frame has its own limit", false, []step{{0, half}, {6 * s, rest + half}, {6 * s, rest + half}, {6 * s, rest}, {time.Hour, ""}}, 3, 0},
		{"the beginning of the next in one read", false, []step{{0, wholeFrame + half}}, 1, 10 * s},
		{"a byte of the next in one read", false, []step{{0, wholeFrame + half[:1]}}, 1, 10 * s},
		{"the next begins later than the last ended", false, []step{{0, half}, {9 * s, rest}, {9 * s, half}}, 1, 28 * s},
		{"begun before us", true, nil, 0, 10 * s},
		{"begun before us, ended in time", true, []step{{9 * s, wholeFrame}, {time.Hour, ""}}, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWatchedPipe(t, tc.begun)
			start := time.Now()
			var sending sync.WaitGroup
			sending.Go(func() {
				for _, st := range tc.steps {
					time.Sleep(st.pause)
					_, _ = io.WriteString(w.peer, st.send) // fails where it is cut
				}
				if tc.cut == 0 {
					_ = w.peer.Close()
				}
			})
			frames := 0
			err := w.frame()
			for ; err == nil; err = w.frame() {
				frames++
			}
			if frames != tc.frames {
				t.Errorf("%s: %d frames, want %d", tc.name, frames, tc.frames)
			}
			if tc.cut == 0 {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: ended with %v after %v", tc.name, err, time.Since(start))
				}
			} else if took := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) || took != tc.cut {
				t.Errorf("%s: %v after %v, want the limit after %v", tc.name, err, took, tc.cut)
			}
			_ = w.Close()
			sending.Wait()
		})
	}
}

func TestWatchdog_WholeFramesSetNoDeadline(t *testing.T) {
	w := newWatchedPipe(t, false)
	var sending sync.WaitGroup
	sending.Go(func() {
		for range 100 {
			_, _ = io.WriteString(w.peer, wholeFrame)
		}
	})
	for range 100 {
		if err := w.frame(); err != nil {
			t.Fatal(err)
		}
	}
	sending.Wait()
	if w.reads != 0 {
		t.Errorf("%d read deadlines were set for frames in one piece", w.reads)
	}
	if got := w.watchdog.BytesRead(); got != uint64(100*len(wholeFrame)) {
		t.Errorf("%d bytes came, want those of 100 frames", got)
	}
}

func TestWatchdog_WriteLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatchedPipe(t, false)
		go func() { _, _ = io.CopyN(io.Discard, w.peer, 1000) }()
		for range 1000 { // taken: one deadline is enough for all within a second
			if _, err := w.watchdog.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
		}
		if w.writes != 1 {
			t.Errorf("%d write deadlines for writes at one moment, want 1", w.writes)
		}
		for _, idle := range []time.Duration{0, 900 * time.Millisecond, time.Hour} {
			w := newWatchedPipe(t, false)
			go func() { _, _ = io.CopyN(io.Discard, w.peer, 1) }()
			if _, err := w.watchdog.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(idle)
			start := time.Now()
			_, err := w.watchdog.Write([]byte{1}) // nobody takes it
			if took := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) || took < 10*time.Second || took > 11*time.Second {
				t.Errorf("after %v of silence: %v after %v, want the limit after 10 to 11 s", idle, err, took)
			}
		}
	})
}
