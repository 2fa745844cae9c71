//go:build !race

package novaws

import (
	"testing"

	"plexus/adapters/wsconn"
	"plexus/domain/playback"
)

func TestAllocs_AnAudioFrameThroughTheOutbox(t *testing.T) {
	o := newOutbox(false, func() {})
	o.admit(playback.Fence{})
	pcm := make([]byte, 4_800)
	through := func() {
		b := wsconn.GetBuffer()
		b.B = append(b.B, pcm...)
		if o.push(frame{kind: kindAudio, buffer: b, epoch: 1}) != queued {
			t.Fatal("the frame is not queued")
		}
		f, ok := o.next()
		if !ok {
			t.Fatal("the frame is not handed out")
		}
		o.written(f)
	}
	if n := testing.AllocsPerRun(1000, through); n != 0 {
		t.Errorf("%v allocations per audio frame, want none", n)
	}
}

func BenchmarkOutbox_AudioBehindAFullQueue(b *testing.B) {
	o := newOutbox(false, func() {})
	o.admit(playback.Fence{})
	body := &wsconn.Buffer{B: make([]byte, 960)}
	for range laneBounds[laneMain] - 1 {
		o.push(frame{kind: kindAudio, buffer: body, epoch: 1})
	}
	for b.Loop() {
		o.push(frame{kind: kindAudio, buffer: body, epoch: 1})
		o.takeAt(laneMain, 0)
	}
}
