package jsonscan

// Skip consumes a value that the schema does not need. It checks the grammar alone,
// and takes one byte for each open object or array and no stack, however deep they
// are nested.
func (s *Scanner) Skip() {
	var room [64]byte // the usual depth, without an allocation
	open := room[:0]  // the brackets that have to come, the next one last
	for {
		switch c := s.Peek(); c {
		case '{', '[':
			s.pos++
			if closing := c + 2; !s.Take(closing) { // } and ] are two after { and [
				if open = append(open, closing); c == '{' {
					s.skipName()
				}
				if s.err != nil {
					return
				}
				continue
			}
		case '"':
			s.Raw(false)
		default:
			s.Scalar()
		}
		for len(open) > 0 && s.Take(open[len(open)-1]) {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return
		}
		if s.Expect(','); open[len(open)-1] == '}' {
			s.skipName()
		}
		if s.err != nil {
			return
		}
	}
}

// skipName consumes a member name and its colon inside a skipped value.
func (s *Scanner) skipName() {
	s.Raw(false)
	s.Expect(':')
}
