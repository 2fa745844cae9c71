package answers

import (
	"strings"
	"testing"

	"plexus/domain/framing"
)

func TestD18_WhatLooksLikeAMarkIsNone(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"no brackets":                  "no brackets",
		"It opened in 1889.[2]":        "It opened in 1889.[~2]",
		"[1][23] and [page], [Page]":   "[~1][~23] and [~page], [~Page]",
		"[ 4 ] and [\u0664]":           "[~ 4 ] and [~\u0664]",
		"[a] [1a] [] [12, 13] [pages]": "[a] [1a] [] [12, 13] [pages]",
		"x[[1]]":                       "x[[~1]]",
		"[1":                           "[1",
		"[" + strings.Repeat("1", 99):  "[" + strings.Repeat("1", 99),
	} {
		if got := strings.ReplaceAll(withoutMarks(in), joiner, "~"); got != want {
			t.Errorf("%q gave %q; want %q", in, got, want)
		}
	}
}

func TestD18_ASentenceIsShownAsItStands(t *testing.T) {
	for in, want := range map[string]string{
		"Plain, with 5 * 3.":          "Plain, with 5 * 3.",
		"*Bold* and `code`[3]":        "~*~Bold*~ and `~code`~[~3]",
		"_one_ and snake_case_name":   "_~one_~ and snake_case_name",
		"[here](https://a.test) more": "[here]~(https://a.test) more",
		"# Heading":                   "~# Heading",
		"- item\n2. item\n> said":     "~- item\n~2. item\n~> said",
		"1931 was dry.":               "1931 was dry.",
		"| a | b |":                   "~| a | b |",
		"```go":                       "~`~`~`~go",
		"Costs 5* for members":        "Costs 5*~ for members",
		"*Terms apply":                "~*~Terms apply",
		"Press ` to open":             "Press `~ to open",
		"The _first of two":           "The _~first of two",
		`a \* b c:\dir \[1\]`:         `a \~*~ b c:\dir \~[1\~]`,
		"&lt;b&gt; AT&T &#91;1&#93;":  "&~lt;b&~gt; AT&T &~#91;1&~#93;",
		"<https://a.test/> 1 < 2 <b>": "<~https://a.test/> 1 < 2 <b>",
		"\xff*\xff\\":                 "\ufffd*~\ufffd\\",
		"中文*重点*":                      "中文*~重点*~",
	} {
		got := strings.ReplaceAll(Sentence{Text: in, Mark: PageMark}.Shown(), joiner, "~")
		if want += " [page] "; got != want {
			t.Errorf("%q gave %q; want %q", in, got, want)
		}
	}
}

// What the host quotes holds no mark but its own.
func TestD18_QuotationsHoldNoMark(t *testing.T) {
	page := framing.PageContext{URL: "https://a.test/", Title: "Dam [1]", Selection: "old [2]", Extract: "Built 1962.[1] See [page]."}
	results := []framing.Result{{URL: "https://b.test/", Title: "About [page]", Snippet: "A footnote[2] here"}}
	turn := BuildTurn(Turn{Text: "When?", Background: Quote{Title: page.Title, URL: page.URL, Text: page.Extract}, Results: results}, English, DefaultPrompt).User
	for _, user := range []string{BuildPrompt("When?", page, results, English, DefaultPrompt).User, turn} {
		for line := range strings.Lines(user) {
			if strings.HasPrefix(line, "<<<") {
				continue
			}
			for _, mark := range []string{"[1]", "[2]", "[page]"} {
				if strings.Contains(line, mark) {
					t.Errorf("%s stands in %q", mark, line)
				}
			}
		}
	}
}
