package topics

import (
	"sync"

	"plexus/domain/pages"
)

// erasures remembers what was cleared or deleted while questions of the browser
// were being answered: those answers are not kept.
type erasures struct {
	mu      sync.Mutex
	running int               // answers
	clock   uint64            // rises with every erasure
	erased  map[string]uint64 // subject key → clock; "" stands for all
	sites   map[pages.Site]uint64
}

// begin notes that an answer is under way, and gives when it began.
func (e *erasures) begin() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running++
	return e.clock
}

// since reports whether a subject was erased since.
func (e *erasures) since(subject string, began uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.erased[subject] > began || e.erased[""] > began
}

// end forgets erasures that no running answer needs.
func (e *erasures) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running--; e.running == 0 {
		e.erased, e.sites = nil, nil
	}
}

func (e *erasures) note(subject string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clock++
	if e.running == 0 {
		return
	}
	if e.erased == nil {
		e.erased = map[string]uint64{}
	}
	e.erased[subject] = e.clock
}
