package secret

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
)

// wide is text as a shell of Windows writes it into a file.
func wide(order binary.AppendByteOrder, text string) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func TestParseLine(t *testing.T) {
	const key = "sk-Te5t_1234.~!"
	for name, content := range map[string]string{
		"plain":                     key,
		"a line end":                key + "\n",
		"CRLF":                      key + "\r\n",
		"blanks around":             "\t " + key + " \r\n\r\n",
		"a byte order mark":         "\ufeff" + key + "\n",
		"the same and CRLF":         "\ufeff " + key + "\r\n",
		"UTF-16, low byte first":    wide(binary.LittleEndian, key+"\r\n"),
		"UTF-16, high byte first":   wide(binary.BigEndian, key),
		"UTF-16 with half a unit":   wide(binary.LittleEndian, key) + "x",
		"a scheme":                  "Bearer " + key,
		"a scheme in small letters": "bearer   " + key + "\n",
		"a mark and a scheme":       "\ufeffBEARER " + key,
	} {
		if got, err := ParseLine([]byte(content)); got != key || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, c := range []struct {
		name, content string
		want          error // nil: any that says it
		says          string
	}{
		{"nothing", "", ErrEmpty, ""},
		{"blanks", " \r\n\t", ErrEmpty, ""},
		{"a mark alone", "\ufeff\n", ErrEmpty, ""},
		{"a scheme alone", "Bearer \n", ErrEmpty, ""},
		{"two lines", "sekret\nsekret", ErrLines, ""},
		{"two lines of Windows", "\ufeffsekret\r\nsekret\r\n", ErrLines, ""},
		{"two words", "sekret sekret", ErrBlank, ""},
		{"a scheme and two words", "Bearer sekret sekret", ErrBlank, ""},
		{"another scheme", "Basic sekret", ErrBlank, ""},
		{"double quotes", `"sekret"`, ErrQuoted, ""},
		{"single quotes", `'sekret'`, ErrQuoted, ""},
		{"a control character", "sekret\x00", nil, "character 7"},
		{"a letter of another script", "sékret", nil, "character 2"},
		{"a space that is not seen", "sekret\u200bsekret", nil, "character 7"},
		{"a mark in the middle", "sekret\ufeff", nil, "character 7"},
		{"no UTF-8", "\xe9sekret", nil, "character 1"},
	} {
		got, err := ParseLine([]byte(c.content))
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sekret") {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte("\ufeffBearer sk-1\r\n"))
	f.Add([]byte("\xff\xfeB\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		key, err := ParseLine(content)
		if (err == nil) == (key == "") {
			t.Fatalf("%q, %v", key, err)
		}
		for _, c := range []byte(key) {
			if c <= ' ' || c > '~' {
				t.Fatalf("%q belongs into no header", key)
			}
		}
	})
}
