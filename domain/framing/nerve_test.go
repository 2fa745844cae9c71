package framing_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"plexus/domain/framing"
)

var ping = framing.Header{Type: framing.Ping, Flags: framing.Final, RequestID: 0x0102030405060708, PayloadLength: 3}

func TestHeaderBytes(t *testing.T) {
	want := []byte{
		0x56, 0x52, 0x45, 0x4e, // magic, least significant byte first
		1, 0, // version
		1, 2, // type, flags
		8, 7, 6, 5, 4, 3, 2, 1, // request_id
		3, 0, 0, 0, // payload_length
	}
	got := framing.AppendHeader([]byte("before"), ping)
	if !bytes.Equal(got, append([]byte("before"), want...)) {
		t.Fatalf("encoded %x, want %x", got, want)
	}
	h, err := framing.ParseHeader(append(want, "payload and more"...))
	if err != nil || h != ping {
		t.Errorf("parsed %+v, %v, want %+v", h, err, ping)
	}
}

func TestEveryTypeByte(t *testing.T) {
	names := map[framing.MessageType]string{
		1: "Ping", 2: "SearchQuery", 3: "SearchResult", 4: "AiToken", 5: "Cancel",
		0x10: "AgentTaskStart", 0x11: "AgentTaskEvent", 0x12: "AgentTaskDone",
	}
	for b := range 256 {
		typ := framing.MessageType(b)
		h := ping
		h.Type = typ
		_, err := framing.ParseHeader(framing.AppendHeader(nil, h))
		name, known := names[typ]
		if known != typ.Known() || known != (err == nil) {
			t.Errorf("type %#02x: Known %v, error %v, want known = %v", b, typ.Known(), err, known)
		}
		if !known {
			name = "unknown"
			wantKind(t, err, framing.UnknownMessageType)
		}
		if typ.String() != name {
			t.Errorf("type %#02x is called %q, want %q", b, typ, name)
		}
	}
}

func TestEveryFlagByteParses(t *testing.T) {
	for b := range 256 {
		h := ping
		h.Flags = framing.Flags(b)
		got, err := framing.ParseHeader(framing.AppendHeader(nil, h))
		if err != nil || got != h {
			t.Errorf("flags %#02x: %+v, %v", b, got, err)
		}
		if final := b&2 != 0 || b&1 == 0; h.Flags.IsFinal() != final {
			t.Errorf("flags %#02x: IsFinal = %v, want %v", b, h.Flags.IsFinal(), final)
		}
	}
}

func TestParseHeaderBoundaries(t *testing.T) {
	set := func(at int, with ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[at:], with); return b }
	}
	length := func(n uint32) func([]byte) []byte {
		return set(16, binary.LittleEndian.AppendUint32(nil, n)...)
	}
	cases := []struct {
		name   string
		change func([]byte) []byte
		want   framing.ErrorKind // 0: accepted
	}{
		{"as it is", set(0), 0},
		{"magic byte 0", set(0, 0x57), framing.InvalidMagic},
		{"magic byte 1", set(1, 0), framing.InvalidMagic},
		{"magic byte 2", set(2, 0), framing.InvalidMagic},
		{"magic byte 3", set(3, 0), framing.InvalidMagic},
		{"magic the other way round", set(0, []byte("NERV")...), framing.InvalidMagic},
		{"version 0", set(4, 0), framing.UnsupportedVersion},
		{"version 2", set(4, 2), framing.UnsupportedVersion},
		{"version 0x0101", set(5, 1), framing.UnsupportedVersion},
		{"longest payload", length(framing.MaxPayloadSize), 0},
		{"one byte too long", length(framing.MaxPayloadSize + 1), framing.PayloadTooLarge},
		{"all ones", length(1<<32 - 1), framing.PayloadTooLarge},
		{"19 bytes", func(b []byte) []byte { return b[:19] }, framing.MalformedFrame},
		{"19 bytes of something else", func(b []byte) []byte { return set(0, 0)(b)[:19] }, framing.MalformedFrame},
		{"nothing", func([]byte) []byte { return nil }, framing.MalformedFrame},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := framing.ParseHeader(c.change(framing.AppendHeader(nil, ping)))
			wantKind(t, err, c.want)
		})
	}
}

// Each subset of broken fields is reported as the first of them in the order.
func TestC6_FirstBrokenFieldWins(t *testing.T) {
	breaks := []struct {
		kind  framing.ErrorKind
		apply func([]byte)
	}{
		{framing.InvalidMagic, func(b []byte) { b[0] = 0 }},
		{framing.UnsupportedVersion, func(b []byte) { b[4] = 9 }},
		{framing.UnknownMessageType, func(b []byte) { b[6] = 0xee }},
		{framing.PayloadTooLarge, func(b []byte) { b[19] = 0xff }},
	}
	for subset := range 1 << len(breaks) {
		wire := framing.AppendHeader(nil, ping) // promises 3 bytes that are not there
		want := framing.MalformedFrame
		for i := len(breaks) - 1; i >= 0; i-- {
			if subset&(1<<i) != 0 {
				breaks[i].apply(wire)
				want = breaks[i].kind
			}
		}
		t.Run(fmt.Sprintf("%04b", subset), func(t *testing.T) {
			_, _, err := framing.ParseFrame(wire)
			wantKind(t, err, want)
		})
	}
}

func TestParseFrameWantsExactlyOneFrame(t *testing.T) {
	frame, err := framing.AppendFrame(nil, framing.Ping, framing.Final, 7, []byte("abc"))
	if err != nil {
		t.Fatal(err)
	}
	h, payload, err := framing.ParseFrame(frame)
	if err != nil || string(payload) != "abc" || h.RequestID != 7 {
		t.Fatalf("parsed %+v, %q, %v", h, payload, err)
	}
	for n := range frame {
		_, _, err := framing.ParseFrame(frame[:n])
		wantKind(t, err, framing.MalformedFrame)
	}
	_, _, err = framing.ParseFrame(append(frame, 0))
	wantKind(t, err, framing.MalformedFrame)
}

func TestC4_EncoderRefusesOverlongPayload(t *testing.T) {
	payload := make([]byte, framing.MaxPayloadSize+1)
	dst := []byte("kept")
	got, err := framing.AppendFrame(dst, framing.Ping, framing.Final, 1, payload)
	wantKind(t, err, framing.PayloadTooLarge)
	if string(got) != "kept" {
		t.Errorf("dst became %d bytes long", len(got))
	}
	frame, err := framing.AppendFrame(nil, framing.Ping, framing.Final, 1, payload[1:])
	if err != nil || len(frame) != framing.MaxFrameSize {
		t.Errorf("longest legal payload: %d bytes, %v", len(frame), err)
	}
}

func TestErrorKinds(t *testing.T) {
	names := map[framing.ErrorKind]string{
		framing.InvalidMagic: "InvalidMagic", framing.UnsupportedVersion: "UnsupportedVersion",
		framing.UnknownMessageType: "UnknownMessageType", framing.PayloadTooLarge: "PayloadTooLarge",
		framing.MalformedFrame: "MalformedFrame", framing.InternalError: "InternalError", 0: "unknown",
	}
	for kind, name := range names {
		err := fmt.Errorf("read frame: %w", &framing.FrameError{Kind: kind})
		if kind.String() != name {
			t.Errorf("kind %d is called %q, want %q", kind, kind, name)
		}
		if !errors.Is(err, &framing.FrameError{Kind: kind}) {
			t.Errorf("%v is not its own kind", err)
		}
		if errors.Is(err, framing.ErrMalformedFrame) != (kind == framing.MalformedFrame) {
			t.Errorf("%v compared with ErrMalformedFrame", err)
		}
	}
}

// wantKind fails unless err is a FrameError of that kind, or nil for kind 0.
func wantKind(t *testing.T, err error, kind framing.ErrorKind) {
	t.Helper()
	if kind == 0 {
		if err != nil {
			t.Errorf("error %v, want none", err)
		}
		return
	}
	var frame *framing.FrameError
	if !errors.As(err, &frame) || frame.Kind != kind {
		t.Errorf("error %v, want %v", err, kind)
	}
}
