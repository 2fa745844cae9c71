package nova_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"plexus/domain/nova"
)

// stateOf is a personal.state of revision 7 and exactly so many bytes, in
// characters of three bytes each as far as they go.
func stateOf(size int) json.RawMessage {
	const head = `{"type":"personal.state","revision":7,"life":"`
	room := size - len(head) - len(`"}`)
	return json.RawMessage(head + strings.Repeat("你", room/3) + strings.Repeat("x", room%3) + `"}`)
}

func TestPersonalState_AWholeOneAndItsMarker(t *testing.T) {
	for text, want := range map[string]nova.PersonalState{
		`{"type":"personal.state","revision":7,"reload_required":true}`:   {Revision: 7},
		`{"type":"personal.state","revision":7e0,"reload_required":true}`: {Revision: 7},
		`{"type":"personal.state","revision":0,"feed":[]}`:                {Frame: json.RawMessage(`{"type":"personal.state","revision":0,"feed":[]}`)},
		`{"revision":7,"reload_required":false,"type":"personal.state"}`:  {Revision: 7, Frame: json.RawMessage(`{"revision":7,"reload_required":false,"type":"personal.state"}`)},
	} {
		if got := read(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %+v", text, got)
		}
	}
	for _, text := range []string{
		`{"type":"personal.state"}`, `{"type":"personal.state","revision":-1}`, `{"type":"personal.state","revision":"7"}`,
		`{"type":"personal.state","revision":null}`, `{"type":"personal.state","revision":9007199254740992}`,
		`{"type":"personal.state","revision":1,"reload_required":"yes"}`,
	} {
		if m, err := nova.DecodeMessage([]byte(text)); err == nil {
			t.Errorf("%s gives %+v", text, m)
		}
	}
}

func TestPersonalResult_ThereAndBack(t *testing.T) {
	for text, m := range map[string]nova.PersonalResult{
		`{"type":"personal.result","request_id":"r","ok":true}`:                        {RequestID: "r"},
		`{"type":"personal.result","request_id":"r","ok":true,"data":{"b":1, "a":[]}}`: {RequestID: "r", Data: json.RawMessage(`{"b":1, "a":[]}`)},
		`{"type":"personal.result","request_id":"r","ok":true,"data":null}`:            {RequestID: "r", Data: json.RawMessage(`null`)},
		`{"type":"personal.result","request_id":"r","ok":true,"reload_required":true}`: {RequestID: "r", ReloadRequired: true},
		`{"type":"personal.result","request_id":"r","ok":false,"error":"stale"}`:       {RequestID: "r", Error: "stale"},
		`{"type":"personal.result","request_id":"r","ok":false,"error":"x","input_status":"unknown","input_task_id":"t"}`: {
			RequestID: "r", Error: "x", InputStatus: "unknown", InputTaskID: "t"},
	} {
		if got := written(t, m); got != text {
			t.Errorf("written %s\n   want %s", got, text)
		}
		if got := read(t, text); !reflect.DeepEqual(got, m) {
			t.Errorf("%s gives %+v", text, got)
		}
	}
	for _, text := range []string{
		`{"type":"personal.result","request_id":"r"}`, `{"type":"personal.result","request_id":"r","ok":true,"error":"x"}`,
		`{"type":"personal.result","request_id":"r","ok":false}`, `{"type":"personal.result","request_id":"r","ok":false,"error":" "}`,
		`{"type":"personal.result","request_id":"r","ok":1}`, `{"type":"personal.result","request_id":"r","ok":true,"reload_required":1}`,
	} {
		if got := read(t, text); !reflect.DeepEqual(got, nova.Unknown{Name: "personal.result"}) {
			t.Errorf("%s gives %+v", text, got)
		}
	}
	if m, err := nova.DecodeMessage([]byte(`{"type":"personal.result","request_id":"","ok":true}`)); err == nil {
		t.Errorf("a result of nothing gives %+v", m)
	}
	refused(t, map[string]nova.Message{
		"result of nothing": nova.PersonalResult{},
		"blank error":       nova.PersonalResult{RequestID: "r", Error: " "},
		"error not UTF-8":   nova.PersonalResult{RequestID: "r", Error: "\xff"},
	})
}

func TestP72_WhatIsTooLongBecomesItsMarker(t *testing.T) {
	whole := stateOf(nova.MaxPersonalText)
	for _, c := range []struct {
		frame json.RawMessage
		want  string
	}{
		{whole, string(whole)},
		{stateOf(nova.MaxPersonalText + 1), `{"type":"personal.state","revision":7,"reload_required":true}`},
		{nil, `{"type":"personal.state","revision":7,"reload_required":true}`},
	} {
		out, err := nova.Append([]byte("kept"), nova.PersonalState{Revision: 7, Frame: c.frame})
		if err != nil || string(out) != "kept"+c.want {
			t.Errorf("a state of %d bytes becomes %d, %v", len(c.frame), len(out), err)
		}
	}
	if m, ok := read(t, string(whole)).(nova.PersonalState); !ok || !bytes.Equal(m.Frame, whole) {
		t.Error("a state of the full length is not read as it is")
	}
	around := len(`{"type":"personal.result","request_id":"r","ok":true,"data":}`)
	for size, want := range map[int]int{
		nova.MaxPersonalText - around:     nova.MaxPersonalText,
		nova.MaxPersonalText - around + 1: len(`{"type":"personal.result","request_id":"r","ok":true,"reload_required":true}`),
	} {
		out, err := nova.Append(nil, nova.PersonalResult{RequestID: "r", Data: stateOf(size)})
		if err != nil || len(out) != want {
			t.Errorf("a result with %d bytes of data becomes %d, want %d; %v", size, len(out), want, err)
		}
	}
	failed := nova.PersonalResult{RequestID: "r", Error: "stale", Data: stateOf(nova.MaxPersonalText)}
	out, err := nova.Append(nil, failed)
	if err != nil || string(out) != `{"type":"personal.result","request_id":"r","ok":false,"error":"stale","reload_required":true}` {
		t.Errorf("a failed one becomes %.200s, %v", out, err)
	}
}

func TestDesktop_HasMoreRoomAndOtherReplacements(t *testing.T) {
	whole := stateOf(nova.MaxDesktopText)
	for _, c := range []struct {
		m    nova.Message
		want string
	}{
		{nova.PersonalState{Revision: 7, Frame: whole}, string(whole)},
		{nova.PersonalState{Revision: 7, Frame: stateOf(nova.MaxDesktopText + 1)}, `{"type":"personal.error","error":"personal_frame_too_large"}`},
		{nova.PersonalResult{RequestID: "r", Data: stateOf(nova.MaxDesktopText - nova.MaxText + 1)},
			`{"type":"personal.result","request_id":"r","ok":false,"error":"personal_frame_too_large","input_status":"unknown"}`},
		{nova.PersonalResult{RequestID: "r", Data: json.RawMessage(`[]`)}, `{"type":"personal.result","request_id":"r","ok":true,"data":[]}`},
		{nova.ConversationError{ConversationID: "c", Error: "response_failed"}, `{"type":"conversation.error","conversation_id":"c","error":"response_failed"}`},
	} {
		out, err := nova.AppendDesktop([]byte("kept"), c.m)
		if err != nil || string(out) != "kept"+c.want {
			t.Errorf("%s becomes %.200s, %v", c.m.Type(), out, err)
		}
	}
	out, err := nova.AppendDesktop(nil, nova.PersonalResult{RequestID: "r", Data: stateOf(nova.MaxDesktopText - nova.MaxText)})
	if err != nil || len(out) < nova.MaxDesktopText-nova.MaxText || len(out) > nova.MaxDesktopText {
		t.Errorf("a large result becomes %d bytes, %v", len(out), err)
	}
	if got := read(t, `{"type":"personal.error","error":"personal_frame_too_large"}`); got != (nova.PersonalError{Error: "personal_frame_too_large"}) {
		t.Errorf("read %+v", got)
	}
}

func TestPersonalMessages_AloneMayBeLong(t *testing.T) {
	long := strings.Repeat("x", nova.MaxText)
	for text, taken := range map[string]bool{
		`{"type":"personal.state","revision":1,"life":"` + long + `"}`:                true,
		`{"type":"personal.result","request_id":"r","ok":true,"data":"` + long + `"}`: true,
		`{"type":"personal.error","error":"x","more":"` + long + `"}`:                 false,
		`{"type":"conversation.error","conversation_id":"c","error":"` + long + `"}`:  false,
		string(stateOf(nova.MaxPersonalText + 1)):                                     false,
	} {
		if _, err := nova.DecodeMessage([]byte(text)); (err == nil) != taken {
			t.Errorf("%.60s…, %d bytes: %v", text, len(text), err)
		}
	}
}

// The canonical form of params may be much longer than they are on the wire.
func TestFingerprint_OfParamsThatGrow(t *testing.T) {
	fingerprint := func(first string) nova.Fingerprint {
		text := strings.Replace(samplePersonal, `"title"`, `"numbers":[`+first+strings.Repeat(",1e15", 2500)+`],"title"`, 1)
		c, err := nova.DecodeCommand([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, fingerprint, err := c.Control()
		if err != nil {
			t.Fatal(err)
		}
		return fingerprint
	}
	if fingerprint("1") == fingerprint("2") || fingerprint("1") != fingerprint("1.0") {
		t.Error("the fingerprint does not follow the meaning")
	}
}
