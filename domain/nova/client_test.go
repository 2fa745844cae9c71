package nova_test

import (
	"reflect"
	"strings"
	"testing"

	"plexus/domain/nova"
)

// read is a host's message as the client sees it.
func read(t *testing.T, text string) nova.Message {
	t.Helper()
	m, err := nova.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGarbledCardsAreTakenAway(t *testing.T) {
	for text, want := range map[string]nova.Message{
		`{"type":"project.state"}`: nova.ProjectState{},
		`{"type":"project.state","pending_confirmation":true,"pending_confirmation_id":"p","conversation_id":"c"}`: nova.ProjectState{ConversationID: "c"},
		`{"type":"executor.approval","executor":"e","pending_approval":true,"conversation_id":"c"}`:                nova.ExecutorApproval{Executor: "e", ConversationID: "c"},
	} {
		if got := read(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %+v", text, got)
		}
	}
}

func TestDecisionsOfNewerHostsAreLeftOut(t *testing.T) {
	m := approvalOf(command("ls", "/", ""))
	m.Pending.Value.Allowed = []nova.Decision{nova.Accept, nova.Decline}
	text := strings.Replace(written(t, m), `["accept",`, `["askMyMother","accept","later","never",`, 1)
	got, ok := read(t, text).(nova.ExecutorApproval)
	if !ok || !reflect.DeepEqual(got, m) {
		t.Errorf("%s\ngives %+v", text, got)
	}
}

func TestN88_ConnectionIDKeepsItsCase(t *testing.T) {
	const connection = "9B1DEB4D-3b7d-4BAD-9bdd-2B0D7B3DCB6D"
	ready := nova.NewReady("3fa85f64-5717-4562-b3fc-2c963f66afa6", connection, nova.NoInput, false)
	got, ok := read(t, written(t, ready)).(nova.Ready)
	if !ok || got.ConnectionID != connection || got.Pipeline != "" {
		t.Errorf("read %+v", got)
	}
	text, err := nova.AppendCommand(nil, "r", got.ConnectionID, nova.InputAudio{})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := nova.DecodeCommand(text); err != nil || c.ConnectionID != connection {
		t.Errorf("echoed as %q, %v", c.ConnectionID, err)
	}
}
