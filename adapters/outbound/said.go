package outbound

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"plexus/domain/text"
)

// Bounds of Said, in bytes.
const (
	maxSaid     = 240
	maxSaidRead = 4 << 10 // of a message are looked at
)

// Hidden stands in Said where something was taken out.
const Hidden = "[…]"

// What looks like a key, wherever it comes from: after the words that announce one, in
// an address, or by the beginnings that services give theirs.
var (
	keyAfterScheme = regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[^\s"',;]+`)
	keyAfterName   = regexp.MustCompile(`(?i)(\b(?:authorization|password|passwd|secret|(?:api|access)?[-_ ]?(?:key|token))["']?\s*(?:[:=]|\bis\b|\bprovided:)\s*["']?)(?:bearer\s+|basic\s+)?[^\s"',;]+`)
	userInAddress  = regexp.MustCompile(`(://)[^/\s@]*@`)
	keyByBeginning = regexp.MustCompile(`(\b)(?:sk|pk|rk|gsk|xai|hf|ghp|AIza)[-_A-Za-z0-9*.]*[-_*0-9][-_A-Za-z0-9*.]{3,}`)
)

// Said makes the message of a service's error fit to be shown and logged: one line of
// at most 240 bytes. Credentials are hidden: what looks like one, and every word that
// holds a part of key. So is what the service repeats of sent, which is what it was
// sent: every word that stands there, unless it is one in which services word their
// errors. "" when nothing is left.
func Said(message, key string, sent ...string) string {
	message = strings.ToValidUTF8(unescaped(text.Truncate(message, maxSaidRead)), "")
	for _, credential := range []*regexp.Regexp{keyAfterScheme, keyAfterName, userInAddress, keyByBeginning} {
		message = credential.ReplaceAllString(message, "${1}"+Hidden)
	}
	words := strings.Fields(message)
	for i, word := range words {
		if sharesKey(word, key) {
			words[i] = Hidden
		}
	}
	message = hideSent(strings.Join(words, " "), strings.ToLower(strings.Join(sent, "\n")))
	message = text.Printable(message)
	if !strings.ContainsFunc(strings.ReplaceAll(message, Hidden, ""), unicode.IsLetter) {
		return ""
	}
	if len(message) > maxSaid {
		message = strings.TrimSpace(text.Truncate(message, maxSaid-len("…"))) + "…"
	}
	return message
}

// escapes are runs of characters as programs write them in texts that they repeat: of
// JSON and Python, which may be within another such text, and of addresses.
var escapes = regexp.MustCompile(`(?:\\+u[0-9A-Fa-f]{4})+|(?:\\+U[0-9A-Fa-f]{8})+|(?:\\+x[0-9A-Fa-f]{2})+|(?:%[0-9A-Fa-f]{2})+`)

// unescaped gives the characters that escapes stand for, since what is repeated in them
// has to be found. Line ends and tabs are left: a path may look like one.
func unescaped(message string) string {
	return escapes.ReplaceAllStringFunc(message, func(run string) string {
		var units []uint16
		var out []byte
		for _, code := range strings.FieldsFunc(run, func(r rune) bool { return strings.ContainsRune(`\uUx%`, r) }) {
			n, _ := strconv.ParseUint(code, 16, 32)
			switch len(code) {
			case 2:
				out = append(out, byte(n))
			case 4:
				units = append(units, uint16(n))
			default:
				out = utf8.AppendRune(out, rune(n))
			}
		}
		return string(append(out, string(utf16.Decode(units))...))
	})
}

// keyPart is how many bytes of a key betray it.
const keyPart = 6

func sharesKey(word, key string) bool {
	n := min(len(key), keyPart)
	for i := 0; n > 0 && i+n <= len(key); i++ {
		if strings.Contains(word, key[i:i+n]) {
			return true
		}
	}
	return false
}

// hideSent hides the words of message that are in sent, which is in small letters.
func hideSent(message, sent string) string {
	var out strings.Builder
	harmless := errorWords()
	isSent := func(word string) bool {
		word = strings.ToLower(word)
		return !harmless[word] && repeats(word, sent)
	}
	for len(message) > 0 {
		end := strings.IndexFunc(message, func(r rune) bool { return !isWordPart(r) })
		if end < 0 {
			end = len(message)
		}
		word := message[:end]
		afterEscape := strings.HasSuffix(out.String(), `\`) && strings.IndexAny(word, "nrtbf") == 0 // as in \nAnna
		if isSent(word) || afterEscape && isSent(word[1:]) {
			out.WriteString(Hidden)
		} else {
			out.WriteString(word)
		}
		next := strings.IndexFunc(message[end:], isWordPart)
		if next < 0 {
			out.WriteString(message[end:])
			break
		}
		out.WriteString(message[end : end+next])
		message = message[end+next:]
	}
	return onceHidden.ReplaceAllString(out.String(), Hidden)
}

// onceHidden is a row of hidden words.
var onceHidden = regexp.MustCompile(regexp.QuoteMeta(Hidden) + `(?:[\s\pP]*` + regexp.QuoteMeta(Hidden) + `)+`)

func isWordPart(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// repeats reports whether a word in small letters is one of sent. A script without
// blanks is compared by three characters, since a run of it is a whole clause. Words of
// one or two characters betray nothing.
func repeats(word, sent string) bool {
	runes := utf8.RuneCountInString(word)
	switch {
	case strings.ContainsFunc(word, unblanked):
		return runes >= 2 && sharesRunes(word, sent, min(runes, 3))
	case runes < 3:
		return false
	}
	return strings.Contains(sent, word)
}

func unblanked(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// sharesRunes reports whether any n characters of word in a row are in sent.
func sharesRunes(word, sent string, n int) bool {
	runes := []rune(word)
	for i := 0; i+n <= len(runes); i++ {
		if strings.Contains(sent, string(runes[i:i+n])) {
			return true
		}
	}
	return false
}

// errorWords are the words in which services word their errors. Nobody learns from one
// of them what was asked.
func errorWords() map[string]bool {
	const list = `
	the this that these those for with from and not are was were has have had been but can cannot could may might must
	should will would does did than then more most less least too only over under into your you our its all any each
	either please use used using uses try tried when while because before after which what see set get got per via also
	however requires require required there here same other one two first last new old
	model models context length size window token tokens request requests requested exceed exceeds exceeded exceeding
	maximum max minimum min available unavailable limit limits limited input inputs output outputs prompt prompts message
	messages completion completions chat chats support supports supported unsupported server service found missing invalid
	valid unknown error errors failed fails failure internal load loaded loading memory busy overloaded rate quota timeout
	timed out key keys api access denied forbidden unauthorized authentication permission permissions parameter parameters
	field fields value values format json type types role roles user system assistant content endpoint path method allowed
	current currently exist exists start started starting stop stopped stopping embedding embeddings generate generation
	generated pull pulling reduce shorten large larger long longer small smaller many few number count template stream
	streaming billing credit credits account organization project http https url bad gateway such file directory
	page route resource incorrect provided resulted reached enough greater expected received between line column body data cache slot slots
`
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
