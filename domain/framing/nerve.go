// Package framing turns NERVE V1 bytes into values and back. It is pure: no
// I/O, no clock, no goroutine.
//
// A frame is a 20-byte little-endian header and 0 to 1 MiB of payload:
//
//	0  magic           u32  0x4E455256, on the wire 56 52 45 4e ("VREN")
//	4  version         u16  1
//	6  type            u8   MessageType
//	7  flags           u8   STREAM 0x01, FINAL 0x02; other bits are ignored
//	8  request_id      u64  chosen by the extension
//	16 payload_length  u32  bytes that follow
//
// ParseHeader decides on these 20 bytes alone, before anybody reserves memory
// for the payload (NERVE V1, "Validation Order").
package framing

import (
	"cmp"
	"encoding/binary"
)

// Wire constants of NERVE V1, "Constants & Limits".
const (
	Magic           = 0x4E455256 // little-endian on the wire: 56 52 45 4e
	ProtocolVersion = 1
	HeaderSize      = 20
	MaxPayloadSize  = 1 << 20 // 1 MiB, exactly that many bytes is legal
	MaxFrameSize    = HeaderSize + MaxPayloadSize
	MaxResults      = 100 // results per query
)

// MessageType is the header's type byte.
type MessageType uint8

// The registry of NERVE V1. AgentTask types are reserved: they decode, their
// payload means nothing yet.
const (
	Ping            MessageType = 0x01
	SearchQueryMsg  MessageType = 0x02
	SearchResultMsg MessageType = 0x03
	AiTokenMsg      MessageType = 0x04
	Cancel          MessageType = 0x05
	AgentTaskStart  MessageType = 0x10
	AgentTaskEvent  MessageType = 0x11
	AgentTaskDone   MessageType = 0x12
)

// Known reports whether the registry has t.
func (t MessageType) Known() bool {
	return t >= Ping && t <= Cancel || t >= AgentTaskStart && t <= AgentTaskDone
}

var messageTypeNames = map[MessageType]string{
	Ping:            "Ping",
	SearchQueryMsg:  "SearchQuery",
	SearchResultMsg: "SearchResult",
	AiTokenMsg:      "AiToken",
	Cancel:          "Cancel",
	AgentTaskStart:  "AgentTaskStart",
	AgentTaskEvent:  "AgentTaskEvent",
	AgentTaskDone:   "AgentTaskDone",
}

// String gives the registry's name, or "unknown".
func (t MessageType) String() string { return cmp.Or(messageTypeNames[t], "unknown") }

// Flags is the header's flag byte as it was on the wire. Only STREAM and FINAL
// have a meaning; a receiver never fails on the others.
type Flags uint8

const (
	Stream Flags = 0x01 // more frames of this request follow
	Final  Flags = 0x02 // last frame of this request
)

// IsFinal reports whether no frame of this request follows: FINAL set, alone or
// with STREAM, or neither set (a single complete message).
func (f Flags) IsFinal() bool { return f&Final != 0 || f&Stream == 0 }

// Header is one parsed frame header.
type Header struct {
	Type          MessageType
	Flags         Flags
	RequestID     uint64
	PayloadLength uint32 // bytes, at most MaxPayloadSize
}

// ParseHeader reads a header from the first HeaderSize bytes of b and checks
// magic, version, type and length in that order. The error is a *FrameError.
// A header is judged whole: with fewer bytes the answer is MalformedFrame,
// whatever they hold, so a stream reader calls it when HeaderSize bytes are in.
func ParseHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, errMalformedFrame
	}
	if binary.LittleEndian.Uint32(b) != Magic {
		return Header{}, errInvalidMagic
	}
	if binary.LittleEndian.Uint16(b[4:]) != ProtocolVersion {
		return Header{}, errUnsupportedVersion
	}
	h := Header{
		Type:          MessageType(b[6]),
		Flags:         Flags(b[7]),
		RequestID:     binary.LittleEndian.Uint64(b[8:]),
		PayloadLength: binary.LittleEndian.Uint32(b[16:]),
	}
	if !h.Type.Known() {
		return Header{}, errUnknownMessageType
	}
	if h.PayloadLength > MaxPayloadSize {
		return Header{}, errPayloadTooLarge
	}
	return h, nil
}

// ParseFrame reads b as exactly one frame, which is what one WebSocket message
// has to be. The payload is a part of b, not a copy. The error is a *FrameError;
// bytes missing or left over after the payload are MalformedFrame.
func ParseFrame(b []byte) (Header, []byte, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return Header{}, nil, err
	}
	payload := b[HeaderSize:]
	if len(payload) != int(h.PayloadLength) {
		return Header{}, nil, errMalformedFrame
	}
	return h, payload, nil
}

// AppendHeader appends h in wire order to dst and returns the longer slice. It
// writes what it is given; AppendFrame checks the length.
func AppendHeader(dst []byte, h Header) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, Magic)
	dst = binary.LittleEndian.AppendUint16(dst, ProtocolVersion)
	dst = append(dst, byte(h.Type), byte(h.Flags))
	dst = binary.LittleEndian.AppendUint64(dst, h.RequestID)
	return binary.LittleEndian.AppendUint32(dst, h.PayloadLength)
}

// AppendFrame appends a whole frame. A payload over MaxPayloadSize is a
// *FrameError of kind PayloadTooLarge, and dst comes back unchanged.
func AppendFrame(dst []byte, t MessageType, f Flags, requestID uint64, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayloadSize {
		return dst, errPayloadTooLarge
	}
	dst = AppendHeader(dst, Header{Type: t, Flags: f, RequestID: requestID, PayloadLength: uint32(len(payload))})
	return append(dst, payload...), nil
}
