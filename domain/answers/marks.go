package answers

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PageMark cites the page in front of the reader.
const PageMark = "[page]"

// ResultMark cites the n-th result, counted from 1.
func ResultMark(n int) string { return fmt.Sprintf("[%d]", n) }

// joiner is U+2060 WORD JOINER: it is not seen, and where it stands nothing is read
// as a mark or as Markdown.
const joiner = "\u2060"

// withoutMarks breaks up what looks like a mark in a text that is not ours, such as
// the number of a footnote: marks are the host's alone (decision D18).
func withoutMarks(s string) string {
	var b strings.Builder
	rest := s
	for {
		before, after, found := strings.Cut(rest, "[")
		if !found {
			break
		}
		b.WriteString(before + "[")
		if inside, _, closed := strings.Cut(after, "]"); closed && looksLikeMark(inside) {
			b.WriteString(joiner)
		}
		rest = after
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(rest)
	return b.String()
}

func looksLikeMark(inside string) bool {
	inside = strings.TrimSpace(inside)
	if strings.EqualFold(inside, "page") {
		return true
	}
	return inside != "" && len(inside) <= 16 && strings.IndexFunc(inside, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// Shown is the sentence as a piece of an answer, with its mark. Answers are read as
// Markdown, and the sentence is not ours: what it holds is shown as it stands.
func (s Sentence) Shown() string {
	var b strings.Builder
	sentence := withoutMarks(s.Text)
	lineStart := true
	for i, r := range sentence {
		if lineStart && opensBlock(sentence[i:]) {
			b.WriteString(joiner)
		}
		lineStart = r == '\n'
		b.WriteRune(r)
		switch {
		case r == '_' && insideWord(sentence, i): // is no emphasis, and names are copied
		case strings.ContainsRune("*_`", r) && strings.Count(sentence, string(r)) > 1,
			r == ']' && strings.HasPrefix(sentence[i+1:], "("):
			b.WriteString(joiner)
		}
	}
	return b.String() + " " + s.Mark + " "
}

// insideWord reports whether the byte at i stands between letters or digits.
func insideWord(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return inWord(before) && inWord(after)
}

// opensBlock reports whether a line may begin a heading, a list, a quotation, a table
// or code.
func opensBlock(line string) bool {
	first, size := utf8.DecodeRuneInString(line)
	if strings.ContainsRune("#>-+*=|~`", first) {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return size > 0 && digits != line && (strings.HasPrefix(digits, ".") || strings.HasPrefix(digits, ")"))
}
