package nova_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plexus/domain/nova"
)

// at is the header of the first frame of a generation.
func at(id string, epoch, sequence uint64) nova.AudioHeader {
	return nova.AudioHeader{Generation: nova.Generation{UtteranceID: id, Epoch: epoch}, Sequence: sequence}
}

func frameOf(header string, pcm []byte) []byte {
	frame := append([]byte("NOVA"), byte(len(header)>>8), byte(len(header)))
	return append(append(frame, header...), pcm...)
}

func TestN40_AudioHeaderIsCompactAsciiInOrder(t *testing.T) {
	for _, c := range []struct{ id, written string }{
		{"reply-7", `"reply-7"`},
		{" kept ", `" kept "`},
		{"回复🎧", `"\u56de\u590d\ud83c\udfa7"`},
		{"é\u0080\x7f", `"\u00e9\u0080` + "\x7f\""},
		{"\b\t\n\f\r\x01\"\\/<>&", `"\b\t\n\f\r\u0001\"\\/<>&"`},
	} {
		frame, err := nova.AppendAudioFrame([]byte("kept"), at(c.id, 3, 41), []byte{1, 2})
		want := append([]byte("kept"), frameOf(`{"utterance_id":`+c.written+`,"generation_epoch":3,"sequence":41}`, []byte{1, 2})...)
		if err != nil || !bytes.Equal(frame, want) {
			t.Errorf("%q: %q, %v; want %q", c.id, frame, err, want)
		}
	}
}

func TestN40_EncoderRefusesWhatItMustNotSend(t *testing.T) {
	const unsafe = nova.MaxSafeInteger + 1
	two := []byte{0, 0}
	for name, c := range map[string]struct {
		header nova.AudioHeader
		pcm    []byte
	}{
		"blank id":          {at("\u3000\x1f", 1, 0), two},
		"empty id":          {at("", 1, 0), two},
		"long id":           {at(strings.Repeat("a", 257), 1, 0), two},
		"id not UTF-8":      {at("\xff", 1, 0), two},
		"epoch 0":           {at("r", 0, 0), two},
		"unsafe epoch":      {at("r", unsafe, 0), two},
		"unsafe sequence":   {at("r", 1, unsafe), two},
		"no samples":        {at("r", 1, 0), nil},
		"odd samples":       {at("r", 1, 0), make([]byte, 3)},
		"too many samples":  {at("r", 1, 0), make([]byte, nova.MaxPCM+2)},
		"header over bound": {at(strings.Repeat("🎧", 256), 1, 0), two},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := nova.AppendAudioFrame([]byte("kept"), c.header, c.pcm); err == nil || string(out) != "kept" {
				t.Errorf("gave %q, %v", out, err)
			}
		})
	}
}

func TestN41_N87_IntegersAreReadByTheirSpelling(t *testing.T) {
	for token, want := range map[string]bool{
		"1": true, "9007199254740991": true,
		"1.0": false, "1e0": false, "true": false, `"1"`: false, "null": false, "-1": false, "-0": false, "0": false,
		"9007199254740992": false, "01": false, "1E0": false, "1e999": false,
		`1,"generation_\u0065poch":1.0`: false, `1.0,"generation_\u0065poch":1`: true,
		`1,"x":{"generation_epoch":1.5}`: true, ` 1 `: true,
	} {
		frame := frameOf(`{"utterance_id":"r","generation_epoch":`+token+`,"sequence":0}`, []byte{0, 0})
		if _, _, err := nova.DecodeAudioFrame(frame); (err == nil) != want {
			t.Errorf("epoch %s: %v, want taken = %v", token, err, want)
		}
	}
}

func TestN87_SamplesOfAFrame(t *testing.T) {
	header := `{"utterance_id":"r","generation_epoch":1,"sequence":0}`
	for n, want := range map[int]bool{0: false, 1: false, 2: true, 3: false, 65_536: true, 65_538: false} {
		pcm := make([]byte, n)
		if _, _, err := nova.DecodeAudioFrame(frameOf(header, pcm)); (err == nil) != want {
			t.Errorf("down, %d bytes: %v, want taken = %v", n, err, want)
		}
		if err := nova.CheckUplinkPCM(pcm); (err == nil) != want {
			t.Errorf("up, %d bytes: %v, want taken = %v", n, err, want)
		}
	}
}

func TestN45_LongSpeechIsSplit(t *testing.T) {
	for n, want := range map[int]string{0: "[]", 2: "[2]", 65_536: "[65536]", 65_538: "[65536 2]", 200_000: "[65536 65536 65536 3392]"} {
		pcm := make([]byte, n)
		for i := range pcm {
			pcm[i] = byte(i * 7)
		}
		var lengths []int
		var whole []byte
		for piece := range nova.SplitPCM(pcm) {
			lengths = append(lengths, len(piece))
			whole = append(whole, piece...)
			if _, err := nova.AppendAudioFrame(nil, at("r", 1, uint64(len(lengths)-1)), piece); err != nil {
				t.Error(err)
			}
		}
		if fmt.Sprint(lengths) != want || !slices.Equal(whole, pcm) {
			t.Errorf("%d bytes in pieces of %v, want %s", n, lengths, want)
		}
	}
}
