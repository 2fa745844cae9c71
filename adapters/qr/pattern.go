package qr

import "fmt"

const (
	maxVersion = 40
	masks      = 8
	timing     = 6 // row and column of the timing patterns

	formatBits  = 15
	versionBits = 18
)

// sizeOf is the width of a version, in modules, without the quiet zone.
func sizeOf(version int) int { return 17 + 4*version }

// module is what the standard says of one place of a symbol.
type module byte

const (
	free  module = iota // for codewords
	light               // and so for every text
	dark
)

// pattern is all that a version, a mask and level M decide, row by row.
type pattern [][]module

type place struct{ x, y int }

func newPattern(version, mask int) pattern {
	size := sizeOf(version)
	p := make(pattern, size)
	for y := range p {
		p[y] = make([]module, size)
	}
	for i := range size {
		p.set(place{i, timing}, i%2 == 0)
		p.set(place{timing, i}, i%2 == 0)
	}
	for _, centre := range alignments(version) {
		p.square(centre, 2, func(ring int) bool { return ring != 1 })
	}
	for _, centre := range []place{{3, 3}, {size - 4, 3}, {3, size - 4}} { // the fourth ring separates
		p.square(centre, 4, func(ring int) bool { return ring != 2 && ring != 4 })
	}
	p.drawFormat(mask)
	p.drawVersion(version)
	return p
}

// set leaves out what lies beyond the edge.
func (p pattern) set(at place, isDark bool) {
	if min(at.x, at.y) < 0 || max(at.x, at.y) >= len(p) {
		return
	}
	p[at.y][at.x] = light
	if isDark {
		p[at.y][at.x] = dark
	}
}

// square draws rings around a centre, whose ring is 0.
func (p pattern) square(centre place, radius int, isDark func(ring int) bool) {
	for dy := -radius; dy <= radius; dy++ {
		for dx := -radius; dx <= radius; dx++ {
			p.set(place{centre.x + dx, centre.y + dy}, isDark(max(dx, -dx, dy, -dy)))
		}
	}
}

// alignments are the centres of the alignment patterns: a grid with a finder in
// three of its corners. Its lines are equally far apart, but for the first gap.
func alignments(version int) []place {
	if version == 1 {
		return nil
	}
	gaps := version/7 + 1
	span := sizeOf(version) - 1 - 2*timing
	step := (span + 2*gaps - 1) / (2 * gaps) * 2
	if version == 32 { // the one version that does not follow the rule
		step = 26
	}
	line := func(i int) int {
		if i == 0 {
			return timing
		}
		return timing + span - (gaps-i)*step
	}
	var centres []place
	for i := range gaps + 1 {
		for j := range gaps + 1 {
			if finder := i == 0 && j == 0 || i == 0 && j == gaps || i == gaps && j == 0; !finder {
				centres = append(centres, place{line(i), line(j)})
			}
		}
	}
	return centres
}

func (p pattern) drawFormat(mask int) {
	bits := format(mask)
	for i := range formatBits {
		first, second := formatPlaces(i, len(p))
		p.set(first, bits>>i&1 == 1)
		p.set(second, bits>>i&1 == 1)
	}
	p.set(place{8, len(p) - 8}, true) // dark in every symbol
}

// formatPlaces are the two places of a bit of the format, counted from the last.
func formatPlaces(i, size int) (first, second place) {
	switch {
	case i < 6:
		first = place{8, i}
	case i < 8: // one on, past the timing
		first = place{8, i + 1}
	case i == 8:
		first = place{7, 8}
	default:
		first = place{14 - i, 8}
	}
	if i < 8 {
		return first, place{size - 1 - i, 8}
	}
	return first, place{8, size - formatBits + i}
}

// format is the format information of level M, whose two bits are zero.
func format(mask int) int { return withRemainder(mask, 10, 0x537) ^ 0x5412 }

// drawVersion is for versions from 7, which do not leave it to the size alone.
func (p pattern) drawVersion(version int) {
	if version < 7 {
		return
	}
	bits := withRemainder(version, 12, 0x1F25)
	for i := range versionBits {
		along, across := i/3, len(p)-11+i%3
		p.set(place{along, across}, bits>>i&1 == 1)
		p.set(place{across, along}, bits>>i&1 == 1)
	}
}

// withRemainder appends to value the remainder, of so many bits, of its division
// by a generator over the field of two elements.
func withRemainder(value, bits, generator int) int {
	rest := value
	for range bits {
		rest <<= 1
		if rest>>bits&1 == 1 {
			rest ^= generator
		}
	}
	return value<<bits | rest
}

// match finds the first module that is not as p has it.
func (p pattern) match(symbol Matrix) error {
	for y, row := range p {
		for x, want := range row {
			if want != free && symbol[y][x] != (want == dark) {
				return fmt.Errorf("the module in row %d, column %d of the symbol is wrong for its version and mask", y, x)
			}
		}
	}
	return nil
}
