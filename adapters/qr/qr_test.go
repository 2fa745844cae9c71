package qr

import (
	"errors"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

const payload = `{"type":"nova.pair","version":1,"server":"wss://host.tailnet.ts.net/client/v1","code":"0123456789abcdef0123456789abcdef"}`

func mustEncode(t *testing.T, text string) Matrix {
	t.Helper()
	m, err := Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEncodeOfAPairingPayload(t *testing.T) {
	m := mustEncode(t, payload)
	if len(m) != 45+2*QuietZone {
		t.Errorf("%d modules wide, want version 7 with its quiet zone", len(m))
	}
	for y, row := range m {
		if len(row) != len(m) {
			t.Fatalf("row %d has %d modules of %d", y, len(row), len(m))
		}
		for x, dark := range row {
			border := min(x, y, len(m)-1-x, len(m)-1-y) < QuietZone
			if border && dark {
				t.Fatalf("dark module in the quiet zone at %d,%d", x, y)
			}
		}
	}
	if got := decode(t, picture(m)); got != payload {
		t.Errorf("decoded %q", got)
	}
}

func TestEncodeRefusesWhatDoesNotFit(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "too long": strings.Repeat("x", MaxText+1)} {
		if m, err := Encode(text); !errors.Is(err, ErrText) || m != nil {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	mustEncode(t, strings.Repeat("é", MaxText/2))
}

// A reader in front of the terminal sees the drawn blocks in the terminal's ink
// and all else in its ground. Both kinds of terminal must give the payload back.
func TestTerminalReadsBack(t *testing.T) {
	m := mustEncode(t, payload)
	for _, c := range []struct {
		name        string
		invert      bool
		ink, ground color.Gray
	}{
		{"light on dark", false, color.Gray{230}, color.Gray{20}},
		{"dark on light", true, color.Gray{20}, color.Gray{230}},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := screen(Terminal(m, c.invert), c.ink, c.ground)
			if got := decode(t, img); got != payload {
				t.Errorf("decoded %q", got)
			}
		})
	}
}

func TestTerminalIsNarrowEnough(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(Terminal(mustEncode(t, payload), false), "\n"), "\n")
	if len(lines) != 27 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 {
			t.Fatalf("a line of %d columns", n)
		}
	}
}

// picture draws a matrix with eight pixels a module.
func picture(m Matrix) image.Image {
	img := image.NewGray(image.Rect(0, 0, 8*len(m), 8*len(m)))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if !m[y/8][x/8] {
				img.SetGray(x, y, color.Gray{255})
			}
		}
	}
	return img
}

// screen draws what a terminal shows, eight by sixteen pixels a character, with
// a margin of its ground.
func screen(text string, ink, ground color.Gray) image.Image {
	const margin = 40
	lines := strings.Split(text, "\n")
	img := image.NewGray(image.Rect(0, 0, 2*margin+8*len([]rune(lines[0])), 2*margin+16*len(lines)))
	for i := range img.Pix {
		img.Pix[i] = ground.Y
	}
	for row, line := range lines {
		for column, r := range []rune(line) {
			for y := range 16 {
				if r != '█' && !(r == '▀' && y < 8) && !(r == '▄' && y >= 8) {
					continue
				}
				for x := range 8 {
					img.SetGray(margin+8*column+x, margin+16*row+y, ink)
				}
			}
		}
	}
	return img
}

func decode(t *testing.T, img image.Image) string {
	t.Helper()
	bitmap, err := gozxing.NewBinaryBitmapFromImage(img)
	if err != nil {
		t.Fatal(err)
	}
	result, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	if err != nil {
		t.Fatalf("no code can be read: %v", err)
	}
	return result.GetText()
}
