package hostfiles

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"plexus/domain/admission"
)

// maxSecretFile bounds a key file, in bytes.
const maxSecretFile = 4 << 10

// ReadSecret reads a key file that the owner keeps, such as a search service's
// key: one line, white space around it ignored. That others can read
// it is a warning and not repaired, since the file is not the host's.
func ReadSecret(path string) (secret admission.Secret, warnings []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return admission.Secret{}, nil, fmt.Errorf("reading key file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecretFile {
		return admission.Secret{}, nil, fmt.Errorf("reading key file: %s is not a small regular file", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return admission.Secret{}, nil, fmt.Errorf("reading key file: %w", err)
	}
	text := trim(b)
	if err := CheckSecret(text); err != nil {
		return admission.Secret{}, nil, fmt.Errorf("reading key file %s: %w", path, err)
	}
	if accessibleToOthers(info) {
		warnings = append(warnings, fmt.Sprintf("%s can be read by other accounts (mode %04o). Run chmod 600 on it.", path, info.Mode().Perm()))
	}
	return admission.NewSecret(text), warnings, nil
}

// CheckSecret refuses what cannot stand in an HTTP header: nothing at all, or
// anything but visible ASCII. The error does not repeat the text.
func CheckSecret(text string) error {
	if text == "" {
		return errors.New("the key is empty")
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return errors.New("the key holds a blank or a character that is not visible ASCII")
		}
	}
	return nil
}

func trim(b []byte) string { return string(bytes.TrimSpace(b)) }
