package vectors_test

import (
	"bytes"
	"slices"
	"testing"

	"plexus/domain/framing"
)

func TestC1_EveryFrameVector(t *testing.T) {
	for _, v := range frameVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			h, payload, err := framing.ParseFrame(v.bytes(t))
			if kind := kindOf(t, err); kind != v.Error && !slices.Contains(v.AlsoAcceptable, kind) {
				t.Fatalf("verdict %q, want %q", kind, v.Error)
			}
			if (err == nil) != v.Valid {
				t.Fatalf("valid = %v, want %v", err == nil, v.Valid)
			}
			if !v.Valid {
				return
			}
			want := framing.Header{
				Type:          framing.MessageType(v.Decoded.TypeByte),
				Flags:         framing.Flags(v.Decoded.Flags),
				RequestID:     v.requestID(t),
				PayloadLength: v.Decoded.PayloadLength,
			}
			if h != want {
				t.Errorf("header %+v, want %+v", h, want)
			}
			if got := h.Type.String(); got != v.Decoded.Type {
				t.Errorf("type %q, want %q", got, v.Decoded.Type)
			}
			if got := h.Flags.IsFinal(); got != (v.Decoded.Final || !v.Decoded.Stream) {
				t.Errorf("IsFinal = %v with flags %#x", got, h.Flags)
			}
			if v.HeaderHex == "" && !bytes.Equal(payload, unhex(t, v.Decoded.PayloadHex)) {
				t.Errorf("payload %x, want %s", payload, v.Decoded.PayloadHex)
			}
			if len(payload) != int(v.Decoded.PayloadLength) {
				t.Errorf("payload of %d bytes, want %d", len(payload), v.Decoded.PayloadLength)
			}
		})
	}
}

func TestC3_EncodeGivesTheSameBytes(t *testing.T) {
	compared := 0
	for _, v := range frameVectors(t) {
		if !v.Valid || v.Decoded.UnknownBits != 0 {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			compared++
			wire := v.bytes(t)
			h, payload, err := framing.ParseFrame(wire)
			if err != nil {
				t.Fatal(err)
			}
			again, err := framing.AppendFrame(nil, h.Type, h.Flags, h.RequestID, payload)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again, wire) {
				t.Errorf("encoded %x, want %x", again[:framing.HeaderSize], wire[:framing.HeaderSize])
			}
		})
	}
	if compared < 40 {
		t.Errorf("compared %d vectors only", compared)
	}
}

func TestC6_ChecksRunInOrder(t *testing.T) {
	want := map[string]string{
		"order-all-wrong":           "InvalidMagic",
		"order-version-type-length": "UnsupportedVersion",
		"order-type-length":         "UnknownMessageType",
		"order-type-truncated":      "UnknownMessageType",
		"order-magic-truncated":     "InvalidMagic",
	}
	for _, v := range frameVectors(t) {
		kind, ok := want[v.Name]
		if !ok {
			continue
		}
		delete(want, v.Name)
		if _, _, err := framing.ParseFrame(v.bytes(t)); kindOf(t, err) != kind {
			t.Errorf("%s: %v, want %s", v.Name, err, kind)
		}
	}
	if len(want) != 0 {
		t.Errorf("vectors not found: %v", want)
	}
}
