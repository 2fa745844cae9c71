package novaclient

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/nova"
)

// saw writes a player's reports down.
func saw(reports []nova.Control) string {
	var words []string
	for _, r := range reports {
		switch r := r.(type) {
		case nova.PlaybackStarted:
			words = append(words, "started "+r.UtteranceID)
		case nova.PlaybackDone:
			words = append(words, fmt.Sprintf("done %s %d", r.UtteranceID, r.PlayedMS.Value))
		case nova.PlaybackStopped:
			words = append(words, fmt.Sprintf("stopped %s %d", r.UtteranceID, r.PlayedMS.Value))
		case nova.PlaybackCleared:
			words = append(words, fmt.Sprintf("cleared %s %d", r.UtteranceID, r.PlayedMS.Value))
		}
	}
	return strings.Join(words, ", ")
}

// step is one thing that happens to a player.
type step struct {
	at       int    // milliseconds
	do       string // frame, end, clear, stop or time
	id       string // the utterance; its length is its epoch
	sequence uint64
	ms       int // of sound
	want     string
}

func (s step) run(p *player, base time.Time) string {
	g := nova.Generation{UtteranceID: s.id, Epoch: uint64(len(s.id))}
	now := base.Add(time.Duration(s.at) * time.Millisecond)
	switch s.do {
	case "frame":
		return saw(p.frame(nova.AudioHeader{Generation: g, Sequence: s.sequence}, make([]byte, s.ms*48), now))
	case "end":
		return saw(p.finish(g, now))
	case "clear":
		return saw(p.clear(g, now))
	case "stop":
		return saw(p.stop(now))
	}
	return saw(p.report(now))
}

func TestPlaybackRules(t *testing.T) {
	for name, steps := range map[string][]step{
		"played to its end": {
			{0, "frame", "a", 0, 100, "started a"}, {10, "frame", "a", 1, 100, ""}, {20, "end", "a", 0, 0, ""},
			{199, "time", "", 0, 0, ""}, {200, "time", "", 0, 0, "done a 200"}, {300, "time", "", 0, 0, ""},
		},
		"the end comes after the sound": {{0, "frame", "a", 0, 100, "started a"}, {500, "end", "a", 0, 0, "done a 100"}},
		"without its end it waits for ever, and the next is passed over": {
			{0, "frame", "a", 0, 100, "started a"}, {9000, "time", "", 0, 0, ""}, {9000, "frame", "bb", 0, 100, ""}, {9000, "end", "bb", 0, 0, ""},
		},
		"a silence between frames is not played": {{0, "frame", "a", 0, 100, "started a"}, {500, "frame", "a", 1, 100, ""}, {550, "stop", "", 0, 0, "stopped a 150"}},
		"a gap":                                  {{0, "frame", "a", 0, 100, "started a"}, {30, "frame", "a", 2, 100, "stopped a 30"}, {40, "frame", "a", 3, 100, ""}},
		"a repetition":                           {{0, "frame", "a", 0, 100, "started a"}, {30, "frame", "a", 0, 100, "stopped a 30"}},
		"not from the beginning":                 {{0, "frame", "a", 1, 100, ""}, {0, "frame", "a", 0, 100, "started a"}},
		"after its end":                          {{0, "frame", "a", 0, 100, "started a"}, {0, "end", "a", 0, 0, ""}, {50, "frame", "a", 1, 100, "stopped a 50"}},
		"cleared":                                {{0, "frame", "a", 0, 100, "started a"}, {40, "clear", "a", 0, 0, "cleared a 40"}, {50, "frame", "a", 1, 100, ""}, {50, "frame", "a", 0, 100, ""}},
		"cleared while nothing is held":          {{0, "clear", "aa", 0, 0, "cleared aa 0"}, {0, "frame", "aa", 0, 100, ""}, {0, "frame", "b", 0, 100, ""}, {0, "frame", "ccc", 0, 100, "started ccc"}},
		"another one is cleared":                 {{0, "frame", "a", 0, 100, "started a"}, {40, "clear", "bb", 0, 0, ""}, {50, "frame", "a", 1, 100, ""}},
		"cleared when it was over":               {{0, "frame", "a", 0, 100, "started a"}, {0, "end", "a", 0, 0, ""}, {200, "clear", "a", 0, 0, "done a 100, cleared a 0"}},
		"the next after the end":                 {{0, "frame", "a", 0, 100, "started a"}, {0, "end", "a", 0, 0, ""}, {100, "frame", "bb", 0, 100, "done a 100, started bb"}},
		"a finished one cannot return":           {{0, "frame", "a", 0, 100, "started a"}, {100, "end", "a", 0, 0, "done a 100"}, {200, "frame", "a", 0, 100, ""}},
		"the end of another one":                 {{0, "frame", "a", 0, 100, "started a"}, {0, "end", "bb", 0, 0, ""}, {200, "time", "", 0, 0, ""}},
		"stop with nothing held":                 {{0, "stop", "", 0, 0, ""}},
	} {
		var p player
		for i, s := range steps {
			if got := s.run(&p, time.Unix(0, 0)); got != s.want {
				t.Errorf("%s: step %d reports %q, want %q", name, i, got, s.want)
			}
		}
	}
}

func TestPlayback_AtMostAMinuteIsUnheard(t *testing.T) {
	fill := func() (p *player, next func(at int) string) {
		p = &player{}
		n := uint64(0)
		next = func(at int) string {
			n++
			return step{at, "frame", "a", n - 1, 400, ""}.run(p, time.Unix(0, 0))
		}
		for range 150 { // 60 s in a burst
			if got := next(0); strings.HasPrefix(got, "stopped") {
				t.Fatalf("frame %d of 150 was refused", n)
			}
		}
		return p, next
	}
	if _, next := fill(); next(0) != "stopped a 0" {
		t.Error("60.4 s unheard were taken")
	}
	if _, next := fill(); next(399) != "stopped a 399" {
		t.Error("60.001 s unheard were taken")
	}
	if _, next := fill(); next(400) != "" {
		t.Error("there is room again when 0.4 s have been heard")
	}
}

func TestPlayback_AtMost512Buffers(t *testing.T) {
	var p player
	for n := range uint64(maxBuffers) {
		if got := (step{0, "frame", "a", n, 20, ""}).run(&p, time.Unix(0, 0)); strings.HasPrefix(got, "stopped") {
			t.Fatalf("buffer %d was refused", n+1)
		}
	}
	later := p
	current := *p.current
	later.current = &current
	if got := (step{20, "frame", "a", maxBuffers, 20, ""}).run(&later, time.Unix(0, 0)); got != "" {
		t.Errorf("after one was heard: %q", got)
	}
	if got := (step{0, "frame", "a", maxBuffers, 20, ""}).run(&p, time.Unix(0, 0)); got != "stopped a 0" {
		t.Errorf("buffer 513: %q", got)
	}
}

func TestPlayback_WithoutVoiceEverySpeechIsStopped(t *testing.T) {
	p := player{noVoice: true}
	for i, s := range []step{{0, "frame", "a", 0, 100, "stopped a 0"}, {0, "frame", "a", 1, 100, ""}, {0, "frame", "bb", 0, 100, "stopped bb 0"}, {0, "end", "bb", 0, 0, ""}} {
		if got := s.run(&p, time.Unix(0, 0)); got != s.want {
			t.Errorf("step %d reports %q, want %q", i, got, s.want)
		}
	}
}

// TestPlayback_OnTheWire: the reports reach the host when they are due.
func TestPlayback_OnTheWire(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter)
		begun := time.Now()
		l.sound("u", 1, 0, time.Second)
		l.hear("playback.started")
		l.sound("u", 1, 1, time.Second)
		l.say(`{"type":"playback.terminal","utterance_id":"u","generation_epoch":1}`)
		done := l.hear("playback.done")
		if took := time.Since(begun); took != 2*time.Second || string(done.payload["played_ms"]) != "2000" {
			t.Errorf("done after %v, played %s ms", took, done.payload["played_ms"])
		}
		l.sound("v", 2, 0, time.Second)
		l.hear("playback.started")
		l.say(`{"type":"playback.clear","utterance_id":"v","generation_epoch":2}`)
		l.hear("playback.cleared")
		l.silent("p")
		finish(c, l)
		c, l = h.connect(Flutter)
		l.sound("u", 1, 0, time.Second) // a new connection has no fence
		l.hear("playback.started")
		finish(c, l)
	})
}

func TestOnset_StopsWhatPlays(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(IOS)
		onset := func() heard {
			if err := c.Onset(); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			return l.next()
		}
		if first := onset(); first.kind != "speech.onset" {
			t.Errorf("with nothing playing the client said %q", first.kind)
		}
		l.sound("u", 1, 0, time.Second)
		l.hear("playback.started")
		stopped := onset()
		spoke := l.hear("speech.onset")
		if stopped.kind != "playback.stopped" || len(text(spoke.payload["speech_id"])) != 36 || spoke.payload["t_render_ms"] == nil {
			t.Errorf("the client said %q, then %v", stopped.kind, spoke.payload)
		}
		finish(c, l)
	})
}
