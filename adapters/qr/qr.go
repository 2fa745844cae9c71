// Package qr turns a text into a QR code, which is a matrix of modules, reads such
// a matrix back, and draws it as text for a terminal.
package qr

import (
	"errors"
	"fmt"
	"strings"

	qrcode "github.com/skip2/go-qrcode"
)

// QuietZone is the width of the light border that Encode adds, in modules.
const QuietZone = 4

// MaxText bounds a text, in bytes. A pairing payload has about 120.
const MaxText = 1024

// ErrText is what Encode answers for an empty text or one over MaxText.
var ErrText = errors.New("qr: the text is empty or too long")

// Matrix is a square of modules, row by row from the top left, quiet zone
// included. True is dark.
type Matrix [][]bool

// Encode makes the smallest code with error correction level M that holds text.
func Encode(text string) (Matrix, error) {
	if text == "" || len(text) > MaxText {
		return nil, ErrText
	}
	code, err := qrcode.New(text, qrcode.Medium)
	if err != nil {
		return nil, fmt.Errorf("encode a QR code of %d bytes: %w", len(text), err)
	}
	return Matrix(code.Bitmap()), nil
}

// Terminal draws m with half blocks, two rows of modules to a line. A terminal
// writes light on dark, so what is drawn is the light modules; invert is for one
// that writes dark on light. Every line ends with a line feed.
func Terminal(m Matrix, invert bool) string {
	blocks := [4]string{" ", "▄", "▀", "█"}
	drawn := func(y, x int) bool {
		if y >= len(m) { // below the last row of an odd number the ground shows
			return false
		}
		return m[y][x] == invert
	}
	var b strings.Builder
	for y := 0; y < len(m); y += 2 {
		for x := range m[y] {
			i := 0
			if drawn(y, x) {
				i += 2
			}
			if drawn(y+1, x) {
				i++
			}
			b.WriteString(blocks[i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
