package novaws

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/wsconn/wstest"
	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/sessions"
	"plexus/ports"
)

// TestN1_N2_ReadyComesFirst: then what input there is, and nothing else.
func TestN1_N2_ReadyComesFirst(t *testing.T) {
	for in, want := range map[nova.Input][]string{
		nova.NoInput:          {"client.ready"},
		nova.TextInput:        {"client.ready", "desktop.capabilities"},
		nova.TextAndDictation: {"client.ready", "desktop.capabilities"},
	} {
		d := newFakeHost()
		d.input = in
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.connectAndHello(masterToken, "")
			synctest.Wait()
			if len(p.frames) != len(want) {
				t.Fatalf("input %d: %d frames, want %v", in, len(p.frames), want)
			}
			for _, kind := range want {
				f := <-p.frames
				text := string(f.Payload)
				if f.Opcode != wstest.Text || !strings.HasPrefix(text, `{"type":"`+kind+`"`) {
					t.Errorf("input %d: %s, want %s", in, text, kind)
				}
				if media := strings.Contains(text, `"media"`); media != (in == nova.TextAndDictation && kind == "client.ready") {
					t.Errorf("input %d: media in %s: %v", in, kind, media)
				}
			}
		})
	}
}

// TestN3_N8_N10_RefusedHellos: what is refused before, and what after the token.
// None is admitted, and nothing is heard of what they say afterwards.
func TestN3_N8_N10_RefusedHellos(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		code  int
	}{
		"no JSON":           {"hello", 4003},
		"no token":          {`{"type":"hello","protocol_version":1}`, 4003},
		"wrong token":       {hello(wrongToken, ""), 4003},
		"wrong and version": {strings.Replace(hello(wrongToken, ""), "1}", "2}", 1), 4003},
		"capital token":     {hello(strings.ToUpper(masterToken), ""), 4003},
		"16,385 bytes":      {hello(masterToken, `,"x":"`+strings.Repeat("y", 16_385)+`"`), 4003},
		"a command first":   {`{"type":"client.command","request_id":"r","connection_id":"c","payload":{}}`, 4003},
		"wrong, personal":   {hello(wrongToken, `,"capabilities":["personal"]`), 4003},
		"version 2":         {strings.Replace(hello(masterToken, ""), "1}", "2}", 1), 4006},
		"direct media":      {hello(masterToken, `,"media":{"transports":["qwen_aoq_v1"]}`), 4006},
		"no transports":     {hello(masterToken, `,"media":{"transports":[]}`), 4006},
		"media null":        {hello(masterToken, `,"media":null`), 4006},
		"media with more":   {hello(masterToken, `,"media":{"transports":["host_pcm_v1"],"x":1}`), 4006},
		"French":            {hello(masterToken, `,"language":"fr"`), 4006},
		"French, personal":  {hello(masterToken, `,"language":"fr","capabilities":["personal"]`), 4006},
		"binary":            {"", 4003},
	} {
		d := newFakeHost()
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.start(h.open(clientPath))
			if name == "binary" {
				_ = p.Send([]byte{0, 0})
			} else {
				p.say(c.first)
			}
			_ = p.SendText(hello(masterToken, "")) // a second guess
			p.wantEnd(c.code)
		})
		if attached, detached := d.admissions(); attached != 0 || detached != 0 {
			t.Errorf("%s: %d admissions, %d disconnects", name, attached, detached)
		}
	}
}

func TestN4_NoHelloWithinThreeSeconds(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p, began := h.start(h.open(clientPath)), time.Now()
		time.Sleep(2900 * time.Millisecond)
		_ = p.SendFrame(wstest.Ping, nil) // life is no hello
		p.wantEnd(4003)
		within(t, "the hello", time.Since(began), 3*time.Second, 3*time.Second)
	})
	if attached, detached := d.admissions(); attached+detached != 0 {
		t.Error("a silent socket reached the host")
	}
}

// TestN4_TheLimitHoldsUntilTheHelloIsAccepted: a slow lookup does not stop it, and
// its result is nobody's any more.
func TestN4_TheLimitHoldsUntilTheHelloIsAccepted(t *testing.T) {
	d := newFakeHost()
	d.authenticate = func(ctx context.Context) error { <-ctx.Done(); return nil }
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		began := time.Now()
		h.connectAndHello(masterToken, "").wantEnd(4003)
		within(t, "the hello", time.Since(began), 3*time.Second, 3*time.Second)
	})
	if attached, _ := d.admissions(); attached != 0 {
		t.Error("admitted after the end")
	}
}

// TestN4_AHelloThatWasAcceptedEndsTheLimit: also while somebody else is probed.
func TestN4_AHelloThatWasAcceptedEndsTheLimit(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.connect("")
		time.Sleep(10 * time.Second)
		p.alive()
	})
}

// TestHello_AStoreThatFailsIsNoRejection: 4003 would make the client forget its
// credentials.
func TestHello_AStoreThatFailsIsNoRejection(t *testing.T) {
	d := newFakeHost()
	d.authenticate = func(context.Context) error { return errNo }
	inFakeTime(t, d, func(t *testing.T, h *harness) { h.connectAndHello(deviceToken, "").wantEnd(1011) })
	d.authenticate = func(context.Context) error { panic(masterToken) }
	inFakeTime(t, d, func(t *testing.T, h *harness) { h.connectAndHello(deviceToken, "").wantEnd(1011) })
}

// TestN6_TheNextClientComesAfterAnExpelledOne: after one byte of PCM.
func TestN6_TheNextClientComesAfterAnExpelledOne(t *testing.T) {
	for members, code := range map[string]int{"": 4003, `,"capabilities":["personal"]`: 1002} {
		d := newFakeHost()
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.connect(members)
			_ = p.Send([]byte{7})
			p.wantEnd(code)
			h.connect("").alive()
		})
		if attached, detached := d.admissions(); attached != 2 || detached != 2 {
			t.Errorf("%d admissions, %d disconnects", attached, detached)
		}
	}
}

func TestN7_TheProcessStaysAndTheConnectionChanges(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		var seen [2]nova.Ready
		for i := range seen {
			p := h.connectAndHello(masterToken, "")
			seen[i], _ = p.receive().(nova.Ready)
			_ = p.Close()
			synctest.Wait()
		}
		if seen[0].ServerInstanceID != serverID || seen[1].ServerInstanceID != serverID || seen[0].ConnectionID == seen[1].ConnectionID {
			t.Errorf("%+v", seen)
		}
	})
}

func TestN8_AnOfferWithTheRelayInItIsTaken(t *testing.T) {
	d := newFakeHost()
	d.input = nova.TextAndDictation
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		p := h.connectAndHello(masterToken, `,"media":{"transports":["qwen_aoq_v1","host_pcm_v1"]}`)
		if r, ok := p.receive().(nova.Ready); !ok || r.Pipeline != nova.Cascaded {
			t.Errorf("%+v", r)
		}
		synctest.Wait() // admission
	})
	if attached, _ := d.admissions(); attached != 1 {
		t.Errorf("%d admissions", attached)
	}
}

// TestN9_TheDescriptorComesFromTheInputAlone: there is no value of it that holds
// anything else, whatever the input's number.
func TestN9_TheDescriptorComesFromTheInputAlone(t *testing.T) {
	const descriptor = `"media":{"transport":"host_pcm_v1","path":"relay","audio_owner":"client","pipeline":"cascaded"}`
	for in := nova.NoInput; in < 10; in++ {
		text, err := nova.Append(nil, nova.NewReady(serverID, inputID, in, false))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), `"media"`); got != strings.Contains(string(text), descriptor) || got != (in == nova.TextAndDictation) {
			t.Errorf("input %d: %s", in, text)
		}
	}
}

// TestN11_TheFormatsAreThoseOfTheWire: no setting changes them.
func TestN11_TheFormatsAreThoseOfTheWire(t *testing.T) {
	inFakeTime(t, newFakeHost(), func(t *testing.T, h *harness) {
		p := h.connectAndHello(masterToken, "")
		text := string((<-p.frames).Payload)
		for _, format := range []string{
			`"input_audio":{"encoding":"pcm_s16le","sample_rate":16000,"channels":1}`,
			`"output_audio":{"encoding":"pcm_s16le","sample_rate":24000,"channels":1}`,
		} {
			if !strings.Contains(text, format) {
				t.Errorf("no %s in %s", format, text)
			}
		}
	})
}

// TestN12_EveryTokenActsAlike: what a device commands reaches the host as the
// same as what the master token's client does.
func TestN12_EveryTokenActsAlike(t *testing.T) {
	d := newFakeHost()
	inFakeTime(t, d, func(t *testing.T, h *harness) {
		for _, token := range []string{masterToken, deviceToken} {
			p := h.connectAndHello(token, "")
			p.welcomed()
			p.command("r", onset("a"))
			p.wantReceipt("r", nova.Applied)
			_ = p.Close()
			synctest.Wait()
		}
	})
	if c := d.delivered(); len(c) != 2 || c[0] != c[1] {
		t.Errorf("%+v", c)
	}
}

// TestRevoke_WhateverIsInFlight: it closes with 4003, and the device cannot come
// back.
func TestRevoke_WhateverIsInFlight(t *testing.T) {
	revoke := func(d *fakeHost) {
		if err := d.Revoke(context.Background(), pairing.DeviceID{1}); err != nil {
			t.Error(err)
		}
	}
	t.Run("idle", func(t *testing.T) {
		for _, members := range []string{"", `,"capabilities":["personal"]`} {
			d := newFakeHost()
			inFakeTime(t, d, func(t *testing.T, h *harness) {
				p := h.connectAndHello(deviceToken, members)
				p.welcomed()
				revoke(d)
				p.wantEnd(4003)
				h.connectAndHello(deviceToken, members).wantEnd(4003)
			})
		}
	})
	t.Run("a hello", func(t *testing.T) {
		d := newFakeHost()
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			d.authenticate = func(context.Context) error { time.Sleep(time.Second); return nil }
			p := h.connectAndHello(deviceToken, "")
			synctest.Wait()
			revoke(d)
			p.wantEnd(4003)
		})
	})
	t.Run("an admission", func(t *testing.T) {
		d := newFakeHost()
		d.attach = func(ports.ClientLink) bool { return false } // revoked since its hello
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.connectAndHello(deviceToken, "")
			p.endsWith(4003) // ready may have left
		})
		if attached, detached := d.admissions(); attached+detached != 0 {
			t.Error("attached")
		}
	})
	t.Run("a command and more behind it", func(t *testing.T) {
		d := newFakeHost()
		d.deliver = func(ctx context.Context, _ nova.Control) error { <-ctx.Done(); return ctx.Err() }
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.connectAndHello(deviceToken, "")
			p.welcomed()
			for _, id := range []string{"1", "2", "3"} {
				p.command(id, onset(id))
			}
			synctest.Wait()
			revoke(d)
			p.wantEnd(4003)
		})
		if n := len(d.delivered()); n != 1 {
			t.Errorf("%d commands were delivered, want the running one alone", n)
		}
	})
	t.Run("a write that is not taken", func(t *testing.T) {
		d := newFakeHost()
		inFakeTime(t, d, func(t *testing.T, h *harness) {
			p := h.open(clientPath)
			if err := p.SendText(hello(deviceToken, "")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // ready is being written
			revoke(d)
			within(t, "the end", h.lifetime(), 0, 2*closeLimit+50*time.Millisecond)
		})
	})
}

// TestRevoke_OvertakesWhatIsQueued: however much a client has sent, the loop
// looks there last.
func TestRevoke_OvertakesWhatIsQueued(t *testing.T) {
	c := &session{
		nova:  sessions.NewNova(sessions.NovaIDs{}, time.Now()),
		inbox: &inbox{arrived: make(chan struct{}, 1)}, stopped: make(chan struct{}),
	}
	c.inbox.Put(message{true, []byte{0, 0}}) // binary before hello: it would end as 4003 all the same, for another reason
	c.Close(sessions.DeviceRevoked)
	if end := c.next(nil); end != sessions.DeviceRevoked {
		t.Errorf("it ended as %v", end)
	}
}
