package voice_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/voice"
)

// runtime is a scripted voice runtime.
type runtime struct {
	fails   error
	begin   chan struct{} // nil: it starts at once
	running int
}

func (r *runtime) StartVoice(ctx context.Context, _ string) (stop func(), err error) {
	if r.begin != nil {
		<-r.begin
	}
	if r.fails != nil {
		return nil, r.fails
	}
	r.running++
	return func() { r.running-- }, nil
}

type link struct{}

func (link) Send(nova.Message) {}
func (link) Changed(uint64)    {}

// staged gives a voice and a client of its hub.
func staged(t *testing.T, r *runtime, busy bool) (*voice.Voice, *hub.Client) {
	t.Helper()
	h := hub.New(t.Context(), hub.Services{Within: context.WithTimeout, Log: slog.New(slog.DiscardHandler)})
	v := voice.New(h, r, func(string) bool { return busy })
	return v, h.Attach(link{}, hub.Terms{}).(*hub.Client)
}

func TestOneConversationSpeaksAtATime(t *testing.T) {
	r := &runtime{}
	v, client := staged(t, r, false)
	if started, err := v.Start(t.Context(), "a", client); !started || err != nil || !v.Owns("a") || !v.IsOn("a") || v.Idle() {
		t.Fatalf("started %v, %v", started, err)
	}
	if started, err := v.Start(t.Context(), "a", client); started || err != nil {
		t.Errorf("again: %v, %v", started, err)
	}
	if started, err := v.Start(t.Context(), "b", client); started || !errors.Is(err, workbench.VoiceActive) || v.IsOn("b") {
		t.Errorf("another one: %v, %v", started, err)
	}
	if v.Stop(); r.running != 0 || !v.Idle() {
		t.Errorf("%d run after the stop", r.running)
	}
	v.Stop()
}

func TestVoiceThatDoesNotStartLeavesNothingBehind(t *testing.T) {
	for name, c := range map[string]struct {
		runtime *runtime
		busy    bool
		want    workbench.Refusal
	}{
		"texts are on their way": {&runtime{}, true, workbench.ConversationBusy},
		"the runtime fails":      {&runtime{fails: errors.New("no microphone")}, false, workbench.VoiceUnavailable},
	} {
		v, client := staged(t, c.runtime, c.busy)
		if started, err := v.Start(t.Context(), "a", client); started || !errors.Is(err, c.want) || !v.Idle() {
			t.Errorf("%s: %v, %v", name, started, err)
		}
	}
}

func TestVoiceOfWhoLeavesWhileItStartsEndsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{begin: make(chan struct{})}
		v, client := staged(t, r, false)
		result := make(chan error)
		go func() {
			_, err := v.Start(t.Context(), "a", client)
			result <- err
		}()
		synctest.Wait()
		if !v.IsOn("a") || v.Owns("a") || v.Idle() {
			t.Error("a start that is under way is not seen")
		}
		client.Leave()
		close(r.begin)
		if err := <-result; !errors.Is(err, workbench.VoiceUnavailable) || r.running != 0 || !v.Idle() {
			t.Errorf("%v, and %d run", err, r.running)
		}
	})
}
