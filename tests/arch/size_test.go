package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// Limits that keep a file on a screen or two and a function in one head.
const (
	maxFunctionLines     = 80
	maxTestFunctionLines = 120
	maxFunctionP90       = 40 // of all functions that ship
	maxFileLines         = 400
	maxTestFileLines     = 600
	maxPackageFiles      = 12 // without tests; variants of one file for several systems count once
)

func TestNothingGrowsTooLarge(t *testing.T) {
	var lengths []int
	for _, f := range loadFolders(t) {
		for _, finding := range checkSizes(f) {
			t.Error(finding)
		}
		for _, s := range f.files {
			if !s.isTest() {
				lengths = append(lengths, slices.Collect(functionLines(s))...)
			}
		}
	}
	slices.Sort(lengths)
	if p90 := lengths[len(lengths)*9/10]; p90 > maxFunctionP90 {
		t.Errorf("nine functions of ten should have at most %d lines, now it is %d", maxFunctionP90, p90)
	}
}

// functionLines yields the length of every function declaration.
func functionLines(s source) func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !yield(lines(s, f)) {
				return
			}
		}
	}
}

func lines(s source, n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}

func checkSizes(f folder) []string {
	var found []string
	concepts := map[string]bool{}
	for _, s := range f.files {
		fileLimit, functionLimit := maxFileLines, maxFunctionLines
		if s.isTest() {
			fileLimit, functionLimit = maxTestFileLines, maxTestFunctionLines
		} else {
			concepts[concept(s.path)] = true
		}
		if n := bytes.Count(s.text, []byte("\n")); n > fileLimit {
			found = append(found, fmt.Sprintf("%s has %d lines, over %d", s.path, n, fileLimit))
		}
		for _, d := range s.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && lines(s, fn) > functionLimit {
				found = append(found, fmt.Sprintf("%s: %s has %d lines, over %d", s.at(fn), fn.Name.Name, lines(s, fn), functionLimit))
			}
		}
	}
	// A command has a file for each of its subcommands.
	if len(concepts) > maxPackageFiles && !strings.HasPrefix(f.path, "cmd/") {
		found = append(found, fmt.Sprintf("%s has %d files, over %d: it is two packages", f.path, len(concepts), maxPackageFiles))
	}
	return found
}

// concept strips the system from a file's name: lock_linux.go and
// lock_other.go are one concept.
func concept(name string) string {
	name = strings.TrimSuffix(name, ".go")
	for _, system := range []string{"_linux", "_darwin", "_windows", "_unix", "_other"} {
		name = strings.TrimSuffix(name, system)
	}
	return name
}

func TestTheSizeCheckRefuses(t *testing.T) {
	file := func(name string, body int) source {
		s, err := parse(name, []byte("package p\n\nfunc f() {\n"+strings.Repeat("\t_ = 1\n", body)+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	many := folder{path: "domain/x"}
	for i := range maxPackageFiles + 1 {
		many.files = append(many.files, file(fmt.Sprintf("domain/x/f%d.go", i), 1))
	}
	variants := folder{"domain/x", []source{file("domain/x/a_linux.go", 1), file("domain/x/a_other.go", 1)}}
	for _, c := range []struct {
		name   string
		folder folder
		want   string
	}{
		{"short", folder{"domain/x", []source{file("domain/x/a.go", maxFunctionLines-2)}}, ""},
		{"long function", folder{"domain/x", []source{file("domain/x/a.go", maxFunctionLines-1)}}, "f has 81 lines"},
		{"long test function", folder{"domain/x", []source{file("domain/x/a_test.go", maxTestFunctionLines-1)}}, "f has 121 lines"},
		{"long file", folder{"domain/x", []source{file("domain/x/a.go", maxFileLines)}}, "has 404 lines"},
		{"many files", many, "has 13 files"},
		{"variants", variants, ""},
	} {
		t.Run(c.name, func(t *testing.T) { expect(t, checkSizes(c.folder), c.want) })
	}
}
