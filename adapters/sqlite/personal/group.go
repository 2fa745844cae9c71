package personal

import (
	"context"
	"database/sql"
	"slices"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/ports"
)

// maxGroup bounds the changes that share a commit: the first of them waits for
// the last.
const maxGroup = 64

// group is a transaction that several changes share. The caller that has the turn
// runs its change in a savepoint and passes the group to the next caller that
// waits; the last one commits for all.
type group struct {
	conn    *sql.Conn
	session session
	changes int           // that have run
	kept    int           // of them, changes that stand
	lost    error         // the transaction is gone, and with it every change
	done    chan struct{} // closed after the commit
	err     error         // of the commit; set before done is closed
}

// waiter waits for the turn. It gets the group that it joins, or nil when it has to
// begin one; turn is buffered, so sending the group never blocks.
type waiter struct{ turn chan *group }

// Update implements ports.PersonalStore. Callers that wait at the same moment
// share one commit.
func (s *Store) Update(ctx context.Context, change func(tx ports.PersonalTx) error) error {
	g, err := s.takeTurn(ctx)
	if err != nil {
		return sqlitex.Wrap("wait for the turn to write", err)
	}
	err = s.run(g, change)
	// A change that found nothing to do may have found what another one in the group
	// has written: it has to wait as well.
	<-g.done
	if g.err != nil {
		return g.err
	}
	return err
}

// takeTurn waits for the turn, which its caller has to hand on, and gives the
// group to write in.
func (s *Store) takeTurn(ctx context.Context) (*group, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w := s.queue(); w != nil {
		select {
		case g := <-w.turn:
			if g != nil {
				return g, nil
			}
		case <-ctx.Done():
			if s.leave(w) {
				return nil, ctx.Err()
			}
			if g := <-w.turn; g != nil { // it came at the same moment
				return g, nil
			}
		}
	}
	g, err := s.begin(ctx)
	if err != nil {
		s.passTurn(nil)
		return nil, err
	}
	return g, nil
}

// begin opens a group. It waits for other writers of the database; ctx ends that
// wait, but not a transaction that has begun.
func (s *Store) begin(ctx context.Context) (*group, error) {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		_ = conn.Close() // gives it back
		return nil, err
	}
	return &group{conn: conn, session: session{ctx: ctx, tx: tx, pool: s.writes, indexPage: s.indexPage}, done: make(chan struct{})}, nil
}

// queue takes the turn if it is free, and gives nil; else it adds a waiter.
func (s *Store) queue() *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy {
		s.busy = true
		return nil
	}
	w := &waiter{turn: make(chan *group, 1)}
	s.waiting = append(s.waiting, w)
	return w
}

// leave gives up waiting. False: the turn has already been handed over.
func (s *Store) leave(w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, w)
	if i < 0 {
		return false
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return true
}

// passTurn hands the turn to who has waited longest, with the group g to join or
// nil to begin one. False: no caller waits; with a group the turn is then kept, for
// its commit.
func (s *Store) passTurn(g *group) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.busy = g != nil
		return false
	}
	s.waiting[0].turn <- g
	s.waiting = slices.Delete(s.waiting, 0, 1)
	return true
}

// run runs change in the group and hands the turn on, even if change panics or
// ends its goroutine.
func (s *Store) run(g *group, change func(tx ports.PersonalTx) error) error {
	defer func() {
		if g.lost == nil && g.changes < maxGroup && s.passTurn(g) {
			return
		}
		defer s.passTurn(nil)
		g.end()
		if s.committed != nil && g.kept > 0 && g.err == nil {
			s.committed(g.kept)
		}
	}()
	return g.run(change)
}

// run makes change a part of the transaction, or no part of it.
func (g *group) run(change func(tx ports.PersonalTx) error) (err error) {
	g.changes++
	own := &transaction{session: &g.session}
	if _, err := own.exec(beginChange, "begin to write"); err != nil {
		g.lost = err
		return err
	}
	ended := false
	defer func() {
		if ended && err == nil {
			return
		}
		undo := &transaction{session: &g.session}
		_, failed := undo.exec(rollbackChange, "roll a change back")
		if failed == nil {
			_, failed = undo.exec(endChange, "roll a change back")
		}
		if failed != nil && own.failed != nil {
			failed = own.failed // after which the transaction may be gone already
		}
		g.lost = failed
	}()
	err = change(own)
	ended = true
	if err != nil {
		return err
	}
	// After a failure of the store, whether change minded it or not, this fails too.
	if _, err := own.exec(endChange, "end writing"); err != nil {
		return err
	}
	g.kept++
	return nil
}

// end commits the changes that stand and wakes every waiting caller.
func (g *group) end() {
	defer close(g.done)
	switch {
	case g.lost != nil:
		g.err = g.lost
		_ = g.session.tx.Rollback() // it may have been rolled back already
	case g.kept == 0:
		g.err = sqlitex.Wrap("roll changes back", sqlitex.Rollback(g.session.tx))
	default:
		g.err = sqlitex.Wrap("commit changes", g.session.tx.Commit())
	}
	if err := g.conn.Close(); g.err == nil && err != nil {
		g.err = sqlitex.Wrap("give the connection back", err)
	}
}
