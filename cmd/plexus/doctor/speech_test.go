package doctor

import (
	"strings"
	"testing"
)

func TestDictation(t *testing.T) {
	for name, c := range map[string]struct {
		speech *Speech
		level  Level
		want   string
	}{
		"not known":            {nil, Skipped, "not known"},
		"no model":             {&Speech{Recognizer: "whisper-cli"}, Skipped, "no model"},
		"nothing that hears":   {&Speech{Model: true}, Warning, "only when dictation works"},
		"one that is not here": {&Speech{Model: true, Recognizer: "whisper-cli", Problem: "not in PATH"}, Warning, "whisper-cli: not in PATH"},
		"both":                 {&Speech{Model: true, Recognizer: "whisper-cli"}, OK, "text and dictation, by whisper-cli"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Subject{Speech: c.speech}.dictation(t.Context())
			if len(got) != 1 || got[0].Level != c.level || !strings.Contains(got[0].Detail, c.want) || (got[0].Level == Warning) != (got[0].Advice != "") {
				t.Errorf("got %+v", got)
			}
		})
	}
}
