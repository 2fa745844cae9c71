package scale

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plexus/tests/program"
)

// binary is the path of the program under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "plexus-scale")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) // a temporary folder
	binary = filepath.Join(dir, "plexus")
	if err := program.Build(binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
