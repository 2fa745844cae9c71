package hub_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/adapters/memory"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
)

func newHub(t *testing.T) *hub.Hub {
	t.Helper()
	return hub.New(t.Context(), hub.Services{
		Store: memory.NewPersonal(), Random: rand.Reader, Now: time.Now, Within: context.WithTimeout, Log: slog.New(slog.DiscardHandler),
	})
}

// results keeps the results that a client is sent.
type results struct{ list []nova.PersonalResult }

func (r *results) Send(m nova.Message) { r.list = append(r.list, m.(nova.PersonalResult)) }
func (r *results) Changed(uint64)      {}

// number is the parameters of a command.
type number struct{ n uint64 }

func (p *number) Read(f *jsonform.Form) { f.Uint("n", &p.n, 1, 3) }

func TestAHubAsksAnAreaInItsTurn(t *testing.T) {
	var calls []string
	note := func(what string) { calls = append(calls, what) }
	h := newHub(t)
	err := h.Open(t.Context(), hub.Area{
		Commands: []hub.Command{
			{Method: "toy.add", Phone: true, Do: hub.Mutate(func(_ hub.Request, p number) hub.Mutation {
				return hub.Mutation{
					Prepare:   func(context.Context) error { note("prepare"); return nil },
					Apply:     func(ports.PersonalTx) (any, error) { note("apply"); return p.n, nil },
					Committed: func() { note("committed") },
					Finally:   func() { note("finally") },
				}
			})},
			{Method: "toy.count", Do: hub.Query(func(ports.PersonalView, hub.Request, hub.Nothing) (any, error) {
				note("count")
				return 7, nil
			})},
			{Method: "toy.later"},
		},
		Controls: []hub.Control{hub.On(func(_ context.Context, _ *hub.Client, m nova.InputAudio) error {
			note("audio for " + m.ConversationID)
			return nil
		})},
		Members: []hub.Member{{Name: "toy", Desktop: hub.Constant(`{"secret":1}`)}},
		Audio:   func(_ *hub.Client, pcm []byte) { note("pcm") },
		Open:    func(ports.PersonalTx) error { note("open"); return nil },
		Refresh: func(ports.PersonalTx) error { note("refresh"); return nil },
		Leave:   func(c *hub.Client) { note("leave") },
		Close:   func() { note("close") },
		Stop:    func() { note("stop") },
	})
	if err != nil {
		t.Fatal(err)
	}
	phone, page := &results{}, &results{}
	onPhone := h.Attach(phone, hub.Terms{Personal: true})
	onPage := h.Attach(page, hub.Terms{Desktop: true, Personal: true})
	for i, c := range []struct {
		from           hub.Endpoint
		method, params string
		want           error
	}{
		{onPhone, "toy.add", `{"n":2}`, nil},
		{onPhone, "toy.add", `{"n":4}`, nil},
		{onPhone, "toy.count", `{}`, hub.ErrNotAdmitted},
		{onPhone, "toy.later", `{}`, hub.ErrNotAdmitted},
		{onPage, "toy.count", `{}`, nil},
		{onPage, "toy.later", `?`, nil},
		{onPage, "toy.never", `{}`, hub.ErrNotAdmitted},
		{onPage, "state", `{}`, nil},
	} {
		err := c.from.Deliver(t.Context(), nova.PersonalCommand{RequestID: strings.Repeat("r", i+1), Method: c.method, Params: []byte(c.params)})
		if !errors.Is(err, c.want) {
			t.Errorf("%s %s: %v, want %v", c.method, c.params, err, c.want)
		}
	}
	if err := errors.Join(onPage.Deliver(t.Context(), nova.InputAudio{ConversationID: "c"}), onPage.Deliver(t.Context(), nova.ClockPong{})); err != nil {
		t.Error(err)
	}
	onPage.Audio(nil)
	onPhone.Leave()
	h.Stop()
	want := "open prepare apply committed finally count refresh audio for c pcm leave close stop"
	if got := strings.Join(calls, " "); got != want {
		t.Errorf("called %s\nwant   %s", got, want)
	}
	errorsOf := func(r *results) (list []string) {
		for _, m := range r.list {
			list = append(list, m.Error)
		}
		return list
	}
	if got := errorsOf(phone); !slices.Equal(got, []string{"", string(workbench.InvalidRequest)}) || string(phone.list[0].Data) != "2" {
		t.Errorf("the phone's results %+v", phone.list)
	}
	if got := errorsOf(page); !slices.Equal(got, []string{"", string(workbench.Unsupported), ""}) || !strings.HasSuffix(string(page.list[2].Data), `,"toy":{"secret":1}}`) {
		t.Errorf("the page's results %+v", page.list)
	}
	if state, err := onPhone.Snapshot(t.Context()); err != nil || strings.Contains(string(state.Frame), "toy") {
		t.Errorf("a phone is shown %s, %v", state.Frame, err)
	}
}

func TestTwoAreasDoNotClaimTheSame(t *testing.T) {
	audio := hub.On(func(context.Context, *hub.Client, nova.InputAudio) error { return nil })
	for _, a := range []hub.Area{
		{Commands: []hub.Command{{Method: "state"}}},
		{Commands: []hub.Command{{Method: "toy.add"}, {Method: "toy.add"}}},
		{Controls: []hub.Control{audio, audio}},
		{Members: []hub.Member{{Name: "toy"}, {Name: "toy"}}},
	} {
		if err := newHub(t).Open(t.Context(), a); err == nil {
			t.Errorf("%+v is accepted", a)
		}
	}
}
