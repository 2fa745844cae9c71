package turns_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"plexus/domain/conversations"
	"plexus/usecases/personal/turns"
)

func TestTextLedger(t *testing.T) {
	var l turns.TextLedger
	hello, other := turns.TextContent{ConversationID: "c", Text: "hello"}, turns.TextContent{ConversationID: "c", Text: "hello "}
	begin := func(id string, content turns.TextContent, want turns.TextVerdict) {
		t.Helper()
		if got := l.Begin(id, content, true); got != want {
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
	begin("a", hello, turns.TextNew)
	begin("b", hello, turns.TextNew) // another request
	begin("a", hello, turns.TextRunning)
	begin("a", other, turns.TextConflict) // and it does not wait
	begin("a", hello, turns.TextRunning)
	settle("a", true, 3)
	settle("a", false, 0) // the first end counts
	begin("a", hello, turns.TextAccepted)
	begin("a", other, turns.TextConflict)
	settle("b", false, 1)
	begin("b", hello, turns.TextFailed)
	begin("b", other, turns.TextConflict)
}

func TestTextLedgerTellsContentsApart(t *testing.T) {
	ref := func(id string, version uint64) conversations.TodoRef {
		return conversations.TodoRef{ID: id, Version: version}
	}
	all := []turns.TextContent{
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
			var l turns.TextLedger
			l.Begin("r", a, true)
			want := turns.TextConflict
			if i == j {
				want = turns.TextRunning
			}
			if got := l.Begin("r", b, true); got != want {
				t.Errorf("%+v after %+v: verdict %d, want %d", b, a, got, want)
			}
		}
	}
}

func TestTextLedgerForgetsNothingAndIsBounded(t *testing.T) {
	var l turns.TextLedger
	for n := range turns.MaxTextRequests {
		id := fmt.Sprint(n)
		if got := l.Begin(id, turns.TextContent{Text: id}, true); got != turns.TextNew {
			t.Fatalf("request %d: verdict %d", n, got)
		}
		l.Settle(id, true)
	}
	if got := l.Begin("more", turns.TextContent{}, true); got != turns.TextFull {
		t.Errorf("one too many: verdict %d", got)
	}
	if got := l.Begin("0", turns.TextContent{Text: "0"}, true); got != turns.TextAccepted {
		t.Errorf("the first of a full ledger: verdict %d", got)
	}
	if got := l.Settle("more", true); got != 0 {
		t.Errorf("%d wait for what was refused", got)
	}
}

func TestTextLedgerKeepsNoMessage(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var l turns.TextLedger
	before := heap()
	for i := range turns.MaxTextRequests { // the ID as it is read: a part of the message
		id := fmt.Sprintf("%08d", i)
		l.Begin((id + strings.Repeat("x", 16<<10))[:len(id)], turns.TextContent{}, true)
	}
	if more := heap() - before; more > 1<<20 {
		t.Errorf("the ledger keeps %d bytes", more)
	}
	runtime.KeepAlive(&l)
}
