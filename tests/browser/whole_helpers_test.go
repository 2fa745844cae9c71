package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plexus/cmd/plexus/status"
)

var signInCode = regexp.MustCompile(`Open (http://\S+/) and type this code[^\n]*\n\n +([A-Z2-7]{5}-[A-Z2-7]{5})\n`)

// signIn opens the owner's page in a window of its own, with a code of
// `plexus open --print-code`.
func (p *plexus) signIn(b *chromium) *page {
	p.t.Helper()
	out := p.run("open", "--print-code")
	found := signInCode.FindStringSubmatch(out)
	if found == nil {
		p.t.Fatalf("there is no code in:\n%s", out)
	}
	owner := b.window("about:blank#") // a tab that moves on at once cannot be taken hold of
	owner.do(chromedp.Navigate(found[1]))
	owner.typeText("#code", found[2]+"\r")
	owner.waitText("h1", "Overview")
	return owner
}

// enterByLink opens in the browser what `plexus open` hands to the desktop.
func (p *plexus) enterByLink(b *chromium) *page {
	p.t.Helper()
	tools, told := filepath.Join(p.home, "tools"), filepath.Join(p.home, "told")
	if err := os.Mkdir(tools, 0o700); err != nil {
		p.t.Fatal(err)
	}
	for _, name := range []string{"xdg-open", "open"} { // of Linux and of macOS
		script := fmt.Sprintf("#!/bin/sh\nprintf %%s \"$1\" > '%s'\n", told)
		if err := os.WriteFile(filepath.Join(tools, name), []byte(script), 0o700); err != nil {
			p.t.Fatal(err)
		}
	}
	cmd := p.command("open")
	cmd.Env = append(cmd.Env, "PATH="+tools, "DISPLAY=:7")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("plexus open: %v\n%s", err, out)
	}
	file, err := os.ReadFile(told)
	if err != nil {
		p.t.Fatal(err)
	}
	owner := b.window("about:blank#")
	owner.do(chromedp.Navigate("file://" + string(file)))
	owner.waitText("h1", "Overview")
	if got, _ := owner.eval("location.href").(string); !strings.HasPrefix(got, "http://"+p.at.Admin+"/s/") || strings.Contains(got, "open=") {
		p.t.Errorf("signed in at %s", got)
	}
	return owner
}

func (p *plexus) status() status.Report {
	p.t.Helper()
	var s status.Report
	if err := json.Unmarshal([]byte(p.run("status", "--json")), &s); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// mark remembers the document, so that stayed can tell whether it is the same.
func (p *page) mark() {
	p.t.Helper()
	p.eval("(window.marked = document, true)")
}

func (p *page) stayed(what string) {
	p.t.Helper()
	if p.eval("window.marked === document") != true {
		p.t.Errorf("the page was loaded again to show %s", what)
	}
}

// terminalPhone is a running `plexus phone`.
type terminalPhone struct {
	t     *testing.T
	cmd   *exec.Cmd
	typed io.Writer
	said  bytes.Buffer
	ended chan struct{}
}

// phone starts a phone that keeps its pairing in a folder.
func (p *plexus) phone(folder string, args ...string) *terminalPhone {
	p.t.Helper()
	h := &terminalPhone{t: p.t, cmd: p.command(append([]string{"phone", "--dial", p.at.Client}, args...)...), ended: make(chan struct{})}
	h.cmd.Env = append(h.cmd.Env, "XDG_STATE_HOME="+folder)
	h.cmd.Stdout, h.cmd.Stderr = &h.said, &h.said
	typed, err := h.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	h.typed = typed
	if err := h.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(h.ended)
		_ = h.cmd.Wait() // the code tells
	}()
	p.t.Cleanup(func() {
		_ = h.cmd.Process.Kill() // most tests have seen its end already
		<-h.ended
	})
	return h
}

// quit ends it as its owner does.
func (h *terminalPhone) quit() {
	h.t.Helper()
	if _, err := io.WriteString(h.typed, "/quit\n"); err != nil {
		h.t.Fatal(err)
	}
	receive(h.t, "the end of the phone", h.ended)
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		h.t.Errorf("the phone ended with %d:\n%s", code, &h.said)
	}
}

// thrownOut waits until the phone gives up for good, which only close code 4003
// makes it do in these words.
func (h *terminalPhone) thrownOut(when string) {
	h.t.Helper()
	receive(h.t, "the end of the phone "+when, h.ended)
	if code := h.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(h.said.String(), "the host no longer knows this phone") {
		h.t.Errorf("%s the phone ended with %d:\n%s", when, code, &h.said)
	}
}

// pairingOf is what a phone keeps in its folder.
func pairingOf(folder string) string { return filepath.Join(folder, "plexus", "phone.json") }

// clone gives a new folder in which a phone's pairing lies as it was copied.
func clone(t *testing.T, pairing []byte) (folder string) {
	t.Helper()
	folder = t.TempDir()
	path := pairingOf(folder)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pairing, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
