package adminweb

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"plexus/ports"
)

const (
	// streamBeat is how often a stream says that it lives and looks whether its
	// session does.
	streamBeat = 15 * time.Second
	// streamPause gathers changes that come together.
	streamPause = 150 * time.Millisecond
)

// events tells a page when to fetch itself again. It says nothing else, so what
// a page shows is drawn in one place alone. It ends with its session.
func (s *Site) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		plainly(w, http.StatusServiceUnavailable, "busy\n")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	prefix := prefixOf(r)
	next := s.changes.Wait()
	for say := ": here\n\n"; ; {
		if _, err := s.findSession(r, prefix); err != nil {
			if !errors.Is(err, ports.ErrPageSessionUnknown) && r.Context().Err() == nil {
				s.Log.Error("a page's stream ended", "error", err)
			}
			return
		}
		if tell(w, control, say) != nil {
			return // the browser has left
		}
		changed, ok := s.await(r, next)
		if !ok {
			return
		}
		if say = ": here\n\n"; changed {
			say, next = "data: changed\n\n", s.changes.Wait()
		}
	}
}

// desktop hands an upgrade on, with a way to learn that its session has ended.
func (s *Site) desktop(w http.ResponseWriter, r *http.Request) {
	prefix := prefixOf(r)
	s.Desktop.Serve(w, r, func(ctx context.Context) bool { return s.over(r.WithContext(ctx), prefix) })
}

// over waits until the session of r is gone. A session that cannot be looked up
// counts as gone: the page connects again.
func (s *Site) over(r *http.Request, prefix string) bool {
	for {
		next := s.changes.Wait()
		_, err := s.findSession(r, prefix)
		switch {
		case r.Context().Err() != nil:
			return false
		case err != nil && !errors.Is(err, ports.ErrPageSessionUnknown):
			s.Log.Error("the session of a page's socket could not be looked up", "error", err)
		}
		if err != nil {
			return true
		}
		if _, ok := s.await(r, next); !ok {
			return false
		}
	}
}

// tell writes at once, within the limit of one event: the listener's limit is for
// whole pages.
func tell(w io.Writer, control *http.ResponseController, event string) error {
	if err := control.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	if _, err := io.WriteString(w, event); err != nil {
		return err
	}
	return control.Flush()
}

// await waits for a change or the next beat; ok is false when the stream has to end.
func (s *Site) await(r *http.Request, next <-chan struct{}) (changed, ok bool) {
	timer := time.NewTimer(streamBeat)
	defer timer.Stop()
	for {
		select {
		case <-next:
			changed, next = true, nil // what follows within the pause is told with it
			timer.Reset(streamPause)
		case <-timer.C:
			return changed, true
		case <-r.Context().Done():
			return false, false
		case <-s.stop:
			return false, false
		}
	}
}
