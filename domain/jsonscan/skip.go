package jsonscan

// Skip consumes a value nobody asked for. It checks the grammar alone and takes
// no stack per level: an open object or array costs one bit, so that a text
// nested as deep as it is long costs an eighth of its length.
func (s *Scanner) Skip() {
	var open levels
	for s.err == nil {
		switch s.Peek() {
		case '{':
			s.pos++
			if !s.Take('}') {
				open.push(true)
				s.skipName()
				continue
			}
		case '[':
			s.pos++
			if !s.Take(']') {
				open.push(false)
				continue
			}
		case '"':
			s.Raw(false)
		case 't':
			s.Literal("true")
		case 'f':
			s.Literal("false")
		case 'n':
			s.Literal("null")
		default:
			s.Number()
		}
		if s.closeLevels(&open) {
			return
		}
	}
}

// closeLevels follows a finished value up to the next comma. It reports whether
// the outermost value is finished.
func (s *Scanner) closeLevels(open *levels) bool {
	for open.n > 0 && s.err == nil {
		inObject := open.inObject()
		if s.Take(',') {
			if inObject {
				s.skipName()
			}
			return false
		}
		if inObject {
			s.Expect('}')
		} else {
			s.Expect(']')
		}
		open.n--
	}
	return true
}

// skipName consumes a member name and its colon inside a skipped value.
func (s *Scanner) skipName() {
	s.Raw(false)
	s.Expect(':')
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
