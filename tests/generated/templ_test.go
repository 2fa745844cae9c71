// Package generated makes the generated files again and compares them with those
// of the tree.
package generated

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root  = "../.."
	views = root + "/web"
)

// TestTemplatesAreGenerated generates the views into another folder. The
// templates are read here, so that a change of one is noticed by the test cache.
func TestTemplatesAreGenerated(t *testing.T) {
	scratch := t.TempDir()
	templates, err := filepath.Glob(views + "/*.templ")
	if err != nil || len(templates) == 0 {
		t.Fatalf("%d templates found: %v", len(templates), err)
	}
	for _, file := range templates {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(scratch, filepath.Base(file)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "generate", "-path", scratch)
	for _, file := range templates {
		name := strings.TrimSuffix(filepath.Base(file), ".templ") + "_templ.go"
		if !bytes.Equal(read(t, filepath.Join(views, name)), read(t, filepath.Join(scratch, name))) {
			t.Errorf("web/%s is not what its template gives: run go tool -modfile=tools/go.mod templ generate -path web", name)
		}
	}
	written, err := filepath.Glob(views + "/*_templ.go")
	if err != nil || len(written) != len(templates) {
		t.Errorf("%d generated files for %d templates: %v", len(written), len(templates), err)
	}
}

// TestTemplatesAreFormatted formats copies of the templates.
func TestTemplatesAreFormatted(t *testing.T) {
	templates, err := filepath.Glob(views + "/*.templ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range templates {
		text := read(t, file)
		scratch := filepath.Join(t.TempDir(), filepath.Base(file))
		if err := os.WriteFile(scratch, text, 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, "fmt", scratch)
		if !bytes.Equal(text, read(t, scratch)) {
			t.Errorf("%s: run go tool -modfile=tools/go.mod templ fmt web", file)
		}
	}
}

// run runs the pinned templ.
func run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "-modfile=tools/go.mod", "templ"}, args...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("templ %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
