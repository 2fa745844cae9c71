// Package program builds the plexus binary for tests that run it.
package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build compiles the program to path, with further flags of go build. It reads
// every source file as well: the test cache notices what a test opens and not
// what a compiler that it starts does, and would serve an old pass.
func Build(path string, flags ...string) error {
	if err := touchSources(); err != nil {
		return fmt.Errorf("read the sources: %w", err)
	}
	args := append([]string{"build", "-o", path}, flags...)
	if out, err := exec.Command("go", append(args, "plexus/cmd/plexus")...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// touchSources opens what the binary is made of.
func touchSources() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	for _, dir := range []string{"adapters", "cmd", "domain", "ports", "sql", "web"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, f)
			return errors.Join(err, f.Close())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}
