package answers

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"plexus/domain/framing"
)

// The language of a connection is that of everything a model is told by us, and not of
// a word in it.
func TestN10_InstructionsAreWholeInTheirLanguage(t *testing.T) {
	page := framing.PageContext{URL: "https://1.test/", Title: "1", Selection: "2", Extract: strings.Repeat("3\n", 20_000), Total: 90_000, Kind: framing.Excerpt}
	results := []framing.Result{{URL: "https://1.test/", Title: "4", Snippet: "5"}}
	for lang, foreign := range map[Language]func(r rune) bool{
		English: func(r rune) bool { return unicode.Is(unicode.Han, r) || strings.ContainsRune("。，：；（）", r) },
		Chinese: func(r rune) bool { return unicode.IsLetter(r) && r < 0x250 },
	} {
		asked := BuildPrompt("6", page, results, lang, DefaultPrompt)
		turn := BuildTurn(Turn{Text: "6", Background: Quote{Title: "1", Text: page.Extract}, Results: results}, lang, DefaultPrompt)
		for _, told := range []string{asked.System, asked.User, turn.System, turn.User} {
			ours := strings.NewReplacer("[page]", "", "https://1.test/", "", "KB", "").Replace(told)
			if i := strings.IndexFunc(ours, foreign); i >= 0 {
				t.Errorf("%s: %q holds a word of another language", lang, ours[i:min(len(ours), i+60)])
			}
		}
		say := reflect.ValueOf(phrasingOf(lang))
		for i := range say.NumField() {
			if say.Field(i).String() == "" {
				t.Errorf("%s has no %s", lang, say.Type().Field(i).Name)
			}
		}
	}
}

func TestD17_ThePromptSaysWhatThePartIs(t *testing.T) {
	long := strings.Repeat("A line that says nothing new.\n", 3_000)
	for _, tc := range []struct {
		page framing.PageContext
		want string
	}{
		{framing.PageContext{Extract: "short"}, "<<<quotation [page]>>>\nshort"},
		{framing.PageContext{Extract: "short", Total: 5, Kind: framing.WholeText}, "The page's whole text:\nshort"},
		{framing.PageContext{Extract: "short", Total: 21_000, Kind: framing.Excerpt}, "An excerpt of the page's text, 1 of 21 KB;"},
		{framing.PageContext{Extract: "short", Kind: framing.Excerpt}, "An excerpt of the page's text; a line"},
		{framing.PageContext{Extract: "short\n\n", Total: 7, Kind: framing.WholeText}, "The page's whole text:\nshort"},
		{framing.PageContext{Extract: "short", Total: 9_000, Kind: framing.SelectionPart}, "Part of a long text that the reader selected:\nshort"},
		{framing.PageContext{Extract: long}, "An excerpt of the page's text; a line"},
		{framing.PageContext{Extract: long, Total: uint64(len(long)), Kind: framing.WholeText}, "An excerpt of the page's text, 10 of 88 KB;"},
		{framing.PageContext{Extract: "short", Total: 1 << 62, Kind: framing.WholeText}, "The page's whole text:\nshort"},
	} {
		if user := BuildPrompt("What is new?", tc.page, nil, English, DefaultPrompt).User; !strings.Contains(user, tc.want) {
			t.Errorf("%d bytes, %d, %q: the prompt begins %q", len(tc.page.Extract), tc.page.Total, tc.page.Kind, user[:min(len(user), 200)])
		}
	}
}
