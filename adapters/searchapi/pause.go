package searchapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// maxPause bounds what a Retry-After may ask for, so that no answer can switch
// the search off for good.
const maxPause = 10 * time.Minute

// pause is the time for which the service has asked to be left alone.
type pause struct {
	mu    sync.Mutex
	until time.Time
}

// check gives an error while the pause lasts.
func (p *pause) check(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := p.until.Sub(now); wait > 0 {
		return fmt.Errorf("it asked for a pause, %d s are left", int64((wait+time.Second-1)/time.Second))
	}
	return nil
}

// note takes a Retry-After, in seconds or as an HTTP date, from an answer with a
// status that means overload.
func (p *pause) note(status int, header http.Header, now time.Time) {
	if status != http.StatusTooManyRequests && status < 500 {
		return
	}
	var wait time.Duration
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		wait = date.Sub(now)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := now.Add(min(wait, maxPause)); until.After(p.until) {
		p.until = until
	}
}
