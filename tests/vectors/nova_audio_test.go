package vectors_test

import (
	"bytes"
	"strconv"
	"testing"

	"plexus/domain/nova"
)

// audioVector is one entry of vectors.json: one binary message to a client.
type audioVector struct {
	Name            string
	Hex             string
	PCMLen          int    `json:"pcm_len"` // samples that follow Hex, PCMFill repeated
	PCMFill         string `json:"pcm_fill"`
	Valid, Exact    bool
	UtteranceID     string `json:"utterance_id"`
	GenerationEpoch string `json:"generation_epoch"`
	Sequence        string
	PCMHex          string `json:"pcm_hex"`
}

func audioVectors(t *testing.T) []audioVector {
	t.Helper()
	return loadNova[audioVector](t, "vectors.json", 97)
}

func (v audioVector) fill(t *testing.T) []byte {
	t.Helper()
	return bytes.Repeat(unhex(t, v.PCMFill), v.PCMLen)
}

// content is what a valid frame says.
func (v audioVector) content(t *testing.T) (nova.AudioHeader, []byte) {
	t.Helper()
	number := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return nova.AudioHeader{
		Generation: nova.Generation{UtteranceID: v.UtteranceID, Epoch: number(v.GenerationEpoch)},
		Sequence:   number(v.Sequence),
	}, append(unhex(t, v.PCMHex), v.fill(t)...)
}

func TestN41_N42_N87_AudioVectorsRead(t *testing.T) {
	for _, v := range audioVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			h, pcm, err := nova.DecodeAudioFrame(append(unhex(t, v.Hex), v.fill(t)...))
			if (err == nil) != v.Valid {
				t.Fatalf("error %v, want valid = %v", err, v.Valid)
			}
			if !v.Valid {
				return
			}
			if wantHeader, wantPCM := v.content(t); h != wantHeader || !bytes.Equal(pcm, wantPCM) {
				t.Fatalf("%+v with %d bytes, want %+v with %d", h, len(pcm), wantHeader, len(wantPCM))
			}
		})
	}
}

func TestN40_AudioVectorsWritten(t *testing.T) {
	for _, v := range audioVectors(t) {
		if !v.Exact {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			h, pcm := v.content(t)
			frame, err := nova.AppendAudioFrame(nil, h, pcm)
			if err != nil {
				t.Fatal(err)
			}
			if want := append(unhex(t, v.Hex), v.fill(t)...); !bytes.Equal(frame, want) {
				t.Fatalf("written\n%x\nwant\n%x", frame[:min(len(frame), 200)], want[:min(len(want), 200)])
			}
		})
	}
}
