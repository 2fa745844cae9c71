package framing

// SearchQuery is the payload of a SearchQuery frame after both stages of its
// check (NERVE V1, "SearchQuery (0x02)"). Its strings are copies and outlive
// the frame.
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
