package adminweb

import (
	"strings"
	"testing"

	"plexus/domain/conversations"
	"plexus/web"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("word ", 60)
	for name, c := range map[string]struct{ message, asked, before, match, after string }{
		"short":           {"It opened in 1932.", "opened", "It ", "opened", " in 1932."},
		"other case":      {"ÄPFEL und Birnen", "äpfel", "", "ÄPFEL", " und Birnen"},
		"second word":     {"Only pears here", "apples pears", "Only ", "pears", " here"},
		"line breaks":     {"one\n\ntwo\tthree", "two", "one  ", "two", " three"},
		"beyond a letter": {"雪山と橋", "橋", "雪山と", "橋", ""},
		"nothing":         {"Only pears", "apples", "", "", "Only pears"},
		"marks only":      {"Only pears", `"*`, "", "", "Only pears"},
		"empty":           {"", "apples", "", "", ""},
		"at the end":      {long + "bridge", "bridge", "…" + long[len(long)-excerptRunes:], "bridge", ""},
		"at the start":    {"bridge " + long, "bridge", "", "bridge", (" " + long)[:2*excerptRunes] + "…"},
	} {
		before, match, after := excerpt(c.message, c.asked)
		if before != c.before || match != c.match || after != c.after {
			t.Errorf("%s: %q, %q, %q", name, before, match, after)
		}
	}
}

// G15: a page's address is linked when it is http or https, and never else.
func TestOnlyPagesOfTheWebAreLinked(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org/a?b=c": "https://example.org/a?b=c",
		"http://example.org":        "http://example.org",
		"javascript:alert(1)":       "", "data:text/html,x": "", "file:///etc/passwd": "", "https:relative": "", "": "",
		"sha256:0123": "", "//example.org": "", "HTTPS://example.org": "HTTPS://example.org", "chrome://settings": "", " https://x.org": "",
	} {
		if got := conversationRow(conversations.Conversation{Kind: conversations.Topic, SubjectKey: address}); got.Address != want || got.Kind != web.Topic {
			t.Errorf("%q is linked as %q", address, got.Address)
		}
	}
}

// Each state of a message has its word, and an answer that was cut off says so.
func TestStatesOfMessages(t *testing.T) {
	for m, want := range map[conversations.Message]web.MessageState{
		{Role: conversations.User, Status: conversations.Pending}:          web.MessageWaiting,
		{Role: conversations.User, Status: conversations.Failed}:           web.MessageFailed,
		{Role: conversations.User, Status: conversations.Interrupted}:      web.MessageInterrupted,
		{Role: conversations.User, Status: conversations.Completed}:        "",
		{Role: conversations.Assistant, Delivery: conversations.CutOff}:    web.MessageCutOff,
		{Role: conversations.Assistant, Delivery: conversations.Delivered}: "",
	} {
		if got := messageRow(m); got.State != want {
			t.Errorf("%+v: %q", m, got.State)
		}
	}
}
