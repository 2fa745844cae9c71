package answers

import (
	"slices"
	"strings"
	"unicode/utf16"

	"plexus/domain/conversations"
	"plexus/domain/framing"
	"plexus/domain/pages"
	"plexus/domain/text"
)

// Bounds of the history that a turn is given (nova-personal §7.1).
const (
	MaxHistory  = conversations.MaxPairs // exchanges
	MaxExchange = 4_000                  // UTF-16 units of each side of an exchange
	resultParts = 2                      // results are sure of one part in so many of what the page leaves
)

// Turn is one message of a conversation with what may help to answer it.
type Turn struct {
	Text       string           // what the person wrote
	Background Quote            // what the conversation is about; zero for nothing
	Results    []framing.Result // numbered from 1
	History    []Exchange       // completed ones, oldest first
}

// Quote is a text that somebody else wrote.
type Quote struct {
	Title string
	URL   string
	Text  string
}

// Exchange is one earlier message of a conversation with the answer to it.
type Exchange struct {
	User      string
	Assistant string
}

// TurnPrompt is what a model is asked in a conversation.
type TurnPrompt struct {
	System  string     // our instructions
	User    string     // the message and the quoted material
	History []Exchange // oldest first
}

// BuildTurn asks a model to answer a message of a conversation. Message (at
// most MaxQuestion), background, history and results are taken in this order as
// long as there is room in limit bytes (at least MinPrompt) for all three parts
// of the prompt together, each text cut at a code point (decision G12). Of the
// history the newest exchanges come first: whole ones, one after the other until
// one does not fit into what the results do not need, or not into half of it
// where they need more.
//
// Bytes stand for the model's tokens at four bytes each: 24 KiB are about 6,000.
func BuildTurn(t Turn, lang Language, limit int) TurnPrompt {
	share := sharesOf(limit)
	say := phrasingOf(lang)
	system := say.instructions(say.turn)
	user := text.Truncate(neutral(strings.TrimSpace(t.Text)), share.question) + "\n"
	room := limit - len(system) - len(user)

	about := framing.PageContext{Title: t.Background.Title, URL: t.Background.URL, Extract: t.Background.Text}
	page := say.quotePage(about, t.Text, share.page, room)
	room -= len(page)
	needed := len(say.quoteResults(t.Results, share.result, room))
	history, taken := recent(t.History, room-min(needed, room/resultParts))
	return TurnPrompt{
		System:  system,
		User:    strings.TrimSuffix(user+page+say.quoteResults(t.Results, share.result, room-taken), "\n"),
		History: history,
	}
}

// recent gives the newest exchanges that fit into room, oldest first, and how
// many bytes they take. What they say is the conversation's own and is not
// fenced, so that the titles of an answer's sources, which are not, are left out,
// and so is reasoning.
// An answer may still repeat what a page said: no marker line survives.
func recent(history []Exchange, room int) (kept []Exchange, taken int) {
	for _, e := range slices.Backward(history) {
		e = Exchange{User: exchangeText(e.User), Assistant: exchangeText(withoutSources(Spoken(e.Assistant)))}
		if e.User == "" || e.Assistant == "" {
			continue // half an exchange, which some models refuse
		}
		size := len(e.User) + len(e.Assistant)
		if size > room-taken || len(kept) == MaxHistory {
			break
		}
		kept = append(kept, e)
		taken += size
	}
	slices.Reverse(kept)
	return kept, taken
}

// exchangeText is one side of an exchange as a model is told it.
func exchangeText(s string) string {
	return conversations.TruncateUnits(strings.TrimSpace(neutral(s)), MaxExchange)
}

// WithSources is an answer as it is stored, at most conversations.MaxMessage: with
// the sources that it cites, which have at most half of that, and with the
// fixed sentence that says how it ended; "" for none. Of what is too long the end of
// the answer goes, and whole lines of the sources.
func WithSources(answer string, results []framing.Result, ended string) string {
	list := sources(answer, results)
	for units(list) > conversations.MaxMessage/2 {
		list = list[:max(strings.LastIndexByte(list, '\n'), 0)]
	}
	if list != "" {
		list = "\n\n" + list
	}
	if ended != "" {
		list += "\n\n" + ended
	}
	return strings.TrimSpace(conversations.TruncateUnits(answer, conversations.MaxMessage-units(list)) + list)
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// sources names the results whose marks occur in an answer, one a line and in
// order of number: "[1] Title — URL". It is for a reader who has no list of
// results. A result without an http or https address has no line; "" is no
// line at all.
func sources(answer string, results []framing.Result) string {
	var lines []string
	for i, r := range results {
		mark := ResultMark(i + 1)
		address, ok := pages.CanonicalURL(r.URL)
		if !ok || !strings.Contains(answer, mark) {
			continue
		}
		line := mark + " "
		if title := oneLine(strings.ToValidUTF8(r.Title, "\uFFFD")); title != "" {
			line += title + " — "
		}
		lines = append(lines, line+strings.Join(strings.Fields(address), "%20")) // a query keeps its blanks
	}
	return strings.Join(lines, "\n")
}

// withoutSources takes off what WithSources has put to an answer.
func withoutSources(answer string) string {
	for {
		at := strings.LastIndexByte(answer, '\n')
		if !isSource(answer[at+1:]) {
			return answer
		}
		answer = strings.TrimRight(answer[:max(at, 0)], "\n")
	}
}

// isSource reports whether a line is one of sources: a mark first, an address last.
func isSource(line string) bool {
	mark, rest, marked := strings.Cut(line, "] ")
	number, opened := strings.CutPrefix(mark, "[")
	if !marked || !opened || number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	_, isAddress := pages.CanonicalURL(rest[strings.LastIndexByte(rest, ' ')+1:])
	return isAddress
}
