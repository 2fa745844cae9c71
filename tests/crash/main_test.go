// Package crash kills the program as it is shipped with SIGKILL, at random
// moments and on the same data again and again, and holds every new start
// against what the ones before it had acknowledged.
package crash

import (
	"os"
	"strconv"
	"testing"
	"time"

	"plexus/tests/program"
)

// What a run can be told by the environment.
const (
	killsVariable = "PLEXUS_CRASH_KILLS" // how often each test kills
	seedVariable  = "PLEXUS_CRASH_SEED"  // of the run that is to be repeated
)

// binary is the path of the program under test, built once.
var binary string

func TestMain(m *testing.M) { program.Main(m, &binary) }

// kills is how often a test kills unless the environment says otherwise.
func kills(t *testing.T, usual int) int {
	t.Helper()
	return int(fromEnvironment(t, killsVariable, uint64(usual)))
}

// seed decides on every delay and on what each client does. How the system lets
// the processes run is not in its hands.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := fromEnvironment(t, seedVariable, uint64(time.Now().UnixNano()))
	t.Logf("the same again: %s=%d", seedVariable, n)
	return n
}

func fromEnvironment(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return usual
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
