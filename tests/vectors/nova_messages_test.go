package vectors_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/nova"
	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
)

func TestHelloVectors(t *testing.T) {
	faults := map[nova.HelloFault]string{nova.HelloVersion: "version", nova.HelloMedia: "media", nova.HelloLanguage: "language"}
	eachMessage(t, "host", "hello", func(t *testing.T, v messageVector) {
		h, err := nova.DecodeHello(v.bytes(t))
		switch {
		case err != nil:
			expectVerdict(t, v, "refuse", nil)
			return
		case h.Token.Reveal() != "0123456789abcdef0123456789abcdef":
			t.Fatal("token lost")
		case h.Fault != nova.HelloFine:
			expectVerdict(t, v, "unsupported", nil)
			if faults[h.Fault] != v.Fault {
				t.Fatalf("fault %q, want %q", faults[h.Fault], v.Fault)
			}
			return
		}
		if string(h.Language) != v.Language || h.Personal != v.Personal {
			t.Fatalf("language %q, personal %v", h.Language, h.Personal)
		}
		written, err := nova.AppendHello(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		expectVerdict(t, v, "accept", written)
	})
}

func TestN20_EnvelopeVectors(t *testing.T) {
	eachMessage(t, "host", "command", func(t *testing.T, v messageVector) {
		c, err := nova.DecodeCommand(v.bytes(t))
		if err != nil {
			expectVerdict(t, v, "refuse", nil)
			return
		}
		expectVerdict(t, v, "accept", nil)
		if c.RequestID == "" || c.ConnectionID == "" {
			t.Fatalf("%+v", c)
		}
	})
}

func TestN20_ControlVectors(t *testing.T) {
	host := personalHost(t)
	eachMessage(t, "host", "control", func(t *testing.T, v messageVector) {
		c, err := nova.DecodeControl(v.bytes(t))
		if err != nil {
			expectVerdict(t, v, "refuse", nil)
			return
		}
		command, err := nova.AppendCommand(nil, "r", "c", c)
		if err != nil {
			t.Fatal(err)
		}
		var envelope struct{ Payload json.RawMessage }
		if err := json.Unmarshal(command, &envelope); err != nil {
			t.Fatal(err)
		}
		verdict := "accept"
		if text, ok := c.(nova.InputText); ok && !text.Usable() {
			verdict = "reject"
		}
		expectVerdict(t, v, verdict, envelope.Payload)
		if again, _, err := control(string(envelope.Payload)); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("read again: %+v, %v; want %+v", again, err, c)
		}
		if p, ok := c.(nova.PersonalCommand); ok && host.Admits(p.Method) != (v.Admission == "admitted") {
			t.Fatalf("%s: admitted %v, want %q", p.Method, host.Admits(p.Method), v.Admission)
		}
	})
}

// control reads a payload as it comes from a client, in its envelope.
func control(payload string) (nova.Control, nova.Fingerprint, error) {
	c, err := nova.DecodeCommand([]byte(`{"type":"client.command","request_id":"r","connection_id":"c","payload":` + payload + `}`))
	if err != nil {
		return nil, nova.Fingerprint{}, err
	}
	return c.Control()
}

// personalHost is a personal host on a store in memory.
func personalHost(t *testing.T, adjust ...func(*personal.Deps)) *personal.Host {
	t.Helper()
	store := memory.NewPersonal()
	deps := personal.Deps{
		Services: hub.Services{
			Store: store, Random: rand.Reader, Now: time.Now, Within: context.WithTimeout,
			After: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }, Log: slog.New(slog.DiscardHandler),
		},
		Archive: store, Settings: memory.NewSettings(),
	}
	for _, a := range adjust {
		a(&deps)
	}
	h, err := personal.New(t.Context(), deps, personal.Options{InputInstanceID: "i"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Stop)
	return h
}

func TestPairingRequestVectors(t *testing.T) {
	check := func(t *testing.T, v messageVector, r nova.PairRequest, err error) {
		if err != nil {
			expectVerdict(t, v, "refuse", nil)
			return
		}
		written, err := nova.AppendPairRequest(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		expectVerdict(t, v, "accept", written)
	}
	eachMessage(t, "host", "pair", func(t *testing.T, v messageVector) {
		r, err := nova.DecodePairRedeem(v.bytes(t))
		check(t, v, r, err)
	})
	eachMessage(t, "host", "pair-admin", func(t *testing.T, v messageVector) {
		r, err := nova.DecodePairAdmin(v.bytes(t))
		check(t, v, r, err)
	})
}

func TestPairingAnswerVectors(t *testing.T) {
	eachMessage(t, "client", "pair-answer", func(t *testing.T, v messageVector) {
		m, err := nova.DecodePairAnswer(v.bytes(t))
		if err != nil {
			expectVerdict(t, v, "refuse", nil)
			return
		}
		written, err := nova.Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		expectVerdict(t, v, "accept", written)
	})
}

func TestN40_N43_N44_N88_MessageVectors(t *testing.T) {
	eachMessage(t, "client", "message", func(t *testing.T, v messageVector) {
		m, err := nova.DecodeMessage(v.bytes(t))
		if err != nil {
			expectVerdict(t, v, "refuse", nil)
			return
		}
		if _, ok := m.(nova.Unknown); ok {
			expectVerdict(t, v, "ignore", nil)
			return
		}
		written, err := nova.Append(nil, m)
		switch {
		case v.Verdict == "no card":
			if pending(m) {
				t.Fatal("a card is shown")
			}
		case v.Verdict == "accept" && v.Exact:
			if err != nil {
				t.Fatal(err)
			}
			expectVerdict(t, v, "accept", written)
		default:
			expectVerdict(t, v, "accept", nil)
		}
	})
}

// pending reports whether m shows a card to answer.
func pending(m nova.Message) bool {
	switch m := m.(type) {
	case nova.ProjectState:
		return m.Pending.Set
	case nova.ExecutorApproval:
		return m.Pending.Set
	}
	return true
}

// pairVector is one entry of normalisation.json.
type pairVector struct{ Name, First, Second, Verdict string }

func TestNormalizationVectors(t *testing.T) {
	for _, v := range loadNova[pairVector](t, "normalisation.json", 24) {
		t.Run(v.Name, func(t *testing.T) {
			_, first, err := control(v.First)
			if err != nil {
				t.Fatal(err)
			}
			verdict := "fault"
			if _, second, err := control(v.Second); err == nil {
				verdict = "different"
				if first == second {
					verdict = "same"
				}
			}
			if verdict != v.Verdict {
				t.Fatalf("verdict %q, want %q", verdict, v.Verdict)
			}
		})
	}
}
