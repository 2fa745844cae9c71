package framing

import (
	"math"
	"strconv"

	"plexus/domain/jsonscan"
)

// SearchQuery is the payload of a SearchQuery frame after both stages of its
// check (NERVE V1, "SearchQuery (0x02)"). Its strings share one copy of the
// payload and outlive the frame.
type SearchQuery struct {
	Query      string // not empty; may be only white space
	Context    PageContext
	Search     bool
	MaxResults int // 1..MaxResults
}

// PageContext is the page that the person was looking at. Empty strings stand
// for absent members too. It is text from outside and is never trusted.
type PageContext struct {
	URL       string
	Title     string
	Selection string
	Extract   string // under 4 KiB by wish of the protocol, not enforced
	// Total and Kind are what our extension says of Extract beyond NERVE V1 (decision
	// D17): the bytes of the text that it was taken from, and what it is. 0 and
	// "": not known.
	Total uint64
	Kind  ExtractKind
}

// ExtractKind says what an extract is of its text.
type ExtractKind string

// The kinds of extracts.
const (
	WholeText     ExtractKind = "whole"
	Excerpt       ExtractKind = "excerpt"   // a line of … alone marks a gap
	SelectionPart ExtractKind = "selection" // of a selection that is too long to be sent
)

// schemaVersion is the member v of every SearchQuery.
const schemaVersion = 1

// DecodeSearchQuery reads the payload of a SearchQuery frame. The error is a
// *QueryError. First the shape is read: JSON, types, integer ranges, required
// and repeated members, all QueryJSON. Only a payload of the right shape is
// judged by value: version, then empty query, then max_results.
//
// Unknown members are skipped at every level and need only be JSON. An array in
// place of an object is refused.
func DecodeSearchQuery(payload []byte) (SearchQuery, error) {
	s := jsonscan.Scan(string(payload))
	w := readWireQuery(&s)
	s.End()
	if s.Err() != nil {
		return SearchQuery{}, &QueryError{Kind: QueryJSON, Detail: s.Err().Error()}
	}
	switch {
	case w.v != schemaVersion:
		return SearchQuery{}, &QueryError{Kind: QueryVersion, Value: uint32(w.v)}
	case w.query == "":
		return SearchQuery{}, &QueryError{Kind: QueryEmpty}
	case w.maxResults < 1 || w.maxResults > MaxResults:
		return SearchQuery{}, &QueryError{Kind: QueryMaxResults, Value: w.maxResults}
	}
	return SearchQuery{Query: w.query, Context: w.context, Search: w.search, MaxResults: int(w.maxResults)}, nil
}

// wireQuery is a query of the right shape whose values are not judged yet.
type wireQuery struct {
	v          uint8
	query      string
	context    PageContext
	search     bool
	maxResults uint32
}

func readWireQuery(s *jsonscan.Scanner) (w wireQuery) {
	for name := range s.Object(4, "v", "query", "context", "opts") {
		switch name {
		case "v":
			w.v = uint8(s.Unsigned(math.MaxUint8))
		case "query":
			w.query = s.Text()
		case "context":
			w.context = readPageContext(s)
		case "opts":
			w.search, w.maxResults = readQueryOptions(s)
		}
	}
	return w
}

func readPageContext(s *jsonscan.Scanner) (c PageContext) {
	for name := range s.Object(2, "url", "title", "selection", "extract", "?extract_total", "?extract_kind") {
		switch name {
		case "url":
			c.URL = s.Text()
		case "title":
			c.Title = s.Text()
		case "selection":
			c.Selection = s.TextOrNull()
		case "extract":
			c.Extract = s.TextOrNull()
		case "extract_total":
			c.Total = extractTotal(s.Written())
		case "extract_kind":
			c.Kind = extractKind(s.Written())
		}
	}
	return c
}

// extractTotal gives 0 for what is no size: a V1 reader would not even look.
func extractTotal(written string) uint64 {
	n, err := strconv.ParseUint(written, 10, 63)
	if err != nil {
		return 0
	}
	return n
}

func extractKind(written string) ExtractKind {
	for _, kind := range [...]ExtractKind{WholeText, Excerpt, SelectionPart} {
		if written == `"`+string(kind)+`"` {
			return kind
		}
	}
	return ""
}

func readQueryOptions(s *jsonscan.Scanner) (search bool, maxResults uint32) {
	for name := range s.Object(2, "search", "max_results") {
		switch name {
		case "search":
			search = s.Bool()
		case "max_results":
			maxResults = uint32(s.Unsigned(math.MaxUint32))
		}
	}
	return search, maxResults
}

// AppendSearchQuery appends the payload of a SearchQuery frame, for clients. It
// writes what it is given: AppendFrame refuses one that is too long, and the
// host one whose values are out of range. Empty members of the context that may be
// absent are left out; invalid UTF-8 becomes U+FFFD.
func AppendSearchQuery(dst []byte, q SearchQuery) []byte {
	dst = append(dst, `{"v":1,"query":`...)
	dst = jsonscan.AppendString(dst, q.Query)
	dst = append(dst, `,"context":{"url":`...)
	dst = jsonscan.AppendString(dst, q.Context.URL)
	dst = append(dst, `,"title":`...)
	dst = jsonscan.AppendString(dst, q.Context.Title)
	if q.Context.Selection != "" {
		dst = append(dst, `,"selection":`...)
		dst = jsonscan.AppendString(dst, q.Context.Selection)
	}
	if q.Context.Extract != "" {
		dst = append(dst, `,"extract":`...)
		dst = jsonscan.AppendString(dst, q.Context.Extract)
	}
	if q.Context.Total != 0 {
		dst = append(dst, `,"extract_total":`...)
		dst = strconv.AppendUint(dst, q.Context.Total, 10)
	}
	if q.Context.Kind != "" {
		dst = append(dst, `,"extract_kind":`...)
		dst = jsonscan.AppendString(dst, string(q.Context.Kind))
	}
	dst = append(dst, `},"opts":{"search":`...)
	dst = strconv.AppendBool(dst, q.Search)
	dst = append(dst, `,"max_results":`...)
	dst = strconv.AppendInt(dst, int64(q.MaxResults), 10)
	return append(dst, "}}"...)
}
