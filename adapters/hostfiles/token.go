package hostfiles

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"plexus/domain/admission"
	"plexus/ports"
)

// TokenFile is the file of the host token. It may be used concurrently.
type TokenFile struct {
	path string

	mu    sync.Mutex
	token admission.Secret
}

var _ ports.TokenKeeper = (*TokenFile)(nil)

// LoadResult is what LoadToken found.
type LoadResult struct {
	Token    *TokenFile
	Created  bool     // there was none
	Replaced bool     // what was there was not a token; everybody who came by token needs the new one
	Warnings []string // sentences for the log
}

// LoadToken reads the token file, or makes one. A symlink, another owner or
// anything but a regular file is a *RefusedError and is left alone. A mode that
// lets others read is repaired; content that is not 64 lower-case hex digits is
// replaced by a new token. Both give a warning.
func LoadToken(path string) (LoadResult, error) {
	warnings, err := PrivateDir(filepath.Dir(path))
	if err != nil {
		return LoadResult{}, fmt.Errorf("host token: %w", err)
	}
	l := LoadResult{Token: &TokenFile{path: path}, Warnings: warnings}
	content, warnings, err := readPrivate(path)
	l.Warnings = append(l.Warnings, warnings...)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.Created = true
	case err != nil:
		return LoadResult{}, fmt.Errorf("host token: %w", err)
	case admission.WellFormedKey(trim(content)):
		l.Token.token = admission.NewSecret(trim(content))
		return l, nil
	default:
		l.Replaced = true
		l.Warnings = append(l.Warnings, path+" did not hold a token of 64 hex digits; a new token was written. Every program that used the old one needs the new one.")
	}
	if _, err := l.Token.RotateToken(); err != nil {
		return LoadResult{}, err
	}
	return l, nil
}

// Path is the path of the file.
func (f *TokenFile) Path() string { return f.path }

// Secret is the token that is valid now.
func (f *TokenFile) Secret() admission.Secret {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.token
}

// RotateToken writes a new token. When it fails the old one stays valid.
func (f *TokenFile) RotateToken() (admission.KeyHash, error) {
	var raw [admission.KeyLength / 2]byte
	_, _ = rand.Read(raw[:]) // never fails: see crypto/rand
	token := admission.NewSecret(hex.EncodeToString(raw[:]))
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := WriteFile(f.path, []byte(token.Reveal()+"\n")); err != nil {
		return admission.KeyHash{}, fmt.Errorf("host token: %w", err)
	}
	f.token = token
	return token.Hash(), nil
}

// readPrivate reads a small regular file of ours. It judges and repairs the
// opened file, not its name, so that nothing can be swapped in between.
func readPrivate(path string) (content []byte, warnings []string, err error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, nil, &RefusedError{Path: path, Reason: "it is a symbolic link", Advice: "Remove it; a new file will be made."}
	}
	file, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening: %w", err)
	}
	defer file.Close() // opened for reading
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("looking at file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &RefusedError{Path: path, Reason: "it is not a regular file"}
	}
	if !ownedByUs(info) {
		return nil, nil, &RefusedError{Path: path, Reason: "it belongs to another account"}
	}
	if accessibleToOthers(info) {
		if err := file.Chmod(0o600); err != nil {
			return nil, nil, fmt.Errorf("closing file to others: %w", err)
		}
		warnings = append(warnings, fmt.Sprintf(
			"%s could be read by other accounts (mode %04o); it is private now (0600). If somebody else uses this machine, run plexus token rotate.", path, info.Mode().Perm()))
	}
	content, err = io.ReadAll(io.LimitReader(file, 4<<10))
	if err != nil {
		return nil, nil, fmt.Errorf("reading: %w", err)
	}
	return content, warnings, nil
}
