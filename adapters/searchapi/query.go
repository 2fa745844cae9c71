package searchapi

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"plexus/domain/text"
)

// maxQuery bounds the query that is sent, in bytes.
const maxQuery = 2048

// cleanQuery trims, removes control characters and broken UTF-8, and cuts at
// maxQuery on a code point.
func cleanQuery(query string) string {
	query = strings.ToValidUTF8(query, "")
	query = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, query)
	return strings.TrimSpace(text.Truncate(strings.TrimSpace(query), maxQuery))
}

// blankSyntax takes the meaning out of a query language: ASCII punctuation
// becomes a blank, except where it is part of names such as v1.2 or go_mod, and
// the operators turn into plain words.
func blankSyntax(query string) string {
	query = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && r != '.' && r != '_' && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			return ' '
		}
		return r
	}, query)
	words := strings.Fields(query)
	for i, word := range words {
		switch word {
		case "AND", "OR", "NOT":
			words[i] = strings.ToLower(word)
		}
	}
	return strings.Join(words, " ")
}
