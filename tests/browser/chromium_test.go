package browser

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/extensions"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// extensionID follows from the manifest's key, so it is the same on every machine.
const extensionID = "joodhdobialhnfopbcpkalkibgpkdnad"

// waitAtMost bounds every wait for the browser; on a busy machine a first launch
// alone takes several seconds.
const waitAtMost = 30 * time.Second

// chromium is one browser with a fresh profile and the extension in it.
type chromium struct {
	t   *testing.T
	ctx context.Context // of the browser's first tab
}

// page is one document in that browser: a tab, or the side panel.
type page struct {
	t   *testing.T
	ctx context.Context
	id  target.ID
}

// findChromium gives the browser to test with: CHROME_PATH, then the names of
// Chromium, Chrome for Testing and Chrome. Without one it installs Chromium only
// on a machine that is nobody's (root, and CI or a container); else it fails.
func findChromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CHROME_PATH"); path != "" {
		return path
	}
	if path := lookUpChromium(); path != "" {
		return path
	}
	_, inContainer := os.Stat("/.dockerenv")
	if os.Geteuid() == 0 && (os.Getenv("CI") != "" || inContainer == nil) {
		// A fresh machine has no list of packages, and an old list names files that are gone.
		for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "chromium"}} {
			if out, err := exec.CommandContext(t.Context(), "apt-get", args...).CombinedOutput(); err != nil {
				t.Fatalf("apt-get %s: %v\n%s", strings.Join(args, " "), err, out)
			}
		}
		if path := lookUpChromium(); path != "" {
			return path
		}
	}
	t.Fatal("no browser found: install Chromium (for example: apt-get install chromium) or set CHROME_PATH")
	return ""
}

func lookUpChromium() string {
	names := []string{"chromium", "chromium-browser", "chrome-for-testing", "chrome", "google-chrome", "google-chrome-stable"}
	if runtime.GOOS == "darwin" {
		for _, app := range []string{"Chromium", "Google Chrome for Testing", "Google Chrome"} {
			names = append(names, fmt.Sprintf("/Applications/%s.app/Contents/MacOS/%s", app, app))
		}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// launch starts a headless browser with a fresh profile and loads the extension
// over the debugging pipe, which branded Chrome allows too.
func launch(t *testing.T, extension string, more ...chromedp.ExecAllocatorOption) *chromium {
	t.Helper()
	var output strings.Builder
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(findChromium(t)),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-extensions", false),
		chromedp.Flag("enable-unsafe-extension-debugging", true),
		chromedp.Flag("lang", "en"),
		chromedp.DisableGPU,
		chromedp.CombinedOutput(io.Writer(&output)),
	)
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(options, more...)...)
	t.Cleanup(stop)
	// Its complaints about events that it did not expect are no failures of ours.
	quiet := chromedp.WithErrorf(func(string, ...any) {})
	ctx, cancel := chromedp.NewContext(allocator, quiet)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v\n%s", err, output.String())
	}
	b := &chromium{t: t, ctx: ctx}
	if id := b.load(extension); id != extensionID {
		t.Fatalf("extension id %s, want %s: the manifest's key has changed", id, extensionID)
	}
	return b
}

// load adds an extension and gives its ID.
func (b *chromium) load(extension string) string {
	b.t.Helper()
	dir, err := filepath.Abs(extension)
	if err != nil {
		b.t.Fatal(err)
	}
	loaded, err := cdp.Call(b.ctx, chromedp.FromContext(b.ctx).Browser, extensions.LoadUnpacked, extensions.LoadUnpackedParams{Path: dir})
	if err != nil {
		b.t.Fatalf("load the extension: %v", err)
	}
	return loaded.ID
}

// attach waits for a target that fits and takes hold of it.
func (b *chromium) attach(what string, fits func(*target.Info) bool) *page {
	b.t.Helper()
	deadline := time.Now().Add(waitAtMost)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for time.Now().Before(deadline) {
		all, err := chromedp.Targets(b.ctx)
		if err != nil {
			b.t.Fatalf("list targets: %v", err)
		}
		for _, info := range all {
			if fits(info) {
				return b.page(info.TargetID)
			}
		}
		<-ticker.C
	}
	b.t.Fatalf("the browser never had %s", what)
	return nil
}

func (b *chromium) page(id target.ID) *page {
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id))
	b.t.Cleanup(cancel)
	// The first run binds the target to its context, so it must not be one that
	// ends with a wait.
	if err := chromedp.Do(ctx); err != nil {
		b.t.Fatalf("attach to a page: %v", err)
	}
	return &page{t: b.t, ctx: ctx, id: id}
}

// open opens an address in a new tab and brings it to the front.
func (b *chromium) open(address string) *page {
	b.t.Helper()
	return b.make(target.CreateTargetParams{URL: address})
}

// window opens an address in a window of its own, where no tab can hide it.
func (b *chromium) window(address string) *page {
	b.t.Helper()
	return b.make(target.CreateTargetParams{URL: address, NewWindow: new(true)})
}

func (b *chromium) make(what target.CreateTargetParams) *page {
	b.t.Helper()
	made, err := cdp.Call(b.ctx, chromedp.FromContext(b.ctx).Browser, target.CreateTarget, what)
	if err != nil {
		b.t.Fatalf("open %s: %v", what.URL, err)
	}
	p := b.page(made.TargetID)
	p.wait(`document.readyState === "complete" && location.href !== "about:blank"`)
	return p
}

// openPanel opens panel.html as a tab, wide as a side panel, talking to address.
func (b *chromium) openPanel(address string) *page {
	b.t.Helper()
	b.set(map[string]any{"address": address})
	p := b.open("chrome-extension://" + extensionID + "/panel.html")
	p.resize(360, 720)
	return p
}

// set writes the extension's settings, from a page of its own.
func (b *chromium) set(values map[string]any) {
	b.t.Helper()
	p := b.open("chrome-extension://" + extensionID + "/options.html")
	p.eval(fmt.Sprintf("chrome.storage.local.set(%s)", asJSON(b.t, values)))
	p.close()
}

// pressAction presses the toolbar button on a tab and gives the side panel that it
// opens.
func (b *chromium) pressAction(tab *page) *page {
	b.t.Helper()
	b.press(tab)
	return b.attach("a side panel", func(i *target.Info) bool {
		return strings.HasPrefix(i.URL, "chrome-extension://"+extensionID+"/panel.html")
	})
}

func (b *chromium) press(tab *page) {
	b.t.Helper()
	// The action belongs to the tab, which is a target of its own around the page.
	browser := chromedp.FromContext(b.ctx).Browser
	address := tab.eval("location.href")
	tabs, err := cdp.Call(b.ctx, browser, target.GetTargets, target.GetTargetsParams{Filter: target.Filter{{Type: "tab"}}})
	if err != nil {
		b.t.Fatalf("list tabs: %v", err)
	}
	for _, info := range tabs.TargetInfos {
		if info.URL != address {
			continue
		}
		press := extensions.TriggerActionParams{ID: extensionID, TargetID: string(info.TargetID)}
		if _, err := cdp.Call(b.ctx, browser, extensions.TriggerAction, press); err != nil {
			b.t.Fatalf("press the toolbar button: %v", err)
		}
		return
	}
	b.t.Fatalf("no tab shows %v", address)
}
