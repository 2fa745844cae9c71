package qr

import (
	"errors"
	"fmt"
)

// ErrMatrix is what Read answers for modules that are no sound code. The error
// that wraps it says what is wrong, and nothing of the text.
var ErrMatrix = errors.New("qr: the matrix is not a sound code")

// Read gives back the text of m, which has the shape that Encode makes: quiet
// zone included, error correction level M. It shares no code with Encode and
// corrects nothing: a single module that is not as the standard has it is an
// error. Of the modes of text it knows digits, alphanumerics and bytes.
// Every error is ErrMatrix.
func Read(m Matrix) (string, error) {
	text, err := read(m)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrMatrix, err)
	}
	return text, nil
}

func read(m Matrix) (string, error) {
	symbol, version, err := withoutQuietZone(m)
	if err != nil {
		return "", err
	}
	mask, err := maskOf(symbol)
	if err != nil {
		return "", err
	}
	p := newPattern(version, mask)
	if err := p.match(symbol); err != nil {
		return "", err
	}
	words, err := codewords(symbol, p, mask)
	if err != nil {
		return "", err
	}
	data, err := deinterleave(words, version)
	if err != nil {
		return "", err
	}
	return readSegments(data, version)
}

// withoutQuietZone gives the symbol in m, as rows that share m's modules, and
// its version.
func withoutQuietZone(m Matrix) (symbol Matrix, version int, err error) {
	size := len(m) - 2*QuietZone
	if size < sizeOf(1) || size > sizeOf(maxVersion) || (size-sizeOf(1))%4 != 0 {
		return nil, 0, fmt.Errorf("no version has %d rows with the quiet zone", len(m))
	}
	for y, row := range m {
		if len(row) != len(m) {
			return nil, 0, fmt.Errorf("row %d has %d modules of %d", y, len(row), len(m))
		}
		for x, dark := range row {
			if dark && min(x, y, len(m)-1-x, len(m)-1-y) < QuietZone {
				return nil, 0, fmt.Errorf("dark module in the quiet zone in row %d, column %d", y, x)
			}
		}
		if y >= QuietZone && y < QuietZone+size {
			symbol = append(symbol, row[QuietZone:QuietZone+size])
		}
	}
	return symbol, (size-sizeOf(1))/4 + 1, nil
}

// maskOf reads the format information at the top left. Whether the second copy
// says the same shows when the pattern is compared.
func maskOf(symbol Matrix) (int, error) {
	bits := 0
	for i := range formatBits {
		at, _ := formatPlaces(i, len(symbol))
		if symbol[at.y][at.x] {
			bits |= 1 << i
		}
	}
	for mask := range masks {
		if bits == format(mask) {
			return mask, nil
		}
	}
	return 0, fmt.Errorf("format %015b is not of error correction level M", bits)
}

// masked reports whether a mask turns the module over.
func masked(mask, x, y int) bool {
	switch mask {
	case 0:
		return (x+y)%2 == 0
	case 1:
		return y%2 == 0
	case 2:
		return x%3 == 0
	case 3:
		return (x+y)%3 == 0
	case 4:
		return (x/3+y/2)%2 == 0
	case 5:
		return x*y%2+x*y%3 == 0
	case 6:
		return (x*y%2+x*y%3)%2 == 0
	default:
		return ((x+y)%2+x*y%3)%2 == 0
	}
}

// codewords reads the modules that p leaves free, without the mask: in pairs of
// columns from the right, up and down by turns. The few that are left over after
// the last whole codeword have to be zero.
func codewords(symbol Matrix, p pattern, mask int) ([]byte, error) {
	var words []byte
	word, n := 0, 0
	size := len(symbol)
	up := true
	for right := size - 1; right > 0; right -= 2 {
		if right == timing { // the column of the timing belongs to no pair
			right--
		}
		for i := range 2 * size {
			x, y := right-i%2, i/2
			if up {
				y = size - 1 - y
			}
			if p[y][x] != free {
				continue
			}
			word <<= 1
			if symbol[y][x] != masked(mask, x, y) {
				word |= 1
			}
			if n++; n == 8 {
				words, word, n = append(words, byte(word)), 0, 0
			}
		}
		up = !up
	}
	if word != 0 {
		return nil, errors.New("the modules after the last codeword are not zero")
	}
	return words, nil
}
