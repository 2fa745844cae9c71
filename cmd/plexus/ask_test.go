package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

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
