package program

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Main is TestMain of tests that run the program: it builds it once, puts its path
// into binary, runs the tests and ends the process. flags are of go build.
func Main(m *testing.M, binary *string, flags ...string) { os.Exit(buildAndRun(m, binary, flags)) }

func buildAndRun(m *testing.M, binary *string, flags []string) int {
	dir, err := os.MkdirTemp("", "plexus-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) // a temporary folder
	*binary = filepath.Join(dir, "plexus")
	if err := Build(*binary, flags...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
