package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// rule is one check of a folder. Findings start with file:line.
type rule struct {
	name  string
	why   string
	check func(folder) []string
}

// purityRules hold in domain and ports, tests excepted.
func purityRules() []rule {
	return []rule{
		{"no init", "work at import time cannot be tested or undone", inCore(noInit)},
		{"no goroutine", "whoever calls the core decides what runs beside what, and waits for it", inCore(noGo)},
		{"no clock", "time, roots of contexts and output come in as values, so that edges can be tested", inCore(noClock)},
		{"no channel in a leaf", "a leaf has no concurrency to coordinate", inCore(noChannel)},
		{"no global", "state belongs to a value that somebody made", noGlobals},
	}
}

func TestTheCoreIsPure(t *testing.T) { runRules(t, purityRules()) }

// runRules reports every finding of every rule.
func runRules(t *testing.T, rules []rule) {
	t.Helper()
	folders := loadFolders(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range folders {
				for _, finding := range r.check(f) {
					t.Errorf("%s (%s)", finding, r.why)
				}
			}
		})
	}
}

// perFile lifts a check of a file to one of a folder.
func perFile(applies func(source) bool, check func(source) []string) func(folder) []string {
	return func(f folder) []string {
		var found []string
		for _, s := range f.files {
			if applies(s) {
				found = append(found, check(s)...)
			}
		}
		return found
	}
}

func core(s source) bool {
	return !s.isTest() && !s.under("ports/portstest") && (s.under("domain") || s.under("usecases") || s.under("ports"))
}

// mayStart is where the core starts goroutines: a turn belongs to the host and
// not to the connection that asked for it, so somebody in the core has to own it.
const mayStart = "usecases/personal/hub/hub.go"

func inCore(check func(source) []string) func(folder) []string { return perFile(core, check) }

// inspect collects what look says about every node; "" is nothing.
func inspect(s source, look func(ast.Node) string) []string {
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		if n != nil {
			if what := look(n); what != "" {
				found = append(found, s.at(n)+": "+what)
			}
		}
		return true
	})
	return found
}

func noInit(s source) []string {
	return inspect(s, func(n ast.Node) string {
		if f, ok := n.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			return "func init"
		}
		return ""
	})
}

func noGo(s source) []string {
	if s.path == mayStart {
		return nil
	}
	return inspect(s, func(n ast.Node) string {
		switch n := n.(type) {
		case *ast.GoStmt:
			return "go statement"
		case *ast.SelectorExpr:
			if n.Sel.Name == "Go" {
				return "call of Go"
			}
		}
		return ""
	})
}

// clocks are names whose use makes code depend on when and where it runs.
var clocks = []string{
	"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick",
	"time.NewTimer", "time.NewTicker", "context.Background", "context.TODO",
	"context.WithTimeout", "context.WithDeadline", "context.WithTimeoutCause", "context.WithDeadlineCause",
	"fmt.Print", "fmt.Printf", "fmt.Println", "fmt.Scan", "fmt.Scanf", "fmt.Scanln",
}

func noClock(s source) []string {
	names := imports(s)
	return inspect(s, func(n ast.Node) string {
		if q := qualified(n, names); slices.Contains(clocks, q) {
			return q
		}
		return builtinPrint(n)
	})
}

func builtinPrint(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
		return "built-in " + id.Name
	}
	return ""
}

// mayWait lists the folders of the core that may have channels: ports and use
// cases, whose callers come at the same time.
var mayWait = []string{"usecases", "ports"}

func noChannel(s source) []string {
	if slices.ContainsFunc(mayWait, s.under) {
		return nil
	}
	return inspect(s, func(n ast.Node) string {
		if _, ok := n.(*ast.ChanType); ok {
			return "channel type"
		}
		return ""
	})
}

// noGlobals allows, at package level of any code that ships: interface
// assertions (var _), error values, embedded files, tables that nobody writes
// to, values that are immutable once made, and a main package's link-time
// strings. The pool of wsconn's frame buffers is the one exception.
func noGlobals(f folder) []string {
	if strings.HasPrefix(f.path, "tests/") {
		return nil
	}
	written := writtenNames(f)
	return perFile(func(s source) bool { return !s.isTest() }, func(s source) []string {
		var found []string
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				found = append(found, badGlobals(s, g, spec.(*ast.ValueSpec), written)...)
			}
		}
		return found
	})(f)
}

func badGlobals(s source, g *ast.GenDecl, spec *ast.ValueSpec, written map[string]bool) []string {
	var found []string
	for i, name := range spec.Names {
		var value ast.Expr
		if i < len(spec.Values) {
			value = spec.Values[i]
		}
		switch {
		case name.Name == "_", embedded(g, spec):
		case written[name.Name]:
			found = append(found, s.at(name)+": package variable "+name.Name+" is written to")
		case isErrorName(name.Name), immutable(value, name.Name, imports(s)):
		case s.file.Name.Name == "main" && isString(spec, value):
		case s.path == "adapters/wsconn/buffer.go" && isPool(value):
		default:
			found = append(found, s.at(name)+": package variable "+name.Name)
		}
	}
	return found
}

func embedded(g *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{g.Doc, spec.Doc} {
		if doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
			return true
		}
	}
	return false
}

// immutable: an unexported array or map literal, or a value whose type has no
// way to change it.
func immutable(v ast.Expr, name string, names map[string]string) bool {
	switch v := v.(type) {
	case *ast.CompositeLit:
		switch t := v.Type.(type) {
		case *ast.ArrayType:
			return t.Len != nil && !ast.IsExported(name)
		case *ast.MapType:
			return !ast.IsExported(name)
		}
	case *ast.CallExpr:
		q := qualified(v.Fun, names)
		return q == "regexp.MustCompile" || q == "strings.NewReplacer"
	}
	return false
}

func isString(spec *ast.ValueSpec, v ast.Expr) bool {
	if lit, ok := v.(*ast.BasicLit); ok {
		return lit.Kind == token.STRING
	}
	id, ok := spec.Type.(*ast.Ident)
	return ok && id.Name == "string" && v == nil
}

func isPool(v ast.Expr) bool {
	found := false
	if v != nil {
		ast.Inspect(v, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Pool" {
				found = true
			}
			return !found
		})
	}
	return found
}

// writtenNames are the identifiers at the root of anything that the folder
// assigns to, counts up, deletes from, clears or takes the address of. A local
// variable of the same name counts too: give it another one.
func writtenNames(f folder) map[string]bool {
	written := map[string]bool{}
	mark := func(e ast.Expr) {
		if id := rootIdent(e); id != nil {
			written[id.Name] = true
		}
	}
	for _, s := range f.files {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, l := range n.Lhs {
						mark(l)
					}
				}
			case *ast.IncDecStmt:
				mark(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (id.Name == "delete" || id.Name == "clear" || id.Name == "copy") {
					mark(n.Args[0])
				}
			}
			return true
		})
	}
	return written
}

func rootIdent(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return rootIdent(e.X)
	case *ast.IndexExpr:
		return rootIdent(e.X)
	case *ast.SliceExpr:
		return rootIdent(e.X)
	case *ast.StarExpr:
		return rootIdent(e.X)
	case *ast.ParenExpr:
		return rootIdent(e.X)
	}
	return nil
}
