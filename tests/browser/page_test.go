package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// eval runs an expression in the page, awaits it and gives its value.
func (p *page) eval(expression string) any {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitAtMost)
	defer cancel()
	// null stands for undefined, which has no JSON.
	value, err := chromedp.Run(ctx, chromedp.Evaluate[any](fmt.Sprintf("(async () => (%s) ?? null)()", expression), chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("in the page, %s: %v", expression, err)
	}
	return value
}

// text gives the shown text of an element.
func (p *page) text(selector string) string {
	p.t.Helper()
	value, _ := p.eval(fmt.Sprintf("document.querySelector(%q).innerText.trim()", selector)).(string)
	return value
}

// wait waits until an expression is true. It asks from here and takes an exception
// for "not yet", so that it also works in workers and across a navigation.
func (p *page) wait(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitAtMost)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		// A page that is being replaced by another one may leave a question without an
		// answer for ever: it is asked again.
		asked, answered := context.WithTimeout(ctx, waitAtMost/10)
		ok, err := chromedp.Run(asked, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		answered()
		if ok {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			p.t.Fatalf("never true: %s (last error: %v)\nthe page says:\n%v", expression, err, p.eval("document.body?.innerText"))
		}
	}
}

// waitText waits until an element shows exactly this text; one that is hidden shows
// none, whatever it holds.
func (p *page) waitText(selector, want string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("((e) => e.checkVisibility() && e.innerText.trim() === %q)(document.querySelector(%q))", want, selector))
}

// waitShown waits until an element can be seen.
func (p *page) waitShown(selector string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("document.querySelector(%q).checkVisibility()", selector))
}

func (p *page) click(selector string) {
	p.t.Helper()
	p.onElement(chromedp.Click(chromedp.CSS(selector)))
}

// onElement does something to an element. A live page may put a new one in its
// place between finding it and that; then it is found again.
func (p *page) onElement(action chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitAtMost)
	defer cancel()
	err := chromedp.Do(ctx, action)
	for err != nil && strings.Contains(err.Error(), "Could not find node") {
		err = chromedp.Do(ctx, action)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// typeText types into an element; "\r" is the Enter key.
func (p *page) typeText(selector, text string) {
	p.t.Helper()
	p.onElement(chromedp.SendKeys(chromedp.CSS(selector), text))
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitAtMost)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *page) close() {
	p.t.Helper()
	if _, err := cdp.Call(p.ctx, chromedp.FromContext(p.ctx).Browser, target.CloseTarget, target.CloseTargetParams{TargetID: p.id}); err != nil {
		p.t.Fatalf("close a tab: %v", err)
	}
}

func (p *page) resize(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(2)))
}

// scheme sets what the page takes for the person's colour scheme: light or dark.
func (p *page) scheme(name string) {
	p.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return chromedp.Void{}, err
	})
}

func (p *page) screenshot() []byte {
	p.t.Helper()
	p.eval("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
	image, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatalf("screenshot: %v", err)
	}
	return image
}
