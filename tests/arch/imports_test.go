package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// row says what one folder may import.
type row struct {
	folder string   // exact, or with /... for a folder and all below it
	own    []string // folders of this module, same spelling
	std    []string // nil: anything; otherwise exactly these
	third  []string // module path prefixes
	why    string   // shown with a finding
}

// pureStd is what value-in, value-out code needs. log/slog is for LogValuer and
// time for values; purity_test.go refuses the rest of them.
var pureStd = []string{
	"bytes", "cmp", "crypto/sha256", "crypto/subtle", "encoding/binary", "encoding/hex", "encoding/json",
	"errors", "fmt", "iter", "log/slog", "maps", "math", "math/bits", "net/url", "slices", "strconv",
	"strings", "time", "unicode", "unicode/utf16", "unicode/utf8",
}

// useCaseStd adds what code that waits and is called concurrently needs.
var useCaseStd = slices.Concat(pureStd, []string{"context", "io", "runtime/debug", "sync", "sync/atomic"})

// rules are the packages of the domain that a use case may apply.
var rules = []string{"domain/admission", "domain/answers", "domain/framing", "domain/loglimit", "domain/pages", "domain/pairing",
	"domain/secret", "domain/sessions", "domain/text"}

// What use cases share.
const (
	waits    = "usecases/syncx"
	recovers = "usecases/recovery"
)

// anything is the std of a room that may do I/O.
var anything []string

// wire is the WebSocket library.
const wire = "github.com/coder/websocket"

// templates is the library that generated views use.
const templates = "github.com/a-h/templ"

// router is for the owner's page and its commands. The listeners of clients compare
// the raw request target, so they have none.
const router = "github.com/go-chi/chi/v5"

// table is the map of the house. The first row that matches a folder counts,
// and a folder without a row fails: a new package is a decision.
func table() []row {
	leaf := "a leaf of the core takes values and gives values, so that every rule can be tested without a socket, a file or a clock"
	driving := "a driving adapter calls the core and shares nothing with its siblings but the gate, the connection shell and the checks of a request"
	alone := "a question, who may ask it and who may pair know nothing of each other: cmd/plexus joins them"
	driven := "a driven adapter implements ports and knows no other adapter"
	return []row{
		{"domain/framing", []string{"domain/jsonscan"}, pureStd, nil, leaf},
		{"domain/jsonscan", nil, pureStd, nil, "the grammar of JSON is no protocol's business"},
		{"domain/secret", nil, pureStd, nil, leaf},
		{"domain/admission", []string{"domain/secret"}, pureStd, nil, leaf},
		{"domain/pairing", []string{"domain/secret"}, slices.Concat(pureStd, []string{"net/netip"}), nil,
			leaf + "; net/netip knows which addresses are this machine's own"},
		{"domain/loglimit", nil, pureStd, nil, leaf},
		{"domain/text", nil, pureStd, nil, leaf},
		{"domain/nova", []string{"domain/jsonscan", "domain/nova/jsonform", "domain/secret"}, pureStd, nil, leaf},
		{"domain/nova/jsonform", []string{"domain/jsonscan"}, pureStd, nil, "how members are read and written is no message's business"},
		{"domain/playback", nil, pureStd, nil, leaf},
		{"domain/pcm", nil, pureStd, nil, leaf},
		{"domain/sessions", []string{"domain/framing", "domain/nova", "domain/secret"}, pureStd, nil, leaf},
		{"domain/pages", []string{"domain/text", "domain/framing"}, slices.Concat(pureStd, []string{"net/netip"}), nil,
			leaf + "; net/netip knows which hosts are addresses, with nothing below them"},
		{"domain/answers", []string{"domain/text", "domain/pages", "domain/framing", "domain/conversations"}, pureStd, nil, leaf},
		{"domain/retention", nil, pureStd, nil, leaf},
		{"domain/conversations", nil, pureStd, nil, leaf},
		{"domain/workbench", []string{"domain/conversations", "domain/nova"}, pureStd, nil, leaf},
		{"usecases/syncx", nil, []string{"context", "sync"}, nil, "what the use cases wait with knows nothing of what they wait for"},
		{"usecases/recovery", nil, []string{"errors", "fmt"}, nil, "how a panic is told without its content is the same wherever the core calls out"},
		{"usecases/ask", slices.Concat(rules, []string{"ports", waits, recovers}), useCaseStd, nil, alone},
		{"usecases/browsers", slices.Concat(rules, []string{"ports", waits}), useCaseStd, nil, alone},
		{"usecases/devices", slices.Concat(rules, []string{"ports", waits}), useCaseStd, nil, alone},
		{"usecases/retention", []string{"domain/retention", "ports", recovers}, useCaseStd, nil, alone},
		{"usecases/personal/hub", []string{"domain/jsonscan", "domain/nova", "domain/nova/jsonform", "usecases/personal/stored", "usecases/recovery", "usecases/syncx", "domain/workbench", "ports"},
			slices.Concat(pureStd, []string{"context", "io", "runtime/debug", "sync"}), nil,
			"the hub of the personal host knows areas by their tables and none by its contents"},
		{"usecases/...", []string{"domain/...", "ports", "usecases/..."}, useCaseStd, nil,
			"use cases reach the world through ports alone; runtime/debug is for the stack of a caught panic"},
		{"ports", []string{"domain/framing", "domain/sessions", "domain/admission", "domain/pairing", "domain/secret", "domain/pages", "domain/answers", "domain/text", "domain/conversations", "domain/nova", "domain/retention"},
			[]string{"context", "errors", "io", "iter", "time"}, nil,
			"a port speaks in values of the domain; a driver's type in it would drag the driver into the core"},
		{"ports/portstest", []string{"domain/...", "ports"}, anything, nil,
			"contract suites know the contract, never an implementation"},
		{"adapters/gate", []string{"domain/loglimit"}, anything, nil,
			"how many connections a listener has is no matter of what they are for"},
		{"adapters/wsconn/...", []string{"domain/sessions", "domain/framing", "adapters/wsconn", "adapters/gate"}, anything, []string{wire},
			"the connection shell knows frames and reasons, not what they are for"},
		{"adapters/httpguard", nil, []string{"io", "net", "net/http", "slices", "strings"}, nil,
			"what is checked of a request is the same for every listener; what a listener does about it is not known here"},
		{"adapters/nervews", []string{"domain/...", "usecases/...", "ports", "adapters/gate", "adapters/httpguard", "adapters/wsconn"}, anything, []string{wire}, driving},
		{"adapters/nerveuds", []string{"domain/...", "ports", waits, "adapters/gate", "adapters/wsconn", "adapters/nervews"}, anything,
			[]string{"golang.org/x/sys"}, "the Unix socket runs the same session as the WebSocket, over a plain connection"},
		{"adapters/novaws", []string{"domain/...", "usecases/...", "ports", "adapters/gate", "adapters/httpguard", "adapters/wsconn"}, anything, []string{wire}, driving},
		{"adapters/nerveclient", []string{"domain/..."}, anything, []string{wire}, "a client must work without the host's code"},
		{"adapters/novaclient", []string{"domain/..."}, anything, []string{wire}, "a client must work without the host's code"},
		{"adapters/sqlite", []string{"domain/...", "ports", "sql", "adapters/sqlite/..."}, anything, []string{"modernc.org/sqlite"}, driven},
		{"adapters/sqlite/sqlitex", nil, anything, []string{"modernc.org/sqlite"}, "transactions and SQLite's errors are the same for every store"},
		{"adapters/sqlite/personal", []string{"domain/...", "ports", "adapters/sqlite", "adapters/sqlite/sqlitex"}, anything, nil,
			"a store gets an open database, and only its tests may know how it is opened: anything else would be an import cycle"},
		{"adapters/memory", []string{"domain/...", "ports"}, anything, nil, driven},
		{"adapters/searchapi", []string{"domain/...", "ports", "adapters/outbound"}, anything, nil, driven},
		{"adapters/outbound", []string{"domain/text"}, anything, nil, "how a service is called knows nothing of what it is asked"},
		{"adapters/localmodel", []string{"domain/...", "ports", "adapters/outbound"}, anything, nil, driven},
		{"adapters/recognizer", []string{"domain/...", "ports", "adapters/outbound"}, anything, nil, driven},
		{"adapters/adminapi", []string{"domain/...", "usecases/...", "ports", "adapters/gate"}, anything, []string{router}, driving},
		{"adapters/hostfiles", []string{"domain/admission", "domain/pairing", "domain/secret", "ports"}, anything, []string{"golang.org/x/sys"},
			"files, locks and sockets of this machine know the token's type and its port, nothing else of the core"},
		{"adapters/adminweb", []string{"domain/...", "usecases/...", "ports", "web", "adapters/adminweb/signin", "adapters/adminweb/privacy", "adapters/gate", "adapters/httpguard"}, anything, []string{templates, router},
			driving + "; a router keeps the page's many routes readable, and depends on nothing"},
		{"adapters/adminweb/privacy", []string{"domain/...", "usecases/...", "ports", "web"}, anything, []string{templates}, "pages in a folder of their own, which adminweb routes to"},
		{"adapters/adminweb/signin", []string{"domain/secret"}, anything, nil, "links and codes know nothing of the page that they open"},
		{"adapters/adminweb/desktop", []string{"domain/...", "usecases/...", "ports", "adapters/httpguard", "adapters/wsconn"}, anything, nil,
			driving + ", which it needs for the page's WebSocket"},
		{"adapters/tailscale", nil, anything, nil, "a tool of the machine is asked in its own words; nothing of the core is needed for that"},
		{"adapters/qr", nil, anything, []string{"github.com/skip2/go-qrcode", "github.com/makiuchi-d/gozxing"}, "a drawing of a text knows nothing of what the text is for; one library draws, the other reads back"},
		{"web", nil, anything, []string{templates}, "a view draws the values it is given and knows nothing of the host"},
		{"web/stories", []string{"web"}, anything, []string{templates}, "canned pages know the views alone; who shows them brings what draws a code"},
		{"sql", nil, []string{"embed"}, nil, "migrations are data"},
		{"cmd/plexus/cli", []string{"domain/text", "adapters/hostfiles"}, anything, nil, "what every command needs knows none of them"},
		{"cmd/plexus/config", []string{"domain/...", "adapters/hostfiles", "cmd/plexus/cli"}, anything, []string{"github.com/BurntSushi/toml"},
			"settings know nothing of what is built from them"},
		{"cmd/plexus/hostclient", []string{"domain/...", "adapters/...", "cmd/plexus/cli", "cmd/plexus/config"}, anything, nil,
			"a running host is reached in the same way by every command"},
		{"cmd/plexus/services", []string{"domain/...", "ports", "adapters/...", "cmd/plexus/config"}, anything, nil,
			"what is called over the network is built from settings, for the host and for doctor alike"},
		{"cmd/plexus/phone", []string{"domain/...", waits, "adapters/novaclient", "adapters/hostfiles", "cmd/plexus/cli"}, anything, []string{wire},
			"a phone must work without the host's code"},
		{"cmd/plexus/bench", []string{"domain/...", "usecases/...", "ports", "adapters/..."}, anything, []string{wire},
			"what is measured is built as it is wired, and no command"},
		{"cmd/plexus/status", []string{"domain/...", "usecases/...", "ports", "adapters/...", "web", "cmd/plexus/cli", "cmd/plexus/config", "cmd/plexus/services"}, anything, nil,
			"a report is gathered and rendered; who asks for it is above"},
		{"cmd/plexus/doctor", []string{"domain/...", "adapters/...", "cmd/plexus/cli", "cmd/plexus/config", "cmd/plexus/hostclient", "cmd/plexus/services", "cmd/plexus/status"},
			anything, []string{wire, "golang.org/x/sys"}, "it looks from outside, and asks the host only for its report"},
		{"cmd/plexus/app", []string{"domain/...", "usecases/...", "ports", "adapters/...", "web", "cmd/plexus/cli", "cmd/plexus/config", "cmd/plexus/services", "cmd/plexus/status", "cmd/plexus/doctor"},
			anything, nil, "the process knows no command"},
		{"cmd/...", []string{"..."}, anything, []string{""}, "commands see everything"},
		{"tests/...", []string{"..."}, anything, []string{""}, "tests of the whole see everything"},
	}
}

// testOnly are the packages that serve tests: nothing that ships imports them.
var testOnly = []string{"ports/portstest", "adapters/memory", "adapters/wsconn/wstest"}

// testExtras may be imported by any test file on top of its folder's row.
var testExtras = slices.Concat([]string{"domain/...", "usecases/...", "ports", "adapters/qr", "web/stories"}, testOnly)

// testThird are the third-party modules of test files: one finds leaked
// goroutines, the other reads QR codes back.
var testThird = []string{"go.uber.org/goleak", "github.com/makiuchi-d/gozxing"}

func TestEveryFolderImportsWhatItsRowAllows(t *testing.T) {
	for _, f := range loadFolders(t) {
		for _, finding := range checkImports(f, table()) {
			t.Error(finding)
		}
	}
}

func TestTheTableNamesOnlyFoldersThatExist(t *testing.T) {
	folders := loadFolders(t)
	for _, r := range table() {
		if !slices.ContainsFunc(folders, func(f folder) bool { return matches(r.folder, f.path) }) {
			t.Errorf("the table has a row for %s, which holds no Go file: take the row out", r.folder)
		}
	}
}

// checkImports holds one folder against the table.
func checkImports(f folder, rows []row) []string {
	i := slices.IndexFunc(rows, func(r row) bool { return matches(r.folder, f.path) })
	if i < 0 {
		return []string{f.path + ": no row in tests/arch/imports_test.go; decide what this folder may import, and why"}
	}
	var found []string
	for _, s := range f.files {
		for _, spec := range s.file.Imports {
			p := importPath(spec)
			if !allowed(rows[i], f.path, p, s.isTest()) {
				found = append(found, fmt.Sprintf("%s: %s may not import %s: %s", s.at(spec), f.path, p, rows[i].why))
			}
		}
	}
	return found
}

// allowed decides on one import.
func allowed(r row, dir, imported string, test bool) bool {
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		if anyMatches(testOnly, own) && !test && !matches("tests/...", dir) {
			return false
		}
		return anyMatches(r.own, own) || test && (own == dir || anyMatches(testExtras, own))
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return test || r.std == nil || slices.Contains(r.std, imported)
	}
	within := func(prefix string) bool {
		return prefix == "" || imported == prefix || strings.HasPrefix(imported, prefix+"/")
	}
	return slices.ContainsFunc(r.third, within) || test && slices.ContainsFunc(testThird, within)
}

func anyMatches(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}

// matches understands an exact folder, "x/..." for x and all below, and "...".
func matches(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

// The self-test: without it a broken walk or a wrong match would pass everything.
func TestTheImportCheckRefuses(t *testing.T) {
	for _, c := range []struct{ file, imported, want string }{
		{"domain/framing/x.go", "os", "may not import os"},
		{"domain/framing/x.go", "context", "may not import context"},
		{"domain/framing/x.go", "plexus/domain/sessions", "may not import plexus/domain/sessions"},
		{"domain/framing/x.go", "plexus/ports", "may not import plexus/ports"},
		{"domain/framing/x.go", "encoding/binary", ""},
		{"domain/framing/x_test.go", "os", ""},
		{"domain/text/x.go", "plexus/domain/framing", "may not import"},
		{"usecases/ask/x.go", "net/http", "may not import net/http"},
		{"usecases/ask/x.go", "plexus/adapters/sqlite", "may not import plexus/adapters/sqlite"},
		{"usecases/ask/x.go", "sync", ""},
		{"usecases/ask/x.go", "plexus/usecases/devices", "may not import"},
		{"usecases/ask/x_test.go", "plexus/adapters/memory", ""},
		{"usecases/ask/x_test.go", "plexus/adapters/sqlite", "may not import plexus/adapters/sqlite"},
		{"ports/x.go", "database/sql", "may not import database/sql"},
		{"ports/x.go", "plexus/usecases/ask", "may not import plexus/usecases/ask"},
		{"adapters/sqlite/x.go", "plexus/adapters/memory", "may not import plexus/adapters/memory"},
		{"adapters/sqlite/x.go", "modernc.org/sqlite/lib", ""},
		{"adapters/sqlite/x.go", "modernc.org/sqlitex", "may not import"},
		{"adapters/nerveuds/x.go", "plexus/adapters/nervews", ""},
		{"adapters/searchapi/x.go", "github.com/coder/websocket", "may not import"},
		{"adapters/searchapi/x_test.go", "go.uber.org/goleak", ""},
		{"cmd/plexus/x.go", "plexus/adapters/sqlite", ""},
		{"cmd/plexus/x.go", "plexus/adapters/memory", "may not import"},
		{"cmd/plexus/x_test.go", "plexus/adapters/memory", ""},
		{"domain/newroom/x.go", "strings", "no row in"},
		{"domain/framing/deeper/x.go", "strings", "no row in"},
	} {
		t.Run(c.file+" "+c.imported, func(t *testing.T) {
			s, err := parse(c.file, fmt.Appendf(nil, "package p\nimport _ %q\n", c.imported))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, checkImports(folder{s.dir(), []source{s}}, table()), c.want)
		})
	}
}

// expect wants no finding for "", else one that holds want.
func expect(t *testing.T, found []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(found) > 0:
		t.Errorf("refused what is allowed: %s", strings.Join(found, "; "))
	case want != "" && !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, want) }):
		t.Errorf("findings %q, want one with %q", found, want)
	}
}
