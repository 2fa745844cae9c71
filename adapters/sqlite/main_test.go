package sqlite

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or, in a process that a crash test started, the part
// that is going to be killed.
func TestMain(m *testing.M) {
	if os.Getenv(crashRole) != "" {
		if err := crashChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
