package answers

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"plexus/domain/text"
)

// gapLine stands in an excerpt for what is left out.
const gapLine = "…"

// Shares of an excerpt, in percent, for the beginning and the end of the text: they
// say what it is, and what comes of it.
const (
	beginShare = 15
	endShare   = 5
)

// fewLines is below how many lines every word counts.
const fewLines = 10

// longLine is from where a line is taken sentence by sentence, in bytes.
const longLine = 600

// excerpt gives at most limit bytes of a text: all of it if it fits, else the lines
// that speak to the question with what stands beside them, and a share of beginning
// and end; for a question about the text as a whole, or that nothing matches, lines
// spread over it. They are in the order of the text, with gapLine between those that
// are apart.
func excerpt(body, question string, limit int) string {
	body = strings.TrimSpace(body)
	if len(body) <= limit {
		return body
	}
	begin, end := limit*beginShare/100, limit*endShare/100
	e := excerptor{lines: edged(linesOf(body), begin-lineCost, end-lineCost), limit: limit}
	e.chosen = make([]bool, len(e.lines))
	e.fill(begin, 0, 1)
	e.fill(e.used+end, len(e.lines)-1, -1)
	q := excerptQuery(question)
	if hits := e.matching(q); len(hits) > 0 && !q.overview {
		for _, i := range hits {
			e.take(i)
			if i > 0 && heading(e.lines[i-1]) {
				e.take(i - 1)
			}
		}
		for near := 1; near <= 20; near++ {
			for _, i := range hits {
				e.take(i + near)
				e.take(i - near)
			}
		}
	}
	e.spread()
	return e.String()
}

// linesOf splits a text into its lines, and long ones into sentences.
func linesOf(body string) (lines []string) {
	for line := range strings.SplitSeq(body, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(line) <= longLine {
			lines = append(lines, line)
			continue
		}
		for _, sentence := range text.Sentences(line) {
			for len(sentence) > longLine { // log files and tables have none
				head := text.Truncate(sentence, longLine)
				lines, sentence = append(lines, head), sentence[len(head):]
			}
			lines = append(lines, sentence)
		}
	}
	return lines
}

// edged cuts the first and the last line at a blank, so that what is outermost of each
// fits into its share: a paragraph is often longer.
func edged(lines []string, first, last int) []string {
	if len(lines) < 2 || first < utf8.UTFMax || last < utf8.UTFMax {
		return lines
	}
	if line := lines[0]; len(line) > first {
		at := len(text.Truncate(line, first))
		if blank := strings.LastIndexByte(line[:at], ' '); blank > 0 {
			at = blank
		}
		lines = slices.Insert(lines, 1, strings.TrimSpace(line[at:]))
		lines[0] = line[:at]
	}
	if line := lines[len(lines)-1]; len(line) > last {
		at := len(text.Truncate(line, len(line)-last)) // may stand before a code point that does not fit
		if _, size := utf8.DecodeRuneInString(line[at:]); len(line)-at > last {
			at += size
		}
		if blank := strings.IndexByte(line[at:], ' '); blank >= 0 && at+blank+1 < len(line) {
			at += blank + 1
		}
		lines = append(lines[:len(lines)-1], strings.TrimSpace(line[:at]), line[at:])
	}
	return lines
}

// lineCost is what a line takes beside its text: its end, and a gap.
const lineCost = len("\n" + gapLine + "\n")

type excerptor struct {
	lines  []string
	chosen []bool
	used   int // bytes, each line with its end and a gap
	limit  int
}

// take chooses a line if there is one and it fits.
func (e *excerptor) take(i int) {
	if i < 0 || i >= len(e.lines) || e.chosen[i] {
		return
	}
	if cost := len(e.lines[i]) + lineCost; e.used+cost <= e.limit {
		e.chosen[i] = true
		e.used += cost
	}
}

// fill takes lines one after the other until most bytes are used.
func (e *excerptor) fill(most, from, step int) {
	for i := from; i >= 0 && i < len(e.lines) && e.used+len(e.lines[i]) <= most; i += step {
		e.take(i)
	}
}

// matching gives the lines that have words of the question, the best first: each word
// is the heavier the fewer lines have it. One that most lines have tells none from
// another.
func (e *excerptor) matching(q query) (hits []int) {
	if len(q.terms) == 0 {
		return nil
	}
	having := map[string]int{}
	found := make([][]string, len(e.lines))
	for i, line := range e.lines {
		c := candidate{stems: stemSet(line), folded: text.Fold(line)}
		for _, term := range q.terms {
			if c.matches(term) {
				found[i] = append(found[i], term)
				having[term]++
			}
		}
	}
	scores := make([]float64, len(e.lines))
	for i, terms := range found {
		for _, term := range terms {
			if len(e.lines) >= fewLines && 2*having[term] > len(e.lines) {
				continue
			}
			scores[i] += math.Log(1 + float64(len(e.lines))/float64(having[term]))
		}
		if scores[i] > 0 {
			hits = append(hits, i)
		}
	}
	slices.SortStableFunc(hits, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return hits
}

// spread fills what is left evenly: the line in the middle of the widest part first.
func (e *excerptor) spread() {
	type part struct{ from, to int }
	for parts := []part{{0, len(e.lines)}}; len(parts) > 0; parts = parts[1:] {
		p := parts[0]
		middle := (p.from + p.to) / 2
		e.take(middle)
		if p.from < middle {
			parts = append(parts, part{p.from, middle})
		}
		if middle+1 < p.to {
			parts = append(parts, part{middle + 1, p.to})
		}
	}
}

func (e *excerptor) String() string {
	var b strings.Builder
	last := -1
	for i, line := range e.lines {
		if !e.chosen[i] {
			continue
		}
		switch {
		case i != last+1 && b.Len() > 0:
			b.WriteString("\n" + gapLine + "\n")
		case i != last+1:
			b.WriteString(gapLine + "\n")
		case b.Len() > 0:
			b.WriteByte('\n')
		}
		b.WriteString(line)
		last = i
	}
	if last < len(e.lines)-1 {
		b.WriteString("\n" + gapLine)
	}
	return text.Truncate(b.String(), e.limit)
}

// kilobytes rounds up, so that nothing is shown as 0.
func kilobytes(bytes int) int { return (bytes + 1023) / 1024 }
