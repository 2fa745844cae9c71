package conversations_test

import (
	"fmt"
	"slices"
	"testing"

	"plexus/domain/conversations"
)

func asked(id string, s conversations.Status) conversations.Message {
	return conversations.Message{ID: id, Role: conversations.User, Text: "q" + id, Status: s}
}

func answered(id string, d conversations.Delivery) conversations.Message {
	return conversations.Message{ID: "assistant:" + id, Role: conversations.Assistant, Text: "a" + id, ReplyTo: id, Delivery: d}
}

func TestHistory(t *testing.T) {
	const done = conversations.Completed
	one, two := conversations.Pair{User: "q1", Assistant: "a1"}, conversations.Pair{User: "q2", Assistant: "a2"}
	for name, tt := range map[string]struct {
		messages []conversations.Message // the oldest first
		want     []conversations.Pair
	}{
		"nothing":             {nil, nil},
		"two pairs":           {[]conversations.Message{asked("1", done), answered("1", conversations.Delivered), asked("2", done), answered("2", conversations.Delivered)}, []conversations.Pair{one, two}},
		"answers come later":  {[]conversations.Message{asked("1", done), asked("2", done), answered("1", conversations.Delivered), answered("2", conversations.Delivered)}, []conversations.Pair{one, two}},
		"cut off":             {[]conversations.Message{asked("1", done), answered("1", conversations.CutOff), asked("2", done), answered("2", conversations.Delivered)}, []conversations.Pair{two}},
		"failed":              {[]conversations.Message{asked("1", conversations.Failed), answered("1", conversations.Delivered)}, nil},
		"interrupted":         {[]conversations.Message{asked("1", conversations.Interrupted), asked("2", done), answered("2", conversations.Delivered)}, []conversations.Pair{two}},
		"pending":             {[]conversations.Message{asked("1", done), answered("1", conversations.Delivered), asked("2", conversations.Pending)}, []conversations.Pair{one}},
		"without an answer":   {[]conversations.Message{asked("1", done)}, nil},
		"without a question":  {[]conversations.Message{answered("1", conversations.Delivered)}, nil},
		"answers nobody":      {[]conversations.Message{asked("", done), {Role: conversations.Assistant, Text: "by itself", Delivery: conversations.Delivered}}, nil},
		"answer before it":    {[]conversations.Message{answered("1", conversations.Delivered), asked("1", done)}, nil},
		"an answer goes once": {[]conversations.Message{asked("1", done), asked("1", done), answered("1", conversations.Delivered)}, []conversations.Pair{one}},
	} {
		var h conversations.History
		for _, m := range slices.Backward(tt.messages) {
			if !h.Visit(m) {
				t.Errorf("%s: no more is wanted", name)
			}
		}
		if got := h.Pairs(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var h conversations.History
	for n := range conversations.MaxPairs {
		id := fmt.Sprint(n)
		if !h.Visit(answered(id, conversations.Delivered)) {
			t.Fatalf("enough after %d", n)
		}
		if more := h.Visit(asked(id, conversations.Completed)); more != (n+1 < conversations.MaxPairs) {
			t.Fatalf("after %d pairs more is %v", n+1, more)
		}
	}
	if pairs := h.Pairs(); len(pairs) != conversations.MaxPairs || pairs[len(pairs)-1].User != "q0" {
		t.Errorf("%d pairs, the newest %+v", len(pairs), pairs[len(pairs)-1])
	}
}
