package novaclient

import (
	"time"

	"plexus/domain/nova"
)

// Bounds of what a phone holds and has not played yet.
const (
	maxBuffered = 60 * time.Second
	maxBuffers  = 512
)

// player is what a phone does with speech, without a loudspeaker: a frame begins
// to sound when the one before it has ended. It is given the time and gives the
// reports that are due. The zero value holds nothing.
type player struct {
	noVoice  bool   // the voice engine does not run
	maxEnded uint64 // the highest epoch that was cleared, stopped or played to its end
	current  *playback
}

// playback is the one generation that a phone holds.
type playback struct {
	nova.Generation
	next     uint64      // the sequence that must come
	samples  uint64      // taken so far
	ends     []time.Time // of the buffers that still sound or wait
	terminal bool
}

// frame takes one audio frame. The reports are in the order of their sending.
func (p *player) frame(h nova.AudioHeader, pcm []byte, now time.Time) []nova.Control {
	reports := p.report(now)
	switch {
	case p.current == nil && (h.Epoch <= p.maxEnded || h.Sequence != 0): // it does not begin a new one
		return reports
	case p.current == nil:
		p.current = &playback{Generation: h.Generation}
		if p.noVoice {
			return append(reports, p.stop(now)...)
		}
		p.current.add(0, pcm, now) // the first frame always has room
		return append(reports, nova.PlaybackStarted{Generation: h.Generation})
	case p.current.Generation == h.Generation && !p.current.add(h.Sequence, pcm, now):
		return p.stop(now)
	}
	return nil // the host expects no report about another one
}

// add schedules the samples behind what is scheduled already. It refuses a gap,
// a repetition, what comes after the terminal, and what would be too much.
func (g *playback) add(sequence uint64, pcm []byte, now time.Time) bool {
	g.prune(now)
	begin := now
	if n := len(g.ends); n > 0 {
		begin = g.ends[n-1]
	}
	samples := uint64(len(pcm) / 2)
	end := begin.Add(duration(samples))
	if g.terminal || sequence != g.next || len(g.ends) == maxBuffers || end.Sub(now) > maxBuffered {
		return false
	}
	g.next++
	g.samples += samples
	g.ends = append(g.ends, end)
	return true
}

func duration(samples uint64) time.Duration {
	return time.Duration(samples) * time.Second / nova.DownlinkRate
}

// prune forgets the buffers that have been heard.
func (g *playback) prune(now time.Time) {
	for len(g.ends) > 0 && !g.ends[0].After(now) {
		g.ends = g.ends[1:]
	}
}

// finish marks the generation as whole.
func (p *player) finish(g nova.Generation, now time.Time) []nova.Control {
	if p.current != nil && p.current.Generation == g {
		p.current.terminal = true
	}
	return p.report(now)
}

// report ends a generation of which everything has been played.
func (p *player) report(now time.Time) []nova.Control {
	if p.current == nil || !p.current.terminal {
		return nil
	}
	if p.current.prune(now); len(p.current.ends) > 0 {
		return nil
	}
	g, ms := p.end(now)
	return []nova.Control{nova.PlaybackDone{Generation: g, PlayedMS: ms}}
}

// clear drops a generation as the host demands. A clear of another generation is
// ignored.
func (p *player) clear(g nova.Generation, now time.Time) []nova.Control {
	reports := p.report(now)
	if p.current != nil && p.current.Generation != g {
		return nil
	}
	if p.current == nil {
		p.current = &playback{Generation: g}
	}
	_, ms := p.end(now)
	return append(reports, nova.PlaybackCleared{Generation: g, PlayedMS: ms})
}

// stop drops what is held, of the client's own accord.
func (p *player) stop(now time.Time) []nova.Control {
	if reports := p.report(now); p.current == nil {
		return reports
	}
	g, ms := p.end(now)
	return []nova.Control{nova.PlaybackStopped{Generation: g, PlayedMS: ms}}
}

// end forgets the current generation, after which no older one is played. playedMS is
// how much has been heard: what was taken but for what still waits.
func (p *player) end(now time.Time) (g nova.Generation, playedMS nova.Optional[uint64]) {
	ended := p.current
	ended.prune(now)
	played := duration(ended.samples)
	if n := len(ended.ends); n > 0 {
		played -= ended.ends[n-1].Sub(now)
	}
	p.current, p.maxEnded = nil, max(p.maxEnded, ended.Epoch)
	return ended.Generation, nova.Some(uint64(max(0, played.Milliseconds())))
}

// nextReport is when report will have something; zero: nothing is awaited.
func (p *player) nextReport() time.Time {
	if p.current == nil || !p.current.terminal || len(p.current.ends) == 0 {
		return time.Time{}
	}
	return p.current.ends[len(p.current.ends)-1]
}
