// Package program is what tests share that run the plexus binary: how it is built,
// and a phone for it.
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

// Build compiles the program to path, with further flags of go build. Tests that
// run it call Sources too.
func Build(path string, flags ...string) error {
	args := append([]string{"build", "-o", path}, flags...)
	if out, err := exec.Command("go", append(args, "plexus/cmd/plexus")...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// Sources opens what the program is made of. A test that runs the program has to
// call it: the test cache notices what a test itself opens, not what a compiler
// does that it starts, nor what happens in TestMain before the tests run, and
// would serve an old pass.
func Sources() error {
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
