package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"punctuation only", " …!? — ", nil},
		{"case and digits", "Go 1.26 Released", []string{"go", "1", "26", "released"}},
		{"accents composed and combining", "Café Cafe\u0301 Straße ŁÓDŹ", []string{"cafe", "cafe", "straße", "lodz"}},
		{"full width", "ＡＢＣ１２", []string{"abc12"}},
		{"chinese pairs", "大桥开通", []string{"大桥", "桥开", "开通"}},
		{"single character", "桥 x", []string{"桥", "x"}},
		{"mixed scripts", "于1921年Go语言", []string{"于", "1921", "年", "go", "语言"}},
		{"japanese and korean", "橋はサクラ 다리", []string{"橋は", "はサ", "サク", "クラ", "다리"}},
		{"cyrillic", "Мост ОТКРЫТ", []string{"мост", "открыт"}},
		{"devanagari marks stay", "पुल", []string{"पुल"}},
		{"variation selector is no word", "❤️ a", []string{"a"}},
		{"broken utf-8", "a\xffb", []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Words(tt.in); !slices.Equal(got, tt.want) {
				t.Errorf("Words(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestFoldTablesCoverTheirBlocks(t *testing.T) {
	if len(latin1Base) != 32 || len(latinABase) != 128 {
		t.Fatalf("tables hold %d and %d letters, want 32 and 128", len(latin1Base), len(latinABase))
	}
	if got, want := Fold("àçéîñõüýÿ āčęğħījķłňőřšţűŵźž"), "aceinouyy acegh"+"ijklnorstuwzz"; got != want {
		t.Errorf("Fold = %q, want %q", got, want)
	}
}

func TestStemGroups(t *testing.T) {
	groups := [][]string{
		{"open", "opens", "opened", "opening"},
		{"bridge", "bridges"},
		{"create", "creates", "created", "creating", "creation"},
		{"stop", "stops", "stopped", "stopping"},
		{"install", "installed", "installing", "installation"},
		{"city", "cities"},
		{"study", "studied", "studies", "studying"},
		{"begin", "began", "begins", "beginning"},
		{"build", "built", "building"},
		{"write", "wrote", "written", "writing"},
		{"box", "boxes"},
		{"configure", "configured", "configuration"},
	}
	owner := map[string]string{}
	for _, group := range groups {
		stem := Stem(group[0])
		for _, w := range group {
			if Stem(w) != stem {
				t.Errorf("Stem(%q) = %q, want %q as for %q", w, Stem(w), stem, group[0])
			}
		}
		if other, taken := owner[stem]; taken {
			t.Errorf("%q and %q share the stem %q", other, group[0], stem)
		}
		owner[stem] = group[0]
	}
	for _, w := range []string{"is", "king", "need", "bus", "string", "glass", "大桥", "мост", "1921", ""} {
		if got := Stem(w); got != w {
			t.Errorf("Stem(%q) = %q, want it unchanged", w, got)
		}
	}
}

func TestSentences(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", " \n ", nil},
		{"two", "The bridge opened in 1921. It is long.", []string{"The bridge opened in 1921.", "It is long."}},
		{"no terminator", "just words", []string{"just words"}},
		{"lines", "Title\nFirst line\r\nSecond", []string{"Title", "First line", "Second"}},
		{"decimals", "It is 3.5 km long. Wide too!", []string{"It is 3.5 km long.", "Wide too!"}},
		{"abbreviations", "Dr. Smith uses tools, e.g. Git. See Fig. 3 for more.",
			[]string{"Dr. Smith uses tools, e.g. Git.", "See Fig. 3 for more."}},
		{"initials", "J. R. R. Tolkien wrote it. He smiled.", []string{"J. R. R. Tolkien wrote it.", "He smiled."}},
		{"sentence ends in no", "The answer is no. He left.", []string{"The answer is no.", "He left."}},
		{"p.m. may end", "It closes at 5 p.m. The next day it opens.", []string{"It closes at 5 p.m.", "The next day it opens."}},
		{"address", "Visit example.com/a.b now. Bye.", []string{"Visit example.com/a.b now.", "Bye."}},
		{"quotes and brackets", `He said "Stop!" (Loudly.) Then "Go."`, []string{`He said "Stop!"`, "(Loudly.)", `Then "Go."`}},
		{"question in quotes goes on", `"Why?" she asked. "Well…" and so on.`, []string{`"Why?" she asked.`, `"Well…" and so on.`}},
		{"reference marks", "Opened in 1921.[3] Rebuilt in 1950.[4][5] Now closed.",
			[]string{"Opened in 1921.[3]", "Rebuilt in 1950.[4][5]", "Now closed."}},
		{"ellipsis", "Wait... what? Yes... No.", []string{"Wait... what?", "Yes...", "No."}},
		{"list numbers", "1. Open the file\n2. Close it", []string{"1. Open the file", "2. Close it"}},
		{"chinese", "大桥于1921年开通。全长3.5公里！“真长？”他说。",
			[]string{"大桥于1921年开通。", "全长3.5公里！", "“真长？”", "他说。"}},
		{"chinese with ascii stop", "大桥开通.它很长", []string{"大桥开通.", "它很长"}},
		{"line separator", "a\u2028b", []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Sentences(tt.in); !slices.Equal(got, tt.want) {
				t.Errorf("Sentences(%q) =\n%q, want\n%q", tt.in, got, tt.want)
			}
		})
	}
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"桥桥", 5, "桥"}, {"桥", 2, ""}, {"😀a", 4, "😀"}, {"a", -1, ""}, {"\xff\xff", 1, "\xff"},
	}
	for _, tt := range tests {
		if got := Truncate(tt.in, tt.n); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
	if got := TruncateRunes("大桥😀a", 3); got != "大桥😀" {
		t.Errorf("TruncateRunes = %q", got)
	}
	if got := TruncateRunes("大桥", 2); got != "大桥" {
		t.Errorf("TruncateRunes = %q", got)
	}
}

func TestPrintable(t *testing.T) {
	in := "a\x1b[31mb\u202ec\u0085d\x7f\n\te\xff桥\u2028\u200f"
	if got, want := Printable(in), `a\x1b[31mb\u202ec\x85d\x7f\x0a\x09e\xff桥\u2028\u200f`; got != want {
		t.Errorf("Printable = %s, want %s", got, want)
	}
	if got, want := PrintableLines("a\n\tb\r\x1b"), "a\n\tb"+`\x0d\x1b`; got != want {
		t.Errorf("PrintableLines = %q, want %q", got, want)
	}
}

func TestSnippet(t *testing.T) {
	long := "The town lies in a valley between two hills. " + strings.Repeat("Nothing happened here for years. ", 20) +
		"The great bridge was opened to traffic in 1921 after six years of work. " + strings.Repeat("More talk follows. ", 30)
	got := Snippet(long, Words("when did the bridge open"), 120)
	if !strings.Contains(got, "bridge was opened to traffic in 1921") || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") {
		t.Errorf("Snippet = %q", got)
	}
	if n := utf8.RuneCountInString(got); n > 122 {
		t.Errorf("Snippet is %d characters long", n)
	}
	tests := []struct {
		name, text, question string
		around               int
		want                 string
	}{
		{"empty", "", "x", 50, ""},
		{"short text whole", "One\n two.", "nothing", 50, "One two."},
		{"no match begins at the beginning", "alpha beta gamma delta", "x", 12, "alpha beta…"},
		{"one long word is cut", strings.Repeat("a", 30), "x", 10, strings.Repeat("a", 10) + "…"},
		{"chinese", "城市很大。河流很长。大桥于一九二一年开通，全长三公里，宽二十米。", "大桥开通", 14, "…大桥于一九二一年开通，全长三…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Snippet(tt.text, Words(tt.question), tt.around); got != tt.want {
				t.Errorf("Snippet = %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzSentencesAreSubstrings(f *testing.F) {
	f.Add("Dr. Who? \"Yes.\" 大桥。e.g. 3.5\n[3]", 20)
	f.Add("\xff.\xfe 。", 1)
	f.Fuzz(func(t *testing.T, s string, around int) {
		rest := s
		for _, one := range Sentences(s) {
			i := strings.Index(rest, one)
			if one == "" || i < 0 {
				t.Fatalf("sentence %q is not in %q in order", one, s)
			}
			rest = rest[i+len(one):]
		}
		for _, w := range Words(s) {
			if w == "" || strings.ContainsAny(w, " \n.") {
				t.Fatalf("word %q", w)
			}
			Stem(w)
		}
		around = around&0xff + 1
		if got := Snippet(s, Words(s), around); utf8.RuneCountInString(got) > around+2 {
			t.Fatalf("Snippet(%q, %d) = %q is too long", s, around, got)
		}
		if p := Printable(s); strings.ContainsAny(p, "\x1b\n\u202e") || !utf8.ValidString(p) {
			t.Fatalf("Printable(%q) = %q", s, p)
		}
	})
}
