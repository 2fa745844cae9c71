package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestFirefoxLint runs the vendor's linter over the extension. One source serves
// both browsers, so Firefox is told of two members that only Chromium knows.
func TestFirefoxLint(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		text, err := os.ReadFile(filepath.Join("testdata/lint", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--prefer-offline", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	source, err := filepath.Abs(extensionDir)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules/.bin/addons-linter"), "--output", "json", source).Output()
	if err != nil {
		t.Fatalf("the linter: %v\n%s", err, out)
	}
	var report struct {
		Errors, Notices, Warnings []struct{ Code, Message string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("the linter printed %s: %v", out, err)
	}
	known := []string{
		"MANIFEST_PERMISSIONS",                           // sidePanel
		"BACKGROUND_SERVICE_WORKER_IGNORED",              // beside background.scripts
		"KEY_FIREFOX_ANDROID_UNSUPPORTED_BY_MIN_VERSION", // it is for the desktop
	}
	for _, found := range slices.Concat(report.Errors, report.Notices, report.Warnings) {
		if !slices.Contains(known, found.Code) {
			t.Errorf("%s: %s", found.Code, found.Message)
		}
	}
}
