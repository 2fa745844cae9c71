package sqlite

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The driver is generated against one version of its C library; another one
// builds and then fails in ways that look like damage. A test binary carries no
// list of its modules, so the go command is asked.
func TestDriver_VersionPair(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.GoMod}}", "modernc.org/sqlite", "modernc.org/libc")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	fields := strings.Fields(string(out)) // version and go.mod of the driver, then of the library
	if len(fields) != 4 {
		t.Fatalf("go list gave %q", out)
	}
	manifest, err := os.ReadFile(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	if want := "modernc.org/libc " + fields[2]; !strings.Contains(string(manifest), want+"\n") {
		t.Errorf("the driver %s is not made for %s: change the pair together", fields[0], want)
	}
}
