package sessions

// Milestone reports whether n is 1, 10, 100 and so on: the occurrences of a
// repeated event that are worth a line in the log.
func Milestone(n int) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// Budget bounds a queue by messages and by bytes at once. The zero value allows
// nothing. Not safe for concurrent use.
type Budget struct {
	MaxMessages int
	MaxBytes    int
	messages    int
	bytes       int
}

// Fits reports whether one more message of n bytes may be queued. An empty queue
// takes any message, so that one larger than the whole budget still passes.
func (b *Budget) Fits(n int) bool {
	if b.messages == 0 {
		return b.MaxMessages > 0
	}
	return b.messages < b.MaxMessages && b.bytes+n <= b.MaxBytes
}

// Add counts a queued message of n bytes.
func (b *Budget) Add(n int) {
	b.messages++
	b.bytes += n
}

// Remove takes a message of n bytes off the count.
func (b *Budget) Remove(n int) {
	b.messages--
	b.bytes -= n
}

// Messages and Bytes say what is queued now.
func (b *Budget) Messages() int { return b.messages }

// Bytes is the sum of the queued messages' sizes.
func (b *Budget) Bytes() int { return b.bytes }
