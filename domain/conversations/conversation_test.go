package conversations_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"plexus/domain/conversations"
)

func TestTruncateUnits(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		n    int
		want string
	}{
		"nothing":               {"", 3, ""},
		"shorter":               {"ab", 3, "ab"},
		"just so long":          {"abc", 3, "abc"},
		"longer":                {"abcd", 3, "abc"},
		"none wanted":           {"a", 0, ""},
		"two bytes, one unit":   {"äöü", 2, "äö"},
		"three bytes, one unit": {"你好吗", 2, "你好"},
		"a pair that fits":      {"a😀b", 3, "a😀"},
		"a pair is not split":   {"a😀b", 2, "a"},
		"the last of one unit":  {"\uFFFF", 1, "\uFFFF"},
		"the first of two":      {"\U00010000", 1, ""},
	} {
		if got := conversations.TruncateUnits(tt.text, tt.n); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestNewTitle(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"as it is":          {"Books", "Books"},
		"nothing":           {"", ""},
		"spaces alone":      {" \t\r\n\u3000", ""},
		"one line":          {"  a\n\n b\tc\u00A0d ", "a b c d"},
		"no UTF-8":          {"a\xff\xfeb", "a\uFFFDb"},
		"just so long":      {strings.Repeat("😀", conversations.MaxTitle/2), strings.Repeat("😀", conversations.MaxTitle/2)},
		"too long":          {strings.Repeat("x", conversations.MaxTitle+1), strings.Repeat("x", conversations.MaxTitle)},
		"a pair at the end": {strings.Repeat("x", conversations.MaxTitle-1) + "😀", strings.Repeat("x", conversations.MaxTitle-1)},
	} {
		if got := conversations.NewTitle(tt.text); got != tt.want || !utf8.ValidString(got) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestFreeTitle(t *testing.T) {
	for name, tt := range map[string]struct {
		inUse []string
		want  string
	}{
		"none in use":       {nil, "Chat 1"},
		"the next":          {[]string{"Chat 1", "Chat 2"}, "Chat 3"},
		"a gap":             {[]string{"Chat 3", "Chat 1"}, "Chat 2"},
		"the first is free": {[]string{"Chat 2"}, "Chat 1"},
		"others":            {[]string{"Chat", "chat 1", "Chat 01", "Books"}, "Chat 1"},
		"twice":             {[]string{"Chat 1", "Chat 1"}, "Chat 2"},
	} {
		var list []conversations.Conversation
		for _, title := range tt.inUse {
			list = append(list, conversations.Conversation{Title: title})
		}
		if got := conversations.FreeTitle("Chat", list); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestSubjectKey(t *testing.T) {
	const host = "https://example.com/"
	long := host + strings.Repeat("a", conversations.MaxSubject)
	wide := host + strings.Repeat("ü", conversations.MaxSubject-len(host))
	for name, tt := range map[string]struct{ address, want string }{
		"short":                   {host, host},
		"just so long":            {long[:conversations.MaxSubject], long[:conversations.MaxSubject]},
		"more bytes, not units":   {wide, wide},
		"one unit too many":       {long[:conversations.MaxSubject+1], "sha256:"},
		"one unit too many, wide": {wide + "ü", "sha256:"},
	} {
		got := conversations.SubjectKey(tt.address)
		if hashed := tt.want == "sha256:"; !hashed && got != tt.want || hashed && (!strings.HasPrefix(got, tt.want) || len(got) != len(tt.want)+64) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	if conversations.SubjectKey(long+"b") == conversations.SubjectKey(long+"c") {
		t.Error("two long addresses have one key")
	}
	if conversations.SubjectKey(long) != conversations.SubjectKey(strings.Clone(long)) {
		t.Error("a long address has two keys")
	}
}

func TestPermanent(t *testing.T) {
	for id, want := range map[string]bool{conversations.MainID: true, conversations.ProactiveID: true, "chat:1": false, "": false} {
		if got := (conversations.Conversation{ID: id}).Permanent(); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}
