// Package vectors_test holds the code against the wire vectors of
// tests/fixtures, which other implementations of the protocol share.
package vectors_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"plexus/domain/framing"
)

// load reads one fixture file of NERVE V1 and checks how many vectors it holds,
// so that a file cut short cannot pass.
func load[T any](t *testing.T, file string, want int) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "fixtures", "nerve", "v1", file))
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(all) != want {
		t.Fatalf("%s holds %d vectors, want %d", file, len(all), want)
	}
	return all
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// kindOf names the error kind of a FrameError; "" is no error.
func kindOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var frame *framing.FrameError
	if !errors.As(err, &frame) {
		t.Fatalf("error %v (%T) is not a FrameError", err, err)
	}
	return frame.Kind.String()
}

// frameVector is one entry of nerve-vectors.json: one buffer, one message.
type frameVector struct {
	Name           string
	Hex            string
	HeaderHex      string `json:"header_hex"`
	PayloadLen     int    `json:"payload_len"`
	PayloadFill    string `json:"payload_fill"`
	Valid          bool
	Error          string
	AlsoAcceptable []string `json:"also_acceptable"`
	Decoded        *struct {
		Type          string
		TypeByte      uint8 `json:"type_byte"`
		Flags         uint8
		Stream, Final bool
		UnknownBits   uint8  `json:"unknown_flag_bits"`
		RequestID     string `json:"request_id"`
		PayloadLength uint32 `json:"payload_length"`
		PayloadHex    string `json:"payload_hex"`
	}
}

func frameVectors(t *testing.T) []frameVector {
	t.Helper()
	return load[frameVector](t, "nerve-vectors.json", 110)
}

// bytes gives the whole buffer. Long payloads are written as one repeated byte.
func (v frameVector) bytes(t *testing.T) []byte {
	t.Helper()
	if v.HeaderHex == "" {
		return unhex(t, v.Hex)
	}
	return append(unhex(t, v.HeaderHex), bytes.Repeat(unhex(t, v.PayloadFill), v.PayloadLen)...)
}

func (v frameVector) requestID(t *testing.T) uint64 {
	t.Helper()
	id, err := strconv.ParseUint(v.Decoded.RequestID, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
