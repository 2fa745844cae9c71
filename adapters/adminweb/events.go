package adminweb

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"plexus/ports"
)

// Desktop serves the page as a client of the personal host: *desktop.Server.
type Desktop interface {
	// Serve answers one request that has passed the defenses. signedOut waits until
	// the session that it belongs to has ended; it returns false when ctx ends first.
	Serve(w http.ResponseWriter, r *http.Request, signedOut func(ctx context.Context) bool)
	// Shutdown refuses new sockets, ends the others with 1001 and waits for them, or
	// for ctx.
	Shutdown(ctx context.Context) error
}

const (
	// streamInterval is how often a stream sends a sign of life and checks that its
	// session still exists.
	streamInterval = 15 * time.Second
	// streamDelay gathers changes that come together.
	streamDelay = 150 * time.Millisecond
)

// events keep an open page up to date, as long as its session lasts.
type events struct {
	*sessions
	streams chan struct{}   // one per event stream
	stop    <-chan struct{} // closed when the server stops
	socket  Desktop
}

// stream tells a page when to fetch itself again. It carries no content, so that
// only the pages themselves render it. It ends with its session.
func (e *events) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case e.streams <- struct{}{}:
		defer func() { <-e.streams }()
	default:
		writeText(w, http.StatusServiceUnavailable, "busy\n")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	prefix := prefixOf(r)
	next := e.changes.Wait()
	for event := ": here\n\n"; ; {
		if _, err := e.find(r, prefix); err != nil {
			if !errors.Is(err, ports.ErrPageSessionUnknown) && r.Context().Err() == nil {
				e.log.Error("a page's stream ended", "error", err)
			}
			return
		}
		if writeEvent(w, control, event) != nil {
			return // the browser has left
		}
		changed, ok := e.await(r, next)
		if !ok {
			return
		}
		if event = ": here\n\n"; changed {
			event, next = "data: changed\n\n", e.changes.Wait()
		}
	}
}

// desktop hands an upgrade on, with a way to learn that its session has ended.
func (e *events) desktop(w http.ResponseWriter, r *http.Request) {
	prefix := prefixOf(r)
	e.socket.Serve(w, r, func(ctx context.Context) bool { return e.signedOut(r.WithContext(ctx), prefix) })
}

// signedOut waits until the session of r is gone. A session that cannot be looked up
// counts as gone: the page connects again.
func (e *events) signedOut(r *http.Request, prefix string) bool {
	for {
		next := e.changes.Wait()
		_, err := e.find(r, prefix)
		switch {
		case r.Context().Err() != nil:
			return false
		case err != nil && !errors.Is(err, ports.ErrPageSessionUnknown):
			e.log.Error("the session of a page's socket could not be looked up", "error", err)
		}
		if err != nil {
			return true
		}
		if _, ok := e.await(r, next); !ok {
			return false
		}
	}
}

// writeEvent writes at once, within the limit of one event: the listener's limit is for
// whole pages.
func writeEvent(w io.Writer, control *http.ResponseController, event string) error {
	if err := control.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	if _, err := io.WriteString(w, event); err != nil {
		return err
	}
	return control.Flush()
}

// await waits for a change or the next streamInterval; ok is false when the stream
// has to end.
func (e *events) await(r *http.Request, next <-chan struct{}) (changed, ok bool) {
	timer := time.NewTimer(streamInterval)
	defer timer.Stop()
	for {
		select {
		case <-next:
			changed, next = true, nil // what follows within the pause is told with it
			timer.Reset(streamDelay)
		case <-timer.C:
			return changed, true
		case <-r.Context().Done():
			return false, false
		case <-e.stop:
			return false, false
		}
	}
}
