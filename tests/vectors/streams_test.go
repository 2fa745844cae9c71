package vectors_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"plexus/domain/framing"
)

// streamVector is one entry of nerve-stream-vectors.json: chunks, then the end
// of the stream.
type streamVector struct {
	Name   string
	Chunks []string `json:"chunks_hex"`
	Frames []streamFrame
	End    string
}

type streamFrame struct {
	Type          string
	RequestID     string `json:"request_id"`
	PayloadLength uint32 `json:"payload_length"`
}

func streamVectors(t *testing.T) []streamVector {
	t.Helper()
	return load[streamVector](t, "nerve-stream-vectors.json", 16)
}

// read feeds the chunks and returns the frames and how the stream ended.
func read(t *testing.T, chunks [][]byte) ([]streamFrame, string) {
	t.Helper()
	var a framing.Assembler
	var frames []streamFrame
	for _, chunk := range chunks {
		a.Feed(chunk)
		f, ok, err := a.Next()
		for ; ok; f, ok, err = a.Next() {
			if int(f.PayloadLength) != len(f.Payload) {
				t.Fatalf("header says %d bytes, payload has %d", f.PayloadLength, len(f.Payload))
			}
			frames = append(frames, streamFrame{f.Type.String(), strconv.FormatUint(f.RequestID, 10), f.PayloadLength})
		}
		if err != nil {
			return frames, kindOf(t, err)
		}
	}
	if end := kindOf(t, a.End()); end != "" {
		return frames, end
	}
	return frames, "clean"
}

func TestC2_EveryStreamVector(t *testing.T) {
	for _, v := range streamVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			var chunks [][]byte
			for _, c := range v.Chunks {
				chunks = append(chunks, unhex(t, c))
			}
			checkStream(t, v, chunks)
		})
	}
}

func TestC2_EveryStreamVectorUnderRandomChunking(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, v := range streamVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			var whole []byte
			for _, c := range v.Chunks {
				whole = append(whole, unhex(t, c)...)
			}
			for range 50 {
				var chunks [][]byte
				for rest := whole; len(rest) > 0; {
					n := min(rng.IntN(40), len(rest))
					chunks, rest = append(chunks, rest[:n]), rest[n:]
				}
				checkStream(t, v, chunks)
			}
		})
	}
}

func checkStream(t *testing.T, v streamVector, chunks [][]byte) {
	t.Helper()
	frames, end := read(t, chunks)
	if !slices.Equal(frames, v.Frames) {
		t.Errorf("frames %+v, want %+v", frames, v.Frames)
	}
	if end != v.End {
		t.Errorf("end %q, want %q", end, v.End)
	}
}

// Encoding the frames of a stream and reading them back is the other direction.
func TestC2_FrameVectorsAsOneStream(t *testing.T) {
	var whole []byte
	var want []streamFrame
	for _, v := range frameVectors(t) {
		if v.Valid {
			whole = append(whole, v.bytes(t)...)
			want = append(want, streamFrame{v.Decoded.Type, v.Decoded.RequestID, v.Decoded.PayloadLength})
		}
	}
	var chunks [][]byte
	for chunk := range slices.Chunk(whole, 4096) {
		chunks = append(chunks, chunk)
	}
	frames, end := read(t, chunks)
	if !slices.Equal(frames, want) || end != "clean" {
		t.Errorf("%d frames and end %q, want %d and clean", len(frames), end, len(want))
	}
}
