package nova_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"plexus/domain/nova"
)

// written is m as text.
func written(t *testing.T, m nova.Message) string {
	t.Helper()
	out, err := nova.Append([]byte("kept"), m)
	if err != nil {
		t.Fatal(err)
	}
	if len(out)-len("kept") > nova.MaxText {
		t.Fatalf("%s has %d bytes", m.Type(), len(out))
	}
	return strings.TrimPrefix(string(out), "kept")
}

// refused wants the encoder to refuse each message and to append nothing.
func refused(t *testing.T, messages map[string]nova.Message) {
	t.Helper()
	for name, m := range messages {
		t.Run(name, func(t *testing.T) {
			if out, err := nova.Append([]byte("kept"), m); err == nil || string(out) != "kept" {
				t.Errorf("gave %q, %v", out, err)
			}
		})
	}
}

func TestN40_WhichTextIsAscii(t *testing.T) {
	g := nova.Generation{UtteranceID: "é🎧/", Epoch: 3}
	for want, m := range map[string]nova.Message{
		`{"type":"playback.clear","utterance_id":"\u00e9\ud83c\udfa7/","generation_epoch":3}`:    nova.PlaybackClear{Generation: g},
		`{"type":"playback.terminal","utterance_id":"\u00e9\ud83c\udfa7/","generation_epoch":3}`: nova.PlaybackTerminal{Generation: g},
		`{"type":"playback.alert","utterance_id":"\u00e9\ud83c\udfa7/","generation_epoch":3}`:    nova.PlaybackAlert{Generation: nova.Some(g)},
		`{"type":"playback.alert"}`:                   nova.PlaybackAlert{},
		`{"type":"clock.ping","ping_id":"é🎧\u001f/"}`: nova.ClockPing{PingID: "é🎧\x1f/"},
	} {
		if got := written(t, m); got != want {
			t.Errorf("written %s\n   want %s", got, want)
		}
	}
}

func TestReadyAndItsCapabilitiesComeFromOneSource(t *testing.T) {
	const server, connection = "3fa85f64-5717-4562-b3fc-2c963f66afa6", "9B1DEB4D-3B7D-4BAD-9BDD-2B0D7B3DCB6D"
	for _, c := range []struct {
		input    nova.Input
		personal bool
		media    bool
		list     string
	}{
		{nova.NoInput, false, false, `["audio","captions","projects","executor"]`},
		{nova.TextInput, false, false, `["audio","captions","projects","executor"]`},
		{nova.TextInput, true, false, `["audio","captions","projects","executor","personal"]`},
		{nova.TextAndDictation, true, true, `["audio","captions","projects","executor","personal","text_input","dictation"]`},
	} {
		got := written(t, nova.NewReady(server, connection, c.input, c.personal))
		if !strings.Contains(got, `"capabilities":`+c.list) || strings.Contains(got, `"media"`) != c.media || strings.Contains(got, "null") {
			t.Errorf("%+v gives %s", c, got)
		}
		desktop, announced := nova.NewDesktopCapabilities(c.input, server)
		if announced != (c.input != nova.NoInput) || desktop.TextInput != announced || desktop.Dictation != c.media {
			t.Errorf("%+v gives %+v, %v", c, desktop, announced)
		}
	}
	refused(t, map[string]nova.Message{
		"no uuid":            nova.NewReady("server", connection, nova.NoInput, false),
		"lists that differ":  nova.Ready{ServerInstanceID: server, ConnectionID: connection, TextInput: true},
		"cascade of nothing": nova.Ready{ServerInstanceID: server, ConnectionID: connection, Pipeline: nova.Cascaded},
	})
}

func TestCaptionShowsTheEndAndFitsTheFullText(t *testing.T) {
	caption := func(text, full string) nova.Caption {
		m, err := nova.DecodeMessage([]byte(written(t, nova.Caption{
			Role: nova.Assistant, Text: text, Final: true, Sequence: 1, FullText: full, ConversationID: "chat:main",
		})))
		if err != nil {
			t.Fatal(err)
		}
		return m.(nova.Caption)
	}
	long := strings.Repeat("x", 100) + strings.Repeat("🎧", 160)
	if got := caption(long, "").Text; got != strings.Repeat("🎧", 160) {
		t.Errorf("shows %d code points: %q", utf8.RuneCountInString(got), got)
	}
	for name, c := range map[string]struct {
		full     string
		low, max int // code points
	}{
		"short":             {"all of it", 9, 9},
		"4001 code points":  {strings.Repeat("a", 4001), 4000, 4000},
		"four bytes each":   {strings.Repeat("🎧", 4000), 4000, 4000},
		"two bytes escaped": {strings.Repeat("\"", 4000), 4000, 4000},
		"six bytes escaped": {strings.Repeat("\x01", 4000), 2690, 2710},
	} {
		t.Run(name, func(t *testing.T) {
			got := caption("end", c.full).FullText
			if n := utf8.RuneCountInString(got); n < c.low || n > c.max || !strings.HasPrefix(c.full, got) {
				t.Errorf("%d code points, want %d to %d", n, c.low, c.max)
			}
		})
	}
	refused(t, map[string]nova.Message{
		"full text of a partial": nova.Caption{Role: nova.User, FullText: "x"},
		"no role":                nova.Caption{Final: true},
		"text not UTF-8":         nova.Caption{Role: nova.User, Text: "\xff"},
		"full text not UTF-8":    nova.Caption{Role: nova.User, Final: true, FullText: "\xff"},
		"unsafe sequence":        nova.Caption{Role: nova.User, Sequence: nova.MaxSafeInteger + 1},
	})
}

func TestCallersMistakesAreRefused(t *testing.T) {
	refused(t, map[string]nova.Message{
		"receipt of nothing":          nova.Receipt{Status: nova.Applied},
		"receipt without status":      nova.Receipt{RequestID: "r"},
		"result of an unknown error":  nova.TextResult{RequestID: "r", Error: "tired"},
		"transcription that is blank": nova.Transcription{ID: "d", Text: " \n"},
		"transcription too long":      nova.Transcription{ID: "d", Text: strings.Repeat("a", nova.MaxInputUnits+1)},
		"ping without id":             nova.ClockPing{},
		"clear of nothing":            nova.PlaybackClear{},
		"unknown message":             nova.Unknown{Name: "camera.frame"},
		"devices beyond the limit":    nova.PairDevices{Devices: make([]nova.PairedDevice, nova.MaxDevices+1)},
	})
}

func TestN61_ResultOfAnotherWorkIsRefused(t *testing.T) {
	result := func(id string, started, ended float64) nova.Message {
		return nova.ExecutorResult{WorkID: "w", Result: nova.Some(nova.Result{
			DelegateID: id, Executor: "coder", Outcome: nova.OutcomeOK, Summary: "Done", StartedAt: started, EndedAt: ended,
		})}
	}
	written(t, result("w", 1, 1))
	written(t, nova.ExecutorResult{WorkID: "w"})
	refused(t, map[string]nova.Message{
		"other id":                 result("v", 1, 2),
		"ends before it starts":    result("w", 2, 1),
		"alert in a list of tasks": nova.ExecutorTasks{Tasks: []nova.Task{{WorkID: "w", Executor: "e", Project: "p", Title: "t", Phase: nova.PhaseAlert, Summary: "s"}}},
		"seventeen tasks":          nova.ExecutorTasks{Tasks: make([]nova.Task, nova.MaxTasks+1)},
	})
}

func TestNothingPrintsASecret(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	hello, err := nova.DecodeHello([]byte(`{"type":"hello","token":"` + secret + `","protocol_version":1}`))
	if err != nil {
		t.Fatal(err)
	}
	redeem, err := nova.DecodePairRedeem([]byte(`{"type":"pair.redeem","code":"` + secret + `","device_name":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	_, spelling := nova.DecodeHello([]byte(`{"type":"hello","token":"` + secret + `0"}`))
	_, surplus := nova.DecodePairAdmin([]byte(`{"type":"pair.list","token":"` + secret + `","` + secret + `":1}`))
	for _, v := range []any{hello, redeem, spelling, surplus, &hello, nova.PairReady{Token: hello.Token}} {
		if out := fmt.Sprintf("%v %+v %#v %s %q", v, v, v, v, v); strings.Contains(out, secret) {
			t.Errorf("printed: %s", out)
		}
	}
}

func TestN44_TooLongAsAWhole(t *testing.T) {
	changes := make([]nova.Change, nova.MaxChanges)
	for i := range changes {
		changes[i] = nova.Change{Change: "add", Path: strings.Repeat("p", 256)}
	}
	m := approvalOf(nova.FileChange{Changes: changes})
	if _, err := nova.Append(nil, m); !errors.Is(err, nova.ErrTooLong) {
		t.Errorf("error %v, want ErrTooLong", err)
	}
	m = approvalOf(nova.FileChange{Changes: changes[:50]})
	written(t, m)
}
