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
	"github.com/makiuchi-d/gozxing/qrcode/decoder"
)

func TestReadGivesBackWhatEncodeDrew(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for n := 1; n <= 250; n++ {
		raw := make([]byte, n)
		for i := range raw {
			raw[i] = byte(random.Uint32())
		}
		kinds := []string{"0123456789", alphabet, "0123456789ABC $%abc{}\""}
		for _, text := range []string{string(raw), of(random, n, kinds[n%len(kinds)])} {
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

// Another reader sees in the same modules the same text.
func TestReadAgreesWithAnotherReader(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for n := 1; n <= 250; n += 3 {
		m := mustEncode(t, of(random, n, "0123456789ABC $%abc{}\""))
		got, err := Read(m)
		if err != nil {
			t.Fatal(err)
		}
		symbol, _, err := withoutQuietZone(m)
		if err != nil {
			t.Fatal(err)
		}
		other, err := decoder.NewDecoder().DecodeBoolMapWithoutHint(symbol)
		if err != nil || other.GetText() != got {
			t.Fatalf("read %q, another reads %v, %v", got, other, err)
		}
	}
}

// Another writer's codes are read too: every version with every kind of segment,
// and in the course of the versions each of them with every mask.
func TestReadOfEveryVersion(t *testing.T) {
	for version := 1; version <= maxVersion; version++ {
		for i, text := range []string{"nova:x?", "NOVA 1:2", "0123456", "01234567"} {
			mask := (version + i) % masks
			m := foreign(t, text, map[gozxing.EncodeHintType]any{
				gozxing.EncodeHintType_ERROR_CORRECTION: "M",
				gozxing.EncodeHintType_QR_VERSION:       version,
				gozxing.EncodeHintType_QR_MASK_PATTERN:  mask,
			})
			if got, err := Read(m); err != nil || got != text {
				t.Fatalf("version %d, mask %d: %q was read as %q, %v", version, mask, text, got, err)
			}
		}
	}
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

func TestReadRefusesWhatEncodeDoesNotMake(t *testing.T) {
	for name, c := range map[string]struct {
		hints map[gozxing.EncodeHintType]any
		want  string
	}{
		"level L":         {map[gozxing.EncodeHintType]any{gozxing.EncodeHintType_ERROR_CORRECTION: "L"}, "not of error correction level M"},
		"level Q":         {map[gozxing.EncodeHintType]any{gozxing.EncodeHintType_ERROR_CORRECTION: "Q"}, "not of error correction level M"},
		"level H":         {map[gozxing.EncodeHintType]any{gozxing.EncodeHintType_ERROR_CORRECTION: "H"}, "not of error correction level M"},
		"a named charset": {map[gozxing.EncodeHintType]any{gozxing.EncodeHintType_ERROR_CORRECTION: "M", gozxing.EncodeHintType_CHARACTER_SET: "UTF-8"}, "unknown mode 7"},
	} {
		if got, err := Read(foreign(t, "Plexus", c.hints)); !errors.Is(err, ErrMatrix) || got != "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// Whatever a module is for, it is an error when it is the other colour. Version
// 8 has all there is but modules left over, which version 2 has.
func TestReadRefusesAnyFlippedModule(t *testing.T) {
	for version, text := range map[int]string{2: "plexus, twenty bytes", 8: payload + " and then some more"} {
		m := mustEncode(t, text)
		if len(m) != sizeOf(version)+2*QuietZone {
			t.Fatalf("%d modules wide, want version %d", len(m), version)
		}
		for y := range m {
			for x := range m {
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
		"too large":              square(sizeOf(maxVersion+1) + 2*QuietZone),
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

// What error correction lets pass can still be no text.
func TestReadRefusesUnsoundSegments(t *testing.T) {
	for _, c := range []struct{ data, text, fault string }{
		{"0001 0000000011 0001111011 0000 0000 11101100 00010001", "123", ""},
		{"0010 000000010 00111001101 0000 0000", "AB", ""},
		{"0001 0000000001 0101 0010 000000001 001010 000", "5A", ""}, // the terminator is cut short
		{"0001 0000000001 0101 0010 000000001 001010 001", "", "not zero"},
		{"0001 0000000011 1111111111", "", "too large"},
		{"0001 0000000010 1111111", "", "too large"},
		{"0001 0000000001 1010", "", "too large"},
		{"0010 000000010 11111101001", "", "too large"},
		{"0010 000000001 101101", "", "too large"},
		{"0100 00000010 01000001", "", "before its text"},
		{"0100 0000", "", "before its length"},
		{"1000 00000001 01000001", "", "unknown mode 8"},
		{"0000 0001", "", "not zero"},
		{"0000 0000 00010001", "", "padding"},
		{"0000 0000 11101100 11101100", "", "padding"},
	} {
		text, err := readSegments(packed(c.data), 1)
		if c.fault == "" && (err != nil || text != c.text) {
			t.Errorf("%s: %q, %v", c.data, text, err)
		}
		if c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %q, %v, want %q", c.data, text, err, c.fault)
		}
	}
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

func FuzzSegments(f *testing.F) {
	f.Add(packed("0001 0000000011 0001111011 0000 0000 11101100"), 1)
	f.Add(packed("0010 00000000010 00111001101 0000"), 10)
	f.Add(packed("0100 0000000000000001 01000001"), 27)
	f.Add([]byte{0xFF}, 40)
	f.Fuzz(func(t *testing.T, data []byte, version int) {
		version = min(max(version, 1), maxVersion)
		text, err := readSegments(data, version)
		if err == nil && len(text) > 3*len(data) {
			t.Errorf("%d bytes hold %d characters", len(data), len(text))
		}
	})
}
