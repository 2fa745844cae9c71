// Package browser tests the extension as people run it: its modules under Node
// and its panel in a real Chromium.
package browser

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// extensionDir is the extension's source, loaded as it is.
const extensionDir = "../../web/extension"

// TestExtensionModules runs the extension's own tests: every wire vector in both
// directions, the client's timers and reconnection, and the panel's rules.
func TestExtensionModules(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: install Node 20 or later (https://nodejs.org, or your system's package \"nodejs\")")
	}
	files, err := filepath.Glob(filepath.Join(extensionDir, "test", "*.test.mjs"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of the extension found: %v", err)
	}
	out, err := exec.CommandContext(t.Context(), node, append([]string{"--test"}, files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("node --test: %v\n%s", err, out)
	}
}
