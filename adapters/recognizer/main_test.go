package recognizer

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"plexus/domain/pcm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-test-0123456789"

// secretWords are what no error text may repeat.
const secretWords = "zeppelin hangar"

// tone is half a second of 440 Hz.
func tone() []byte {
	var samples []byte
	for i := range pcm.Rate / 2 {
		level := 8000 * math.Sin(2*math.Pi*440*float64(i)/pcm.Rate)
		samples = binary.LittleEndian.AppendUint16(samples, uint16(int16(level)))
	}
	return samples
}

// keepsSecrets looks for what may not be in an error.
func keepsSecrets(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{testKey, "zeppelin", "hangar", "RIFF"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error text holds %q: %v", secret, err)
		}
	}
}

func TestOneLine(t *testing.T) {
	for said, want := range map[string]string{
		"":                         "",
		" \n\t \r\n":               "",
		" Hello there. ":           "Hello there.",
		"\n Hello\n  there.\n\n":   "Hello there.",
		"one\r\ntwo\rthree":        "one two three",
		"one\u2028two":             "one two",
		"tab\tbetween":             "tab between",
		" 今天天气\n很好。\n我们走吧":         "今天天气很好。我们走吧",
		"我用\nPython\n写":            "我用 Python 写",
		"안녕\n하세요":                  "안녕 하세요",
		"[BLANK_AUDIO]":            "",
		" [BLANK_AUDIO]\nyes\n":    "yes",
		"he said [BLANK_AUDIO]":    "he said", // nobody says the mark itself
		"[BLANK_AUDIO] he said":    "he said",
		"[BLANK_AUDIO] (music)":    "",
		"bad \xff\xfe bytes \xe4":  "bad \uFFFD bytes \uFFFD",
		"\x1b[31mred\x1b[0m\x00":   "[31mred[0m",
		"nul\x00s and \u0085 C1":   "nuls and  C1",
		"[00:00.000 --> 00:02.50]": "",
		"[00:00:00.000 --> 00:00:02.500]   Hello\n[00:00:02.500 --> 00:00:03.000]  there": "Hello there",
		"[00:00,0-->1] x":             "x",
		"[see --> there] x":           "[see --> there] x",
		"[00:00.000] x":               "[00:00.000] x",
		"[ --> ] x":                   "[ --> ] x",
		"x [00:00.000 --> 00:01.000]": "x [00:00.000 --> 00:01.000]",
	} {
		if got := oneLine(said); got != want {
			t.Errorf("%q gives %q; want %q", said, got, want)
		}
	}
}

// TestOneLine_SilenceIsNoText: what a recognizer says of what it heard, on a line of
// its own; within a line it stays, since a person may have said it.
func TestOneLine_SilenceIsNoText(t *testing.T) {
	for _, said := range []string{
		"[ Silence ]", "[silence]", "(music)", "[Music]", "[MUSIC PLAYING]", "(upbeat music)", "[ Pause ].", "(music) (applause)",
		"[_TT_150_]", "{noise}", "*sighs*", "(a (nested) remark)", "（音乐）", "［拍手］", "【字幕】", "[inaudible]...", "- [laughs]",
		"♪", "♪♪", "♪ la la la ♪", "♫ [singing] ♫", "🎵 🎶", "♪ Happy birthday ♪.", "...", "…", "-", "。",
		"[Music]\n(applause)\n\n♪", "[00:00.000 --> 00:02.500]  [ Silence ]",
	} {
		if got := oneLine(said); got != "" {
			t.Errorf("%q gives %q", said, got)
		}
		if got := oneLine("before\n" + said + "\nafter"); got != "before after" {
			t.Errorf("between lines %q gives %q", said, got)
		}
	}
	for _, said := range []string{
		"[Music] Hello", "Hello (laughs)", "(see above) and (below) as well", "(not closed", "closed)", "[a) b", "* one", "2 * 3 * 4",
		"♪ Happy birthday", "the note ♪ is G", "what?", "(a) first", "42", "«ja»", "hi",
	} {
		if got := oneLine(said); got != said {
			t.Errorf("%q gives %q", said, got)
		}
	}
}

func FuzzOneLine(f *testing.F) {
	f.Add("[00:00.000 --> 00:02.500]  Hello\n[BLANK_AUDIO]\n\xff\x00")
	f.Fuzz(func(t *testing.T, said string) {
		got := oneLine(said)
		if strings.TrimSpace(got) != got || strings.ToValidUTF8(got, "") != got || strings.ContainsAny(got, "\n\r\x00\x1b\u2028") {
			t.Errorf("%q gives %q", said, got)
		}
	})
}
