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

// longestMark is how far a bracket's end is looked for, in bytes: blanks may stand in it.
const longestMark = 64

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
		if inside, _, closed := strings.Cut(after[:min(len(after), longestMark)], "]"); closed && looksLikeMark(inside) {
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
		if opensInline(sentence, i, r) {
			b.WriteString(joiner)
		}
	}
	return b.String() + " " + s.Mark + " "
}

// opensInline reports whether the sign r at i could be Markdown, alone or with a sign of
// another sentence: the sentences of an answer stand in one paragraph.
func opensInline(s string, i int, r rune) bool {
	if r >= utf8.RuneSelf {
		return false
	}
	after := s[i+1:]
	switch r {
	case '_':
		return !insideWord(s, i) // names are copied
	case '*':
		return !strings.HasPrefix(after, " ") || i == 0 || s[i-1] != ' ' // not as in 5 * 3
	case '`':
		return true
	case ']':
		return strings.HasPrefix(after, "(")
	case '\\':
		next, _ := utf8.DecodeRuneInString(after)
		return next < utf8.RuneSelf && (unicode.IsPunct(next) || unicode.IsSymbol(next))
	case '<':
		return strings.HasPrefix(after, "http://") || strings.HasPrefix(after, "https://")
	case '&':
		name, _, closed := strings.Cut(after[:min(len(after), 12)], ";")
		return closed && name != "" && strings.IndexFunc(name, func(r rune) bool { return r != '#' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0
	}
	return false
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
