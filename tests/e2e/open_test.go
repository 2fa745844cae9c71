package e2e

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeBrowser puts a script in the place of xdg-open, which keeps what it was
// told and what the file said at that moment.
func (p *place) fakeBrowser(t *testing.T) (told, seen string) {
	t.Helper()
	bin := filepath.Join(p.home, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	told, seen = filepath.Join(p.home, "browser-told"), filepath.Join(p.home, "browser-seen")
	script := "#!/bin/sh\necho \"$@\" > '" + told + "'\ncat \"$1\" > '" + seen + "' || true\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p.environ = append(p.environ, "PATH="+bin+":"+os.Getenv("PATH"), "DISPLAY=:7")
	return told, seen
}

// signIn posts what a browser would and gives the address that it is sent to.
func (d *daemon) signIn(t *testing.T, field, value string) (client *http.Client, home string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.Admin+"/signin", strings.NewReader(url.Values{field: {value}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "http://"+d.Admin)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // nothing in it is wanted
	return client, resp.Header.Get("Location")
}

var fragment = regexp.MustCompile(`url=(http://[^/]+/)#open=([0-9a-f]{64})"`)

func TestOpen_HandsTheBrowserAFileThatWorksOnce(t *testing.T) {
	p := newPlace(t)
	told, seen := p.fakeBrowser(t)
	d := p.serve(t)
	if got := d.plexus(t, "open"); got.code != 0 || !strings.Contains(got.stdout, "http://"+d.Admin+"/") {
		t.Fatalf("open: %+v", got)
	}
	file := strings.TrimSpace(read(t, told))
	link := fragment.FindStringSubmatch(read(t, seen))
	if link == nil || link[1] != "http://"+d.Admin+"/" || strings.Contains(file, link[2]) {
		t.Fatalf("the browser was told %q and saw %q", file, read(t, seen))
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	client, home := d.signIn(t, "secret", link[2])
	if !strings.HasPrefix(home, "/s/") {
		t.Fatalf("signed in and sent to %q", home)
	}
	page, err := client.Get("http://" + d.Admin + home)
	if err != nil || page.StatusCode != http.StatusOK {
		t.Fatalf("the page: %v, %v", page, err)
	}
	_ = page.Body.Close()
	gone(t, file)
	if _, again := d.signIn(t, "secret", link[2]); strings.HasPrefix(again, "/s/") {
		t.Error("the link works twice")
	}
}

// gone waits until a file has been removed.
func gone(t *testing.T, path string) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for range 400 {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return
		}
		<-again.C
	}
	t.Errorf("%s is still there", path)
}

func TestOpen_AFileThatNobodyUsedGoesWithTheHost(t *testing.T) {
	p := newPlace(t)
	told, _ := p.fakeBrowser(t)
	d := p.serve(t)
	d.plexus(t, "open")
	file := strings.TrimSpace(read(t, told))
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	d.stop(t, syscall.SIGTERM)
	gone(t, file)

	d = p.serve(t)
	d.plexus(t, "open")
	file = strings.TrimSpace(read(t, told))
	d.stop(t, syscall.SIGKILL)
	p.serve(t) // tidies up after the crash
	gone(t, file)
}

var typedCode = regexp.MustCompile(`\n +([A-Z2-7]{5}-[A-Z2-7]{5})\n`)

func TestOpen_PrintsACodeWhereNoBrowserCanBeOpened(t *testing.T) {
	d := newPlace(t).serve(t)
	for _, args := range [][]string{{"open", "--print-code"}, {"open"}} { // there is no display
		got := d.plexus(t, args...)
		code := typedCode.FindStringSubmatch(got.stdout)
		if got.code != 0 || code == nil || !strings.Contains(got.stdout, "http://"+d.Admin+"/") {
			t.Fatalf("%v: %+v", args, got)
		}
		if _, home := d.signIn(t, "code", strings.ToLower(code[1])); !strings.HasPrefix(home, "/s/") {
			t.Errorf("%v: sent to %q", args, home)
		}
	}
}

// A browser from a snap cannot read the file: it is sent to the bare page.
func TestOpen_AConfinedBrowserGetsACode(t *testing.T) {
	p := newPlace(t)
	told, _ := p.fakeBrowser(t)
	script := "#!/bin/sh\necho firefox_firefox.desktop\n"
	if err := os.WriteFile(filepath.Join(p.home, "bin", "xdg-settings"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	d := p.serve(t)
	if got := d.plexus(t, "open"); got.code != 0 || typedCode.FindString(got.stdout) == "" {
		t.Errorf("open: %+v", got)
	}
	if got := strings.TrimSpace(read(t, told)); got != "http://"+d.Admin+"/" {
		t.Errorf("the browser was told %q", got)
	}
}
