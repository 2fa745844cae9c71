package hub_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"plexus/domain/workbench"
	"plexus/usecases/personal/hub"
)

func TestFingerprintsFollowMeaning(t *testing.T) {
	print := func(method, params string) string { return hub.Fingerprint(method, json.RawMessage(params)) }
	base := print("tasks.get", `{"task_id":"é","after":10}`)
	for _, same := range []string{`{"after":10,"task_id":"é"}`, ` { "task_id" : "\u00e9", "after":1e1 }`, `{"after":10.0,"task_id":"\u00E9"}`} {
		if print("tasks.get", same) != base {
			t.Errorf("%s has another fingerprint", same)
		}
	}
	for name, other := range map[string]string{
		"method": print("tasks.cancel", `{"task_id":"é","after":10}`),
		"value":  print("tasks.get", `{"task_id":"é","after":11}`),
		"type":   print("tasks.get", `{"task_id":"é","after":"10"}`),
		"member": print("tasks.get", `{"task_id":"é"}`),
		"broken": print("tasks.get", `{"task_id":"é","after":1e999}`),
	} {
		if other == base {
			t.Errorf("another %s, same fingerprint", name)
		}
	}
	if print("state", "") != print("state", "{}") || len(base) != 64 || strings.ToLower(base) != base {
		t.Error("params left out are {}, and a fingerprint is lower-case hex")
	}
}

func TestP11_ClientsHaveIdsOfTheirOwn(t *testing.T) {
	phone, desktop := workbench.Caller{ClientID: workbench.RemoteClient}, workbench.Caller{ClientID: workbench.DesktopClient}
	for _, method := range []string{"tasks.cancel", "presentation.set", "conversations.approve", "conversations.confirm"} {
		a, b := host("").ReceiptKey(phone, method, "r"), host("").ReceiptKey(desktop, method, "r")
		if a == b || a == "r" || len(a) != 64 {
			t.Errorf("%s: %s and %s", method, a, b)
		}
		if a != host("").ReceiptKey(phone, method, "r") || a == host("").ReceiptKey(phone, method, "s") {
			t.Errorf("%s: one client's key must follow its request", method)
		}
		if got := host("").Conflict(method); got != workbench.RequestConflict {
			t.Errorf("%s: %s", method, got)
		}
	}
	for _, method := range []string{"state", "life.mutate", "presentation.seen", "conversations.clear"} {
		if host("").ReceiptKey(phone, method, "r") != "r" || host("").ReceiptKey(desktop, method, "r") != "r" {
			t.Errorf("%s: ordinary methods share one name space", method)
		}
		if got := host("").Conflict(method); got != workbench.RequestIDConflict {
			t.Errorf("%s: %s", method, got)
		}
	}
}

func TestIdentityAndRecords(t *testing.T) {
	for method, want := range map[string][2]bool{ // needs identity, recorded
		"state": {false, true}, "presentation.set": {false, true}, "conversations.clear": {false, true},
		"conversations.approve": {true, true}, "conversations.confirm": {true, true},
		"tasks.delegate": {true, true}, "tasks.list": {true, false}, "tasks.get": {true, false},
	} {
		perClient, recorded := host("").Policy(method)
		if got := [2]bool{perClient && method != "presentation.set", recorded}; got != want {
			t.Errorf("%s: %v, want %v", method, got, want)
		}
	}
}

func TestP3_ReplayHasNoBody(t *testing.T) {
	const secret = "what the owner wrote"
	body := hub.Result{Data: json.RawMessage(`{"about":"` + secret + `"}`)}
	for _, method := range []string{"state", "life.mutate", "feed.action", "conversations.create", "memory.list", "memory.correct", "memory.forget"} {
		stored, keep := host("").Stored(method, body)
		if !keep || stored.Error != "" || !stored.ReloadRequired || stored.Data != nil {
			t.Errorf("%s keeps %+v, %v", method, stored, keep)
		}
		text, err := json.Marshal(hub.Receipt{Fingerprint: hub.Fingerprint(method, nil), Result: stored})
		if err != nil || strings.Contains(string(text), secret) {
			t.Errorf("%s: the ledger has the body: %s, %v", method, text, err)
		}
	}
	if len(body.Data) == 0 {
		t.Error("the live answer lost its data")
	}
}

func TestWhatTheLedgerKeeps(t *testing.T) {
	data := hub.Result{Data: json.RawMessage(`{"n":1}`)}
	refused := func(r workbench.Refusal) hub.Result { return hub.Result{Error: r} }
	unknown := hub.Result{Error: workbench.TaskInputUnavailable, InputStatus: "unknown", InputTaskID: "t"}
	for name, c := range map[string]struct {
		method string
		result hub.Result
		keep   bool // as it is
	}{
		"ok without data":     {"conversations.voice", hub.Result{}, true},
		"purge":               {"memory.purge", data, true},
		"a client's own":      {"tasks.cancel", data, true},
		"presentation":        {"presentation.set", data, true},
		"failure":             {"life.mutate", refused(workbench.VersionConflict), true},
		"status of an input":  {"tasks.input", unknown, true},
		"invalid":             {"state", refused(workbench.InvalidRequest), true},
		"busy":                {"life.mutate", refused(workbench.Unavailable), false},
		"nobody":              {"tasks.cancel", refused(workbench.Unauthenticated), false},
		"conflict":            {"life.mutate", refused(workbench.RequestIDConflict), false},
		"own conflict":        {"tasks.cancel", refused(workbench.RequestConflict), false},
		"not written":         {"life.mutate", refused(workbench.StoreFailed), false},
		"presentation failed": {"presentation.set", refused(workbench.PresentationFailed), false},
		"list":                {"tasks.list", data, false},
		"get":                 {"tasks.get", refused(workbench.TaskNotFound), false},
	} {
		stored, keep := host("").Stored(c.method, c.result)
		if keep != c.keep || keep && !reflect.DeepEqual(stored, c.result) {
			t.Errorf("%s: %+v, %v", name, stored, keep)
		}
	}
}

func TestReceiptsComeBackAsTheyWere(t *testing.T) {
	print := hub.Fingerprint("state", nil)
	for _, r := range []hub.Receipt{
		{Fingerprint: print},
		{Fingerprint: print, Result: hub.Result{ReloadRequired: true}},
		{Fingerprint: print, Result: hub.Result{Error: "outcome_unknown"}},
		{Fingerprint: print, Result: hub.Result{Data: json.RawMessage(`{"goal":"é 🎧"}`)}},
		{Fingerprint: print, Result: hub.Result{Error: "task_input_failed", InputStatus: "failed", InputTaskID: "t"}},
	} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got hub.Receipt
		err = json.Unmarshal(text, &got)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%+v comes back as %+v, %v", r, got, err)
		}
		for n := range text {
			if json.Unmarshal(text[:n], new(hub.Receipt)) == nil {
				t.Errorf("%s is damaged and reads", text[:n])
			}
		}
	}
}

func TestDamagedReceiptsAreErrors(t *testing.T) {
	print := hub.Fingerprint("state", nil)
	for _, text := range []string{
		``, `null`, `[]`, `{}`, `{"payload":"","result":{}}`,
		`{"payload":"` + strings.ToUpper(print) + `","result":{}}`,
		`{"payload":"` + print[1:] + `","result":{}}`,
		`{"payload":"` + print + `","result":{"reload_required":1}}`,
		`{"payload":"` + print + `","result":{},"more":1}`,
		`{"payload":"` + print + `","result":{"ok":true}}`,
		`{"payload":"` + print + `","result":{}}{}`,
		"{\"payload\":\"" + print + "\",\"result\":{\"error\":\"\xff\"}}",
	} {
		if json.Unmarshal([]byte(text), new(hub.Receipt)) == nil {
			t.Errorf("%s reads", text)
		}
	}
}
