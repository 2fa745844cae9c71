package doctor

import (
	"strings"
	"testing"

	"plexus/cmd/plexus/status"
)

func TestDictation(t *testing.T) {
	speech := func(model bool, reach status.Reach, problem string) *status.Recognizer {
		return &status.Recognizer{Service: status.Service{Reach: reach, Problem: problem}, Name: "whisper-cli", TextInput: model}
	}
	for name, c := range map[string]struct {
		speech *status.Recognizer
		level  Level
		want   string
	}{
		"not known":            {nil, Skipped, "not known"},
		"no model":             {speech(false, status.Reachable, ""), Skipped, "no model"},
		"nothing that hears":   {speech(true, status.Off, ""), Warning, "only when dictation works"},
		"one that is not here": {speech(true, status.Unreachable, "not in PATH"), Warning, "whisper-cli: not in PATH"},
		"both":                 {speech(true, status.Reachable, ""), OK, "text and dictation, by whisper-cli"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Subject{Recognizer: c.speech}.dictation(t.Context())
			if len(got) != 1 || got[0].Level != c.level || !strings.Contains(got[0].Detail, c.want) || (got[0].Level == Warning) != (got[0].Advice != "") {
				t.Errorf("got %+v", got)
			}
		})
	}
}
