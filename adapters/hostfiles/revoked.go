package hostfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"plexus/domain/pairing"
	"plexus/domain/secret"
	"plexus/ports"
)

// RevokedName is the list of revoked tokens inside the data directory.
const RevokedName = "revoked"

// Revoked is the append-only file of revoked tokens: one hash a line, in 64 hex
// digits. It lies beside the database so that no backup brings a token back. It
// may be used concurrently.
type Revoked struct {
	path string
	mu   sync.Mutex
}

var _ ports.RevocationLog = (*Revoked)(nil)

// NewRevoked names the list of a data directory. The file is made at the first
// revocation.
func NewRevoked(dir string) *Revoked { return &Revoked{path: filepath.Join(dir, RevokedName)} }

// AppendRevoked implements ports.RevocationLog. It heals a line that a crash cut
// short, by beginning a new one.
func (r *Revoked) AppendRevoked(ctx context.Context, hash pairing.TokenHash) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.append(hash); err != nil {
		return fmt.Errorf("append to %s: %w", r.path, err)
	}
	return nil
}

func (r *Revoked) append(hash pairing.TokenHash) (err error) {
	if err := r.check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_APPEND|openFlags, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	line := hash.Hex() + "\n"
	if size := info.Size(); size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = "\n" + line
		}
	}
	if _, err := f.WriteString(line); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(r.path))
}

// RevokedHashes implements ports.RevocationLog. Lines that are no hash, such as
// one that a crash cut short, are passed over: their revocation never returned.
func (r *Revoked) RevokedHashes(ctx context.Context) ([]pairing.TokenHash, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.check()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read revoked tokens: %w", err)
	}
	file, err := os.OpenFile(r.path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("read revoked tokens: %w", err)
	}
	defer file.Close() // opened for reading
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read revoked tokens: %w", err)
	}
	var hashes []pairing.TokenHash
	for line := range strings.Lines(string(content)) {
		if hash, err := secret.ParseHash(strings.TrimSpace(line)); err == nil {
			hashes = append(hashes, hash)
		}
	}
	return hashes, nil
}

// check refuses what somebody else may have put there.
func (r *Revoked) check() error {
	info, err := os.Lstat(r.path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !ownedByUs(info) || accessibleToOthers(info) {
		return &RefusedError{Path: r.path, Reason: "it is not a private file of this account (a regular file, mode 0600)"}
	}
	return nil
}
