package dictation_test

import (
	"bytes"
	"errors"
	"testing"

	"plexus/usecases/personal/dictation"
)

func TestDraft(t *testing.T) {
	var d dictation.Draft
	want := func(what string, got, want error) {
		t.Helper()
		if !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	finish := func(id string, speech []byte, cause error) {
		t.Helper()
		if pcm, err := d.Finish(id); !bytes.Equal(pcm, speech) || !errors.Is(err, cause) {
			t.Errorf("finish %q: %v, %v; want %v, %v", id, pcm, err, speech, cause)
		}
	}
	want("speech before the start", d.Add([]byte{9}), nil)
	finish("d", nil, dictation.ErrDraftUnknown)
	want("start", d.Start("d", "c"), nil)
	want("start again", d.Start("e", ""), dictation.ErrDraftOpen)
	if !d.Open() || d.ID != "d" || d.ConversationID != "c" {
		t.Errorf("open: %+v", d)
	}
	piece := []byte{1, 2}
	want("speech", d.Add(piece), nil)
	piece[0] = 7 // the caller's again
	want("more speech", d.Add([]byte{3}), nil)
	finish("e", nil, dictation.ErrDraftUnknown)
	finish("d", []byte{1, 2, 3}, nil)
	if !d.Open() || !d.Finishing {
		t.Errorf("being recognised: %+v", d)
	}
	want("speech while it is recognised", d.Add(make([]byte, dictation.MaxDraft+1)), nil)
	want("start while it is recognised", d.Start("e", ""), dictation.ErrDraftOpen)
	finish("d", nil, dictation.ErrDraftUnknown)
}

func TestDraftIsBounded(t *testing.T) {
	var d dictation.Draft
	if err := errors.Join(d.Start("d", ""), d.Add(make([]byte, dictation.MaxDraft-1)), d.Add([]byte{1})); err != nil {
		t.Fatal(err)
	}
	if err := d.Add([]byte{1}); !errors.Is(err, dictation.ErrDraftTooLong) {
		t.Errorf("one byte too many: %v", err)
	}
	if pcm, err := d.Finish("d"); len(pcm) != dictation.MaxDraft || err != nil {
		t.Errorf("%d bytes, %v", len(pcm), err)
	}
}
