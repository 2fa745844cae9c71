package pcm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"plexus/domain/pcm"
)

// tone is a second of 440 Hz.
func tone() []byte {
	var samples []byte
	for i := range pcm.Rate {
		level := 8000 * math.Sin(2*math.Pi*440*float64(i)/pcm.Rate)
		samples = binary.LittleEndian.AppendUint16(samples, uint16(int16(level)))
	}
	return samples
}

func TestCheck(t *testing.T) {
	for size, want := range map[int]error{
		0: nil, 1: pcm.ErrHalfSample, 2: nil, 1_920_000: nil, 1_920_001: pcm.ErrHalfSample, 1_920_002: pcm.ErrTooLong,
	} {
		if err := pcm.Check(make([]byte, size)); !errors.Is(err, want) || err != nil && want == nil {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
	}
	if got := pcm.Duration(1_920_000); got != time.Minute {
		t.Errorf("the longest speech lasts %v", got)
	}
	if got := pcm.Duration(2); got != 62500*time.Nanosecond {
		t.Errorf("a sample lasts %v", got)
	}
}

func TestWAV_ThereAndBack(t *testing.T) {
	file := pcm.AppendWAV([]byte("before"), tone())
	file, ok := bytes.CutPrefix(file, []byte("before"))
	if !ok || len(file) != pcm.WAVSize(len(tone())) {
		t.Fatalf("%d bytes, what was there stays: %v", len(file), ok)
	}
	const header = "RIFF\x24\x7d\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\x00\x7d\x00\x00"
	if string(file[:44]) != header {
		t.Errorf("the header is %q", file[:44])
	}
	got, err := pcm.ParseWAV(file)
	if err != nil || !bytes.Equal(got, tone()) {
		t.Errorf("read back %d bytes, %v", len(got), err)
	}
}

// chunk renders one chunk with its padding.
func chunk(name, content string) string {
	head := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(content)))
	return string(head) + content + strings.Repeat("\x00", len(content)%2)
}

// form renders the content of a fmt chunk.
func form(format, channels uint16, rate uint32, bits uint16) string {
	b := binary.LittleEndian.AppendUint16(nil, format)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*uint32(channels)*uint32(bits)/8)
	b = binary.LittleEndian.AppendUint16(b, channels*bits/8)
	return string(binary.LittleEndian.AppendUint16(b, bits))
}

func TestParseWAV(t *testing.T) {
	const head = "RIFF\x00\x00\x00\x00WAVE"
	ours := chunk("fmt ", form(1, 1, 16000, 16))
	extensible := chunk("fmt ", form(0xFFFE, 1, 16000, 16)+"\x16\x00\x10\x00\x04\x00\x00\x00\x01\x00\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71")
	for name, c := range map[string]struct {
		file string
		want string // in the error; "": abcd is read
	}{
		"plain":                     {head + ours + chunk("data", "abcd"), ""},
		"other chunks, one odd":     {head + chunk("LIST", "odd") + ours + chunk("cue ", "1234") + chunk("data", "abcd") + chunk("id3 ", "x"), ""},
		"extensible":                {head + extensible + chunk("data", "abcd"), ""},
		"length not known":          {head + ours + "data\xff\xff\xff\xffabcd", ""},
		"both lengths not known":    {"RIFF\xff\xff\xff\xffWAVE" + ours + "data\xff\xff\xff\xffabcd", ""},
		"length 0":                  {head + ours + "data\x00\x00\x00\x00abcd", ""},
		"length 0, whole unknown":   {"RIFF\xff\xff\xff\xffWAVE" + ours + "data\x00\x00\x00\x00abcd", ""},
		"length of sox":             {"RIFF\x24\xf0\xff\x7fWAVE" + ours + "data\x00\xf0\xff\x7fabcd", ""},
		"length of arecord":         {"RIFF\x24\x00\x00\x80WAVE" + ours + "data\x00\x00\x00\x80abcd", ""},
		"less the header":           {"RIFF\xff\xff\xff\xffWAVE" + ours + "data\xdb\xff\xff\xffabcd", ""},
		"a pipe broke off":          {head + ours + "data\xff\xff\xff\xffabcde", ""},
		"unknown and nothing":       {head + ours + "data\xff\xff\xff\xff", "no samples"},
		"no samples but a comment":  {"RIFF\x2e\x00\x00\x00WAVE" + ours + chunk("data", "") + chunk("id3 ", "xy"), "no samples"},
		"a length that is too much": {head + ours + "data\x00\x00\x00\x10abcd", "cut short"},
		"nothing":                   {"", "not a WAV file"},
		"Ogg":                       {"OggS" + strings.Repeat("\x00", 40), "not a WAV file"},
		"MP3":                       {"ID3\x04" + strings.Repeat("\x00", 40), "not a WAV file"},
		"an AVI":                    {"RIFF\x00\x00\x00\x00AVI ", "not a WAV file"},
		"header alone":              {head, "no samples"},
		"no format":                 {head + chunk("data", "abcd"), "no samples"},
		"no data":                   {head + ours, "no samples"},
		"empty data":                {head + ours + chunk("data", ""), "no samples"},
		"a byte too many":           {head + ours + chunk("data", "abcde"), "within a sample"},
		"data cut short":            {head + ours + "data\x08\x00\x00\x00abcd", "cut short"},
		"another chunk cut short":   {head + ours + "LIST\xff\xff\xff\xffabcd", "cut short"},
		"format cut short":          {head + chunk("fmt ", "\x01\x00\x01\x00") + chunk("data", "abcd"), "cut short"},
		"CD":                        {head + chunk("fmt ", form(1, 2, 44100, 16)) + chunk("data", "abcd"), "is PCM, 44100 Hz, 2 channels, 16 bits; what is read is PCM, 16000 Hz, 1 channel, 16 bits"},
		"8 bits":                    {head + chunk("fmt ", form(1, 1, 16000, 8)) + chunk("data", "abcd"), "8 bits;"},
		"floating point":            {head + chunk("fmt ", form(3, 1, 16000, 32)) + chunk("data", "abcd"), "floating point (format 3)"},
		"extensible without an id":  {head + chunk("fmt ", form(0xFFFE, 1, 16000, 16)) + chunk("data", "abcd"), "format 65534"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := pcm.ParseWAV([]byte(c.file))
			if c.want == "" && (err != nil || string(got) != "abcd") {
				t.Errorf("read %q, %v", got, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v; want %q in it", err, c.want)
			}
		})
	}
}

func FuzzParseWAV(f *testing.F) {
	f.Add(pcm.AppendWAV(nil, []byte("abcd")))
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVELIST\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, file []byte) {
		samples, err := pcm.ParseWAV(file)
		if err == nil && (len(samples) == 0 || len(samples)%2 != 0 || !bytes.Contains(file, samples)) {
			t.Errorf("%d bytes of samples from %d", len(samples), len(file))
		}
	})
}
