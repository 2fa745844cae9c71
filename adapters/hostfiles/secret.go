package hostfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"plexus/domain/admission"
	"plexus/domain/secret"
)

// maxSecretFile bounds a key file, in bytes.
const maxSecretFile = 4 << 10

// ReadSecret reads a key file that the owner keeps, such as a search service's key:
// one line, as secret.ParseLine reads it. That others can read it is a warning and not
// repaired, since the file is not the host's.
func ReadSecret(path string) (key admission.Secret, warnings []string, err error) {
	content, warnings, err := readKeyFile(path)
	if err != nil {
		return admission.Secret{}, nil, err
	}
	line, err := secret.ParseLine(content)
	if err != nil {
		return admission.Secret{}, nil, fmt.Errorf("the key in %s cannot be used: %w", path, err)
	}
	return admission.NewSecret(line), warnings, nil
}

// ReadToken reads the host token as a program does that comes in with it.
func ReadToken(path string) (admission.Secret, error) {
	content, _, err := readKeyFile(path)
	if err != nil {
		return admission.Secret{}, err
	}
	token, err := admission.ParseToken(content)
	if err != nil {
		return admission.Secret{}, fmt.Errorf("%s holds no token: %w", path, err)
	}
	return token, nil
}

func readKeyFile(path string) (content []byte, warnings []string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("there is no file %s: %w", path, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, nil, unreadable(path, err)
	case err != nil:
		return nil, nil, fmt.Errorf("looking at the key file: %w", err)
	case info.IsDir():
		return nil, nil, fmt.Errorf("%s is a folder; name the file with the key", path)
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s is a device or a pipe; name a file with the key", path)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil, unreadable(path, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("opening the key file: %w", err)
	}
	defer file.Close() // opened for reading
	content, err = io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("reading the key file: %w", err)
	case len(content) > maxSecretFile:
		return nil, nil, fmt.Errorf("%s has more than %d bytes, which no key has", path, maxSecretFile)
	case accessibleToOthers(info):
		warnings = append(warnings, fmt.Sprintf("%s can be read by other accounts (mode %04o). Run chmod 600 on it.", path, info.Mode().Perm()))
	}
	return content, warnings, nil
}

// unreadable says who may not read what.
func unreadable(path string, err error) error {
	return fmt.Errorf("this account may not read %s; give the file to it (chown) and run chmod 600 on it: %w", path, err)
}
