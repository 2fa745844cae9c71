package qr

import "fmt"

// layout says how the codewords of a version are spread over blocks.
type layout struct{ blocks, check int } // check: codewords for error correction, of each block

// layouts is for level M, version 1 first.
var layouts = [maxVersion]layout{
	{1, 10}, {1, 16}, {1, 26}, {2, 18}, {2, 24}, {4, 16}, {4, 18}, {4, 22}, {5, 22}, {5, 26},
	{5, 30}, {8, 22}, {9, 22}, {9, 24}, {10, 24}, {10, 28}, {11, 28}, {13, 26}, {14, 26}, {16, 26},
	{17, 26}, {17, 28}, {18, 28}, {20, 28}, {21, 28}, {23, 28}, {25, 28}, {26, 28}, {28, 28}, {29, 28},
	{31, 28}, {33, 28}, {35, 28}, {37, 28}, {38, 28}, {40, 28}, {43, 28}, {45, 28}, {47, 28}, {49, 28},
}

// deinterleave gives the data of all blocks in a row. words are one of each
// block by turns, first data and then check; the last blocks may have one of
// data more.
func deinterleave(words []byte, version int) ([]byte, error) {
	l := layouts[version-1]
	short := len(words)/l.blocks - l.check
	long := len(words) % l.blocks
	blocks := make([][]byte, l.blocks)
	next := 0
	deal := func(to [][]byte) {
		for i := range to {
			to[i] = append(to[i], words[next])
			next++
		}
	}
	for range short {
		deal(blocks)
	}
	if long > 0 {
		deal(blocks[l.blocks-long:])
	}
	for range l.check {
		deal(blocks)
	}
	var data []byte
	for i, b := range blocks {
		if !sound(b, l.check) {
			return nil, fmt.Errorf("block %d of %d does not agree with its error correction", i+1, l.blocks)
		}
		data = append(data, b[:len(b)-l.check]...)
	}
	return data, nil
}

// sound reports whether a block, taken as a polynomial, is zero at the first
// check powers of 2, as every whole block is.
func sound(block []byte, check int) bool {
	x := byte(1)
	for range check {
		sum := byte(0)
		for _, b := range block {
			sum = product(sum, x) ^ b
		}
		if sum != 0 {
			return false
		}
		x = product(x, 2)
	}
	return true
}

// product multiplies in the field of 256 elements modulo x⁸+x⁴+x³+x²+1.
func product(a, b byte) byte {
	sum := byte(0)
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			sum ^= a
		}
		carry := a >> 7
		a = a<<1 ^ carry*0x1D
	}
	return sum
}
