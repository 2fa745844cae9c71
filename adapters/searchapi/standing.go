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

// standing is what the last exchanges told about the service.
type standing struct {
	mu        sync.Mutex
	notBefore time.Time // Retry-After
	lastGood  time.Time // zero: the last answer was a bad one
}

// waiting gives an error while the service has asked to be left alone.
func (s *standing) waiting(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait := s.notBefore.Sub(now); wait > 0 {
		return fmt.Errorf("it asked for a pause, %d s are left", int64((wait+time.Second-1)/time.Second))
	}
	return nil
}

// note remembers what a failing status and its Retry-After mean for later
// queries.
func (s *standing) note(status int, header http.Header, now time.Time) {
	if status != http.StatusTooManyRequests && status < 500 {
		return
	}
	pause := retryAfter(header.Get("Retry-After"), now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := now.Add(pause); until.After(s.notBefore) {
		s.notBefore = until
	}
}

// vouch remembers a good answer, doubt forgets it.
func (s *standing) vouch(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastGood = now
}

func (s *standing) doubt() { s.vouch(time.Time{}) }

// goodSince reports whether an answer came after t.
func (s *standing) goodSince(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastGood.After(t)
}

// retryAfter reads seconds or an HTTP date; 0 when there is neither.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) {
		return min(time.Duration(seconds)*time.Second, maxPause)
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now), 0), maxPause)
	}
	return 0
}
