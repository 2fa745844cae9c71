package answers

import (
	"fmt"
	"strings"

	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/domain/text"
)

// Bounds of a prompt and of a question, in bytes. A title's is in characters.
const (
	DefaultPrompt = 24 << 10 // System and User together
	MinPrompt     = 6 << 10  // below it the instructions would leave no room
	MaxQuestion   = 8 << 10  // that is read for anything
	maxTitle      = 300
)

// shares are the parts of a prompt that question, page and each result may
// take, so that none of them takes the room of the others.
type shares struct{ question, page, result int }

func sharesOf(limit int) shares {
	return shares{question: min(limit/3, MaxQuestion), page: limit * 5 / 12, result: limit / 12}
}

// Prompt is what a model is asked.
type Prompt struct {
	System string // our instructions
	User   string // the question and the quoted material
}

// BuildPrompt asks a model the question about the page and the results, which
// are numbered from 1 as the reader sees them. Question, page and results are
// taken in this order as long as there is room in limit bytes (at least
// MinPrompt) for system and user text together, each cut at a code point.
// Everything that comes from outside stands between marker lines which quoted
// text cannot imitate.
func BuildPrompt(question string, page framing.PageContext, results []framing.Result, lang Language, limit int) Prompt {
	share := sharesOf(limit)
	say := phrasingOf(lang)
	system := say.instructions(say.question)
	var user strings.Builder
	fmt.Fprintf(&user, "%s\n%s\n", say.asks, text.Truncate(neutral(strings.TrimSpace(question)), share.question))
	room := limit - len(system) - user.Len()
	add := func(block string) {
		user.WriteString(block)
		room -= len(block)
	}
	add(say.quotePage(page, question, share.page, room))
	add(say.quoteResults(results, share.result, room))
	return Prompt{System: system, User: user.String()}
}

// quote fences body within limit bytes, markers included; "" when there is no
// room for more than the markers.
func (p phrasing) quote(mark, body string, limit int) string {
	before, after := "\n"+p.openLine(mark)+"\n", "\n"+p.closeLine(mark)+"\n"
	body = strings.TrimSpace(text.Truncate(harmless(body), max(limit-len(before)-len(after), 0)))
	if body == "" {
		return ""
	}
	return before + body + after
}

// fenceRoom is what is kept free of a page's share for its marker lines.
const fenceRoom = 256

// quotePage fences the page within room, of which it takes most bytes at most. Of a
// long text it takes what fits the question.
func (p phrasing) quotePage(page framing.PageContext, question string, most, room int) string {
	most = min(most, room)
	var about strings.Builder
	p.header(&about, page.Title, page.URL)
	if s := strings.TrimSpace(text.Truncate(harmless(page.Selection), most)); s != "" {
		fmt.Fprintf(&about, "%s %s\n", p.selected, s)
	}
	left := most - about.Len() - fenceRoom
	if page.Extract == "" || left <= 0 {
		return p.quote(PageMark, about.String(), most)
	}
	// It is made harmless before it is cut, since it grows by that.
	body := strings.TrimSpace(harmless(text.Truncate(page.Extract, maxPageBytes)))
	part := excerpt(body, question, left)
	about.WriteString(p.extractLine(page, part, len(part) < len(body) || len(page.Extract) > maxPageBytes))
	about.WriteString(part)
	return p.quote(PageMark, about.String(), most)
}

// extractLine says what the text of a page is, and whether it was cut for the prompt;
// "" when nobody knows.
func (p phrasing) extractLine(page framing.PageContext, part string, cut bool) string {
	line := ""
	switch {
	case page.Kind == framing.SelectionPart:
		line = p.selection
	case page.Kind == framing.WholeText && !cut:
		line = p.whole
	case page.Kind != "" && page.Total > uint64(len(part)) && page.Total < 1<<30:
		line = fmt.Sprintf(p.excerpt, kilobytes(len(part)), kilobytes(int(page.Total)))
	case page.Kind == framing.Excerpt || cut:
		line = p.truncated
	default:
		return ""
	}
	return line + "\n"
}

// quoteResults fences the results in their order as long as there is room, each
// within most bytes.
func (p phrasing) quoteResults(results []framing.Result, most, room int) string {
	var b strings.Builder
	for i, r := range results {
		var body strings.Builder
		p.header(&body, r.Title, r.URL)
		body.WriteString(strings.TrimSpace(text.Truncate(r.Snippet, most)))
		b.WriteString(p.quote(ResultMark(i+1), body.String(), min(room-b.Len(), most)))
	}
	return b.String()
}

// harmless is a quotation in which nothing passes for a marker line or a mark.
func harmless(s string) string { return withoutMarks(neutral(s)) }

func neutral(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.NewReplacer("<<<", "‹‹‹", ">>>", "›››").Replace(s)
}

// header leaves out an address that is not to be kept; what is left of one
// holds no secret parameter.
func (p phrasing) header(b *strings.Builder, title, url string) {
	if title = oneLine(title); title != "" {
		fmt.Fprintf(b, "%s %s\n", p.title, title)
	}
	if address, ok := pages.CanonicalURL(url); ok {
		fmt.Fprintf(b, "%s %s\n", p.address, address)
	}
}

// oneLine makes a title of at most maxTitle characters without line breaks.
func oneLine(title string) string {
	return text.TruncateRunes(strings.Join(strings.Fields(text.Truncate(title, 4*maxTitle)), " "), maxTitle)
}
