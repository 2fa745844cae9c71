package crash

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestCrash_ConversationsSurvive kills the program while it starts and while a
// phone talks with it and pages are asked about. The next start has to know each
// text, change and clearing that it had said yes to, exactly once; and the same
// request again must do nothing again.
func TestCrash_ConversationsSurvive(t *testing.T) {
	random := rand.New(rand.NewPCG(seed(t), 2))
	began, sum, total := time.Now(), tally{}, heard{}
	for left := kills(t, 40); left > 0 && !t.Failed(); left -= killsPerPlace {
		o := newTalks(newModel(t))
		p := newPlace(t)
		p.model = o.model.url
		sum.talkThrough(t, p, o, min(left, killsPerPlace), random)
		total.add(o.heard)
	}
	t.Logf("%d kills in %v: %d while starting, %d just after it, %d under load; acknowledged: %d texts, %d commands; "+
		"seen: %d messages, %d topics; %d repetitions; %d connections used up; %d losses",
		sum.starting+sum.unused+sum.loaded, time.Since(began).Round(time.Second), sum.starting, sum.unused, sum.loaded,
		total.texts, total.commands, total.messages, total.topics, total.repeated, total.usedUp, total.losses)
	if total.texts == 0 || total.commands == 0 || total.messages == 0 || total.topics == 0 || total.repeated == 0 {
		t.Error("too little was acknowledged, so nothing was proved")
	}
}

// talkThrough is the story of one data directory.
func (s *tally) talkThrough(t *testing.T, p place, o *talks, kills int, random *rand.Rand) {
	t.Helper()
	usual, twice := 100*time.Millisecond, false
	for range kills {
		d := p.start(t)
		if twice || random.IntN(4) == 0 {
			s.killStarting(t, d, time.Duration(random.Int64N(int64(usual)*5/4)))
			twice = false
		} else {
			d.awaitReady(t)
			usual = time.Since(d.began)
			o.check(t, d)
			pause, work := time.Duration(100+random.IntN(500))*time.Millisecond, random.Uint64()
			if random.IntN(6) == 0 {
				pause += 2 * time.Second // enough to use a connection up
			}
			l := startTalking(t, d, o, work)
			<-time.After(pause)
			l.kill()
			s.loaded++
			twice = random.IntN(4) == 0
		}
		o.pages.checkToken(t, p.checkFiles(t))
		if t.Failed() {
			return
		}
	}
	last := p.start(t)
	last.awaitReady(t)
	o.check(t, last)
	last.stop(t)
	checkClosedDatabase(t, p.database())
	p.checkLitter(t)
}
