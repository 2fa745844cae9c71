// Package pages holds what the local page index keeps: a page's canonical URL,
// its bounds and who may find it again (decision D10). Pure.
package pages

import "time"

// Bounds of the index (decision D10).
const (
	MaxPages     = 20_000
	MaxTextBytes = 64 << 10  // text of one page
	MaxTotal     = 512 << 20 // bytes of all texts
	MaxDays      = 180
	MaxURLBytes  = 2048
	MaxTitle     = 500 // code points
)

// Owner is the origin under which the owner's own tools (`plexus ask`) store
// and search. A search by Owner finds every page.
const Owner = ""

// Page is one page to index. Build it with New, which enforces the bounds.
type Page struct {
	URL    string // canonical, see CanonicalURL
	Title  string
	Text   string // selection and extract, at most MaxTextBytes
	Origin string // extension that brought it, or Owner
}

// Listing is one row of `plexus index list`. It holds no text.
type Listing struct {
	URL      string
	Title    string
	Origin   string
	Bytes    int // of text
	LastSeen time.Time
}
