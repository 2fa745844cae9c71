package localmodel

import (
	"context"
	"errors"
	"io"
	"time"
)

var errEncoding = errors.New("reply in an encoding that was not asked for")

// watchdog ends a call that is too slow, by cancelling its context with the cause.
type watchdog struct {
	cancel context.CancelCauseFunc
	total  context.CancelFunc
	first  *time.Timer // runs until the first word
	idle   *time.Timer // runs during every later read
	limits Limits
}

// afterEnd is how long we wait for what follows an end reason: it is on its way.
const afterEnd = 2 * time.Second

// startWatchdog begins to wait for the first word. stop must be called.
func startWatchdog(parent context.Context, limits Limits) (context.Context, *watchdog) {
	bounded, total := context.WithTimeoutCause(parent, limits.Total, errTotal)
	ctx, cancel := context.WithCancelCause(bounded)
	return ctx, &watchdog{
		cancel: cancel,
		total:  total,
		first:  time.AfterFunc(limits.FirstWord, func() { cancel(errFirstWord) }),
		limits: limits,
	}
}

func (w *watchdog) stop() {
	w.first.Stop()
	if w.idle != nil {
		w.idle.Stop()
	}
	w.cancel(nil)
	w.total()
}

// heard ends the wait for the first word; from then on silence is measured.
func (w *watchdog) heard() {
	if w.idle == nil {
		w.first.Stop()
		w.idle = time.AfterFunc(w.limits.Idle, func() { w.cancel(errIdle) })
		w.idle.Stop()
	}
}

// ending shortens the silence that is waited for.
func (w *watchdog) ending() { w.limits.Idle = min(w.limits.Idle, afterEnd) }

// watchedReader is the reply, read so that silence is measured while we wait for it
// and not while emit holds the answer back.
type watchedReader struct {
	w    *watchdog
	body io.Reader
}

func (r watchedReader) Read(p []byte) (int, error) {
	if idle := r.w.idle; idle != nil {
		idle.Reset(r.w.limits.Idle)
		defer idle.Stop()
	}
	return r.body.Read(p)
}
