package admission

import (
	"strings"
	"testing"
)

func TestParseToken(t *testing.T) {
	const token = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	for _, content := range []string{
		token, token + "\r\n", "\ufeff" + token, strings.ToUpper(token), "Bearer " + token, SubprotocolPrefix + token + "\n",
	} {
		if got, err := ParseToken([]byte(content)); err != nil || got.Reveal() != token {
			t.Errorf("%q: %v", content, err)
		}
	}
	for content, says := range map[string]string{
		"":                       "nothing",
		token[1:]:                "63 characters",
		token + "0":              "65 characters",
		"g" + token[1:]:          "no hexadecimal digit",
		token + "\n" + token:     "more than one line",
		token[:32] + " " + "abc": "a blank",
	} {
		if got, err := ParseToken([]byte(content)); err == nil || !got.Empty() || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), token[:8]) {
			t.Errorf("%q: %v, want %q", content, err, says)
		}
	}
}
