//go:build !race

package nova_test

import (
	"testing"

	"plexus/domain/nova"
)

// The race detector allocates on its own, hence the build tag of this file.

func TestWritingAudioAllocatesNothing(t *testing.T) {
	pcm := make([]byte, 19_200)
	buf := make([]byte, 0, nova.MaxAudioHeader+len(pcm)+6)
	for name, id := range map[string]string{"plain": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "escapes": "回复🎧 \"1\""} {
		t.Run(name, func(t *testing.T) {
			h := at(id, 3, 41)
			got := testing.AllocsPerRun(1000, func() {
				var err error
				if buf, err = nova.AppendAudioFrame(buf[:0], h, pcm); err != nil {
					t.Fatal(err)
				}
			})
			if got != 0 {
				t.Errorf("allocates %v times", got)
			}
		})
	}
}

func TestReadingAMessageAllocatesLittle(t *testing.T) {
	for name, limit := range map[string]float64{"hello": 7, "input.text": 8, "personal.command": 8, "playback.done": 7} {
		t.Run(name, func(t *testing.T) {
			text, read := []byte(samples[name].text), samples[name].read
			got := testing.AllocsPerRun(1000, func() {
				if err := read(text); err != nil {
					t.Fatal(err)
				}
			})
			if got > limit {
				t.Errorf("allocates %v times, at most %v", got, limit)
			}
		})
	}
}

func TestCheckingUplinkAudioAllocatesNothing(t *testing.T) {
	pcm := make([]byte, 640)
	if got := testing.AllocsPerRun(1000, func() {
		if err := nova.CheckUplinkPCM(pcm); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("allocates %v times", got)
	}
}
