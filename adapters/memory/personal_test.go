package memory

import (
	"errors"
	"testing"

	"plexus/domain/conversations"
	"plexus/ports"
)

func TestPersonal_FailsWhenATestSaysSo(t *testing.T) {
	p := NewPersonal()
	put := func(id string) error {
		return p.Update(t.Context(), func(tx ports.PersonalTx) error {
			return tx.PutConversation(conversations.Conversation{ID: id, Kind: conversations.Chat})
		})
	}
	failed, calls := errors.New("no room"), 0
	p.BeforeCommit(func() error { calls++; return nil })
	p.FailNext(failed)
	if err := p.Update(t.Context(), func(ports.PersonalTx) error { return ports.ErrRecordUnknown }); !errors.Is(err, ports.ErrRecordUnknown) {
		t.Errorf("a change that fails by itself gave %v", err)
	}
	for i, want := range []error{failed, nil, nil} {
		if err := put("one"); !errors.Is(err, want) {
			t.Errorf("update %d gave %v; want %v", i, err, want)
		}
		sizes, err := p.PersonalSizes(t.Context())
		if there := sizes.Conversations == 1; err != nil || there != (want == nil) {
			t.Errorf("after update %d: %+v, %v", i, sizes, err)
		}
	}
	if calls != 2 {
		t.Errorf("the hook was called %d times; want 2", calls)
	}
	p.BeforeCommit(func() error { return failed })
	if err := put("two"); !errors.Is(err, failed) {
		t.Errorf("update gave %v; want the hook's error", err)
	}
	p.BeforeCommit(nil)
	if err := put("two"); err != nil {
		t.Errorf("update gave %v without a hook", err)
	}
}
