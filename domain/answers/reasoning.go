package answers

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// thoughtTags are what models put around their reasoning where the server does not
// take it out of the text (decision D19). Letters compare without case.
var thoughtTags = [...]struct{ begin, end string }{
	{"<think>", "</think>"}, // DeepSeek R1, Qwen, and most others
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"}, // Gemini by its OpenAI interface
	{"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"},                                 // Seed-OSS
	{"[THINK]", "[/THINK]"},                                           // Magistral
	{"◁think▷", "◁/think▷"},                                           // Kimi
	{"<|begin_of_thought|>", "<|end_of_thought|>"},                    // OpenThinker
	{"<|START_THINKING|>", "<|END_THINKING|>"},                        // Command A
	{"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"}, // gpt-oss
	{"<|channel>thought", "<channel|>"},                               // Gemma
}

// ThoughtEnd stands in a model's text behind reasoning that had no beginning and was
// given away before its end came. What counts as the answer is Spoken of the text.
const ThoughtEnd = "\n</think>\n\n"

// Reasoning takes inline reasoning out of a model's text that comes in pieces cut
// anywhere. A tag counts where a model would put it: a beginning at the start of the
// text, of a line or of a sentence and not in a code block; an end without its
// beginning unless the text speaks of the tags. Reasoning that has no end lasts to
// the end of the text. The zero value is ready.
type Reasoning struct {
	pending string // not decided: perhaps a tag
	end     string // the tag that ends the reasoning we are in; "" outside
	spoken  bool   // text with a word was given, which an end tag alone would take back
	skip    bool   // white space behind reasoning that begins the answer
	leading string // white space that no text has followed yet
	named   int    // beginnings that are text, whose ends are text too

	last    rune // of the text given
	lastInk rune // the last that is no white space
	lineInk bool // the line has one
	lead    rune // with which it begins
	leads   int  // how often; -1: something else has followed
	inFence bool
}

// Push takes a piece and gives the text that is certainly none of the reasoning.
// takenBack: all text given before was reasoning too.
func (r *Reasoning) Push(piece string) (text string, takenBack bool) {
	r.pending += piece
	return r.take(false)
}

// End gives what has waited for more; the text has ended.
func (r *Reasoning) End() (text string, takenBack bool) {
	text, takenBack = r.take(true)
	return text + r.leading, takenBack
}

// Spoken is the text of an answer without its inline reasoning.
func Spoken(text string) string {
	var r Reasoning
	before, _ := r.Push(text)
	after, takenBack := r.End()
	if takenBack {
		before = ""
	}
	return before + after
}

func (r *Reasoning) take(ended bool) (text string, takenBack bool) {
	var out strings.Builder
	rest := r.pending
	for rest != "" {
		at, tag, begins, whole := r.nextTag(rest, ended)
		if r.end == "" {
			r.give(&out, rest[:at])
		}
		rest = rest[at:]
		switch {
		case tag < 0 || !whole:
			r.pending = rest
			return out.String(), takenBack
		case r.end != "":
			r.end, r.skip = "", !r.spoken
			r.leading = ""
		case begins && r.canBegin():
			r.end = thoughtTags[tag].end
		case begins:
			r.named++
			r.give(&out, rest[:len(thoughtTags[tag].begin)])
		case r.named == 0 && r.quotes() && len(rest) == len(thoughtTags[tag].end) && !ended:
			r.pending = rest // what follows decides
			return out.String(), takenBack
		case r.named > 0 || r.quotes() && startsWithQuote(rest[len(thoughtTags[tag].end):]):
			r.named = max(r.named-1, 0)
			r.give(&out, rest[:len(thoughtTags[tag].end)])
		default: // all of it was reasoning
			takenBack = takenBack || r.spoken
			out.Reset()
			*r = Reasoning{skip: true}
		}
		if begins {
			rest = rest[len(thoughtTags[tag].begin):]
		} else {
			rest = rest[len(thoughtTags[tag].end):]
		}
	}
	r.pending = ""
	return out.String(), takenBack
}

// nextTag finds the next tag that matters here: where, which, whether it is a
// beginning, and whether all of it is there. tag is -1 for none; then what lies
// before at is decided.
func (r *Reasoning) nextTag(s string, ended bool) (at, tag int, begins, whole bool) {
	for at < len(s) {
		next := strings.IndexAny(s[at:], "<[◁")
		if next < 0 {
			break
		}
		at += next
		for i, t := range thoughtTags {
			if r.end != "" && t.end != r.end {
				continue
			}
			for _, begins := range [...]bool{false, true} {
				name := t.end
				if begins {
					name = t.begin
				}
				if begins && r.end != "" {
					continue
				}
				n := min(len(name), len(s)-at)
				switch {
				case !strings.EqualFold(s[at:at+n], name[:n]) || n < len(name) && ended:
				case n < len(name):
					return at, i, begins, false
				default:
					return at, i, begins, true
				}
			}
		}
		at++
	}
	return len(s), -1, false, false
}

// give hands on text outside of reasoning and keeps what decides on the next tag.
func (r *Reasoning) give(out *strings.Builder, s string) {
	if r.skip {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	if s == "" {
		return
	}
	r.skip = false
	for _, c := range s {
		r.watch(c)
	}
	if !r.spoken {
		r.leading += s
		return
	}
	out.WriteString(r.leading + s)
	r.leading = ""
}

func (r *Reasoning) watch(c rune) {
	r.last = c
	switch {
	case c == '\n':
		r.lineInk = false
		return
	case unicode.IsSpace(c):
		return
	case !r.lineInk:
		r.lead, r.leads = c, 1
	case r.leads > 0 && c == r.lead:
		r.leads++
	default:
		r.leads = -1
	}
	if r.leads == 3 && (c == '`' || c == '~') {
		r.inFence = !r.inFence
	}
	r.spoken, r.lineInk, r.lastInk = true, true, c
}

// canBegin reports whether reasoning may begin behind what was given.
func (r *Reasoning) canBegin() bool {
	return !r.spoken || !r.inFence && (!r.lineInk || strings.ContainsRune(".!?…。！？", r.lastInk))
}

const quoteMarks = "`\"'“”‘’«»「」『』"

// quotes reports whether what was given ends in a quotation mark.
func (r *Reasoning) quotes() bool { return r.last != 0 && strings.ContainsRune(quoteMarks, r.last) }

func startsWithQuote(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return s != "" && strings.ContainsRune(quoteMarks, first)
}

// thoughtOpenings are how models begin to think about a question. Letters compare
// without case.
var thoughtOpenings = [...]string{
	"okay, so ", "okay, the ", "okay, let", "ok, so ", "ok, the ", "alright, ", "hmm", "let me think", "we need to ", "i need to ",
	"the user ", "the person ", "the reader ", "the question is", "the question asks", "thinking process",
	"嗯", "好的，用户", "好，用户", "用户想", "用户问", "用户的问题", "首先，用户", "我们需要", "我需要",
}

// MayThink reports whether a text begins as reasoning does whose first tag was left
// out, as far as it can be told: a model that thinks aloud is one whose server put
// that tag into the prompt. It is a guess, good for no more than to wait with showing
// the text until its end tag or its end has come. Of a text that is not whole the
// part of an opening is enough.
func MayThink(text string, whole bool) bool {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	for _, opening := range thoughtOpenings {
		n := min(len(text), len(opening))
		if (n == len(opening) || !whole) && strings.EqualFold(text[:n], opening[:n]) {
			return true
		}
	}
	return false
}
