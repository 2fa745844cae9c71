package workbench_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"testing"

	"plexus/domain/workbench"
)

// golden is a phone's snapshot as the personal host composes it.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	frame, err := os.ReadFile("../../usecases/personal/hub/testdata/" + name + "-mobile.json")
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

func TestDecodeSnapshotIsAsStrictAsPhones(t *testing.T) {
	frame := golden(t, "full")
	var members map[string]json.RawMessage
	if err := json.Unmarshal(frame, &members); err != nil {
		t.Fatal(err)
	}
	with := func(name, value string) string {
		changed := maps.Clone(members)
		if changed[name] = json.RawMessage(value); value == "" {
			delete(changed, name)
		}
		text, err := json.MarshalIndent(changed, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	bad := []string{
		"", "null", "[]", `{"type":"personal.state","revision":1,"reload_required":true}`, string(frame) + "x",
		with("revision", "-1"), with("revision", "1.5"), with("revision", "1e2"), with("revision", `"1"`), with("type", `"personal.result"`),
	}
	for _, name := range []string{"life", "conversations", "memory", "capabilities", "news"} {
		bad = append(bad, with(name, ""), with(name, "null"), with(name, "[]"))
	}
	for _, name := range []string{"tasks", "feed", "pending_approvals", "pending_confirmations"} {
		bad = append(bad, with(name, ""), with(name, "null"), with(name, "{}"))
	}
	for _, text := range bad {
		if _, err := workbench.DecodeSnapshot([]byte(text)); !errors.Is(err, workbench.ErrSnapshot) {
			t.Errorf("%v for %.80s", err, text)
		}
	}
	for _, text := range []string{with("unknown", "1"), with("workbench_context", ""), with("profile_preparation", "")} {
		if _, err := workbench.DecodeSnapshot([]byte(text)); err != nil {
			t.Errorf("%v for %.80s", err, text)
		}
	}
}

func FuzzDecodeSnapshot(f *testing.F) {
	for _, name := range []string{"empty", "full"} {
		f.Add(golden(f, name))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if _, err := workbench.DecodeSnapshot(frame); err != nil && !errors.Is(err, workbench.ErrSnapshot) {
			t.Error(err)
		}
	})
}
