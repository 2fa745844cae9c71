package framing

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"plexus/domain/jsonscan"
)

// Result is one ranked hit of a SearchResult frame.
type Result struct {
	URL     string
	Title   string
	Snippet string
	Score   float32 // higher is better; finite
}

// SearchResult is the payload of a SearchResult frame, best result first.
type SearchResult struct {
	Results []Result
	TookMS  int64 // wall-clock milliseconds of the search, never negative
}

// AppendSearchResult appends a whole SearchResult frame with FINAL and says how
// many results it left out: when the frame would pass MaxFrameSize, the tail of
// the list is dropped, which is the worst of it.
//
// Readers of this message refuse null and want took_ms in digits, so a nil list
// is [], a score that is not finite is 0 and a negative TookMS is 0. Invalid
// UTF-8 becomes U+FFFD.
func AppendSearchResult(dst []byte, requestID uint64, r SearchResult) (frame []byte, dropped int) {
	start := len(dst)
	dst = AppendHeader(dst, Header{Type: SearchResultMsg, Flags: Final, RequestID: requestID})
	dst = append(dst, `{"results":[`...)

	var tail [len(`],"took_ms":}`) + len("9223372036854775807")]byte
	end := append(tail[:0], `],"took_ms":`...)
	end = append(strconv.AppendInt(end, max(0, r.TookMS), 10), '}')

	for i, result := range r.Results {
		before := len(dst)
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendResult(dst, result)
		if len(dst)-start+len(end) > MaxFrameSize {
			dst, dropped = dst[:before], len(r.Results)-i
			break
		}
	}
	return setPayloadLength(append(dst, end...), start), dropped
}

func appendResult(dst []byte, r Result) []byte {
	dst = append(dst, `{"url":`...)
	dst = jsonscan.AppendString(dst, r.URL)
	dst = append(dst, `,"title":`...)
	dst = jsonscan.AppendString(dst, r.Title)
	dst = append(dst, `,"snippet":`...)
	dst = jsonscan.AppendString(dst, r.Snippet)
	dst = append(dst, `,"score":`...)
	score := float64(r.Score)
	if math.IsNaN(score) || math.IsInf(score, 0) {
		score = 0
	}
	dst = strconv.AppendFloat(dst, score, 'g', -1, 32)
	return append(dst, '}')
}

// setPayloadLength fills in the length of the frame that starts at start.
func setPayloadLength(dst []byte, start int) []byte {
	binary.LittleEndian.PutUint32(dst[start+HeaderSize-4:], uint32(len(dst)-start-HeaderSize))
	return dst
}

// MaxTokenText is the longest text, in bytes, that fits one AiToken frame
// however it has to be escaped.
const MaxTokenText = (MaxPayloadSize - len(`{"t":""}`)) / jsonscan.MaxEscapedByte

// AppendAiToken appends a whole AiToken frame: STREAM, or FINAL for the last of
// a request. It allocates nothing when dst has room. text is at most
// MaxTokenText bytes and anything beyond is cut off, so the sender passes longer
// text through SplitToken. Invalid UTF-8 becomes U+FFFD.
func AppendAiToken(dst []byte, requestID uint64, text string, final bool) []byte {
	flags := Stream
	if final {
		flags = Final
	}
	text, _ = SplitToken(text, MaxTokenText)
	start := len(dst)
	dst = AppendHeader(dst, Header{Type: AiTokenMsg, Flags: flags, RequestID: requestID})
	dst = append(dst, `{"t":`...)
	dst = jsonscan.AppendString(dst, text)
	return setPayloadLength(append(dst, '}'), start)
}

// SplitToken cuts text so that head has at most limit bytes and no UTF-8 sequence
// is torn. The head is never empty, so that a caller's loop ends: it is at least
// the first code point, even if that is longer than limit.
func SplitToken(text string, limit int) (head, tail string) {
	if len(text) <= limit {
		return text, ""
	}
	cut := max(limit, 0)
	// A sequence has at most three continuation bytes; more of them are not UTF-8.
	for back := 0; back < utf8.UTFMax && cut-back >= 0; back++ {
		if utf8.RuneStart(text[cut-back]) {
			cut -= back
			break
		}
	}
	if cut == 0 {
		_, cut = utf8.DecodeRuneInString(text)
	}
	return text[:cut], text[cut:]
}

// DecodeSearchResult reads the payload of a SearchResult frame, for clients. It
// is as strict as DecodeSearchQuery; a score must fit a finite 32-bit float and
// took_ms an int64.
func DecodeSearchResult(payload []byte) (SearchResult, error) {
	s := jsonscan.Scan(string(payload))
	r := SearchResult{Results: []Result{}}
	for name := range s.Object(2, "results", "took_ms") {
		switch name {
		case "results":
			for range s.Elements {
				r.Results = append(r.Results, readResult(&s))
			}
		case "took_ms":
			r.TookMS = int64(s.Unsigned(math.MaxInt64))
		}
	}
	s.End()
	if s.Err() != nil {
		return SearchResult{}, fmt.Errorf("decode SearchResult: %w", s.Err())
	}
	return r, nil
}

func readResult(s *jsonscan.Scanner) (r Result) {
	for name := range s.Object(4, "url", "title", "snippet", "score") {
		switch name {
		case "url":
			r.URL = s.Text()
		case "title":
			r.Title = s.Text()
		case "snippet":
			r.Snippet = s.Text()
		case "score":
			r.Score = s.Float()
		}
	}
	return r
}

// DecodeAiToken reads the payload of an AiToken frame, for clients. It is as
// strict as DecodeSearchQuery.
func DecodeAiToken(payload []byte) (string, error) {
	s := jsonscan.Scan(string(payload))
	var text string
	for range s.Object(1, "t") {
		text = s.Text()
	}
	s.End()
	if s.Err() != nil {
		return "", fmt.Errorf("decode AiToken: %w", s.Err())
	}
	return text, nil
}
