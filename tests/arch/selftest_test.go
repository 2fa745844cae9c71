package arch

import "testing"

// TestTheRulesRefuse gives every rule code that it must refuse and code that it
// must let through, so that no rule can pass because it sees nothing.
func TestTheRulesRefuse(t *testing.T) {
	rules := map[string]rule{}
	for _, r := range append(purityRules(), bugRules()...) {
		rules[r.name] = r
	}
	tried := map[string]bool{}
	for _, c := range snippets() {
		t.Run(c.rule+"/"+c.title, func(t *testing.T) {
			r, ok := rules[c.rule]
			if !ok {
				t.Fatalf("no rule %q", c.rule)
			}
			s, err := parse(c.file, []byte(c.code))
			if err != nil {
				t.Fatal(err)
			}
			tried[c.rule] = tried[c.rule] || c.want != ""
			expect(t, r.check(folder{s.dir(), []source{s}}), c.want)
		})
	}
	for name := range rules {
		if !tried[name] {
			t.Errorf("rule %q has no snippet that it must refuse", name)
		}
	}
}

// snippet is one piece of code and what its rule says; want "" lets it through.
type snippet struct{ rule, title, file, code, want string }

func snippets() []snippet {
	var all []snippet
	add := func(rule, file string, cases ...[3]string) {
		for _, c := range cases {
			all = append(all, snippet{rule, c[0], file, "package p\n" + c[1], c[2]})
		}
	}
	add("no init", "domain/framing/x.go",
		[3]string{"init", "func init() {}", "x.go:2: func init"},
		[3]string{"method", "type t int\nfunc (t) init() {}", ""})
	add("no goroutine", "usecases/ask/x.go",
		[3]string{"wait group", "func f(w W) { w.Go(f) }", "call of Go"},
		[3]string{"go", "func f() { go f() }", "x.go:2: go statement"},
		[3]string{"nested", "func f() { func() { defer func() { go f() }() }() }", "go statement"})
	add("no goroutine", "adapters/wsconn/x.go", [3]string{"an adapter", "func f() { go f() }", ""})
	add("no clock", "domain/sessions/x.go",
		[3]string{"now", "import \"time\"\nvar _ = time.Now()", "time.Now"},
		[3]string{"now as a value", "import \"time\"\nfunc f() func() time.Time { return time.Now }", "time.Now"},
		[3]string{"renamed", "import clk \"time\"\nfunc f() { clk.NewTimer(0) }", "time.NewTimer"},
		[3]string{"root context", "import \"context\"\nvar _ = context.Background()", "context.Background"},
		[3]string{"timeout", "import \"context\"\nfunc f(c context.Context) { context.WithTimeout(c, 0) }", "context.WithTimeout"},
		[3]string{"print", "import \"fmt\"\nfunc f() { fmt.Println() }", "fmt.Println"},
		[3]string{"builtin", "func f() { println() }", "println"},
		[3]string{"durations", "import \"time\"\nconst d = time.Second\nfunc f(now time.Time) time.Time { return now.Add(d) }", ""})
	add("no clock", "domain/sessions/x_test.go", [3]string{"a test", "import \"time\"\nvar _ = time.Now()", ""})
	add("no channel in a leaf", "domain/sessions/x.go", [3]string{"channel", "var _ chan int", "channel type"})
	add("no channel in a leaf", "usecases/ask/x.go", [3]string{"the host", "type t struct{ c chan int }", ""})
	add("no channel in a leaf", "domain/pages/x.go", [3]string{"a leaf", "type t struct{ c chan int }", "channel type"})
	addGlobals(add)
	addBugs(add)
	return all
}

func addGlobals(add func(rule, file string, cases ...[3]string)) {
	add("no global", "adapters/sqlite/x.go",
		[3]string{"counter", "var n int", "package variable n"},
		[3]string{"hook", "var now = func() int { return 1 }", "package variable now"},
		[3]string{"slice", "var s = []string{\"a\"}", "package variable s"},
		[3]string{"pool elsewhere", "import \"sync\"\nvar p = sync.Pool{}", "package variable p"},
		[3]string{"table written", "var m = map[string]int{}\nfunc f() { m[\"a\"] = 1 }", "m is written to"},
		[3]string{"table cleared", "var m = map[string]int{}\nfunc f() { clear(m) }", "m is written to"},
		[3]string{"address taken", "var a = [...]int{1}\nfunc f() *int { return &a[0] }", "a is written to"},
		[3]string{"counted up", "var a = [1]int{}\nfunc f() { a[0]++ }", "a is written to"},
		[3]string{"error replaced", "import \"errors\"\nvar errA = errors.New(\"a\")\nfunc f() { errA = nil }", "errA is written to"},
		[3]string{"exported table", "var M = map[string]int{\"a\": 1}", "package variable M"},
		[3]string{"string", "var v = \"dev\"", "package variable v"},
		[3]string{"table", "var m = map[string]int{\"a\": 1}\nvar a = [...]string{\"b\"}\nfunc f() int { return m[a[0]] }", ""},
		[3]string{"errors", "import \"errors\"\nvar (\n\tErrA = errors.New(\"a\")\n\terrB = errors.New(\"b\")\n)", ""},
		[3]string{"assertion", "type i interface{}\nvar _ i = (*int)(nil)", ""},
		[3]string{"embed", "import \"embed\"\n//go:embed *.sql\nvar Files embed.FS", ""},
		[3]string{"regexp", "import \"regexp\"\nvar r = regexp.MustCompile(\"a\")", ""})
	add("no global", "adapters/wsconn/buffer.go", [3]string{"frame buffers", "import \"sync\"\nvar p = sync.Pool{}", ""})
}

const synctestHead = "import (\n\t\"testing/synctest\"\n\t\"time\"\n)\n"

func addBugs(add func(rule, file string, cases ...[3]string)) {
	add("errors are inspected by errors.Is and errors.As", "adapters/sqlite/x.go",
		[3]string{"sentinel", "import \"io\"\nfunc f(err error) bool { return err == io.EOF }", "error compared with =="},
		[3]string{"renamed sentinel", "import \"io\"\nfunc f(e error) bool { return io.EOF != e }", "error compared with !="},
		[3]string{"own sentinel", "func f(err error) bool { return err != ErrGone }", "error compared with !="},
		[3]string{"assertion", "func f(err error) { _ = err.(*E) }", "type assertion on an error"},
		[3]string{"type switch", "func f(err error) { switch err.(type) { } }", "type assertion on an error"},
		[3]string{"switch", "func f(err error) { switch err { case ErrGone: } }", "switch on an error"},
		[3]string{"nil", "func f(err error) bool { return err == nil && nil != err }", ""},
		[3]string{"Is method", "func (e *E) Is(target error) bool { return target == ErrGone }", ""},
		[3]string{"kinds", "func f(e *E) bool { return e.Kind == ErrorKind(1) }", ""})
	add("commit errors are kept", "adapters/sqlite/x.go",
		[3]string{"statement", "func f() { tx.Commit() }", "error of Commit dropped"},
		[3]string{"blank", "func f() { _ = tx.Commit() }", "error of Commit dropped"},
		[3]string{"deferred", "func f() { defer tx.Commit() }", "deferred Commit"},
		[3]string{"wrong variable", "func f() error {\n\tif cerr := tx.Commit(); cerr != nil {\n\t\treturn err\n\t}\n\treturn nil\n}", "another one returned"},
		[3]string{"kept", "func f() error {\n\tif err := tx.Commit(); err != nil {\n\t\treturn err\n\t}\n\treturn tx.Commit()\n}", ""})
	add("pragmas are not executed", "adapters/sqlite/x.go",
		[3]string{"literal", "func f() { db.Exec(\"PRAGMA foreign_key_check\") }", "Exec of a PRAGMA"},
		[3]string{"context and case", "func f() { db.ExecContext(ctx, ` pragma wal_checkpoint`) }", "ExecContext of a PRAGMA"},
		[3]string{"joined", "func f(s string) { db.Exec(\"PRAGMA \" + s) }", "Exec of a PRAGMA"},
		[3]string{"constant", "const q = \"PRAGMA quick_check\"\nfunc f() { db.Exec(q) }", "Exec of a PRAGMA"},
		[3]string{"setting that answers", "func f() { db.Exec(\"PRAGMA journal_mode = WAL\") }", "Exec of a PRAGMA"},
		[3]string{"silent", "func f() { db.Exec(\"PRAGMA user_version = \" + v) }", ""},
		[3]string{"query", "func f() { db.Query(\"PRAGMA quick_check\"); db.Exec(\"DELETE FROM t\") }", ""})
	add("no process-wide hands", "adapters/adminapi/x.go",
		[3]string{"print", "import \"fmt\"\nfunc f() { fmt.Printf(\"\") }", "fmt.Printf"},
		[3]string{"log", "import \"log\"\nfunc f() { log.Fatal() }", "log.Fatal"},
		[3]string{"client", "import \"net/http\"\nvar _ = http.DefaultClient", "http.DefaultClient"},
		[3]string{"get", "import \"net/http\"\nfunc f() { http.Get(\"\") }", "http.Get"},
		[3]string{"exit", "import \"os\"\nfunc f() { os.Exit(1) }", "os.Exit"},
		[3]string{"global logger", "import \"log/slog\"\nfunc f() { slog.Info(\"\") }", "slog.Info"},
		[3]string{"injected", "import (\n\t\"fmt\"\n\t\"io\"\n\t\"log/slog\"\n)\nfunc f(l *slog.Logger, w io.Writer) { l.Info(\"\"); fmt.Fprintln(w) }", ""})
	add("no process-wide hands", "cmd/plexus/main.go", [3]string{"main", "import \"os\"\nfunc main() { os.Exit(1) }", ""})
	add("no process-wide hands", "cmd/plexus/run.go", [3]string{"beside main", "import \"os\"\nfunc f() { os.Exit(1) }", "os.Exit"})
	add("tests do not sleep", "adapters/wsconn/x_test.go",
		[3]string{"sleep", "import \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep"},
		[3]string{"outside the bubble", synctestHead + "func TestA(t T) { synctest.Test(t, func(t T) {}); time.Sleep(1) }", "time.Sleep"},
		[3]string{"bubble", synctestHead + "func TestA(t T) { synctest.Test(t, func(t T) { time.Sleep(1) }) }", ""},
		[3]string{"bubble by a helper", synctestHead + "func in(t T, f func()) { synctest.Test(t, func(T) { f() }) }\nfunc TestA(t T) { in(t, func() { time.Sleep(1) }) }", ""},
		[3]string{"used by bubbles", synctestHead + "func step() { time.Sleep(1) }\nfunc TestA(t T) { synctest.Test(t, func(t T) { step() }) }", ""})
	add("code does not sleep", "adapters/wsconn/x.go", [3]string{"sleep", "import \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep"})
	add("tests are not skipped", "tests/e2e/x_test.go",
		[3]string{"skip", "func f(t T) { t.Skip() }", "t.Skip"},
		[3]string{"skipf", "func f(b T) { b.Skipf(\"\") }", "b.Skipf"},
		[3]string{"another skip", "func f(r T) { r.Skip() }", ""})
	add("no unchecked TLS or origin", "adapters/searchapi/x.go", [3]string{"tls", "var _ = c{InsecureSkipVerify: true}", "InsecureSkipVerify"})
	add("no unchecked TLS or origin", "adapters/wsconn/socket.go", [3]string{"the upgrade", "var _ = c{InsecureSkipVerify: true}", ""})
	add("no unchecked TLS or origin", "adapters/nervews/handler.go",
		[3]string{"no verdict", "import \"plexus/adapters/wsconn\"\nfunc f() { wsconn.Upgrade(w, r, o) }", "wsconn.Upgrade without"},
		[3]string{"verdict", "import \"plexus/adapters/wsconn\"\nfunc f() { h.door.Admit(r); wsconn.Upgrade(w, r, o) }", ""})
}
