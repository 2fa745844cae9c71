package conversations

import "testing"

func TestSearchWords(t *testing.T) {
	for text, want := range map[string]string{ // "": no search
		"/search bridge opened": "bridge opened", " /Search\n bridge ": "bridge", "/SEARCH　大桥": "大桥",
		"/search": "", "/search ": "", "/searching for": "", "/search-it": "", "search bridge": "", "see /search bridge": "", "": "", "/sear": "", "/sear\u017fh x": "",
	} {
		if got, asked := SearchWords(text); got != want && asked || asked != (want != "") {
			t.Errorf("SearchWords(%q) = %q, %v", text, got, asked)
		}
	}
	if words, asked := SearchWords(SearchText("two words")); words != "two words" || !asked {
		t.Errorf("round trip: %q, %v", words, asked)
	}
}
