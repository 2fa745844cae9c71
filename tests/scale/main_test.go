package scale

import (
	"testing"

	"plexus/tests/program"
)

// binary is the path of the program under test, built once.
var binary string

func TestMain(m *testing.M) { program.Main(m, &binary) }
