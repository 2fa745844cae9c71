package personal

import (
	"database/sql"
	"iter"
)

// MaxGroup is maxGroup.
const MaxGroup = maxGroup

// OnCommit lets a test count commits and the changes that they hold.
func (s *Store) OnCommit(note func(changes int)) { s.committed = note }

// Queries yields the SQL of everything that reads.
func Queries() iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := range lastStatement {
			if (s < lastRead || s == findMessage) && s.text() != "" && !yield(s.text()) {
				return
			}
		}
		_ = yield(searchSQL) && yield(sizesSQL)
	}
}

// Writes yields the SQL of everything that changes rows.
func Writes() iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := putConversation; s < beginChange; s++ {
			if s != findMessage && !yield(s.text()) {
				return
			}
		}
	}
}

// Queued counts who waits for the turn.
func (s *Store) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// Busy says whether somebody has the turn.
func (s *Store) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy
}

// Writer is the pool of the one connection that writes.
func (s *Store) Writer() *sql.DB { return s.writer }
