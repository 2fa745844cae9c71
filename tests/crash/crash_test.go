package crash

import (
	"math/rand/v2"
	"testing"
	"time"
)

// killsPerPlace is how often one data directory goes through a crash. Then a new
// one is begun, so that the first start is hit too. It stays below the bounds of
// the page index and of the waiting list, where rows would rightly go.
const killsPerPlace = 20

// tally is what a run was like.
type tally struct{ starting, unused, loaded, pages, decisions, answers, losses int }

// TestCrash_WhatWasAcknowledgedIsThere kills the program while it starts and
// while many clients use it. Whatever it left behind, locks, sockets and half of
// an answer, the next start has to come up and to know all that was acknowledged.
func TestCrash_WhatWasAcknowledgedIsThere(t *testing.T) {
	random := rand.New(rand.NewPCG(seed(t), 0))
	began, sum := time.Now(), tally{}
	for left := kills(t, 60); left > 0 && !t.Failed(); left -= killsPerPlace {
		sum.liveThrough(t, newPlace(t), min(left, killsPerPlace), random)
	}
	t.Logf("%d kills in %v: %d while starting, %d just after it, %d under load; %d pages, %d decisions and %d answers acknowledged, %d losses",
		sum.starting+sum.unused+sum.loaded, time.Since(began).Round(time.Second), sum.starting, sum.unused, sum.loaded, sum.pages, sum.decisions, sum.answers, sum.losses)
	if sum.pages == 0 || sum.decisions == 0 || sum.answers == 0 {
		t.Error("nothing was acknowledged, so nothing was proved")
	}
}

// liveThrough is the story of one data directory.
func (s *tally) liveThrough(t *testing.T, p place, kills int, random *rand.Rand) {
	t.Helper()
	o := newOracle()
	usual := 100 * time.Millisecond // of a start
	for range kills {
		d := p.start(t)
		if random.IntN(3) == 0 {
			s.killStarting(t, d, time.Duration(random.Int64N(int64(usual)*5/4)))
		} else {
			d.awaitReady(t)
			usual = time.Since(d.began)
			o.check(t, d)
			pause, work := time.Duration(random.IntN(300_000))*time.Microsecond, random.Uint64()
			l := startLoad(t, d, o, work)
			<-time.After(pause)
			l.kill()
			s.loaded++
		}
		o.checkToken(t, p.checkFiles(t))
	}
	last := p.start(t)
	last.awaitReady(t)
	o.check(t, last)
	last.stop(t)
	checkClosedDatabase(t, p.database())
	p.checkLitter(t)
	s.pages, s.decisions, s.answers, s.losses = s.pages+o.acknowledged, s.decisions+o.decisions, s.answers+o.answers, s.losses+o.losses
}

// killStarting kills a daemon that may not even have its database yet.
func (s *tally) killStarting(t *testing.T, d *daemon, pause time.Duration) {
	t.Helper()
	<-time.After(pause)
	d.kill(t)
	select {
	case <-d.ready:
		s.unused++
	default:
		s.starting++
	}
}
