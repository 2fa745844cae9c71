package ask

import (
	"slices"
	"time"

	"plexus/domain/text"
)

// Health is what `plexus status` shows of the work done since the start. It
// holds no question and no content.
type Health struct {
	Answered int64 // queries that ended with their FINAL
	Canceled int64 // queries that the extension cancelled or that lost their connection
	Refused  int64 // queries refused before they were asked (bad payload, too many in flight)

	Search      Failure // of the search service
	Model       Failure
	Keep        Failure         // of keeping pages and answers
	FirstResult Latency         // from the query to its SearchResult
	Answer      Latency         // from the query to its FINAL
	LastAnswers []time.Duration // of Answer the last lastAnswers, oldest first
}

// lastAnswers is how many Health lists one by one.
const lastAnswers = 64

// Failure is the last fault of a service. Count 0 means that there was none.
type Failure struct {
	Count int64
	At    time.Time
	Cause string // of the port's error, which holds no key and no content; one line
}

// Latency is measured over the last 256 queries. Count says over how many.
type Latency struct {
	Count    int
	P50, P99 time.Duration
}

// maxCause bounds a cause, in bytes.
const maxCause = 800

// health is the part of Service that mu guards.
type health struct {
	answered, canceled, refused int64
	searchFailure, modelFailure Failure
	keepFailure                 Failure
	firstResults, finals        ring
}

// Health gives the figures of this moment.
func (s *Service) Health() Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Health{
		Answered:    s.answered,
		Canceled:    s.canceled,
		Refused:     s.refused,
		Search:      s.searchFailure,
		Model:       s.modelFailure,
		Keep:        s.keepFailure,
		FirstResult: s.firstResults.latency(),
		Answer:      s.finals.latency(),
		LastAnswers: s.finals.newest(lastAnswers),
	}
}

// CountRefused notes a query that was refused before it was asked.
func (s *Service) CountRefused() {
	s.updateHealth(func(hl *health) { hl.refused++ })
}

func (s *Service) updateHealth(change func(*health)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.health)
}

func (f *Failure) add(at time.Time, err error) {
	f.Count++
	f.At = at
	f.Cause = text.Printable(text.Truncate(err.Error(), maxCause))
}

// ring keeps the last durations.
type ring struct {
	last  [256]time.Duration
	count int // ever added
}

func (r *ring) add(d time.Duration) {
	r.last[r.count%len(r.last)] = max(d, 0)
	r.count++
}

func (r *ring) latency() Latency {
	n := min(r.count, len(r.last))
	if n == 0 {
		return Latency{}
	}
	sorted := slices.Clone(r.last[:n])
	slices.Sort(sorted)
	return Latency{Count: n, P50: nearestRank(sorted, 50), P99: nearestRank(sorted, 99)}
}

// newest gives up to n of the last durations, oldest first.
func (r *ring) newest(n int) []time.Duration {
	n = min(n, r.count, len(r.last))
	out := make([]time.Duration, 0, n)
	for i := r.count - n; i < r.count; i++ {
		out = append(out, r.last[i%len(r.last)])
	}
	return out
}

// nearestRank gives the smallest value that at least percent of all do not exceed.
func nearestRank(sorted []time.Duration, percent int) time.Duration {
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}
