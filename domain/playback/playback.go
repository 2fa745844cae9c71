// Package playback follows the host's speech on the one connected client: which
// generation is current, what the client was told to drop, what was heard in the
// end. It turns events into values; the caller sends the frames, stops the model
// and asks again when a deadline is over. Pure.
package playback

import "time"

// What a client holds of speech that nobody has heard yet. A frame beyond either
// makes it give the generation up, so the producer keeps below both.
const (
	SampleRate        = 24_000          // samples per second, mono
	MaxUnheardSamples = 60 * SampleRate // 60 s
	MaxUnheardFrames  = 512             // buffers: with frames of 20 ms only 10 s
)

// ClearTimeout is how long the host waits for the acknowledgement of a
// playback.clear. A client that holds another generation gives none at all. The
// clear itself is on the wire ahead of whatever follows, so giving up early
// costs no more than the exact played_ms.
const ClearTimeout = 2 * time.Second

// maxUncleared bounds the clears that wait for their acknowledgement.
const maxUncleared = 16

// Generation names one stretch of speech on the wire. Acknowledgements count for
// the exact pair alone. The zero value names none.
type Generation struct {
	UtteranceID string // the caller's, fresh for every generation
	Epoch       uint64 // 1 and up, +1 per generation for the life of the process
}

// Effects is what the caller has to do after an event, in the order of the
// fields. A zero Generation means that there is nothing of the kind to do.
type Effects struct {
	Clear    Generation // send playback.clear ahead of everything queued
	Terminal Generation // send playback.terminal behind the frames of the generation
	Cancel   Generation // stop the model that speaks it, if it still runs
	Ended    []Ending   // what became of generations, oldest first
}

// State is the playback of one host, over all its connections. The zero value is
// that of a fresh process without a client. Not safe for concurrent use.
type State struct {
	connected bool
	epoch     uint64 // of the newest generation
	current   *speech
	uncleared []speech // fenced, their playback.cleared not here yet; oldest first
	fence     Fence
	captions  uint64   // sequence of the newest caption of either role
	assistant uint64   // sequence of the newest caption of the assistant
	retired   []Ending // the newest: a ring once there are MaxTombstones
	oldest    int      // in retired, once it is a ring
}

// speech is a generation that has not ended.
type speech struct {
	Generation
	frames        uint64 // so far, and so the next sequence
	finished      bool   // no more frames follow
	cut           bool   // the model was cancelled; the audio it gave is still played
	started       bool   // the client has begun to play it
	clearDeadline time.Time
}

// Connect tells that a client has authenticated: the host may speak.
func (s *State) Connect() { s.connected = true }

// Disconnect tells that the client is gone. Nothing of any generation so far may
// reach the next client, and no acknowledgement will come.
func (s *State) Disconnect() Effects {
	s.connected = false
	var fx Effects
	for _, u := range s.uncleared {
		fx.Ended = append(fx.Ended, s.retire(u, u.heard(0), 0))
	}
	s.uncleared = nil
	if c := s.current; c != nil {
		s.current = nil
		fx.Cancel = c.Generation
		fx.Ended = append(fx.Ended, s.retire(*c, c.heard(0), 0))
	}
	s.fence = s.fence.Raised(Fence{Epoch: s.epoch})
	return fx
}

// Open begins a generation with the first audio of a response. One that is still
// current is interrupted. ok is false while no client is connected: the host
// does not speak then.
func (s *State) Open(utteranceID string, now time.Time) (g Generation, fx Effects, ok bool) {
	if !s.connected {
		return Generation{}, Effects{}, false
	}
	fx = s.Interrupt(now)
	s.epoch++
	g = Generation{UtteranceID: utteranceID, Epoch: s.epoch}
	s.current = &speech{Generation: g}
	return g, fx, true
}

// Next gives the sequence of the next audio frame: 0 and up without a gap. ok is
// false when g is not current any more or has finished: the audio is to be dropped.
func (s *State) Next(g Generation) (sequence uint64, ok bool) {
	c := s.current
	if c == nil || c.Generation != g || c.finished {
		return 0, false
	}
	c.frames++
	return c.frames - 1, true
}

// Finish tells that the model has said everything. A generation without a frame
// ends here, and the client never hears of it.
func (s *State) Finish(g Generation) Effects { return s.finish(g, false) }

// CutShort notes that the model was cancelled; the audio that it gave until then is
// still played.
func (s *State) CutShort(g Generation) Effects { return s.finish(g, true) }

func (s *State) finish(g Generation, cut bool) Effects {
	c := s.current
	if c == nil || c.Generation != g || c.finished {
		return Effects{}
	}
	if c.frames == 0 {
		s.current = nil
		return Effects{Ended: []Ending{s.retire(*c, Suppressed, 0)}}
	}
	c.finished, c.cut = true, cut
	return Effects{Terminal: g}
}

// Interrupt silences the current generation, if there is one: somebody speaks,
// something newer is to be said, or the provider was replaced.
func (s *State) Interrupt(now time.Time) Effects {
	c := s.current
	if c == nil {
		return Effects{}
	}
	s.current = nil
	s.raiseFence(c.Epoch)
	fx := Effects{Cancel: c.Generation}
	if c.frames == 0 { // the client has never heard of it
		fx.Ended = []Ending{s.retire(*c, Suppressed, 0)}
		return fx
	}
	fx.Clear = c.Generation
	c.clearDeadline = now.Add(ClearTimeout)
	if len(s.uncleared) == maxUncleared {
		fx.Ended = []Ending{s.giveUpOldest()}
	}
	s.uncleared = append(s.uncleared, *c)
	return fx
}

// Alert tells that a playback.alert without an identity goes out, and gives the
// fence that goes with it: it holds back captions, not audio. To silence a
// generation as well, Interrupt it.
func (s *State) Alert() Fence {
	s.fence = s.fence.Raised(Fence{Caption: s.assistant})
	return s.fence
}

// raiseFence fences everything up to epoch, and every assistant caption so far.
func (s *State) raiseFence(epoch uint64) {
	s.fence = s.fence.Raised(Fence{Epoch: epoch, Caption: s.assistant})
}

// Started is playback.started: the client plays the first samples of g.
func (s *State) Started(g Generation) {
	if c := s.current; c != nil && c.Generation == g {
		c.started = true
		return
	}
	if i := s.unclearedIndex(g); i >= 0 {
		s.uncleared[i].started = true
	}
}

// Done is playback.done. It counts for the current generation after its
// terminal. playedMS is 0 when the client did not say.
func (s *State) Done(g Generation, playedMS uint64) Effects {
	c := s.current
	if c == nil || c.Generation != g || !c.finished {
		return Effects{}
	}
	s.current = nil
	outcome := Spoken
	if c.cut {
		outcome = c.heard(playedMS)
	}
	return Effects{Ended: []Ending{s.retire(*c, outcome, playedMS)}}
}

// Cleared is playback.cleared. It counts for a generation that was interrupted.
// playedMS is 0 when the client did not say.
func (s *State) Cleared(g Generation, playedMS uint64) Effects {
	i := s.unclearedIndex(g)
	if i < 0 {
		return Effects{}
	}
	u := s.uncleared[i]
	s.uncleared = append(s.uncleared[:i], s.uncleared[i+1:]...)
	return Effects{Ended: []Ending{s.retire(u, u.heard(playedMS), playedMS)}}
}

// Stopped is playback.stopped: the client has dropped the current generation on
// its own. No clear goes out, but the fence rises for what is still queued.
func (s *State) Stopped(g Generation, playedMS uint64) Effects {
	c := s.current
	if c == nil || c.Generation != g {
		return Effects{}
	}
	s.current = nil
	s.raiseFence(c.Epoch)
	return Effects{Cancel: g, Ended: []Ending{s.retire(*c, c.heard(playedMS), playedMS)}}
}

// Deadline says when to call Expire. ok is false when nothing is waited for.
func (s *State) Deadline() (at time.Time, ok bool) {
	if len(s.uncleared) == 0 {
		return time.Time{}, false
	}
	return s.uncleared[0].clearDeadline, true
}

// Expire gives up the acknowledgements whose time is over at now.
func (s *State) Expire(now time.Time) Effects {
	var fx Effects
	for len(s.uncleared) > 0 && !now.Before(s.uncleared[0].clearDeadline) {
		fx.Ended = append(fx.Ended, s.giveUpOldest())
	}
	return fx
}

func (s *State) giveUpOldest() Ending {
	u := s.uncleared[0]
	s.uncleared = s.uncleared[1:]
	return s.retire(u, u.heard(0), 0)
}

func (s *State) unclearedIndex(g Generation) int {
	for i := range s.uncleared {
		if s.uncleared[i].Generation == g {
			return i
		}
	}
	return -1
}

// Quiet reports whether speech that must not overlap may begin: no generation is
// current, and none was interrupted without an acknowledgement yet.
func (s *State) Quiet() bool { return s.current == nil && len(s.uncleared) == 0 }

// Fence gives what must not reach the client any more. The caller hands it to
// the output queue after every event that may have raised it: Interrupt, Open,
// Stopped and Disconnect.
func (s *State) Fence() Fence { return s.fence }

// UserCaption gives the sequence of a caption of what the user said. Both roles
// share one counter, from 1, for the life of the process.
func (s *State) UserCaption() uint64 {
	s.captions++
	return s.captions
}

// AssistantCaption gives the sequence of a caption of what the host says as g;
// zero for text that is not spoken. ok is false when g has been fenced: a late
// transcript must not slip past with a fresh sequence.
func (s *State) AssistantCaption(g Generation) (sequence uint64, ok bool) {
	if g.Epoch != 0 && s.fence.CoversEpoch(g.Epoch) {
		return 0, false
	}
	s.captions++
	s.assistant = s.captions
	return s.captions, true
}

// Outcome gives what became of one of the MaxTombstones newest generations that
// have ended.
func (s *State) Outcome(g Generation) (outcome Outcome, known bool) {
	for _, e := range s.retired {
		if e.Generation == g {
			return e.Outcome, true
		}
	}
	return 0, false
}

func (s *State) retire(sp speech, outcome Outcome, playedMS uint64) Ending {
	e := Ending{Generation: sp.Generation, Outcome: outcome, PlayedMS: playedMS}
	if len(s.retired) < MaxTombstones {
		s.retired = append(s.retired, e)
		return e
	}
	s.retired[s.oldest] = e
	s.oldest = (s.oldest + 1) % MaxTombstones
	return e
}

// heard is the outcome of a generation that was cut off.
func (sp speech) heard(playedMS uint64) Outcome {
	if sp.started || playedMS > 0 {
		return Interrupted
	}
	return Suppressed
}
