package answers

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"plexus/domain/framing"
	"plexus/domain/text"
)

// Sentence is one sentence of an extractive answer: verbatim, with the mark of
// its source.
type Sentence struct {
	Text string
	Mark string // PageMark or ResultMark(n)
}

// Bounds of an extractive answer.
const (
	MaxSentences     = 4
	MaxSentenceRunes = 600      // longer ones are left out, never cut
	maxPageBytes     = 64 << 10 // looked at, of the selection and of the extract
	maxSnippetBytes  = 4 << 10  // looked at, of a title and of a snippet
)

// Extract answers from what is there: the sentences of the page and of the
// results that match the question best, at most MaxSentences, in reading order,
// each a substring of its source. It is empty when none has a word of the
// question that says something. A heading brings the line below it. A question
// about the page as a whole is answered with its first sentences.
func Extract(question string, page framing.PageContext, results []framing.Result) []Sentence {
	q := parseQuery(question)
	candidates := gather(page, results, q)
	if q.overview {
		return opening(candidates)
	}
	weigh(candidates, q)
	return best(candidates)
}

// candidate is one sentence that could be in the answer.
type candidate struct {
	Sentence
	stems    map[string]bool
	folded   string
	title    map[string]bool // stems of its source's title
	selected bool            // the reader marked it
	score    float64         // 0: no match
	focused  bool            // has a word that speaks to the question and is not in its source's title
}

func gather(page framing.PageContext, results []framing.Result, q query) []candidate {
	var all []candidate
	seen := map[string]bool{}
	add := func(body, title, mark string, selected bool) {
		titleStems := stemSet(text.Truncate(title, maxSnippetBytes))
		for _, one := range pieces(body) {
			if seen[one] || utf8.RuneCountInString(one) > MaxSentenceRunes || strings.IndexFunc(one, unicode.IsLetter) < 0 {
				continue
			}
			seen[one] = true
			all = append(all, candidate{Sentence: Sentence{Text: one, Mark: mark}, stems: stemSet(one),
				folded: text.Fold(one), title: titleStems, selected: selected})
		}
	}
	add(text.Truncate(page.Selection, maxPageBytes), page.Title, PageMark, true)
	add(text.Truncate(page.Extract, maxPageBytes), page.Title, PageMark, false)
	if q.overview && len(all) > 0 {
		return all
	}
	for i, r := range results {
		add(text.Truncate(r.Snippet, maxSnippetBytes), r.Title, ResultMark(i+1), false)
	}
	return all
}

// pieces splits into sentences, and a sentence that is too long at its
// semicolons. The dots that mark where a snippet was cut are left out.
func pieces(body string) []string {
	var out []string
	for _, one := range text.Sentences(body) {
		parts := []string{one}
		if utf8.RuneCountInString(one) > MaxSentenceRunes {
			parts = strings.FieldsFunc(one, func(r rune) bool { return r == ';' || r == '；' })
		}
		for _, part := range parts {
			if part = trimCut(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

func trimCut(s string) string {
	for {
		trimmed := strings.TrimSpace(s)
		trimmed = strings.TrimPrefix(strings.TrimPrefix(trimmed, "..."), "…")
		trimmed = strings.TrimSuffix(strings.TrimSuffix(trimmed, " ..."), " …")
		if trimmed == s {
			return s
		}
		s = trimmed
	}
}

func stemSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range text.Words(s) {
		set[text.Stem(w)] = true
	}
	return set
}

// matches compares stems; a single Chinese character matches within the pairs of a
// sentence.
func (c *candidate) matches(term string) bool {
	if c.stems[term] {
		return true
	}
	r, size := utf8.DecodeRuneInString(term)
	return size == len(term) && text.IsCJK(r) && strings.Contains(c.folded, term)
}

// weigh gives every candidate that has a word of the question its score: the
// words it has, each the heavier the fewer candidates have it.
func weigh(candidates []candidate, q query) {
	weight := make(map[string]float64, len(q.terms)+len(q.hints))
	for _, term := range slices.Concat(q.terms, q.hints) {
		having := 0
		for i := range candidates {
			if candidates[i].matches(term) {
				having++
			}
		}
		weight[term] = math.Log(1 + float64(len(candidates))/float64(max(having, 1)))
	}
	for i := range candidates {
		candidates[i].score = score(&candidates[i], q, weight)
	}
}

// Factors of a score. They only order sentences that match anyway, so they stay
// near 1.
const (
	topicShare    = 0.5 // of the weight of a word that the source's title has too: all its sentences are about it
	titleShare    = 0.2 // of the weight of a word that only the title has
	hintShare     = 0.4 // of the weight of a word that answers to such a question often have
	selectedBonus = 1.25
	numberBonus   = 1.3
	headingMalus  = 0.4
	shortLine     = 50  // code points of a line that may be a heading
	longSentence  = 240 // code points; what is longer counts less
)

func score(c *candidate, q query, weight map[string]float64) float64 {
	sum, matched, covered := 0.0, 0, 0
	for _, term := range q.terms {
		share, here, topic := 1.0, c.matches(term), c.title[term]
		switch {
		case here && topic:
			share = topicShare
		case topic:
			share = titleShare
		case !here:
			continue
		}
		sum += share * weight[term]
		covered++
		if here {
			matched++
			c.focused = c.focused || !topic
		}
	}
	if matched == 0 || q.words() >= 4 && covered < 2 {
		return 0
	}
	for _, hint := range q.hints {
		if c.matches(hint) {
			sum += hintShare * weight[hint]
			c.focused = true
		}
	}
	return sum * shapeFactor(c, q)
}

// shapeFactor weighs what a sentence looks like, apart from its words.
func shapeFactor(c *candidate, q query) float64 {
	factor := 1.0
	if c.selected {
		factor *= selectedBonus
	}
	if q.number && hasDigit(c.Text) {
		factor *= numberBonus
	}
	if heading(c.Text) {
		factor *= headingMalus
	}
	if n := utf8.RuneCountInString(c.Text); n > longSentence {
		factor *= math.Sqrt(longSentence / float64(n))
	}
	return factor
}

// heading reports whether a line is a menu entry or a headline. A question in the
// page is treated the same, since it answers nothing; a line with a number or of
// the form "name: value" may be an answer.
func heading(s string) bool {
	return !isStatement(s) && !hasDigit(s) && !strings.Contains(s, ": ") && !strings.Contains(strings.TrimSuffix(s, "："), "：")
}

// isStatement reports whether a line ends as a sentence, or is too long for a
// heading.
func isStatement(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\"'”’»)]}」』）】"))
	return strings.ContainsRune(".!。！…", last) || utf8.RuneCountInString(s) > shortLine
}

func hasDigit(s string) bool { return strings.IndexFunc(s, unicode.IsDigit) >= 0 }

// enough is the part of the best score that a further sentence must reach.
const enough = 0.5

// ranked gives the indexes of the candidates that match, best first. Where the
// best has a word that is not in the title anyway, those that only repeat the
// title are left out.
func ranked(candidates []candidate) []int {
	var order []int
	for i, c := range candidates {
		if c.score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(candidates[b].score, candidates[a].score) })
	if len(order) > 0 && candidates[order[0]].focused {
		order = slices.DeleteFunc(order, func(i int) bool { return !candidates[i].focused })
	}
	return order
}

// best chooses the candidates that match best and differ, and gives them in
// reading order.
func best(candidates []candidate) []Sentence {
	order := ranked(candidates)
	var chosen []int
	for _, i := range order {
		if len(chosen) == MaxSentences || candidates[i].score < enough*candidates[order[0]].score {
			break
		}
		if !slices.ContainsFunc(chosen, func(j int) bool { return sameContent(candidates[i].stems, candidates[j].stems) }) {
			chosen = append(chosen, i)
		}
	}
	// A heading is of use only with the line below it, so that line is added, as
	// long as there is room.
	for _, i := range slices.Clone(chosen) {
		next := i + 1
		if len(chosen) < MaxSentences && next < len(candidates) && candidates[next].Mark == candidates[i].Mark &&
			heading(candidates[i].Text) && !heading(candidates[next].Text) && !slices.Contains(chosen, next) {
			chosen = append(chosen, next)
		}
	}
	slices.Sort(chosen)
	out := make([]Sentence, len(chosen))
	for n, i := range chosen {
		out[n] = candidates[i].Sentence
	}
	return out
}

// sameContent reports whether two sentences share four fifths of their words and
// every number.
func sameContent(a, b map[string]bool) bool {
	both := 0
	for stem := range a {
		if b[stem] {
			both++
		}
	}
	return 5*both >= 4*(len(a)+len(b)-both) && sameNumbers(a, b) && sameNumbers(b, a)
}

func sameNumbers(a, b map[string]bool) bool {
	for stem := range a {
		if !b[stem] && strings.ContainsAny(stem, "0123456789") {
			return false
		}
	}
	return true
}

// opening is the answer to a question about the page as a whole: what the reader
// selected, else the first whole sentences.
func opening(candidates []candidate) []Sentence {
	marked := len(candidates) > 0 && candidates[0].selected
	var out []Sentence
	for _, c := range candidates {
		if len(out) < MaxSentences-1 && c.selected == marked && (marked || isStatement(c.Text)) {
			out = append(out, c.Sentence)
		}
	}
	return out
}
