package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// browserPatience is how long the tool that opens a browser may take to fail. It
// may also stay as long as the browser does.
const browserPatience = 2 * time.Second

// errNoBrowser: there is no graphical session, or nothing that opens a browser.
var errNoBrowser = errors.New("no browser can be opened from here")

// openBrowser opens a file or an address without a secret in the owner's browser.
func (p *program) openBrowser(ctx context.Context, target string) error {
	tool, args := "xdg-open", []string{target}
	switch runtime.GOOS {
	case "darwin":
		tool = "open"
	case "windows":
		tool, args = "rundll32.exe", []string{"url.dll,FileProtocolHandler", target}
	default:
		if p.getenv("DISPLAY") == "" && p.getenv("WAYLAND_DISPLAY") == "" {
			return errNoBrowser
		}
	}
	path, ok := p.findTool(tool)
	if !ok {
		return errNoBrowser
	}
	cmd := exec.Command(path, args...) // it may outlive this command, so ctx does not end it
	cmd.Env = p.environ
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", errNoBrowser, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	patience := time.NewTimer(browserPatience)
	defer patience.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%w: %w", errNoBrowser, err)
		}
	case <-patience.C:
	case <-ctx.Done():
	}
	return nil
}

// findTool looks in this program's own PATH, which a test may set.
func (p *program) findTool(name string) (path string, ok bool) {
	for _, dir := range filepath.SplitList(p.getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() &&
			(runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return path, true
		}
	}
	return "", false
}

// browserIsConfined: a browser from a snap or a flatpak cannot read the file that
// signs in.
func (p *program) browserIsConfined(ctx context.Context) bool {
	tool, ok := p.findTool("xdg-settings")
	if !ok || runtime.GOOS != "linux" {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, browserPatience)
	defer stop()
	cmd := exec.CommandContext(ctx, tool, "get", "default-web-browser")
	cmd.Env, cmd.WaitDelay = p.environ, time.Second
	out, err := cmd.Output()
	name := strings.TrimSpace(string(out))
	if err != nil || name == "" || name != filepath.Base(name) {
		return false
	}
	if first, rest, ok := strings.Cut(strings.TrimSuffix(name, ".desktop"), "_"); ok && first == rest {
		return true // as snap names its programs
	}
	for _, dir := range []string{"/var/lib/flatpak", filepath.Join(p.getenv("HOME"), ".local/share/flatpak")} {
		if _, err := os.Lstat(filepath.Join(dir, "exports/share/applications", name)); err == nil {
			return true
		}
	}
	return false
}
