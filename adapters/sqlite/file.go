package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

const privateMode fs.FileMode = 0o600

// prepareFile makes sure that path is a private file of ours before SQLite
// opens it, and says whether the database is new. SQLite gives the -wal and
// -shm files the mode of the database.
func prepareFile(path string) (fresh bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, privateMode)
	if err == nil {
		return true, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("create database: %w", err)
	}
	info, err := checkFile(path, os.Geteuid())
	if err != nil {
		return false, err
	}
	for _, side := range []string{path + "-wal", path + "-shm", path + "-journal"} {
		if _, err := checkFile(side, os.Geteuid()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return info.Size() == 0, nil
}

// checkFile refuses what is not a plain file of uid and takes a loose mode away.
func checkFile(path string, uid int) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("look at database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a plain file", ErrUnsafeFile, path)
	}
	if !ownedBy(info, uid) {
		return nil, fmt.Errorf("%w: %s belongs to another user", ErrUnsafeFile, path)
	}
	if info.Mode().Perm()&^privateMode != 0 {
		if err := os.Chmod(path, privateMode); err != nil {
			return nil, fmt.Errorf("make database private: %w", err)
		}
	}
	return info, nil
}
