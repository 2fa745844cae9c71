package qr

import (
	"errors"
	"fmt"
	"strconv"
)

// The modes of a segment, as its first four bits have them.
const (
	terminator   = 0
	numeric      = 1
	alphanumeric = 2
	bytewise     = 4
)

const (
	modeBits = 4
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
)

// bitReader takes numbers from a run of bits.
type bitReader struct {
	data []byte
	at   int // of the next bit
}

func (b *bitReader) left() int { return 8*len(b.data) - b.at }

// take gives the next n bits as a number. Whoever calls has looked at left.
func (b *bitReader) take(n int) int {
	value := 0
	for range n {
		value = value<<1 | int(b.data[b.at/8]>>(7-b.at%8)&1)
		b.at++
	}
	return value
}

// readSegments puts together the text of all segments, up to the terminator.
func readSegments(data []byte, version int) (string, error) {
	b := &bitReader{data: data}
	var text []byte
	for b.left() >= modeBits { // where fewer are left, the terminator is cut short
		mode := b.take(modeBits)
		if mode == terminator {
			break
		}
		var err error
		if text, err = b.segment(text, mode, version); err != nil {
			return "", err
		}
	}
	return string(text), b.padding()
}

// segment appends the text of one segment.
func (b *bitReader) segment(text []byte, mode, version int) ([]byte, error) {
	width := countBits(mode, version)
	if width == 0 {
		return nil, fmt.Errorf("a segment has the unknown mode %d", mode)
	}
	if b.left() < width {
		return nil, errors.New("a segment ends before its length")
	}
	count := b.take(width)
	if b.left() < textBits(mode, count) {
		return nil, fmt.Errorf("a segment of %d characters ends before its text", count)
	}
	switch mode {
	case numeric:
		return b.numbers(text, count)
	case alphanumeric:
		return b.letters(text, count)
	}
	for range count {
		text = append(text, byte(b.take(8)))
	}
	return text, nil
}

// countBits is the width of a segment's length, or 0 for a mode that is not read.
func countBits(mode, version int) int {
	class := 0
	if version >= 10 {
		class++
	}
	if version >= 27 {
		class++
	}
	switch mode {
	case numeric:
		return 10 + 2*class
	case alphanumeric:
		return 9 + 2*class
	case bytewise:
		return 8 + 8*min(class, 1)
	}
	return 0
}

// textBits is the width of count characters.
func textBits(mode, count int) int {
	switch mode {
	case numeric:
		return (10*count + 2) / 3 // ten for three, seven for two, four for one
	case alphanumeric:
		return (11*count + 1) / 2 // eleven for two, six for one
	}
	return 8 * count
}

func (b *bitReader) numbers(text []byte, count int) ([]byte, error) {
	for count > 0 {
		n := min(count, 3)
		digits := strconv.Itoa(b.take(textBits(numeric, n)))
		if len(digits) > n {
			return nil, fmt.Errorf("%d digits have a number too large for them", n)
		}
		for range n - len(digits) {
			text = append(text, '0')
		}
		text = append(text, digits...)
		count -= n
	}
	return text, nil
}

func (b *bitReader) letters(text []byte, count int) ([]byte, error) {
	const base = len(alphabet)
	for ; count > 1; count -= 2 {
		pair := b.take(textBits(alphanumeric, 2))
		if pair >= base*base {
			return nil, errors.New("a pair of alphanumerics has a number too large for it")
		}
		text = append(text, alphabet[pair/base], alphabet[pair%base])
	}
	if count == 1 {
		last := b.take(textBits(alphanumeric, 1))
		if last >= base {
			return nil, errors.New("an alphanumeric has a number too large for it")
		}
		text = append(text, alphabet[last])
	}
	return text, nil
}

// padding checks what follows the terminator: zeros up to a whole byte, then two
// bytes by turns.
func (b *bitReader) padding() error {
	if b.take(b.left()%8) != 0 {
		return errors.New("the bits after the text are not zero")
	}
	for want := 0xEC; b.left() > 0; want ^= 0xEC ^ 0x11 {
		if b.take(8) != want {
			return errors.New("the padding is wrong")
		}
	}
	return nil
}
