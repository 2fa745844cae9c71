// Package arch holds the rules of the house as tests: who may import whom, what
// the core may not touch, how code and files look, and which behaviors have a
// test. They read and parse the tree themselves: a check that starts another
// process is served a cached pass, because the test cache cannot see what that
// process reads.
package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the top of the repository as seen from this folder.
const root = "../.."

// module is the module's path and the prefix of its imports.
const module = "plexus"

// source is one Go file.
type source struct {
	path string // slash-separated, from the top of the repository
	text []byte
	file *ast.File
	fset *token.FileSet
}

func (s source) dir() string         { return path.Dir(s.path) }
func (s source) isTest() bool        { return strings.HasSuffix(s.path, "_test.go") }
func (s source) generated() bool     { return bytes.HasPrefix(s.text, []byte("// Code generated ")) }
func (s source) under(d string) bool { return s.path == d || strings.HasPrefix(s.path, d+"/") }

// at says where a node is, for a finding.
func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(n.Pos()).Line)
}

// folder is all Go files of one folder, tests and every build tag included.
type folder struct {
	path  string
	files []source
}

// skipped folders hold nothing of ours.
func skipped(name string) bool {
	return name == ".git" || name == "node_modules" || name == "bin" || name == "testdata"
}

// walk calls visit with every file of the repository in a fixed order.
func walk(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || d.Name() == ".git" { // of a linked worktree .git is a file
			return nil
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(name), text)
		return nil
	})
	if err != nil {
		t.Fatalf("walking the repository: %v", err)
	}
}

// parse makes a source of a text. Generated files are parsed like all others.
func parse(name string, text []byte) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{path: name, text: text, file: file, fset: fset}, err
}

// loadFolders parses every Go file of the repository.
func loadFolders(t *testing.T) []folder {
	t.Helper()
	byPath := map[string][]source{}
	walk(t, func(name string, text []byte) {
		if !strings.HasSuffix(name, ".go") {
			return
		}
		s, err := parse(name, text)
		if err != nil {
			t.Errorf("%s does not parse: %v", name, err)
			return
		}
		byPath[s.dir()] = append(byPath[s.dir()], s)
	})
	folders := make([]folder, 0, len(byPath))
	for p, files := range byPath {
		folders = append(folders, folder{path: p, files: files})
	}
	slices.SortFunc(folders, func(a, b folder) int { return strings.Compare(a.path, b.path) })
	if len(folders) < 5 {
		t.Fatalf("only %d folders with Go files found: the walk is broken", len(folders))
	}
	return folders
}

// imports maps the names under which a file knows packages to their paths.
func imports(s source) map[string]string {
	names := map[string]string{}
	for _, spec := range s.file.Imports {
		p := importPath(spec)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

func importPath(spec *ast.ImportSpec) string { return strings.Trim(spec.Path.Value, "`\"") }

// qualified gives "path.Name" for a selector on an imported package, else "".
func qualified(n ast.Node, names map[string]string) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok || names[id.Name] == "" {
		return ""
	}
	return names[id.Name] + "." + sel.Sel.Name
}
