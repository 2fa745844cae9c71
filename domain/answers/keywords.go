package answers

import (
	"slices"

	"plexus/domain/text"
)

// Keywords gives the words of a question that are worth looking for in an index
// of pages, each once, as text.Words folds them. Question words, articles and
// particles are left out; a question of nothing else has none.
func Keywords(question string) []string {
	terms := parseQuery(question).terms
	var words []string
	for _, w := range text.Words(text.Truncate(question, MaxQuestion)) {
		if slices.Contains(terms, text.Stem(w)) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}
