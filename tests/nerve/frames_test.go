package nerve_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"plexus/adapters/gate"
	"plexus/adapters/wsconn/wstest"
	"plexus/domain/framing"
)

// badHeaders are twenty bytes that no implementation may accept, with the kind
// that the log must name, in the document's order of checks.
var badHeaders = []struct {
	name  string
	bytes []byte
	kind  string
}{
	{"magic", header(0x5652454e, 1, 1, 2, 1, 0), "invalid_magic"},
	{"version", header(framing.Magic, 2, 1, 2, 1, 0), "unsupported_version"},
	{"type", header(framing.Magic, 1, 0x06, 2, 1, 0), "unknown_message_type"},
	{"length", header(framing.Magic, 1, 1, 2, 1, framing.MaxPayloadSize+1), "payload_too_large"},
	{"all wrong", header(1, 9, 0xee, 0, 1, 1<<32-1), "invalid_magic"},
	{"version, type and length", header(framing.Magic, 9, 0xee, 0, 1, 1<<32-1), "unsupported_version"},
	{"type and length", header(framing.Magic, 1, 0xee, 0, 1, 1<<32-1), "unknown_message_type"},
}

func TestB26_BadHeaderClosesAtOnceAndIsNamed(t *testing.T) {
	for _, bad := range badHeaders {
		t.Run(bad.name, func(t *testing.T) {
			onBoth(t, setup{}, func(t *testing.T, f *fixture, dial func(*testing.T) wire) {
				w := dial(t)
				send(t, w, bad.bytes) // the header alone: nothing more may be waited for
				expectEnd(t, w, 1002)
				waitFor(t, "the log to name "+bad.kind, func() bool { return strings.Contains(f.log.String(), "reason="+bad.kind) })
			})
		})
	}
}

func TestB27_EveryUnknownTypeCloses(t *testing.T) {
	f := start(t, setup{})
	for typ := range 256 {
		if framing.MessageType(typ).Known() {
			continue
		}
		w := f.dialUnix(t)
		send(t, w, header(framing.Magic, 1, byte(typ), 2, 1, 0))
		expectEnd(t, w, 1002)
	}
}

func TestB28_TruncatedMessageCloses(t *testing.T) {
	f := start(t, setup{})
	whole := frame(framing.Ping, framing.Final, 1, "payload")
	for _, n := range []int{1, 4, 19, 20, len(whole) - 1} {
		w := f.dialWebSocket(t)
		send(t, w, whole[:n])
		expectEnd(t, w, 1002)
	}
	if got := strings.Count(f.log.String(), "reason=malformed_frame"); got < 5 {
		waitFor(t, "five log lines", func() bool { return strings.Count(f.log.String(), "reason=malformed_frame") == 5 })
	}
}

func TestB29_AStreamWaitsForTheRest(t *testing.T) {
	f := start(t, setup{})
	w := f.dialUnix(t)
	for _, b := range frame(framing.Ping, framing.Final, 1, "slow") {
		send(t, w, []byte{b})
	}
	if g := receive(t, w); g.payload != "slow" {
		t.Errorf("the echo holds %q", g.payload)
	}
	for _, n := range []int{6, 20, 22} {
		w := f.dialUnix(t)
		send(t, w, frame(framing.Ping, framing.Final, 1, "cut")[:n])
		if err := w.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		expectEnd(t, w, 0)
	}
	waitFor(t, "three log lines", func() bool { return strings.Count(f.log.String(), "reason=malformed_frame") == 3 })
}

func TestB29_ACleanEndIsNoError(t *testing.T) {
	f := start(t, setup{})
	w := f.dialUnix(t)
	send(t, w, ping(1))
	expectEcho(t, w, 1)
	_ = w.Close()
	waitFor(t, "the closing line", func() bool { return strings.Contains(f.log.String(), "reason=client_gone") })
}

func TestB30_UnassignedFlagBitsAreMasked(t *testing.T) {
	onBoth(t, answering(), func(t *testing.T, _ *fixture, dial func(*testing.T) wire) {
		w := dial(t)
		for flags := range 256 {
			send(t, w, frame(framing.Ping, framing.Flags(flags), uint64(flags), ""))
			expectEcho(t, w, uint64(flags))
		}
	})
}

func TestB31_OneMessageIsOneFrame(t *testing.T) {
	f := start(t, setup{})
	for _, tail := range [][]byte{{0}, {'\n'}, ping(2), ping(2)[:10]} {
		w := f.dialWebSocket(t)
		send(t, w, append(ping(1), tail...))
		expectEnd(t, w, 1002)
	}
}

// fragments sends a message in pieces, with a ping between each two.
func fragments(t *testing.T, p *wstest.Peer, pieces ...[]byte) {
	t.Helper()
	for i, piece := range pieces {
		f := wstest.Frame{Fin: i == len(pieces)-1, Opcode: wstest.Continuation, Payload: piece}
		if i == 0 {
			f.Opcode = wstest.Binary
		}
		if _, err := p.Write(wstest.Encode(f)); err != nil {
			t.Fatal(err)
		}
		if !f.Fin {
			if _, err := p.Write(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Ping, Payload: []byte{byte(i)}})); err != nil {
				t.Fatal(err)
			}
			pong, err := p.ReadFrame()
			if err != nil || pong.Opcode != wstest.Pong || !bytes.Equal(pong.Payload, []byte{byte(i)}) {
				t.Fatalf("between two fragments: %+v, %v; want a pong", pong, err)
			}
		}
	}
}

func TestB32_FragmentsAreJoinedUnderTheSameLimit(t *testing.T) {
	f := start(t, setup{})
	w := f.dialWebSocket(t)
	whole := frame(framing.Ping, framing.Final, 1, "in pieces")
	fragments(t, w, whole[:3], whole[3:20], nil, whole[20:21], whole[21:])
	if g := receive(t, w); !bytes.Equal(g.raw, whole) {
		t.Errorf("the echo is %x", g.raw)
	}
	// A frame that is complete, and fragments that go on past the limit.
	big := frame(framing.Ping, framing.Final, 2, strings.Repeat("x", framing.MaxPayloadSize))
	over := f.dialWebSocket(t)
	fragments(t, over, big[:1000], big[1000:], []byte("x"))
	_, err := over.Receive()
	var closed *wstest.CloseError
	if !errors.As(err, &closed) || closed.Code != 1002 && closed.Code != 1009 {
		t.Errorf("too many fragments ended with %v, want 1002 or 1009", err)
	}
}

func TestB33_TextCloses1003(t *testing.T) {
	f := start(t, setup{})
	for _, payload := range []string{"", "hello", string(ping(1)), strings.Repeat("x", 1<<20)} {
		w := f.dialWebSocket(t)
		go func() {
			_, _ = w.Write(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Text, Payload: []byte(payload)})) // it may be cut
		}()
		expectEnd(t, w, 1003)
	}
}

func TestB34_EmptyMessageCloses(t *testing.T) {
	f := start(t, setup{})
	w := f.dialWebSocket(t)
	send(t, w, nil)
	expectEnd(t, w, 1002)
}

func TestB35_AnOversizeMessageIsNeverTaken(t *testing.T) {
	f := start(t, setup{})
	exact := frame(framing.Ping, framing.Final, 1, strings.Repeat("x", framing.MaxPayloadSize))
	w := f.dialWebSocket(t)
	go func() { _ = w.Send(exact) }()
	if g := receive(t, w); !bytes.Equal(g.raw, exact) {
		t.Error("a frame of exactly the limit was not echoed")
	}
	for _, message := range [][]byte{append(exact, 'x'), bytes.Repeat([]byte{0}, framing.MaxFrameSize+1)} {
		w := f.dialWebSocket(t)
		go func() { _ = w.Send(message) }()
		_, err := w.Receive()
		var closed *wstest.CloseError
		if !errors.As(err, &closed) || closed.Code != 1002 && closed.Code != 1009 {
			t.Errorf("%d bytes ended with %v, want 1002 or 1009", len(message), err)
		}
	}
}

func TestB36_WebSocketPingGetsItsPong(t *testing.T) {
	f := start(t, setup{})
	w := f.dialWebSocket(t)
	for _, payload := range []string{"", "x", strings.Repeat("p", 125)} {
		if _, err := w.Write(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Ping, Payload: []byte(payload)})); err != nil {
			t.Fatal(err)
		}
		pong, err := w.ReadFrame()
		if err != nil || pong.Opcode != wstest.Pong || string(pong.Payload) != payload {
			t.Errorf("got %+v (%v), want a pong of %d bytes", pong, err, len(payload))
		}
	}
}

func TestB37_UnaskedPongIsIgnored(t *testing.T) {
	f := start(t, setup{})
	w := f.dialWebSocket(t)
	if _, err := w.Write(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Pong, Payload: []byte("1")})); err != nil {
		t.Fatal(err)
	}
	send(t, w, ping(1))
	expectEcho(t, w, 1)
}

func TestB38_CloseIsAnsweredAndCancels(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	f := start(t, setup{answer: answer})
	w := f.dialWebSocket(t)
	send(t, w, askFrame(1))
	<-begun
	if _, err := w.Write(wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Close, Payload: []byte{0x03, 0xe9}})); err != nil {
		t.Fatal(err)
	}
	closing, err := w.ReadFrame()
	if err != nil || closing.Opcode != wstest.Close || !bytes.Equal(closing.Payload, []byte{0x03, 0xe9}) {
		t.Errorf("the close was answered with %+v (%v)", closing, err)
	}
	if _, err := w.ReadFrame(); !errors.Is(err, io.EOF) {
		t.Errorf("after the closing handshake: %v, want EOF", err)
	}
	<-ended
}

func TestB39_BrokenWebSocketRulesClose1002(t *testing.T) {
	f := start(t, setup{})
	masked := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Binary, Payload: ping(1)})
	unmasked := append([]byte{0x82, byte(len(ping(1)))}, ping(1)...)
	reserved := bytes.Clone(masked)
	reserved[0] |= 0x40
	strayContinuation := wstest.Encode(wstest.Frame{Fin: true, Opcode: wstest.Continuation, Payload: ping(1)})
	unknownOpcode := wstest.Encode(wstest.Frame{Fin: true, Opcode: 0x3, Payload: ping(1)})
	for name, b := range map[string][]byte{
		"unmasked": unmasked, "reserved bit": reserved, "stray continuation": strayContinuation, "unknown opcode": unknownOpcode,
	} {
		t.Run(name, func(t *testing.T) {
			w := f.dialWebSocket(t)
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			_, err := w.Receive()
			var closed *wstest.CloseError
			if !errors.As(err, &closed) || closed.Code != 1002 {
				t.Errorf("ended with %v, want 1002", err)
			}
		})
	}
	_, response, err := wstest.Dial(f.addr, "Sec-WebSocket-Protocol: anvesha-v1."+token,
		"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
	if err != nil || response.Header.Get("Sec-WebSocket-Extensions") != "" {
		t.Errorf("compression was negotiated: %q (%v)", response.Header.Get("Sec-WebSocket-Extensions"), err)
	}
}

func TestB44_TheConnectionBeyondTheCapIsTold(t *testing.T) {
	s := setup{}
	s.config.Places = gate.Limits{Connections: 3, Spare: 1}
	f := start(t, s)
	held := []*wstest.Peer{f.dialWebSocket(t), f.dialWebSocket(t), f.dialWebSocket(t)}
	peer, response, err := wstest.Dial(f.addr, "Sec-WebSocket-Protocol: anvesha-v1."+token)
	if err != nil || peer != nil || response.StatusCode != 503 {
		t.Fatalf("the fourth connection: %v, %v, want 503", response, err)
	}
	_ = held[0].Close()
	waitFor(t, "a place", func() bool { return f.websocket.Connections() == 2 })
	w := f.dialWebSocket(t)
	send(t, w, ping(1))
	expectEcho(t, w, 1)
}

func TestB46_ShutdownSays1001(t *testing.T) {
	answer, begun, ended := holdingAnswer()
	f := start(t, setup{answer: answer})
	w, u := f.dialWebSocket(t), f.dialUnix(t)
	send(t, w, askFrame(1))
	send(t, u, askFrame(1))
	<-begun
	<-begun
	started := time.Now()
	stopped := make(chan struct{})
	go func() { defer close(stopped); f.stop() }()
	expectEnd(t, w, 1001)
	expectEnd(t, u, 1001)
	<-ended
	<-ended
	<-stopped
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("the shutdown took %v", took)
	}
}
