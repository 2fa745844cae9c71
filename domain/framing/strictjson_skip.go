package framing

// skip consumes a value nobody asked for. It checks the grammar alone and takes
// no stack per level: an open object or array costs one bit, so that a payload
// nested as deep as it is long costs an eighth of its length.
func (s *jsonScanner) skip() {
	var open levels
	for s.err == nil {
		switch s.peek() {
		case '{':
			s.pos++
			if !s.take('}') {
				open.push(true)
				s.skipName()
				continue
			}
		case '[':
			s.pos++
			if !s.take(']') {
				open.push(false)
				continue
			}
		default:
			s.skipScalar()
		}
		if s.closeLevels(&open) {
			return
		}
	}
}

// closeLevels follows a finished value up to the next comma. It reports whether
// the outermost value is finished.
func (s *jsonScanner) closeLevels(open *levels) bool {
	for open.n > 0 && s.err == nil {
		inObject := open.inObject()
		if s.take(',') {
			if inObject {
				s.skipName()
			}
			return false
		}
		if inObject {
			s.expect('}')
		} else {
			s.expect(']')
		}
		open.n--
	}
	return true
}

// skipName consumes a member name and its colon inside a skipped value.
func (s *jsonScanner) skipName() {
	if s.peek() != '"' {
		s.fail(errSyntax)
		return
	}
	s.scanString()
	s.expect(':')
}

func (s *jsonScanner) skipScalar() {
	switch s.peek() {
	case '"':
		s.scanString()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

// levels is a stack of bits, one for each open value: set for an object.
type levels struct {
	first [4]uint64 // the usual depth, without an allocation
	rest  []uint64
	n     int
}

func (l *levels) word(i int) *uint64 {
	if i < len(l.first) {
		return &l.first[i]
	}
	return &l.rest[i-len(l.first)]
}

func (l *levels) push(object bool) {
	i, bit := l.n/64, uint64(1)<<(l.n%64)
	if i >= len(l.first)+len(l.rest) {
		l.rest = append(l.rest, 0)
	}
	if w := l.word(i); object {
		*w |= bit
	} else {
		*w &^= bit
	}
	l.n++
}

func (l *levels) inObject() bool {
	i := l.n - 1
	return *l.word(i / 64)&(1<<(i%64)) != 0
}
