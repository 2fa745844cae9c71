package adminweb

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/pairing"
)

// streamRecorder takes a stream and notes each event.
type streamRecorder struct {
	*httptest.ResponseRecorder
	mu     sync.Mutex
	events []string
	fault  error
}

func newStreamRecorder() *streamRecorder {
	return &streamRecorder{ResponseRecorder: httptest.NewRecorder()}
}

func (w *streamRecorder) SetWriteDeadline(time.Time) error { return nil }

// FlushError is what http.ResponseController calls.
func (w *streamRecorder) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, strings.TrimSpace(w.Body.String()))
	w.Body.Reset()
	return w.fault
}

// take gives the events since the last call.
func (w *streamRecorder) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.events, "|")
	w.events = nil
	return out
}

// stream opens one and gives its recorder and a channel that is closed at its end.
func (b *browser) stream(ctx context.Context) (*streamRecorder, <-chan struct{}) {
	r := b.st.page(b.base + "events").WithContext(ctx)
	r.AddCookie(b.cookie)
	w, done := newStreamRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		b.st.handler.ServeHTTP(w, r)
	}()
	return w, done
}

func TestAStreamTellsChangesAndLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t)
		b := st.enter()
		var watches sync.WaitGroup
		for _, source := range st.site.Changed {
			watches.Go(func() { st.site.watch(source) })
		}
		w, done := b.stream(t.Context())
		synctest.Wait()
		if got := w.take(); got != ": here" {
			t.Fatalf("at first: %q", got)
		}
		if _, _, err := st.clients.CreateInvitation(t.Context(), "wss://box.example"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(streamDelay - 1)
		if _, err := st.clients.CancelInvitation(t.Context(), pairing.InvitationID("0000000000000000")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := w.take(); got != "" {
			t.Errorf("told at once: %q", got)
		}
		time.Sleep(streamInterval / 2)
		synctest.Wait()
		if got := w.take(); got != "data: changed" {
			t.Errorf("after two changes at once: %q", got)
		}
		time.Sleep(streamInterval)
		synctest.Wait()
		if got := w.take(); got != ": here" {
			t.Errorf("after a beat: %q", got)
		}
		if _, err := st.personal.Chats.CreateChat(t.Context(), "Garden"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(streamDelay)
		synctest.Wait()
		if got := w.take(); got != "data: changed" {
			t.Errorf("after a change of the personal host: %q", got)
		}
		st.site.halt()
		<-done
		watches.Wait()
		if n := len(st.site.streams); n != 0 {
			t.Errorf("%d streams are counted after the last has ended", n)
		}
	})
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t)
		b, other := st.enter(), st.enter()
		_, done := b.stream(t.Context())
		_, otherDone := other.stream(t.Context())
		synctest.Wait()
		began := time.Now()
		if code, at := other.post("sessions/1/end", nil); code != http.StatusSeeOther {
			t.Fatal(code, at)
		}
		<-done
		if took := time.Since(began); took != streamDelay {
			t.Errorf("it lived on for %v", took)
		}
		synctest.Wait()
		select {
		case <-otherDone:
			t.Error("another session's stream has ended too")
		default:
		}
		st.pass(91 * 24 * time.Hour)
		<-otherDone // at the next beat
	})
}

func TestAStreamEndsWithItsBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t)
		b := st.enter()
		ctx, leave := context.WithCancel(t.Context())
		_, done := b.stream(ctx)
		synctest.Wait()
		leave()
		<-done
		w, done := b.stream(t.Context())
		synctest.Wait()
		w.mu.Lock()
		w.fault = context.Canceled
		w.mu.Unlock()
		<-done // at the beat that cannot be written
	})
}

func TestStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t)
		b := st.enter()
		var ended []<-chan struct{}
		for range MaxStreams {
			_, done := b.stream(t.Context())
			ended = append(ended, done)
		}
		synctest.Wait()
		w, done := b.stream(t.Context())
		<-done
		if w.Code != http.StatusServiceUnavailable {
			t.Errorf("one stream too many: %d", w.Code)
		}
		b.get("devices") // pages have places of their own
		st.site.halt()
		for _, done := range ended {
			<-done
		}
	})
}
