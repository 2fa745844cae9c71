package framing

import (
	"math"
	"strconv"
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
}

// schemaVersion is the member v of every SearchQuery.
const schemaVersion = 1

// Bits of the known members, one set for each object.
const (
	memberV memberSet = 1 << iota
	memberQuery
	memberContext
	memberOpts

	queryMembers = memberV | memberQuery | memberContext | memberOpts
)

const (
	memberURL memberSet = 1 << iota
	memberTitle
	memberSelection
	memberExtract
)

const (
	memberSearch memberSet = 1 << iota
	memberMaxResults
)

// DecodeSearchQuery reads the payload of a SearchQuery frame. The error is a
// *QueryError. First the shape is read: JSON, types, integer ranges, required
// and repeated members, all QueryJSON. Only a payload of the right shape is
// judged by value: version, then empty query, then max_results.
//
// Unknown members are skipped at every level and need only be JSON. An array in
// place of an object is refused.
func DecodeSearchQuery(payload []byte) (SearchQuery, error) {
	s := jsonScanner{src: string(payload)}
	w := s.wireQuery()
	s.end()
	if s.err != nil {
		return SearchQuery{}, &QueryError{Kind: QueryJSON, Detail: s.err.Error()}
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

func (s *jsonScanner) wireQuery() (w wireQuery) {
	var seen memberSet
	for name := range s.members {
		switch name {
		case "v":
			seen.mark(s, memberV)
			w.v = uint8(s.unsigned(math.MaxUint8))
		case "query":
			seen.mark(s, memberQuery)
			w.query = s.text()
		case "context":
			seen.mark(s, memberContext)
			w.context = s.pageContext()
		case "opts":
			seen.mark(s, memberOpts)
			w.search, w.maxResults = s.queryOptions()
		default:
			s.skip()
		}
	}
	seen.require(s, queryMembers)
	return w
}

func (s *jsonScanner) pageContext() (c PageContext) {
	var seen memberSet
	for name := range s.members {
		switch name {
		case "url":
			seen.mark(s, memberURL)
			c.URL = s.text()
		case "title":
			seen.mark(s, memberTitle)
			c.Title = s.text()
		case "selection":
			seen.mark(s, memberSelection)
			c.Selection = s.textOrNull()
		case "extract":
			seen.mark(s, memberExtract)
			c.Extract = s.textOrNull()
		default:
			s.skip()
		}
	}
	seen.require(s, memberURL|memberTitle)
	return c
}

func (s *jsonScanner) queryOptions() (search bool, maxResults uint32) {
	var seen memberSet
	for name := range s.members {
		switch name {
		case "search":
			seen.mark(s, memberSearch)
			search = s.boolean()
		case "max_results":
			seen.mark(s, memberMaxResults)
			maxResults = uint32(s.unsigned(math.MaxUint32))
		default:
			s.skip()
		}
	}
	seen.require(s, memberSearch|memberMaxResults)
	return search, maxResults
}

// AppendSearchQuery appends the payload of a SearchQuery frame, for clients. It
// writes what it is given: AppendFrame refuses one that is too long, and the
// host one whose values are out of range. Empty Selection and Extract are left
// out; invalid UTF-8 becomes U+FFFD.
func AppendSearchQuery(dst []byte, q SearchQuery) []byte {
	dst = append(dst, `{"v":1,"query":`...)
	dst = appendJSONString(dst, q.Query)
	dst = append(dst, `,"context":{"url":`...)
	dst = appendJSONString(dst, q.Context.URL)
	dst = append(dst, `,"title":`...)
	dst = appendJSONString(dst, q.Context.Title)
	if q.Context.Selection != "" {
		dst = append(dst, `,"selection":`...)
		dst = appendJSONString(dst, q.Context.Selection)
	}
	if q.Context.Extract != "" {
		dst = append(dst, `,"extract":`...)
		dst = appendJSONString(dst, q.Context.Extract)
	}
	dst = append(dst, `},"opts":{"search":`...)
	dst = strconv.AppendBool(dst, q.Search)
	dst = append(dst, `,"max_results":`...)
	dst = strconv.AppendInt(dst, int64(q.MaxResults), 10)
	return append(dst, "}}"...)
}
