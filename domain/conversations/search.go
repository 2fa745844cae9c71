package conversations

import "strings"

// searchWord begins a text that asks for a search.
const searchWord = "/search"

// SearchText is the text that asks for a search with words.
func SearchText(words string) string { return searchWord + " " + words }

// SearchWords gives the words of a text that asks for a search: what follows
// "/search" and a blank. It is false for any other text, which is looked up in what
// is on this machine alone (decision D16).
func SearchWords(text string) (words string, asked bool) {
	text = strings.TrimSpace(text)
	if len(text) < len(searchWord) || !strings.EqualFold(text[:len(searchWord)], searchWord) {
		return "", false
	}
	rest := text[len(searchWord):]
	words = strings.TrimSpace(rest)
	return words, len(words) < len(rest) // text ends in no space, so one stands between
}
