package conversations_test

import (
	"fmt"
	"testing"

	"plexus/domain/conversations"
)

func TestTextLedger(t *testing.T) {
	var l conversations.TextLedger
	hello, other := conversations.TextContent{ConversationID: "c", Text: "hello"}, conversations.TextContent{ConversationID: "c", Text: "hello "}
	begin := func(id string, content conversations.TextContent, want conversations.TextVerdict) {
		t.Helper()
		if got := l.Begin(id, content); got != want {
			t.Errorf("%s: verdict %d, want %d", id, got, want)
		}
	}
	settle := func(id string, ok bool, want int) {
		t.Helper()
		if got := l.Settle(id, ok); got != want {
			t.Errorf("%s: %d wait, want %d", id, got, want)
		}
	}
	settle("a", true, 0) // unknown
	begin("a", hello, conversations.TextNew)
	begin("b", hello, conversations.TextNew) // another request
	begin("a", hello, conversations.TextRunning)
	begin("a", other, conversations.TextConflict) // and it does not wait
	begin("a", hello, conversations.TextRunning)
	settle("a", true, 3)
	settle("a", false, 0) // the first end counts
	begin("a", hello, conversations.TextAccepted)
	begin("a", other, conversations.TextConflict)
	settle("b", false, 1)
	begin("b", hello, conversations.TextFailed)
	begin("b", other, conversations.TextConflict)
}

func TestTextLedgerTellsContentsApart(t *testing.T) {
	ref := func(id string, version uint64) conversations.TodoRef {
		return conversations.TodoRef{ID: id, Version: version}
	}
	all := []conversations.TextContent{
		{},
		{ConversationID: "ab", Text: "c"},
		{ConversationID: "a", Text: "bc"},
		{Text: "abc"},
		{ConversationID: "abc"},
		{ConversationID: "a", Text: "b", Todo: ref("c", 0)},
		{ConversationID: "a", Text: "b", Todo: ref("c", 1)},
		{ConversationID: "a", Text: "b", Todo: ref("", 1)},
		{ConversationID: "a", Text: "b"},
		{ConversationID: "a", Text: "B"},
	}
	for i, a := range all {
		for j, b := range all {
			var l conversations.TextLedger
			l.Begin("r", a)
			want := conversations.TextConflict
			if i == j {
				want = conversations.TextRunning
			}
			if got := l.Begin("r", b); got != want {
				t.Errorf("%+v after %+v: verdict %d, want %d", b, a, got, want)
			}
		}
	}
}

func TestTextLedgerForgetsNothingAndIsBounded(t *testing.T) {
	var l conversations.TextLedger
	for n := range conversations.MaxTextRequests {
		id := fmt.Sprint(n)
		if got := l.Begin(id, conversations.TextContent{Text: id}); got != conversations.TextNew {
			t.Fatalf("request %d: verdict %d", n, got)
		}
		l.Settle(id, true)
	}
	if got := l.Begin("more", conversations.TextContent{}); got != conversations.TextFull {
		t.Errorf("one too many: verdict %d", got)
	}
	if got := l.Begin("0", conversations.TextContent{Text: "0"}); got != conversations.TextAccepted {
		t.Errorf("the first of a full ledger: verdict %d", got)
	}
	if got := l.Settle("more", true); got != 0 {
		t.Errorf("%d wait for what was refused", got)
	}
}
