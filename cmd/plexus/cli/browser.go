package cli

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

// ErrNoBrowser: there is no graphical session, or nothing that opens a browser.
var ErrNoBrowser = errors.New("no browser can be opened from here")

// OpenBrowser opens a file or an address without a secret in the owner's browser.
func OpenBrowser(ctx context.Context, env Env, target string) error {
	tool, args := "xdg-open", []string{target}
	switch runtime.GOOS {
	case "darwin":
		tool = "open"
	case "windows":
		tool, args = "rundll32.exe", []string{"url.dll,FileProtocolHandler", target}
	default:
		if env.Getenv("DISPLAY") == "" && env.Getenv("WAYLAND_DISPLAY") == "" {
			return ErrNoBrowser
		}
	}
	path, ok := findTool(env, tool)
	if !ok {
		return ErrNoBrowser
	}
	cmd := exec.Command(path, args...) // it may outlive this command, so ctx does not end it
	cmd.Env = env.Environ
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBrowser, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	patience := time.NewTimer(browserPatience)
	defer patience.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoBrowser, err)
		}
	case <-patience.C:
	case <-ctx.Done():
	}
	return nil
}

// findTool looks in this program's own PATH, which a test may set.
func findTool(env Env, name string) (path string, ok bool) {
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() &&
			(runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return path, true
		}
	}
	return "", false
}

// BrowserIsConfined: a browser from a snap or a flatpak cannot read the file that
// signs in.
func BrowserIsConfined(ctx context.Context, env Env) bool {
	tool, ok := findTool(env, "xdg-settings")
	if !ok || runtime.GOOS != "linux" {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, browserPatience)
	defer stop()
	cmd := exec.CommandContext(ctx, tool, "get", "default-web-browser")
	cmd.Env, cmd.WaitDelay = env.Environ, time.Second
	out, err := cmd.Output()
	name := strings.TrimSpace(string(out))
	if err != nil || name == "" || name != filepath.Base(name) {
		return false
	}
	if first, rest, ok := strings.Cut(strings.TrimSuffix(name, ".desktop"), "_"); ok && first == rest {
		return true // as snap names its programs
	}
	for _, dir := range []string{"/var/lib/flatpak", filepath.Join(env.Getenv("HOME"), ".local/share/flatpak")} {
		if _, err := os.Lstat(filepath.Join(dir, "exports/share/applications", name)); err == nil {
			return true
		}
	}
	return false
}
