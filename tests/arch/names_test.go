package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// behaviors are the numbered promises of the host. NERVE, by letter: codec,
// query, responses, behavior, handshake, files, upstream, interoperability.
// N is the Nova client protocol and P its personal host, as far as they need no
// voice, no agent, no memory and no sources.
func behaviors() []string {
	var ids []string
	for _, list := range []struct {
		letter      string
		first, last int
	}{
		{"C", 1, 7}, {"Q", 1, 4}, {"R", 1, 2}, {"B", 1, 49}, {"H", 1, 20}, {"F", 1, 5}, {"U", 1, 5}, {"X", 1, 2},
		{"N", 1, 46}, {"N", 53, 59}, {"N", 65, 82}, {"N", 87, 89},
		{"P", 1, 3}, {"P", 5, 8}, {"P", 10, 14}, {"P", 43, 53}, {"P", 55, 56}, {"P", 59, 76}, {"P", 78, 79}, {"P", 81, 82},
	} {
		for n := list.first; n <= list.last; n++ {
			ids = append(ids, fmt.Sprint(list.letter, n))
		}
	}
	return ids
}

func TestEveryBehaviorHasATestThatCarriesItsNumber(t *testing.T) {
	carried := map[string]string{}
	for _, f := range loadFolders(t) {
		for _, s := range f.files {
			maps.Copy(carried, carriedIDs(s))
		}
	}
	for _, id := range behaviors() {
		if carried[id] == "" {
			t.Errorf("%s has no test: want func Test%s_…(t *testing.T) with a body", id, id)
		}
	}
}

var testID = regexp.MustCompile(`^Test((?:[CQRBHFUXNP][0-9]+_)+)`)

// carriedIDs maps the behavior numbers at the start of a file's test names to
// the test. TestB1_B2_Echo carries two. A test without a body carries nothing.
func carriedIDs(s source) map[string]string {
	ids := map[string]string{}
	if !s.isTest() {
		return ids
	}
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Body == nil || len(f.Body.List) == 0 {
			continue
		}
		if m := testID.FindStringSubmatch(f.Name.Name); m != nil {
			for id := range strings.SplitSeq(strings.TrimSuffix(m[1], "_"), "_") {
				ids[id] = f.Name.Name
			}
		}
	}
	return ids
}

func TestTheNameCheckReads(t *testing.T) {
	s, err := parse("adapters/nervews/x_test.go", []byte(`package p
func TestB15_Stalls(t *testing.T) { t.Log() }
func TestB1_B2_Echo(t *testing.T) { t.Log() }
func TestB3_Empty(t *testing.T) {}
func TestP43_N46_Fresh(t *testing.T) { t.Log() }
func TestB4(t *testing.T) { t.Log() }
func TestB5x_No(t *testing.T) { t.Log() }
func (x) TestB6_Method(t *testing.T) { t.Log() }
func BenchmarkB7_No(b *testing.B) { b.Log() }
`))
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(carriedIDs(s)))
	if want := []string{"B1", "B15", "B2", "N46", "P43"}; !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if n := len(behaviors()); n != 215 {
		t.Errorf("%d behaviors, want 215", n)
	}
}
