package novaclient

import (
	"time"

	"plexus/domain/nova"
)

// Bounds of what a phone holds and has not played yet.
const (
	maxUnheard = 60 * time.Second
	maxBuffers = 512
)

// player is what a phone does with speech, without a loudspeaker: a frame begins
// to sound when the one before it has ended. It is given the time and gives the
// reports that are due. The zero value holds nothing.
type player struct {
	mute  bool   // the voice engine does not run
	floor uint64 // the highest epoch that was cleared, stopped or played to its end
	held  *heldSpeech
}

// heldSpeech is the one generation that a phone holds.
type heldSpeech struct {
	nova.Generation
	next     uint64      // the sequence that must come
	samples  uint64      // taken so far
	ends     []time.Time // of the buffers that still sound or wait
	terminal bool
}

// frame takes one audio frame. The reports are in the order of their sending.
func (p *player) frame(h nova.AudioHeader, pcm []byte, now time.Time) []nova.Control {
	reports := p.settle(now)
	if p.held == nil {
		return append(reports, p.open(h, pcm, now)...)
	}
	if p.held.Generation != h.Generation {
		return nil // nobody is told
	}
	if !p.held.take(h.Sequence, pcm, now) {
		return p.stop(now)
	}
	return nil
}

// open begins a generation, if it is a new one and this is its first frame.
func (p *player) open(h nova.AudioHeader, pcm []byte, now time.Time) []nova.Control {
	if h.Epoch <= p.floor || h.Sequence != 0 {
		return nil
	}
	p.held = &heldSpeech{Generation: h.Generation}
	if p.mute {
		return p.stop(now)
	}
	p.held.take(0, pcm, now) // the first frame always has room
	return []nova.Control{nova.PlaybackStarted{Generation: h.Generation}}
}

// take schedules the samples behind what is scheduled already. It refuses a gap,
// a repetition, what comes after the terminal, and what would be too much.
func (g *heldSpeech) take(sequence uint64, pcm []byte, now time.Time) bool {
	g.prune(now)
	begin := now
	if n := len(g.ends); n > 0 {
		begin = g.ends[n-1]
	}
	samples := uint64(len(pcm) / 2)
	end := begin.Add(lasting(samples))
	if g.terminal || sequence != g.next || len(g.ends) == maxBuffers || end.Sub(now) > maxUnheard {
		return false
	}
	g.next++
	g.samples += samples
	g.ends = append(g.ends, end)
	return true
}

func lasting(samples uint64) time.Duration {
	return time.Duration(samples) * time.Second / nova.DownlinkRate
}

// prune forgets the buffers that have been heard.
func (g *heldSpeech) prune(now time.Time) {
	for len(g.ends) > 0 && !g.ends[0].After(now) {
		g.ends = g.ends[1:]
	}
}

// playedMS is how much has been heard: what was taken but for what still waits.
func (g *heldSpeech) playedMS(now time.Time) uint64 {
	g.prune(now)
	played := lasting(g.samples)
	if n := len(g.ends); n > 0 {
		played -= g.ends[n-1].Sub(now)
	}
	return uint64(max(0, played.Milliseconds()))
}

// finish marks the generation as whole.
func (p *player) finish(g nova.Generation, now time.Time) []nova.Control {
	if p.held != nil && p.held.Generation == g {
		p.held.terminal = true
	}
	return p.settle(now)
}

// settle reports a generation of which everything has been played.
func (p *player) settle(now time.Time) []nova.Control {
	if p.held == nil || !p.held.terminal {
		return nil
	}
	if p.held.prune(now); len(p.held.ends) > 0 {
		return nil
	}
	return p.release(now, func(g nova.Generation, ms nova.Optional[uint64]) nova.Control {
		return nova.PlaybackDone{Generation: g, PlayedMS: ms}
	})
}

// clear drops a generation as the host demands. Another one than the held one is
// passed over in silence.
func (p *player) clear(g nova.Generation, now time.Time) []nova.Control {
	reports := p.settle(now)
	if p.held != nil && p.held.Generation != g {
		return nil
	}
	if p.held == nil {
		p.held = &heldSpeech{Generation: g}
	}
	return append(reports, p.release(now, func(g nova.Generation, ms nova.Optional[uint64]) nova.Control {
		return nova.PlaybackCleared{Generation: g, PlayedMS: ms}
	})...)
}

// stop drops what is held, of the client's own accord.
func (p *player) stop(now time.Time) []nova.Control {
	if reports := p.settle(now); p.held == nil {
		return reports
	}
	return p.release(now, func(g nova.Generation, ms nova.Optional[uint64]) nova.Control {
		return nova.PlaybackStopped{Generation: g, PlayedMS: ms}
	})
}

func (p *player) release(now time.Time, report func(nova.Generation, nova.Optional[uint64]) nova.Control) []nova.Control {
	g, ms := p.held.Generation, p.held.playedMS(now)
	p.held, p.floor = nil, max(p.floor, g.Epoch)
	return []nova.Control{report(g, nova.Some(ms))}
}

// due is when settle will have something to report; zero: nothing is awaited.
func (p *player) due() time.Time {
	if p.held == nil || !p.held.terminal || len(p.held.ends) == 0 {
		return time.Time{}
	}
	return p.held.ends[len(p.held.ends)-1]
}
