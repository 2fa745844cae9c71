package hostfiles

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// LoadToken reads the token file, or makes one. A symlink, another owner or anything
// but a regular file is a *RefusedError and is left alone. A mode that lets others read
// is repaired. A token in capitals or with a byte order mark is written anew in the
// plain form that other programs read; content that is no token is kept under another
// name, and a new token made. Each gives a warning.
func LoadToken(path string) (LoadResult, error) {
	warnings, err := PrivateDir(filepath.Dir(path))
	if err != nil {
		return LoadResult{}, fmt.Errorf("host token: %w", err)
	}
	l := LoadResult{Token: &TokenFile{path: path}, Warnings: warnings}
	content, warnings, err := readPrivate(path)
	l.Warnings = append(l.Warnings, warnings...)
	if errors.Is(err, fs.ErrNotExist) {
		l.Created = true
		_, err = l.Token.RotateToken()
		return l, err
	}
	if err != nil {
		return LoadResult{}, fmt.Errorf("host token: %w", err)
	}
	token, why := admission.ParseToken(content)
	if why == nil {
		l.Token.token = token
		if string(bytes.TrimSpace(content)) != token.Reveal() {
			l.Warnings = append(l.Warnings, l.Token.tidy())
		}
		return l, nil
	}
	aside, err := keepAside(path)
	if err != nil {
		return LoadResult{}, fmt.Errorf("host token: %s holds no token (%w) and cannot be kept under another name: %w", path, why, err)
	}
	l.Replaced = true
	l.Warnings = append(l.Warnings, fmt.Sprintf(
		"%s holds no token: %v. It was kept as %s, and a new token was made. Every program that used the old one needs the new one; or put the old one right, back in its place, and start again.", path, why, aside))
	_, err = l.Token.RotateToken()
	return l, err
}

// tidy writes the token as every program reads it, and says so.
func (f *TokenFile) tidy() string {
	if err := WriteFile(f.path, []byte(f.token.Reveal()+"\n")); err != nil {
		return fmt.Sprintf("%s holds the token in a form that other programs may not read, in capitals or with a byte order mark, and could not be written anew: %v", f.path, err)
	}
	return f.path + " held the token in capitals or with something around it; it is the same token in plain form now."
}

// asideSuffix ends the names of token files that could not be used.
const asideSuffix = ".unusable"

// keepAside gives the file a second name that is free, so that the first can be
// written over.
func keepAside(path string) (aside string, err error) {
	for n := 1; n <= maxAside; n++ {
		aside = path + asideSuffix
		if n > 1 {
			aside = fmt.Sprintf("%s-%d", aside, n)
		}
		if err = os.Link(path, aside); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	return aside, syncDir(filepath.Dir(path))
}

// maxAside bounds the files that are kept: somebody who spoils the token that often
// has to look.
const maxAside = 100

// TokensAside lists the files beside the token file that LoadToken could not use.
func TokensAside(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path)) // no Glob: the folder's own name may hold a bracket
	if err != nil {
		return nil, fmt.Errorf("host token: %w", err)
	}
	var aside []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+asideSuffix) {
			aside = append(aside, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return aside, nil
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
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil, unreadable(path, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("opening: %w", err)
	}
	defer file.Close() // opened for reading
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("looking at file: %w", err)
	}
	if info.IsDir() {
		return nil, nil, &RefusedError{Path: path, Reason: "it is a folder and not a regular file", Advice: "Move it away; a new file will be made."}
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &RefusedError{Path: path, Reason: "it is a device or a pipe and not a regular file", Advice: "Move it away; a new file will be made."}
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
