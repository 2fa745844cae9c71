package answers

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// inlineThoughts are texts as models write them, with what of them is the answer.
var inlineThoughts = []struct{ name, text, want string }{
	{"none", "It opened in 1921. [1]", "It opened in 1921. [1]"},
	{"at the beginning", "<think>\nThe person asks.\n</think>\n\nIt opened.", "It opened."},
	{"white space before it", "\n <think>a</think> It opened.", "It opened."},
	{"nothing in it", "<think>\n\n</think>\n\nIt opened.", "It opened."},
	{"no beginning", "The person asks.\n</think>\n\nIt opened.", "It opened."},
	{"no beginning, on one line", "They ask for a year</think>It opened.", "It opened."},
	{"no beginning, a quotation last", "They said \"when?\"</think>It opened.", "It opened."},
	{"the end alone", "</think>\n\nIt opened.", "It opened."},
	{"no end", "<think>The person asks for a year, so", ""},
	{"no end, later", "It opened.\n<think>Was it", "It opened.\n"},
	{"twice", "<think>a</think>\n<think>b</think>It opened.", "It opened."},
	{"between two sentences", "It opened. <think>sure?</think>In 1921.", "It opened. In 1921."},
	{"an end too many", "<think>a</think>b</think>It opened.", "It opened."},
	{"a beginning in it", "<think>a <think> b</think>It opened.", "It opened."},
	{"another name", "<thinking>a</think>b</thinking>It opened.", "It opened."},
	{"capitals", "<Think>a</THINK>It opened.", "It opened."},
	{"thought", "<thought>a</thought>It opened.", "It opened."},
	{"reasoning", "<reasoning>a</reasoning>It opened.", "It opened."},
	{"Seed", "<seed:think>a</seed:think>It opened.", "It opened."},
	{"Magistral", "[THINK]a[1][/THINK]It opened. [1]", "It opened. [1]"},
	{"Kimi", "◁think▷a◁/think▷It opened.", "It opened."},
	{"OpenThinker", "<|begin_of_thought|>a<|end_of_thought|>It opened.", "It opened."},
	{"Command", "<|START_THINKING|>a<|END_THINKING|>It opened.", "It opened."},
	{"gpt-oss", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>It opened.", "It opened."},
	{"Gemma", "<|channel>thought\na<channel|>It opened.", "It opened."},
	{"Chinese", "<think>用户想知道年份。</think>\n\n大桥于1921年开通。", "大桥于1921年开通。"},
	{"no beginning, Chinese", "用户想知道年份。\n</think>\n大桥于1921年开通。", "大桥于1921年开通。"},

	{"about the tags", "Models put <think> before and </think> behind it.", "Models put <think> before and </think> behind it."},
	{"about the tags, as code", "Look for `</think>` and drop it.", "Look for `</think>` and drop it."},
	{"about the tags, quoted", "The text “</think>” ends it.", "The text “</think>” ends it."},
	{"in a code block", "So:\n```\n<think>\na\n</think>\n```\nDone.", "So:\n```\n<think>\na\n</think>\n```\nDone."},
	{"other brackets", "a < b, <b>c</b>, [T], [page], <|x|>, ◁", "a < b, <b>c</b>, [T], [page], <|x|>, ◁"},
	{"a tag only begun", "It opened. <thin", "It opened. <thin"},
}

func TestD19_InlineReasoningIsNoAnswer(t *testing.T) {
	for _, tt := range inlineThoughts {
		if got := Spoken(tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Wherever a text is cut, once or everywhere, the same is left of it.
func TestD19_InlineReasoningCutAnywhere(t *testing.T) {
	for _, tt := range inlineThoughts {
		for at := range tt.text {
			if got, want := inPieces(t, tt.text[:at], tt.text[at:]), tt.want; got != want {
				t.Fatalf("%s, cut behind %q: %q, want %q", tt.name, tt.text[:at], got, want)
			}
		}
		if got := inPieces(t, strings.Split(tt.text, "")...); got != tt.want {
			t.Errorf("%s, piece by piece: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// inPieces gives what is left of the pieces, and checks that what cannot be taken
// back any more ends up as the answer with ThoughtEnd in its place.
func inPieces(t *testing.T, pieces ...string) string {
	t.Helper()
	var r Reasoning
	kept, sent := "", ""
	take := func(text string, takenBack bool) {
		if takenBack {
			kept = ""
			sent += ThoughtEnd
		}
		kept += text
		sent += text
	}
	for _, p := range pieces {
		take(r.Push(p))
	}
	take(r.End())
	if spoken := Spoken(sent); spoken != kept {
		t.Errorf("%q was sent, which counts as %q, want %q", sent, spoken, kept)
	}
	return kept
}

func TestMayThink(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "T": true, "The": true, " \nThe u": true, "The user wants": true, "OKAY, SO they": true, "嗯，用户": true, "用": true,
		"The tower": false, "It": false, "Okay.": false, "[1]": false, "大桥": false,
	} {
		if got := MayThink(text, false); got != want {
			t.Errorf("MayThink(%q) = %v", text, got)
		}
		if got, want := MayThink(text, true), want && len(text) > 8 || text == "嗯，用户"; got != want {
			t.Errorf("MayThink(%q), all of it, = %v", text, got)
		}
	}
}

func FuzzReasoning(f *testing.F) {
	for _, tt := range inlineThoughts {
		f.Add(tt.text, len(tt.text)/2)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		text = strings.ToValidUTF8(text, "")
		at = min(max(at, 0), len(text))
		for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
			at--
		}
		if whole, cut := Spoken(text), inPieces(t, text[:at], text[at:]); whole != cut || len(whole) > len(text) {
			t.Errorf("%q in two is %q, whole %q", text, cut, whole)
		}
	})
}

func TestReasoningIsLinear(t *testing.T) {
	for _, part := range []string{"<", "<think", "a <think> ", "`</think>", "◁", "[", "<|", "\n```"} {
		text := strings.Repeat(part, (128<<10)/len(part))
		var r Reasoning
		steps := testing.AllocsPerRun(1, func() { r = Reasoning{}; r.Push(text); r.End() })
		if steps > 100 {
			t.Errorf("%q over and over: %v allocations", part, steps)
		}
	}
}
