package answers

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"plexus/domain/framing"
)

// filler gives lines that have no word of the questions below.
func filler(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d.\n", word, i)
	}
	return b.String()
}

func TestD17_AnExcerptSpeaksToTheQuestion(t *testing.T) {
	for _, tc := range []struct{ name, filler, line, question string }{
		{"English", "Nothing of interest stands here", "The dam was finished in 1962 after nine years.", "When was the dam finished?"},
		{"whole words", "Damned, undammed and madam", "The dam holds 3 million tons.", "What does the dam hold?"},
		{"German", "Hier steht nichts von Belang", "Die Talsperre wurde 1962 nach neun Jahren fertig.", "Wann wurde die Talsperre fertig?"},
		{"Chinese", "这里没有什么值得注意的东西", "水库大坝于一九六二年建成。", "大坝是哪一年建成的？"},
		{"Japanese", "ここには何も書かれていません", "ダムは一九六二年に完成した。", "ダムはいつ完成しましたか"},
		{"Arabic", "لا يوجد هنا شيء مهم", "اكتمل بناء السد عام ١٩٦٢.", "متى اكتمل بناء السد؟"},
		{"Hebrew", "אין כאן שום דבר חשוב", "הסכר הושלם בשנת 1962.", "מתי הושלם הסכר?"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := "Heading of it all\n" + filler(tc.filler, 900) + "A heading\n" + tc.line + "\nThe line below.\n" + filler(tc.filler, 900) + "The very end"
			got := excerpt(body, tc.question, 4_000)
			for _, want := range []string{"Heading of it all", "A heading\n" + tc.line + "\nThe line below.", "The very end", "\n…\n"} {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			if len(got) > 4_000 || len(got) < 3_000 || !utf8.ValidString(got) {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}

func TestD17_AnOverviewIsSpreadOverTheText(t *testing.T) {
	body := filler("Something was said", 2_000)
	for _, question := range []string{"Summarise this page", "What is this about?", "总结一下", "Fasse die Seite zusammen", "Which zebra?"} {
		got := excerpt(body, question, 4_000)
		for _, part := range []string{" 0.", " 1999."} {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q is not there", question, part)
			}
		}
		widest, last := 0, 0
		for line := range strings.Lines(got) {
			n := 0
			if _, err := fmt.Sscanf(line, "Something was said %d.", &n); err == nil {
				widest, last = max(widest, n-last), n
			}
		}
		if widest > 100 || len(got) < 3_500 {
			t.Errorf("%s: %d bytes, and a gap of %d lines", question, len(got), widest)
		}
	}
}

// Paragraphs are longer than the shares of beginning and end.
func TestD17_LongParagraphsLeaveBeginningAndEnd(t *testing.T) {
	for name, words := range map[string]string{"spaced": "ordinary words of a paragraph ", "unspaced": "平常的文字"} {
		var b strings.Builder
		fmt.Fprintf(&b, "The beginning. %s\n", strings.Repeat(words, 17))
		for i := range 200 {
			fmt.Fprintf(&b, "Paragraph %d %s\n", i, strings.Repeat(words, 17))
		}
		fmt.Fprintf(&b, "%s The end", strings.Repeat(words, 17))
		for _, limit := range []int{2_000, 4_000, 9_000} {
			got := excerpt(b.String(), "What does paragraph 140 say?", limit)
			for _, want := range []string{"The beginning", "Paragraph 140", "The end"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is not in %d of %d bytes", name, want, len(got), limit)
				}
			}
			if len(got) > limit || !utf8.ValidString(got) {
				t.Errorf("%s: %d of %d bytes", name, len(got), limit)
			}
		}
	}
}

// Stop words, and what is asked for in any language, never make a cut head of it.
func TestD17_WordsThatSayNothingChooseNothing(t *testing.T) {
	for question, line := range map[string]string{
		"Worum geht es in dem Artikel?":                    "Die Sitzung des Rates in der Stadt, und dem Protokoll nach gab es nichts",
		"Fasse die Seite bitte zusammen":                   "Die Sitzung wurde bitte verlegt",
		"Wann wurde die Talsperre gebaut?":                 "Die Sitzung wurde in die Stadt verlegt",
		"De quoi parle cet article ?":                      "Le conseil de la ville et cet autre point",
		"Quand est-ce que le barrage a été construit ?":    "Le conseil est dans la ville que voici",
		"¿Cuándo se construyó la presa?":                   "La ciudad se reunió y la noche pasó",
		"Summarize this page in three short bullet points": "Three of the short streets here are closed",
		"What are the key takeaways?":                      "Key words are here",
		"Translate this page to German":                    "The German town here",
		"この記事を要約してください":                                    "この町の記事",
		"请帮我总结一下这篇文章的主要内容":                                 "我们帮助大家",
		"لخص هذه الصفحة":                                   "هذه المدينة كبيرة",
		"סכם את הדף":                                       "את העיר ראינו",
	} {
		var b strings.Builder
		for i := range 1_500 { // every third line, so that no share of the lines decides
			if i%3 == 0 {
				b.WriteString(line)
			}
			fmt.Fprintf(&b, " N%d.\n", i)
		}
		widest, last := 0, 0
		for line := range strings.Lines(excerpt(b.String(), question, 4_000)) {
			var n int
			if _, err := fmt.Sscanf(line[max(strings.LastIndexByte(line, 'N'), 0):], "N%d.", &n); err == nil {
				widest, last = max(widest, n-last), n
			}
		}
		if widest > 300 {
			t.Errorf("%s: a gap of %d lines", question, widest)
		}
	}
	if got := excerpt(filler("The war was long", 900)+"He won the peace.\n"+filler("The war was long", 900), "Who won the war?", 4_000); !strings.Contains(got, "He won the peace.") {
		t.Error("a German stop word is none in English")
	}
	if q := excerptQuery("Where did he die in the war?"); len(q.terms) != 2 {
		t.Errorf("of die and war there is %q", q.terms)
	}
}

// A text grows by what makes it harmless, and loses nothing of its end by that.
func TestD17_FootnotesCostNoEnd(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "Fact %d.[%d][%d] And so.\n", i, i%90+1, i%80+1)
	}
	b.WriteString("The very end.")
	page := framing.PageContext{Title: "Facts", URL: "https://a.test/", Extract: b.String(), Total: uint64(b.Len()), Kind: framing.WholeText}
	user := BuildPrompt("What came of it?", page, nil, English, DefaultPrompt).User
	if !strings.Contains(user, "The very end.\n<<<") || strings.Contains(user, ".[1]") || !strings.Contains(user, "An excerpt of the page's text, 10 of ") {
		t.Errorf("%s … %s", user[:300], user[len(user)-300:])
	}
}

func TestExcerpt_TakesAnyText(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "blank": " \n\t\n", "one long word": strings.Repeat("x", 70_000), "no letters": strings.Repeat("-+- ", 20_000),
		"one long line": strings.Repeat("A sentence of it. ", 4_000), "line ends": strings.Repeat("\n", 70_000) + "x",
		"not UTF-8": strings.Repeat("\xff\xfe a\n", 20_000), "CJK without stops": strings.Repeat("水", 20_000),
	} {
		for _, limit := range []int{1, 10, 100, 4_000, 65_536} {
			if got := excerpt(body, "What is a sentence?", limit); len(got) > limit {
				t.Errorf("%s: %d bytes of %d", name, len(got), limit)
			}
		}
	}
	if got := excerpt("  all of it\n", "?", 100); got != "all of it" {
		t.Errorf("%q", got)
	}
}

func BenchmarkExcerpt(b *testing.B) {
	body := filler("Nothing of interest stands here", 1_500)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		excerpt(body, "When was the dam finished?", 10_000)
	}
}
