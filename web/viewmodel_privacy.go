package web

import "time"

// PrivacyPlace is there with Layout.Personal only.
const PrivacyPlace Place = "privacy"

// rememberedPath is the list of remembered pages, below Layout.Base.
const rememberedPath = string(PrivacyPlace) + "/pages"

// Switch is something that the owner may switch.
type Switch struct {
	On      bool
	FixedBy string // what sets it above this page; "" for nothing
}

// Privacy is what is remembered, for how long, and what of it leaves the machine.
type Privacy struct {
	Recording Switch
	Searching Switch // every text of a conversation goes to the search service
	Service   string // that service; "": there is none
	Index     Index

	Sites []string // excluded ones, in order
	Typed string   // what the owner typed, after Fault
	Fault string   // why it was not taken, or ""

	Retention Retention
	Storage   Storage
}

// Retention is how much is kept, and for how long.
type Retention struct {
	PageDays, Pages   int
	PageBytes         int64 // of all texts
	TopicDays, Topics int
}

// Storage is how much there is of each kind.
type Storage struct {
	Kinds         []StoredKind
	DatabaseBytes int64 // with its write-ahead log
	DataDir       string
}

// StoredKind is one row of it.
type StoredKind struct {
	Name  string
	Count int
	Bytes int64 // of text; 0: not said
	Place Place // where it is shown
}

// RememberedPages is a part of the list of remembered pages, newest seen first.
type RememberedPages struct {
	Pages []RememberedPage
	From  int // how many come before
	Size  int // at most so many are shown
	Total int
	Asked string // what was searched for, or ""
}

// RememberedPage is one of them.
type RememberedPage struct {
	URL      string // as it is stored, to name it
	Address  string // fit to be shown and linked
	Title    string
	Site     string // host, or ""
	Bytes    int64  // of text
	LastSeen time.Time
}
