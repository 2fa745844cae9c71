package workbench_test

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"plexus/domain/workbench"
)

func TestDecodeSnapshotIsAsStrictAsPhones(t *testing.T) {
	frame, _ := mobileFrame(t, fullHost())
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
	for _, p := range []workbench.Parts{emptyHost(), fullHost()} {
		frame, _, err := workbench.MobileFrame(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if _, err := workbench.DecodeSnapshot(frame); err != nil && !errors.Is(err, workbench.ErrSnapshot) {
			t.Error(err)
		}
	})
}
