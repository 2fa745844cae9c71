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
	first  *time.Timer // runs until the first byte
	idle   *time.Timer // runs during every later read
	limits Limits
}

// startWatchdog begins to wait for the first byte. stop must be called.
func startWatchdog(parent context.Context, limits Limits) (context.Context, *watchdog) {
	bounded, total := context.WithTimeoutCause(parent, limits.Total, errTotal)
	ctx, cancel := context.WithCancelCause(bounded)
	return ctx, &watchdog{
		cancel: cancel,
		total:  total,
		first:  time.AfterFunc(limits.FirstByte, func() { cancel(errFirstByte) }),
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

// watchedReader is the reply, read so that silence is measured while we wait for it
// and not while emit holds the answer back.
type watchedReader struct {
	w    *watchdog
	body io.Reader
}

func (r watchedReader) Read(p []byte) (int, error) {
	w := r.w
	if w.idle != nil {
		w.idle.Reset(w.limits.Idle)
		defer w.idle.Stop()
		return r.body.Read(p)
	}
	n, err := r.body.Read(p)
	if n > 0 {
		w.first.Stop()
		w.idle = time.AfterFunc(w.limits.Idle, func() { w.cancel(errIdle) })
		w.idle.Stop()
	}
	return n, err
}
