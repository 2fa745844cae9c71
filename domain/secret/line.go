package secret

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Why what a person wrote cannot be a key. Each fits after "the key cannot be used: ".
var (
	ErrEmpty  = errors.New("there is nothing in it")
	ErrLines  = errors.New("it has more than one line")
	ErrBlank  = errors.New("there is a blank in it")
	ErrQuoted = errors.New("it stands in quotation marks, which have to go")
)

// ParseLine reads a key that a person keeps in a file or a variable, and gives what
// belongs into an HTTP header. White space around it is passed over, and so are the
// byte order mark and the UTF-16 of some editors and shells, and a "Bearer " that was
// copied along. The errors do not repeat the text.
func ParseLine(content []byte) (string, error) {
	line := strings.TrimSpace(Decode(content))
	if scheme, key, found := strings.Cut(line, " "); found && strings.EqualFold(scheme, "Bearer") {
		line = strings.TrimSpace(key)
	}
	if line == "" || strings.EqualFold(line, "Bearer") {
		return "", ErrEmpty
	}
	if strings.ContainsAny(line, "\r\n") {
		return "", ErrLines
	}
	if strings.ContainsAny(line, " \t") {
		return "", ErrBlank
	}
	for i, r := range []rune(line) {
		if r <= ' ' || r > '~' {
			return "", fmt.Errorf("its character %d is none of the letters, digits and signs of ASCII", i+1)
		}
	}
	if quote := line[0]; len(line) > 1 && (quote == '"' || quote == '\'') && line[len(line)-1] == quote {
		return "", ErrQuoted
	}
	return line, nil
}

// Decode gives the text of a file that an editor or a shell may have written: a byte
// order mark is taken off, and UTF-16 with one turned into UTF-8.
func Decode(content []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(content, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(content, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return string(bytes.TrimPrefix(content, []byte("\ufeff")))
	}
	var units []uint16
	for rest := content[2:]; len(rest) >= 2; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return string(utf16.Decode(units))
}
