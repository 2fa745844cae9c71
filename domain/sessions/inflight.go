package sessions

import "errors"

// MaxInflight is how many requests one connection may have between their
// SearchQuery and their FINAL (NERVE V1, "Constants & Limits").
const MaxInflight = 1024

var (
	// ErrDuplicateRequest: the ID is in flight; the newcomer is ignored and the
	// first request goes on (decision D5).
	ErrDuplicateRequest = errors.New("request ID is in flight")
	// ErrTooManyInflight: MaxInflight requests are in flight; this one is refused.
	ErrTooManyInflight = errors.New("too many requests in flight")
)

// Inflight is the request table of one connection: what belongs to each request
// ID from acceptance until FINAL or Cancel. Not safe for concurrent use: the
// connection's send lock guards it. The zero value is an empty table.
type Inflight[T any] struct{ requests map[uint64]T }

// Begin enters a request. An ID whose request has ended may be used again.
func (f *Inflight[T]) Begin(id uint64, request T) error {
	if _, ok := f.requests[id]; ok {
		return ErrDuplicateRequest
	}
	if len(f.requests) >= MaxInflight {
		return ErrTooManyInflight
	}
	if f.requests == nil {
		f.requests = make(map[uint64]T)
	}
	f.requests[id] = request
	return nil
}

// Get gives the request of an ID in flight.
func (f *Inflight[T]) Get(id uint64) (T, bool) {
	request, ok := f.requests[id]
	return request, ok
}

// End removes a request, finished or cancelled, and gives it back. ok is false
// for an unknown or ended ID, which is no error: Cancel after FINAL is a no-op.
func (f *Inflight[T]) End(id uint64) (request T, ok bool) {
	request, ok = f.requests[id]
	delete(f.requests, id)
	return request, ok
}

// Drain ends every request and hands each to fn.
func (f *Inflight[T]) Drain(fn func(id uint64, request T)) {
	for id, request := range f.requests {
		fn(id, request)
	}
	clear(f.requests)
}

// Len counts the requests in flight.
func (f *Inflight[T]) Len() int { return len(f.requests) }
