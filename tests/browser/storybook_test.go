package browser

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"plexus/adapters/qr"
	"plexus/web"
	"plexus/web/stories"
)

// pictured is when the stories are told, so that a picture is the same on every day.
func pictured() time.Time { return time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC) }

// startStorybook serves the stories and gives the address below which they lie.
func startStorybook(t *testing.T) string {
	t.Helper()
	handler, err := stories.Handler(pictured, storyCode(t))
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(handler)
	t.Cleanup(site.Close)
	return site.URL + stories.Base
}

// storyCode is the code that the stories show.
func storyCode(t *testing.T) web.QRCode {
	t.Helper()
	matrix, err := qr.Encode(stories.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return web.NewQRCode(matrix)
}

// window sets the size of the page in CSS pixels and how many pixels one has.
func (p *page) window(width, height int64, scale float64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)))
}

// TestStorybookLooks opens every state of every view of the owner's page. In both
// schemes, narrow and wide, text has the contrast of WCAG AA, nothing runs over
// the edge and every control has a name; with -screens each is pictured.
func TestStorybookLooks(t *testing.T) {
	base := startStorybook(t)
	all := stories.All(pictured(), storyCode(t))
	p := launch(t, extensionDir).open(base)
	for _, story := range all {
		p.goTo(base + story.Name)
		if got := p.eval(unnamedControls); got != "" {
			t.Errorf("%s: controls without a name of their own:\n%v", story.Name, got)
		}
		for _, width := range []int64{320, 600, 1280} {
			p.window(width, 800, 1)
			for _, scheme := range []string{"light", "dark"} {
				p.scheme(scheme)
				if faults := p.faults(); faults != "" {
					t.Errorf("%s, %s, %d px wide:\n%s", story.Name, scheme, width, faults)
				}
				if *screensDir != "" && width != 600 {
					p.picture(fmt.Sprintf("page-%s-%s-%d.png", story.Name, scheme, width), width)
				}
			}
		}
	}
}

// unnamedControls lists controls without a name, and buttons of one page that
// share a name although they do different things.
const unnamedControls = `(() => {
	const faults = [], seen = new Map();
	for (const e of document.querySelectorAll("button, input:not([type=hidden]), textarea, a")) {
		if (!e.checkVisibility()) continue;
		const label = e.getAttribute("aria-labelledby");
		const name = (e.textContent || e.ariaLabel || e.labels?.[0]?.textContent || (label && document.getElementById(label)?.textContent) || "").trim().replace(/\s+/g, " ");
		if (!name) faults.push(e.outerHTML);
		if (e.tagName !== "BUTTON" || !e.form) continue;
		const does = e.form.action + [...new FormData(e.form)].join();
		if (seen.has(name) && seen.get(name) !== does) faults.push("twice: " + name);
		seen.set(name, does);
	}
	return faults.join("\n");
})()`

// goTo loads another address in the same tab.
func (p *page) goTo(address string) {
	p.t.Helper()
	p.do(chromedp.Navigate(address))
	p.wait(fmt.Sprintf(`document.readyState === "complete" && location.href === %q`, address))
	if got := p.eval(`getComputedStyle(document.documentElement).colorScheme`); got != "light dark" {
		p.t.Errorf("%s: the style sheet is not in force: %v", address, got)
	}
}

// picture saves the whole page at a width.
func (p *page) picture(name string, width int64) {
	p.t.Helper()
	height, _ := p.eval("document.documentElement.scrollHeight").(float64)
	p.window(width, max(int64(height), 400), 1)
	image := p.screenshot()
	p.window(width, 800, 1)
	savePicture(p.t, name, image)
}

// TestPairingCodeReadsFromTheScreen takes pictures of the pairing page and reads
// the code in them, at one and two pixels per CSS pixel, zoomed in and out, in
// both schemes, narrow and wide.
func TestPairingCodeReadsFromTheScreen(t *testing.T) {
	p := launch(t, extensionDir).open(startStorybook(t) + "invitation")
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		for _, width := range []int64{320, 1280} {
			for _, scale := range []float64{0.67, 1, 1.25, 2} {
				p.window(width, 900, scale)
				if got := readCode(t, p.screenshot()); got != stories.Payload {
					t.Errorf("%s, %d px, scale %v: read %q", scheme, width, scale, got)
				}
			}
		}
	}
	if got := p.eval(`document.querySelector("#payload").value`); got != stories.Payload {
		t.Errorf("the text to copy is %v", got)
	}
	if got := p.eval(`(() => { const qr = document.querySelector(".qr"); return qr.getBoundingClientRect().width / qr.viewBox.baseVal.width })()`); got.(float64) < 4 {
		t.Errorf("a module is %v px wide, want at least 4", got)
	}
}

// readCode finds the one QR code of a picture and reads it.
func readCode(t *testing.T, picture []byte) string {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(img)
	if err != nil {
		t.Fatal(err)
	}
	hints := map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_TRY_HARDER: true}
	result, err := qrcode.NewQRCodeReader().Decode(bitmap, hints)
	if err != nil {
		return "nothing: " + err.Error()
	}
	return result.GetText()
}
