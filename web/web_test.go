package web_test

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plexus/adapters/qr"
	"plexus/web"
	"plexus/web/stories"
)

var update = flag.Bool("update", false, "write the golden files")

// moment is when all golden pages are drawn.
var moment = time.Date(2026, time.November, 30, 9, 30, 0, 0, time.UTC)

func drawAll(t *testing.T) map[string]string {
	t.Helper()
	matrix, err := qr.Encode(stories.Payload)
	if err != nil {
		t.Fatal(err)
	}
	all := stories.All(moment, web.NewQRCode(matrix))
	drawn := make(map[string]string, len(all))
	for _, s := range all {
		var b bytes.Buffer
		if err := s.View.Render(t.Context(), &b); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if _, twice := drawn[s.Name]; twice {
			t.Fatalf("two stories are called %s", s.Name)
		}
		drawn[s.Name] = b.String()
	}
	return drawn
}

// static addresses hold a hash that every change of a style would alter.
var hashed = regexp.MustCompile(`/static/[0-9a-f]{16}/`)

// betweenTags breaks a page into lines, so that a difference can be read.
var betweenTags = regexp.MustCompile(`><`)

func TestGoldenPages(t *testing.T) {
	drawn := drawAll(t)
	for name, page := range drawn {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".html")
			got := betweenTags.ReplaceAllString(hashed.ReplaceAllString(page, "/static/HASH/"), ">\n<") + "\n"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (run go test ./web -update)", err)
			}
			if got != string(want) {
				t.Errorf("%s differs at line %d; look at it, then run go test ./web -update", file, firstDifference(got, string(want)))
			}
		})
	}
	files, err := filepath.Glob("testdata/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".html"); drawn[name] == "" {
			t.Errorf("%s belongs to no story", file)
		}
	}
}

func firstDifference(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return i + 1
		}
	}
	return min(len(x), len(y)) + 1
}

// CR-10: what a phone or an extension calls itself is text, never markup.
func TestHostileNamesAreText(t *testing.T) {
	drawn := drawAll(t)
	for name, want := range map[string]string{
		"devices-hostile": "&lt;img src=x onerror=alert(1)&gt;",
		"refused":         "&lt;script&gt;alert(1)&lt;/script&gt;",
		"devices":         "👨‍👩‍👧",
	} {
		if !strings.Contains(drawn[name], want) {
			t.Errorf("%s does not hold %q", name, want)
		}
	}
	for name, page := range drawn {
		if strings.Contains(page, "<img") || strings.Contains(page, "<script>") {
			t.Errorf("%s holds markup that came from outside", name)
		}
	}
}

// toAPage is the one kind of link that leads out: to the page of a topic, which
// does not learn where it was linked from.
var toAPage = regexp.MustCompile(`<a href="https?://[^"]*" target="_blank" rel="noopener noreferrer">`)

// The policy forbids everything inline, so nothing may depend on it.
func TestPagesHoldNothingInline(t *testing.T) {
	inline := regexp.MustCompile(`<style|<script>|\sstyle=|\son[a-z]+="|javascript:|<iframe|<object|<base`)
	outside := regexp.MustCompile(`(?:src|href|action)="(?:https?:)?//[^"]*"`)
	for name, page := range drawAll(t) {
		if found := inline.FindString(page); found != "" {
			t.Errorf("%s holds %q", name, found)
		}
		page = toAPage.ReplaceAllString(page, "<a>")
		if found := outside.FindString(page); found != "" {
			t.Errorf("%s points outside: %s", name, found)
		}
	}
}

// A change is a POST, so a link or an address must never hold one. A search
// changes nothing.
func TestFormsPost(t *testing.T) {
	form := regexp.MustCompile(`<form[^>]*>`)
	for name, page := range drawAll(t) {
		for _, f := range form.FindAllString(page, -1) {
			if !strings.Contains(f, `method="post"`) && !strings.Contains(f, `role="search"`) {
				t.Errorf("%s: %s", name, f)
			}
		}
	}
}

// CR-28: only a code that waits is on the page, and in no address on it.
func TestACodeIsShownOnlyWhileItWaits(t *testing.T) {
	const code = "0123456789abcdef0123456789abcdef"
	address := regexp.MustCompile(`(?:href|src|action)="[^"]*"`)
	for name, page := range drawAll(t) {
		waits := strings.Contains(page, `data-state="waiting"`)
		if got := strings.Contains(page, code); got != waits {
			t.Errorf("%s holds the code: %v", name, got)
		}
		for _, a := range address.FindAllString(page, -1) {
			if strings.Contains(a, code) {
				t.Errorf("%s: the code is in %s", name, a)
			}
		}
	}
}

// TestScriptsFindWhatLiesBesideThem: what the extension's panel and the page share is
// served in the folder of the script that loads it, whose address tells them apart.
func TestScriptsFindWhatLiesBesideThem(t *testing.T) {
	handler, err := web.Static()
	if err != nil {
		t.Fatal(err)
	}
	page := drawAll(t)["talk"]
	folder := hashed.FindString(page[strings.LastIndex(page[:strings.Index(page, "talk.js")], `"`):])
	for _, name := range []string{"markdown.js", "markdown.css"} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, folder+name, nil))
		want, err := os.ReadFile("extension/" + name)
		if err != nil || answer.Code != http.StatusOK || answer.Body.String() != string(want) {
			t.Errorf("%s%s: %d, %d bytes (%v)", folder, name, answer.Code, answer.Body.Len(), err)
		}
	}
}

func TestStaticFilesHaveOneAddressEach(t *testing.T) {
	handler, err := web.Static()
	if err != nil {
		t.Fatal(err)
	}
	page := drawAll(t)["signin"]
	for _, name := range []string{"app.css", "app.js", "icon.svg"} {
		address := hashed.FindString(page[strings.LastIndex(page[:strings.Index(page, name)], `"`):]) + name
		for path, want := range map[string]int{address: http.StatusOK, web.StaticPrefix + name: http.StatusNotFound, web.StaticPrefix + "0000000000000000/" + name: http.StatusNotFound} {
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
			if answer.Code != want {
				t.Errorf("%s: %d, want %d", path, answer.Code, want)
			}
			if kept := strings.Contains(answer.Header().Get("Cache-Control"), "immutable"); kept != (want == http.StatusOK) {
				t.Errorf("%s: may be kept: %v", path, kept)
			}
		}
	}
}
