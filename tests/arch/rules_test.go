package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bugRules are small checks for faults that reviews miss and that have been
// seen in good code bases.
func bugRules() []rule {
	ships := func(s source) bool { return !s.isTest() && !s.under("tests") }
	test := func(s source) bool { return s.isTest() || s.under("tests") }
	every := func(source) bool { return true }
	return []rule{
		{"errors are inspected by errors.Is and errors.As", "a wrapped error is neither equal to its cause nor of its type", perFile(ships, comparedErrors)},
		{"commit errors are kept", "a failed commit that is not reported is lost data", perFile(every, droppedCommit)},
		{"pragmas are not executed", "Exec hides the rows in which a pragma answers: query it, or put it in the DSN", execPragma},
		{"no process-wide hands", "output, logger, client and exit come from main, so that run can be tested", perFile(ships, processWide)},
		{"tests do not sleep", "a sleep is slow and flaky: wait for the event, or use a synctest bubble", sleeps(test)},
		{"code does not sleep", "a sleep cannot be stopped: use a timer beside ctx.Done()", sleeps(ships)},
		{"tests are not skipped", "a skipped test is a green light without a check", perFile(test, skips)},
		{"no unchecked TLS or origin", "a socket is opened only where Host and Origin have been judged", perFile(every, insecure)},
	}
}

func TestKnownFaultsStayOut(t *testing.T) { runRules(t, bugRules()) }

var errorName = regexp.MustCompile(`^([eE]rr|err[0-9]+|[eE]rr[A-Z]\w*|\w+Err)$`)

func isErrorName(name string) bool { return errorName.MatchString(name) }

// otherSentinels are error values whose names do not say so.
var otherSentinels = []string{"io.EOF", "context.Canceled", "context.DeadlineExceeded"}

func looksLikeError(e ast.Expr, names map[string]string) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return isErrorName(e.Name)
	case *ast.SelectorExpr:
		return slices.Contains(otherSentinels, qualified(e, names)) || isErrorName(e.Sel.Name)
	}
	return false
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// comparedErrors finds ==, !=, switch and type assertion on errors, except in
// an Is method, which is where comparing is the job.
func comparedErrors(s source) []string {
	names := imports(s)
	var found []string
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && (f.Name.Name == "Is" || f.Name.Name == "As") {
			continue
		}
		part := source{path: s.path, fset: s.fset, file: &ast.File{Name: s.file.Name, Decls: []ast.Decl{d}}}
		found = append(found, inspect(part, func(n ast.Node) string { return errorComparison(n, names) })...)
	}
	return found
}

func errorComparison(n ast.Node, names map[string]string) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		compares := n.Op == token.EQL || n.Op == token.NEQ
		if compares && !isNil(n.X) && !isNil(n.Y) && (looksLikeError(n.X, names) || looksLikeError(n.Y, names)) {
			return "error compared with " + n.Op.String()
		}
	case *ast.TypeAssertExpr:
		if looksLikeError(n.X, names) {
			return "type assertion on an error"
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && looksLikeError(n.Tag, names) {
			return "switch on an error"
		}
	}
	return ""
}

// droppedCommit finds Commit calls whose error goes nowhere, and the slip of
// testing the commit's error and then returning another one.
func droppedCommit(s source) []string {
	return inspect(s, func(n ast.Node) string {
		switch n := n.(type) {
		case *ast.ExprStmt:
			if isCommit(n.X) {
				return "error of Commit dropped"
			}
		case *ast.DeferStmt:
			if isCommit(n.Call) {
				return "error of a deferred Commit dropped"
			}
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 && isCommit(n.Rhs[0]) && blank(n.Lhs) {
				return "error of Commit dropped"
			}
		case *ast.IfStmt:
			if a, ok := n.Init.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && isCommit(a.Rhs[0]) {
				if id, ok := a.Lhs[0].(*ast.Ident); ok && !mentions(n.Body, id.Name) {
					return "error of Commit tested, then another one returned"
				}
			}
		}
		return ""
	})
}

func isCommit(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Commit"
}

func blank(lhs []ast.Expr) bool {
	return !slices.ContainsFunc(lhs, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_"
	})
}

func mentions(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// execPragma looks into literals and into string constants of the same folder.
func execPragma(f folder) []string {
	pragmas := map[string]bool{}
	isPragma := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			return n.Kind == token.STRING && err == nil && answers(text)
		case *ast.Ident:
			return pragmas[n.Name]
		}
		return false
	}
	for _, s := range f.files {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				for i, value := range v.Values {
					pragmas[v.Names[i].Name] = pragmas[v.Names[i].Name] || isPragma(value)
				}
			}
			return true
		})
	}
	return perFile(func(source) bool { return true }, func(s source) []string {
		return inspect(s, func(n ast.Node) string {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return ""
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Exec" && sel.Sel.Name != "ExecContext" {
				return ""
			}
			for _, arg := range call.Args {
				if anyNode(arg, isPragma) {
					return sel.Sel.Name + " of a PRAGMA"
				}
			}
			return ""
		})
	})(f)
}

// silentPragma is one that only sets a number of the file's header. Such a one
// answers no rows, and in a transaction it cannot be part of the DSN.
var silentPragma = regexp.MustCompile(`(?i)^\s*PRAGMA\s+(user_version|application_id)\s*=`)

// answers reports whether a statement is a pragma that may answer in rows.
func answers(statement string) bool {
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(statement)), "PRAGMA") && !silentPragma.MatchString(statement)
}

func anyNode(n ast.Node, is func(ast.Node) bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || n != nil && is(n)
		return !found
	})
	return found
}

// processWideNames act on the whole process.
var processWideNames = []string{
	"fmt.Print", "fmt.Printf", "fmt.Println", "os.Exit", "flag.CommandLine", "flag.Parse",
	"net/http.DefaultClient", "net/http.DefaultServeMux", "net/http.DefaultTransport", "net/http.Get", "net/http.Head",
	"net/http.Post", "net/http.PostForm", "net/http.Handle", "net/http.HandleFunc",
	"net/http.ListenAndServe", "net/http.ListenAndServeTLS",
	"log/slog.Default", "log/slog.SetDefault", "log/slog.Debug", "log/slog.Info", "log/slog.Warn", "log/slog.Error", "log/slog.Log",
	"log/slog.DebugContext", "log/slog.InfoContext", "log/slog.WarnContext", "log/slog.ErrorContext", "log/slog.LogAttrs",
}

func processWide(s source) []string {
	if strings.HasPrefix(s.path, "cmd/") && strings.HasSuffix(s.path, "/main.go") {
		return nil
	}
	names := imports(s)
	return inspect(s, func(n ast.Node) string {
		q := qualified(n, names)
		if slices.Contains(processWideNames, q) || strings.HasPrefix(q, "log.") {
			return q
		}
		return builtinPrint(n)
	})
}

// sleeps finds time.Sleep outside synctest bubbles, where time is not real. A
// bubble is the argument of synctest.Test or of a function of the same folder
// that calls it. What is not a test itself may sleep in a file about bubbles.
func sleeps(applies func(source) bool) func(folder) []string {
	return func(f folder) []string {
		bubbling := map[string]bool{}
		for _, s := range f.files {
			names := imports(s)
			for _, d := range s.file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && anyNode(fn, func(n ast.Node) bool { return qualified(n, names) == synctestTest }) {
					bubbling[fn.Name.Name] = true
				}
			}
		}
		return perFile(applies, func(s source) []string { return sleepsIn(s, bubbling) })(f)
	}
}

const synctestTest = "testing/synctest.Test"

func sleepsIn(s source, bubbling map[string]bool) []string {
	names := imports(s)
	excused := map[ast.Node]bool{}
	excuse := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool { excused[n] = true; return true })
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if names["synctest"] != "" && !strings.HasPrefix(n.Name.Name, "Test") {
				excuse(n)
			}
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			if qualified(n.Fun, names) == synctestTest || ok && bubbling[id.Name] {
				excuse(n)
			}
		}
		return true
	})
	return inspect(s, func(n ast.Node) string {
		if q := qualified(n, names); q == "time.Sleep" && !excused[n] {
			return q
		}
		return ""
	})
}

func skips(s source) []string {
	return inspect(s, func(n ast.Node) string {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return ""
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Skip" && sel.Sel.Name != "Skipf" && sel.Sel.Name != "SkipNow" {
			return ""
		}
		if id, ok := sel.X.(*ast.Ident); ok && slices.Contains([]string{"t", "b", "f", "tb"}, id.Name) {
			return id.Name + "." + sel.Sel.Name
		}
		return ""
	})
}

// insecure allows InsecureSkipVerify in the one function that upgrades, which
// leaves Host and Origin to its caller, and then demands that every file that
// calls it judges the request.
func insecure(s source) []string {
	names := imports(s)
	judges := anyNode(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		return ok && (sel.Sel.Name == "ClassifyOrigin" || sel.Sel.Name == "Admit" || sel.Sel.Name == "AcceptsOrigin" || sel.Sel.Name == "SameOrigin")
	})
	return inspect(s, func(n ast.Node) string {
		if id, ok := n.(*ast.Ident); ok && id.Name == "InsecureSkipVerify" && s.path != "adapters/wsconn/socket.go" {
			return "InsecureSkipVerify"
		}
		if q := qualified(n, names); q == module+"/adapters/wsconn.Upgrade" && !s.isTest() && !judges {
			return "wsconn.Upgrade without a verdict on the origin"
		}
		return ""
	})
}
