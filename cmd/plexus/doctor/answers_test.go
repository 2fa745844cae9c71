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

func TestModel(t *testing.T) {
	in := func(reach status.Reach, problem string, passed ...status.PassedModel) *status.Model {
		return &status.Model{Service: status.Service{Kind: "auto", URL: "http://m/v1", Reach: reach, Problem: problem}, Name: "llama", PassedOver: passed}
	}
	for name, c := range map[string]struct {
		model *status.Model
		level Level
		want  string
	}{
		"not known":          {nil, Skipped, "not known"},
		"none configured":    {in(status.Off, ""), Skipped, "model.kind is auto"},
		"none runs":          {in(status.NotFound, ""), Skipped, "No model runs"},
		"none chats":         {in(status.NotFound, "", status.PassedModel{Name: "bge", Server: "Ollama", Cause: "status 400"}), Warning, "No model on this machine chats, so answers quote the page and the results. bge (Ollama) says: status 400."},
		"one is passed over": {in(status.Reachable, "", status.PassedModel{Name: "bge"}), OK, "llama at http://m/v1 answers"},
		"away":               {in(status.Unreachable, "refused"), Warning, "llama at http://m/v1: refused."},
		"in doubt":           {in(status.Reachable, "questions may fail"), Warning, "questions may fail"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Subject{Model: c.model}.model(t.Context())
			if len(got) != 1 || got[0].Level != c.level || !strings.Contains(got[0].Detail, c.want) || (got[0].Level == Warning) != (got[0].Advice != "") {
				t.Errorf("got %+v", got)
			}
		})
	}
}
