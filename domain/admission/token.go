package admission

import (
	"errors"
	"fmt"
	"strings"

	"plexus/domain/secret"
)

// ParseToken reads the host token as somebody may have written it into a file: as
// secret.ParseLine reads a key, in capitals too, and with SubprotocolPrefix before it.
// The errors fit after "because" and do not repeat the text.
func ParseToken(content []byte) (Secret, error) {
	line, err := secret.ParseLine(content)
	if err != nil {
		return Secret{}, err
	}
	token := strings.ToLower(strings.TrimPrefix(line, SubprotocolPrefix))
	if len(token) != KeyLength {
		return Secret{}, fmt.Errorf("it has %d characters where %d hexadecimal digits belong", len(token), KeyLength)
	}
	if !WellFormedKey(token) {
		return Secret{}, errors.New("it has a character that is no hexadecimal digit")
	}
	return NewSecret(token), nil
}
