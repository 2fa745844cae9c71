package searchapi

import (
	"encoding/json"
	"errors"
	"html"
	"math"
	"net/url"
	"strconv"
	"strings"

	"plexus/domain/framing"
)

// errUnusable has a fixed text: a decoder's own message may quote the answer.
var errUnusable = errors.New("its answer is not the JSON it should be")

// list is a JSON array that is decoded into fresh memory, so that a repeated
// member replaces the first one and never mixes with it. It stays nil when the
// member is missing or null, which is how an answer without results is told
// from an answer with none.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(data []byte) error {
	var fresh []T
	if err := json.Unmarshal(data, &fresh); err != nil {
		return err
	}
	*l = fresh
	return nil
}

// score reads a number through 32 bits, so that it prints as short as it was
// before the service widened it. What is not finite becomes 0.
type score float32

func (s *score) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*s = 0
		return nil
	}
	f, err := strconv.ParseFloat(string(data), 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errUnusable
	}
	if math.IsInf(f, 0) {
		f = 0
	}
	*s = score(f)
	return nil
}

// rankScore stands in where a service gives no score: 1, 1/2, 1/3 and so on.
func rankScore(i int) float32 { return 1 / float32(i+1) }

// usableResults drops results without a web address and duplicates, and cuts the
// list at limit. The service's order stays.
func usableResults(found []framing.Result, limit int) []framing.Result {
	kept := make([]framing.Result, 0, min(len(found), limit))
	seen := make(map[string]bool, len(found))
	for _, r := range found {
		if len(kept) == limit {
			break
		}
		u, err := url.Parse(r.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || seen[r.URL] {
			continue
		}
		seen[r.URL] = true
		kept = append(kept, r)
	}
	return kept
}

// plainText takes the highlighting out of a snippet: first the tags, then the
// entities, so that an escaped tag stays readable as text.
func plainText(s string) string {
	var b strings.Builder
	for {
		start := tagStart(s)
		if start < 0 {
			break
		}
		end := strings.IndexByte(s[start:], '>')
		if end < 0 {
			break
		}
		b.WriteString(s[:start])
		s = s[start+end+1:]
	}
	b.WriteString(s)
	return html.UnescapeString(b.String())
}

// tagStart finds the next < that opens a tag; the one in "a < b" does not.
func tagStart(s string) int {
	for i := 0; i+1 < len(s); i++ {
		next := s[i+1]
		if s[i] == '<' && (next == '/' || next|0x20 >= 'a' && next|0x20 <= 'z') {
			return i
		}
	}
	return -1
}
