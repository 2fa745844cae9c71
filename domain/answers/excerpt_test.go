package answers

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
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
