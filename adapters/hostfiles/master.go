package hostfiles

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plexus/domain/pairing"
	"plexus/domain/secret"
)

// MasterTokenName is the master token's file inside the data directory.
const MasterTokenName = "master-token"

// maxMasterFile bounds that file, in bytes.
const maxMasterFile = 64

// LoadMasterToken reads <dir>/master-token. A missing file is fs.ErrNotExist; a
// symlink, another owner, another mode than 0600, or content that is not 32
// lower-case hex digits is a *RefusedError. Nothing is repaired: whoever could
// read the token could act as the owner.
func LoadMasterToken(dir string) (pairing.MasterToken, error) {
	path := filepath.Join(dir, MasterTokenName)
	content, err := readStrict(path, maxMasterFile)
	if err != nil {
		return pairing.MasterToken{}, fmt.Errorf("master token: %w", err)
	}
	token, err := secret.ParseLine(content)
	switch {
	case err != nil:
	case pairing.WellFormed(token):
	case pairing.WellFormed(strings.ToLower(token)):
		err = errors.New("they are capitals")
	default:
		err = fmt.Errorf("there are %d other characters", len(token))
	}
	if err != nil {
		return pairing.MasterToken{}, fmt.Errorf("master token: %w", &RefusedError{
			Path: path, Reason: fmt.Sprintf("it does not hold 32 lower-case hex digits (%v)", err),
			Advice: "Put the right file back. Without it, remove the file and run plexus devices reset: every device then pairs again.",
		})
	}
	return pairing.MasterToken{Text: secret.New(token)}, nil
}

// CreateMasterToken makes <dir>/master-token, durably and with mode 0600. An
// existing file is never overwritten: fs.ErrExist.
func CreateMasterToken(dir string) (pairing.MasterToken, error) {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails: see crypto/rand
	token := pairing.NewMasterToken(raw)
	path := filepath.Join(dir, MasterTokenName)
	if err := createPrivate(path, []byte(token.Reveal()+"\n")); err != nil {
		return pairing.MasterToken{}, fmt.Errorf("master token: %w", err)
	}
	return token, nil
}

// EnsureMasterToken loads the master token, or makes one where there is none.
func EnsureMasterToken(dir string) (token pairing.MasterToken, created bool, err error) {
	token, err = LoadMasterToken(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, false, err
	}
	token, err = CreateMasterToken(dir)
	return token, err == nil, err
}

// readStrict reads a small private file of ours and refuses it as it is
// otherwise.
func readStrict(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("looking at file: %w", err)
	}
	if info.Mode().IsRegular() && accessibleToOthers(info) {
		return nil, &RefusedError{
			Path: path, Reason: fmt.Sprintf("other accounts can read it (mode %04o)", info.Mode().Perm()),
			Advice: "Run chmod 600 on it if nobody else uses this machine; else remove it and pair every device again.",
		}
	}
	if info.Mode().IsRegular() && info.Size() > limit {
		return nil, &RefusedError{Path: path, Reason: fmt.Sprintf("it has more than %d bytes", limit)}
	}
	content, _, err := readPrivate(path)
	return content, err
}

// createPrivate writes a new file whole or not at all: it is written under
// another name and then linked to its own, which fails if that is taken.
func createPrivate(path string, content []byte) (err error) {
	tmp, err := writeTemporary(path, content)
	if err != nil {
		return fmt.Errorf("writing file: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(tmp)) }()
	if err := os.Link(tmp, path); err != nil {
		return fmt.Errorf("naming file: %w", err)
	}
	return syncDir(filepath.Dir(path))
}
