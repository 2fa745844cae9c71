package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"plexus/cmd/plexus/cli"
	"plexus/domain/framing"
)

// piece is one AiToken.
type piece struct {
	text  string
	final bool
}

func TestPrinter(t *testing.T) {
	one := framing.SearchResult{TookMS: 4, Results: []framing.Result{{URL: "https://a.example/", Title: "A", Snippet: "s", Score: 1}}}
	for _, tc := range []struct {
		name    string
		results *framing.SearchResult
		pieces  []piece
		printed string
		want    askedAnswer // without results
		err     error
	}{
		{
			"results, then an answer", &one, []piece{{"It opened ", false}, {"in 1889. [1]", false}, {"", true}},
			"[1] A\n    https://a.example/\n    s\n\nIt opened in 1889. [1]\n",
			askedAnswer{TookMS: 4, Answer: "It opened in 1889. [1]", Complete: true}, nil,
		},
		{"last words in the final token", nil, []piece{{"a", false}, {"b\n", true}}, "ab\n", askedAnswer{Answer: "ab\n", Complete: true}, nil},
		{
			"only a notice", nil, []piece{{"[The model did not answer.]", true}}, "[The model did not answer.]\n",
			askedAnswer{Notice: "[The model did not answer.]"}, errNoAnswer,
		},
		{
			"interrupted", nil, []piece{{"half", false}, {"\n\n[The answer was interrupted.]", true}}, "half\n\n[The answer was interrupted.]\n",
			askedAnswer{Answer: "half", Notice: "[The answer was interrupted.]"}, errNoAnswer,
		},
		{"results without an answer", &one, []piece{{"", true}}, "[1] A\n    https://a.example/\n    s\n\n", askedAnswer{TookMS: 4, Complete: true}, nil},
		{"nothing at all", nil, []piece{{"", true}}, "", askedAnswer{Complete: true}, errNoAnswer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			o := newPrinter(&out)
			if tc.results != nil {
				o.results(*tc.results)
			}
			for _, p := range tc.pieces {
				o.token(p.text, p.final)
			}
			o.end()
			if out.String() != tc.printed {
				t.Errorf("printed %q, want %q", out.String(), tc.printed)
			}
			got := o.answer
			got.Results = nil
			if got.Answer != tc.want.Answer || got.Complete != tc.want.Complete || got.Notice != tc.want.Notice || got.TookMS != tc.want.TookMS {
				t.Errorf("remembered %+v, want %+v", got, tc.want)
			}
			if err := o.verdict(nil); !errors.Is(err, tc.err) {
				t.Errorf("verdict %v, want %v", err, tc.err)
			}
		})
	}
}

// TestAsk_ReadsThePageFromStandardInput: bounded, and each thing that is no text has a
// sentence of its own.
func TestAsk_ReadsThePageFromStandardInput(t *testing.T) {
	for _, tc := range []struct{ name, piped, want, refusal string }{
		{"text", "It opened in 1889.\n", "It opened in 1889.\n", ""},
		{"a byte order mark", "\ufeffIt opened.", "It opened.", ""},
		{"the most", strings.Repeat("é", maxPiped/2), strings.Repeat("é", maxPiped/2), ""},
		{"one byte more", strings.Repeat("a", maxPiped+1), "", "more than 64 KiB"},
		{"without end", strings.Repeat("a", 10*maxPiped), "", "more than 64 KiB"},
		{"a picture", "\x89PNG\r\n\x1a\n", "", "no text in UTF-8"},
		{"zeros", "a\x00b", "", "no text in UTF-8"},
		{"UTF-16", "\xff\xfea\x00", "", "no text in UTF-8"},
		{"nothing", "", "", "empty"},
		{"blanks", " \n\t\n", "", "empty"},
	} {
		c := framing.PageContext{Extract: "-"}
		piped := strings.NewReader(tc.piped)
		err := fillContext(cli.Env{Stdin: piped}, &c)
		switch {
		case tc.refusal == "" && (err != nil || c.Extract != tc.want):
			t.Errorf("%s: %d bytes, %v", tc.name, len(c.Extract), err)
		case tc.refusal != "" && (err == nil || !strings.Contains(err.Error(), tc.refusal)):
			t.Errorf("%s: %v, want %q", tc.name, err, tc.refusal)
		}
		if read := len(tc.piped) - piped.Len(); read > maxPiped+1 {
			t.Errorf("%s: %d bytes were read", tc.name, read)
		}
	}
	c := framing.PageContext{Extract: "a text - with a dash"}
	if err := fillContext(cli.Env{Stdin: strings.NewReader("other")}, &c); err != nil || c.Extract != "a text - with a dash" {
		t.Errorf("%q, %v", c.Extract, err)
	}
}

// TestPrinter_SaysThatItWaits: on a line of its own that is gone before each word.
func TestPrinter_SaysThatItWaits(t *testing.T) {
	var terminal bytes.Buffer
	o := newPrinter(&terminal)
	o.waiting.w = &terminal
	o.waiting.show()
	o.results(framing.SearchResult{Results: []framing.Result{{URL: "https://a.example/", Title: "A"}}})
	o.token("It opened.", false)
	o.token("", true)
	o.end()
	gone := "\r" + strings.Repeat(" ", len(waitingLine)) + "\r"
	if want := waitingLine + gone + "[1] A\n    https://a.example/\n\n" + waitingLine + gone + "It opened.\n"; terminal.String() != want {
		t.Errorf("printed %q, want %q", terminal.String(), want)
	}
}

// Decision G15: what comes from outside cannot drive the terminal.
func TestPrinter_EscapesWhatComesFromOutside(t *testing.T) {
	var out bytes.Buffer
	o := newPrinter(&out)
	const evil = "a\x1b]0;owned\x07\u009b2J\u202eb\r"
	o.results(framing.SearchResult{Results: []framing.Result{{URL: "https://a.example/" + evil, Title: evil + "\nfake", Snippet: evil}}})
	o.token(evil+"\n", false)
	o.token("", true)
	o.end()
	if strings.ContainsAny(out.String(), "\x1b\x07\u009b\u202e\r") {
		t.Errorf("printed %q", out.String())
	}
	if n := strings.Count(out.String(), "\n"); n != 5 {
		t.Errorf("%d lines, want 5: %q", n, out.String())
	}
	if !strings.Contains(o.answer.Answer, evil) {
		t.Error("--json has to hold the text as it came")
	}
}
