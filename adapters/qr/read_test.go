package qr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

func TestReadGivesBackWhatEncodeDrew(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for n := 1; n <= 250; n++ {
		var wide strings.Builder
		for wide.Len() < n {
			wide.WriteRune(rune(random.Uint32N(1 << 16)))
		}
		kinds := []string{"0123456789", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:", "0123456789ABC $%abc{}\""}
		for _, text := range []string{wide.String(), of(random, n, kinds[n%len(kinds)])} {
			if got, err := Read(mustEncode(t, text)); err != nil || got != text {
				t.Fatalf("%q of %d bytes was read as %q, %v", text, n, got, err)
			}
		}
	}
	for _, text := range []string{payload, strings.Repeat("é", MaxText/2), strings.Repeat("7", MaxText), strings.Repeat("Q", MaxText)} {
		if got, err := Read(mustEncode(t, text)); err != nil || got != text {
			t.Errorf("%q was read as %q, %v", text, got, err)
		}
	}
}

// of draws a text from letters, in runs so that a code changes its mode.
func of(random *rand.Rand, n int, letters string) string {
	var b strings.Builder
	for b.Len() < n {
		first := random.IntN(len(letters))
		for range min(1+random.IntN(24), n-b.Len()) {
			b.WriteByte(letters[(first+random.IntN(8))%len(letters)])
		}
	}
	return b.String()
}

func foreign(t *testing.T, text string, hints map[gozxing.EncodeHintType]any) Matrix {
	t.Helper()
	hints[gozxing.EncodeHintType_MARGIN] = QuietZone
	grid, err := qrcode.NewQRCodeWriter().Encode(text, gozxing.BarcodeFormat_QR_CODE, 0, 0, hints)
	if err != nil {
		t.Fatal(err)
	}
	m := make(Matrix, grid.GetHeight())
	for y := range m {
		m[y] = make([]bool, grid.GetWidth())
		for x := range m[y] {
			m[y][x] = grid.Get(x, y)
		}
	}
	return m
}

// sizeOf is the width of a version, in modules, without the quiet zone.
func sizeOf(version int) int { return 17 + 4*version }

func TestReadRefusesWhatEncodeDoesNotMake(t *testing.T) {
	for name, hints := range map[string]map[gozxing.EncodeHintType]any{
		"level L":         {gozxing.EncodeHintType_ERROR_CORRECTION: "L"},
		"level Q":         {gozxing.EncodeHintType_ERROR_CORRECTION: "Q"},
		"level H":         {gozxing.EncodeHintType_ERROR_CORRECTION: "H"},
		"a named charset": {gozxing.EncodeHintType_ERROR_CORRECTION: "M", gozxing.EncodeHintType_CHARACTER_SET: "UTF-8"},
	} {
		if got, err := Read(foreign(t, "Plexus", hints)); !errors.Is(err, ErrMatrix) || got != "" || !strings.Contains(err.Error(), "some modules are wrong") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// Whatever a module is for, it is an error when it is the other color. Version 8
// has all there is but modules left over, which version 2 has. Of version 8 every
// seventh module is flipped, in each row and column some.
func TestReadRefusesAnyFlippedModule(t *testing.T) {
	for version, text := range map[int]string{2: "plexus, twenty bytes", 8: payload + " and then some more"} {
		m := mustEncode(t, text)
		if len(m) != sizeOf(version)+2*QuietZone {
			t.Fatalf("%d modules wide, want version %d", len(m), version)
		}
		for y := range m {
			for x := range m {
				if version == 8 && (y*len(m)+x)%7 != 0 {
					continue
				}
				m[y][x] = !m[y][x]
				if got, err := Read(m); !errors.Is(err, ErrMatrix) || got != "" {
					t.Fatalf("with the module in row %d, column %d of %d flipped: %q, %v", y, x, len(m), got, err)
				}
				m[y][x] = !m[y][x]
			}
		}
	}
}

func TestReadRefusesOtherShapes(t *testing.T) {
	m := mustEncode(t, payload)
	ragged := append(Matrix{}, m...)
	ragged[30] = ragged[30][:len(m)-1]
	narrow := make(Matrix, 0, len(m))
	for _, row := range m {
		narrow = append(narrow, row[:len(row)-4])
	}
	for name, bad := range map[string]Matrix{
		"none":                   nil,
		"a row short":            m[:len(m)-1],
		"a version short":        m[:len(m)-4],
		"columns short":          narrow,
		"a row of other length":  ragged,
		"without the quiet zone": m[QuietZone : len(m)-QuietZone],
		"only a quiet zone":      make(Matrix, 2*QuietZone),
		"nothing but light":      square(29),
		"too large":              square(sizeOf(41) + 2*QuietZone),
	} {
		if got, err := Read(bad); !errors.Is(err, ErrMatrix) || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func square(width int) Matrix {
	m := make(Matrix, width)
	for y := range m {
		m[y] = make([]bool, width)
	}
	return m
}

// packed turns ones and zeros into bytes, the last filled up with zeros.
func packed(digits string) []byte {
	digits = strings.ReplaceAll(digits, " ", "")
	data := make([]byte, (len(digits)+7)/8)
	for i, d := range digits {
		data[i/8] |= byte(d-'0') << (7 - i%8)
	}
	return data
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"x", "0123456789", payload} {
		m, err := Encode(text)
		if err != nil {
			f.Fatal(err)
		}
		var digits strings.Builder
		for _, row := range m {
			for _, isDark := range row {
				fmt.Fprintf(&digits, "%d", map[bool]int{true: 1}[isDark])
			}
		}
		f.Add(len(m), 0, packed(digits.String()))
		f.Add(len(m), 3, packed(digits.String()))
		f.Add(len(m)+1, 0, packed(digits.String()))
	}
	f.Add(0, 0, []byte(nil))
	f.Fuzz(func(t *testing.T, width, missing int, modules []byte) {
		m := square(min(max(width, 0), 200))
		for i := range min(8*len(modules), len(m)*len(m)) {
			m[i/len(m)][i%len(m)] = modules[i/8]>>(7-i%8)&1 == 1
		}
		if len(m) > 0 {
			last := len(m) - 1
			m[last] = m[last][:max(0, len(m)-max(missing, 0))]
		}
		if text, err := Read(m); err != nil && (text != "" || !errors.Is(err, ErrMatrix)) {
			t.Errorf("%q, %v", text, err)
		}
	})
}
