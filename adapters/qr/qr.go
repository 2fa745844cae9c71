// Package qr turns a text into a QR code, which is a matrix of modules, reads such
// a matrix back, and draws it as text for a terminal.
package qr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode/decoder"
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

// ErrMatrix is what Read answers for modules that are no sound code. The error
// that wraps it says what is wrong, and nothing of the text.
var ErrMatrix = errors.New("qr: the matrix is not a sound code")

// Read gives back the text of a matrix that Encode has made. Another library than
// the one that drew it reads it, so the two have to agree. That library corrects
// errors as a phone does; Read does not: every module has to be as Encode draws
// it for the text. Every error is ErrMatrix.
func Read(m Matrix) (string, error) {
	size := len(m) - 2*QuietZone
	var symbol [][]bool
	for y, row := range m {
		if len(row) != len(m) {
			return "", fmt.Errorf("%w: row %d has %d modules of %d", ErrMatrix, y, len(row), len(m))
		}
		if y >= QuietZone && y < QuietZone+size {
			symbol = append(symbol, row[QuietZone:QuietZone+size])
		}
	}
	if size <= 0 {
		return "", fmt.Errorf("%w: there is nothing but a quiet zone", ErrMatrix)
	}
	hints := map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_CHARACTER_SET: "UTF-8"}
	read, err := decoder.NewDecoder().DecodeBoolMap(symbol, hints)
	if err != nil {
		return "", fmt.Errorf("%w: no text can be read", ErrMatrix)
	}
	again, err := Encode(read.GetText())
	if err != nil || !slices.EqualFunc(m, again, slices.Equal) {
		return "", fmt.Errorf("%w: some modules are wrong", ErrMatrix)
	}
	return read.GetText(), nil
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
