package arch

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreign matches what ties the repository to the place where it was made: a
// path beside it, somebody's home, a package registry. Spelled in pieces, so
// that this file does not match itself.
var foreign = regexp.MustCompile(strings.Join([]string{
	`\.\./` + `shared`,
	`(?:^|[\s"'` + "`" + `=(:>])/(?:wo` + `rk|ro` + `ot|ho` + `me/\w+|Us` + `ers/\w+)/`,
	`[A-Z]:\\Us` + `ers\\`,
	`registry\.` + `npmjs|npm` + `mirror|proxy\.golang\.` + `org|sum\.golang\.` + `org|goproxy\.` + `|deb\.debian\.` + `org|artifact` + `ory`,
}, "|"))

func TestTheRepositoryStandsAlone(t *testing.T) {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	walk(t, func(name string, text []byte) {
		if binary(text) {
			return
		}
		seen++
		for _, finding := range foreignLines(name, text) {
			t.Error(finding)
		}
		// A checkout at the top of the file system would match everything.
		if len(here) > 3 && bytes.Contains(text, []byte(here+string(os.PathSeparator))) {
			t.Errorf("%s mentions the folder of this checkout", name)
		}
	})
	if seen < 20 {
		t.Errorf("only %d text files seen", seen)
	}
}

// binary tells pictures and built programs from text.
func binary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0
}

func foreignLines(name string, text []byte) []string {
	var found []string
	for i, line := range strings.Split(string(text), "\n") {
		if m := foreign.FindString(line); m != "" {
			found = append(found, fmt.Sprintf("%s:%d mentions %q", name, i+1, m))
		}
	}
	return found
}

func TestTheStandaloneCheckRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"see ../sha" + "red/x":                     "mentions",
		"cd /wo" + "rk/main":                       "mentions",
		"\"/ho" + "me/ann/x\"":                     "mentions",
		"https://registry.np" + "mjs.org/x":        "mentions",
		"https://example.org/wo" + "rk/x and ~/x/": "",
		"a /search endpoint and ./roots/":          "",
	} {
		t.Run(text, func(t *testing.T) { expect(t, foreignLines("x", []byte(text)), want) })
	}
}

var markdownLink = regexp.MustCompile(`(?:\]\(|src="|srcset=")([^)#"\s]+)`)

// Links between the documents and to files of the tree must lead somewhere, and
// docs/screens has no picture that no document shows.
func TestLinksInDocumentsResolve(t *testing.T) {
	links := 0
	shown := map[string]bool{}
	walk(t, func(name string, text []byte) {
		if !strings.HasSuffix(name, ".md") {
			return
		}
		for _, m := range markdownLink.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			target := path.Join(path.Dir(name), m[1])
			shown[target] = true
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	})
	if links == 0 {
		t.Error("no link seen in any document")
	}
	walk(t, func(name string, _ []byte) {
		if path.Dir(name) == "docs/screens" && !shown[name] {
			t.Errorf("no document shows %s", name)
		}
	})
}
