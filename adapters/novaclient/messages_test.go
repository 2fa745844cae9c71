package novaclient

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
)

// audioFrame builds a frame whose header is written by hand.
func audioFrame(header string, pcmBytes int) []byte {
	b := append([]byte("NOVA"), byte(len(header)>>8), byte(len(header)))
	return append(append(b, header...), make([]byte, pcmBytes)...)
}

func TestN87_AudioFramesAreChecked(t *testing.T) {
	epoch := func(token string) []byte {
		return audioFrame(`{"utterance_id":"u","generation_epoch":`+token+`,"sequence":0}`, 4)
	}
	magic, err := hex.DecodeString("4e4f564200377b7d")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		frame []byte
		good  bool
	}{
		"epoch 1":            {epoch("1"), true},
		"the largest epoch":  {epoch("9007199254740991"), true},
		"epoch 1.0":          {epoch("1.0"), false},
		"epoch 1e0":          {epoch("1e0"), false},
		"epoch true":         {epoch("true"), false},
		"epoch 2^53":         {epoch("9007199254740992"), false},
		"epoch -1":           {epoch("-1"), false},
		"epoch 0":            {epoch("0"), false},
		"epoch as text":      {epoch(`"1"`), false},
		"escaped key, float": {epoch(`1,"generation_\u0065poch":1.0`), false},
		"sequence -0":        {audioFrame(`{"utterance_id":"u","generation_epoch":1,"sequence":-0}`, 4), false},
		"blank id":           {audioFrame(`{"utterance_id":" ","generation_epoch":1,"sequence":0}`, 4), false},
		"no PCM":             {audioFrame(`{"utterance_id":"u","generation_epoch":1,"sequence":0}`, 0), false},
		"1 byte of PCM":      {audioFrame(`{"utterance_id":"u","generation_epoch":1,"sequence":0}`, 1), false},
		"most PCM":           {audioFrame(`{"utterance_id":"u","generation_epoch":1,"sequence":0}`, nova.MaxPCM), true},
		"too much PCM":       {audioFrame(`{"utterance_id":"u","generation_epoch":1,"sequence":0}`, nova.MaxPCM+2), false},
		"another magic":      {magic, false},
		"nothing":            {[]byte{}, false},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			conn, l := h.connect(IOS)
			_ = l.ws.Write(context.Background(), websocket.MessageBinary, c.frame)
			if c.good {
				l.hear("playback.started")
				finish(conn, l)
				return
			}
			expectFault(t, name, conn)
			_ = l.ws.CloseNow()
		})
	}
}

func expectFault(t *testing.T, name string, c *Conn) {
	t.Helper()
	var fault *Fault
	if end := c.Wait(); !errors.As(end, &fault) || end.Terminal() {
		t.Errorf("%s: the connection ended with %v, want a fault of the host that is retried", name, end)
	}
}

// verdict is what a message does to a client of each profile.
type verdict int

const (
	fine        verdict = iota
	drops               // both drop the connection
	strictDrops         // Flutter drops it, IOS passes it over
)

func TestDownlinkRules(t *testing.T) {
	approval := func(executor string) string {
		return `{"type":"executor.approval","executor":` + executor + `,"display_name":"E","pending_approval":false,"pending_approval_busy":false,` +
			`"kind":null,"local_detail":null,"operation_summary":null,"expires_in_seconds":null}`
	}
	for message, want := range map[string]verdict{
		// rule 7: an object with a type, not too long
		`{"type":"x","pad":"` + strings.Repeat("x", nova.MaxText-len(`{"type":"x","pad":""}`)) + `"}`:   fine,
		`{"type":"x","pad":"` + strings.Repeat("x", nova.MaxText-len(`{"type":"x","pad":""}`)+1) + `"}`: drops,
		`{"type":"personal.state","pad":"` + strings.Repeat("x", nova.MaxText) + `"}`:                   drops, // not granted here
		`[]`:                  drops,
		`{"type":1}`:          drops,
		`{"kind":"x"}`:        drops,
		`{"type":"x"} `:       fine,
		`{"type":"x"}{}`:      drops,
		"{\"type\":\"\xff\"}": drops,
		// rule 8: the four integers, in messages of any type
		`{"type":"x","generation_epoch":3,"sequence":0,"protocol_version":1,"played_ms":9007199254740991}`: fine,
		`{"type":"x","sequence":null}`:                  fine,
		`{"type":"x","sequence":3.0}`:                   drops,
		`{"type":"x","played_ms":3e0}`:                  drops,
		`{"type":"x","generation_epoch":-0}`:            drops,
		`{"type":"x","protocol_version":"3"}`:           drops,
		`{"type":"x","sequence":9007199254740992}`:      drops,
		`{"type":"x","sequence":1,"seq\u0075ence":1.0}`: drops,
		`{"type":"x","sequence":1.0,"sequence":1}`:      fine,
		`{"type":"x","in":{"sequence":1.0}}`:            fine,
		// rule 10: what a message must say
		`{"type":"playback.clear","utterance_id":"u","generation_epoch":1}`:            fine,
		`{"type":"playback.clear","utterance_id":"u"}`:                                 drops,
		`{"type":"playback.clear","utterance_id":" ","generation_epoch":1}`:            drops,
		`{"type":"playback.clear","utterance_id":"u","generation_epoch":0}`:            drops,
		`{"type":"playback.terminal","generation_epoch":1}`:                            drops,
		`{"type":"clock.ping","ping_id":"\u3000"}`:                                     drops,
		`{"type":"clock.ping"}`:                                                        drops,
		`{"type":"executor.state","executor":"","display_name":"E","state":"idle"}`:    drops,
		`{"type":"executor.state","executor":"e","display_name":"E","state":"idle"}`:   fine,
		`{"type":"executor.state","executor":"e","display_name":"E","state":"asleep"}`: strictDrops,
		approval(`"e"`): fine,
		approval(`7`):   drops,
		`{"type":"executor.progress","executor":"e"}`:                             drops,
		`{"type":"executor.progress","delegate_id":"d"}`:                          strictDrops,
		`{"type":"executor.result","result":null}`:                                drops,
		`{"type":"executor.result","work_id":"w","result":null}`:                  fine,
		`{"type":"caption","role":"user","text":"","final":false}`:                drops,
		`{"type":"caption","role":"user","text":"","final":false,"sequence":1}`:   fine,
		`{"type":"caption","role":"user","text":"","final":false,"sequence":"1"}`: drops,
		`{"type":"caption","role":"robot","text":"","final":false,"sequence":1}`:  strictDrops,
		`{"type":"caption","role":"user","text":7,"final":false,"sequence":1}`:    strictDrops,
		// rule 11: the frames of cards
		`{"type":"project.state"}`:                             strictDrops,
		`{"type":"project.state","pending_confirmation":true}`: strictDrops,
		`{"type":"executor.approval","executor":"e"}`:          strictDrops,
		// rules 12 and 22: what is not known, and the alert
		`{"type":"desktop.activity","idle":7}`:                                                  fine,
		`{"type":"playback.alert","utterance_id":7}`:                                            fine,
		`{"type":"desktop.capabilities","capabilities":"text"}`:                                 strictDrops,
		`{"type":"executor.state","executor":"e","display_name":"E","state":"idle","later":{}}`: fine,
	} {
		for p, dropped := range map[Profile]bool{IOS: want == drops, Flutter: want != fine} {
			inFakeTime(t, func(t *testing.T, h *host) {
				c, l := h.connect(p)
				l.say(message)
				if dropped {
					expectFault(t, message[:min(len(message), 100)], c)
					_ = l.ws.CloseNow()
					return
				}
				if strings.Contains(message, "playback.clear") {
					l.hear("playback.cleared")
				}
				l.silent("alive")
				if t.Failed() {
					t.Logf("after %.100s, profile %d", message, p)
				}
				finish(c, l)
			})
		}
	}
}

func TestPersonalFramesMayBeLong(t *testing.T) {
	for _, c := range []struct {
		p    Profile
		n    int
		good bool
	}{{Flutter, nova.MaxPersonalText, true}, {Flutter, nova.MaxPersonalText + 1, false}, {IOS, nova.MaxText + 1, false}} {
		inFakeTime(t, func(t *testing.T, h *host) {
			conn, l := h.meet(c.p, granted)
			if c.p == Flutter {
				l.hearOpening()
			}
			l.say(shown(1, strings.Repeat("x", c.n-len(shown(1, "")))))
			if !c.good {
				expectFault(t, "a long frame", conn)
				_ = l.ws.CloseNow()
				return
			}
			l.silent("alive")
			finish(conn, l)
		})
	}
}

func TestCaptions_TheSequenceMustGrow(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		caption := func(l *link, sequence, role, words string) {
			l.say(`{"type":"caption","role":"` + role + `","text":"` + words + `","final":false,"sequence":` + sequence + `}`)
		}
		var shown []string
		show := func() {
			h.seen.add(func() {
				for _, m := range h.seen.messages {
					if caption, ok := m.(nova.Caption); ok {
						shown = append(shown, caption.Text)
					}
				}
				h.seen.messages = nil
			})
		}
		c, l := h.connect(IOS)
		caption(l, "0", "user", "a")
		caption(l, "0", "user", "again")
		caption(l, "7", "assistant", "b")
		caption(l, "7", "user", "one counter for both")
		caption(l, "6", "user", "back")
		caption(l, "9", "robot", "nobody")
		caption(l, "8", "user", "c") // the robot's did not count
		l.silent("p")
		finish(c, l)
		c, l = h.connect(IOS)
		caption(l, "1", "user", "d") // a new connection counts afresh
		l.silent("p")
		finish(c, l)
		show()
		if got := strings.Join(shown, " "); got != "a b c d" {
			t.Errorf("shown are %q, want a b c d", got)
		}
	})
}

func FuzzDownlink(f *testing.F) {
	for _, seed := range []string{ready, desktop, `{"type":"caption","sequence":1}`, `{"type":"clock.ping","ping_id":"p"}`, "NOVA", "", "{"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Add(audioFrame(`{"utterance_id":"u","generation_epoch":1,"sequence":0}`, 4), true)
	f.Fuzz(func(t *testing.T, message []byte, binary bool) {
		kind := websocket.MessageText
		if binary {
			kind = websocket.MessageBinary
		}
		for _, p := range []Profile{IOS, Flutter} {
			inFakeTime(t, func(t *testing.T, h *host) {
				c, l := h.connect(p)
				_ = l.ws.Write(context.Background(), kind, message)
				_ = l.ws.Write(context.Background(), websocket.MessageText, []byte("garbage"))
				go func() {
					for l.next().err == nil {
					}
				}()
				expectFault(t, "garbage", c)
				_ = l.ws.CloseNow()
				synctest.Wait()
			})
		}
	})
}

func TestADropIsNoticedAtOnce(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter)
		since := time.Now()
		l.say("garbage")
		c.Wait()
		if took := time.Since(since); took != closeWins {
			t.Errorf("it took %v, want %v", took, closeWins)
		}
		_ = l.ws.CloseNow()
	})
}
