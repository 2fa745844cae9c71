package pages

// Bounds limit an index as a whole. A field that is zero or less is not refused,
// and then nothing is kept, so start from DefaultBounds.
type Bounds struct {
	Pages int   // rows
	Bytes int64 // of all texts together
	Days  int   // run-days since a page was last seen
}

// DefaultBounds are the bounds of decision D10.
func DefaultBounds() Bounds {
	return Bounds{Pages: MaxPages, Bytes: MaxTotal, Days: MaxDays}
}
