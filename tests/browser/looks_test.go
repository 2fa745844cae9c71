package browser

import (
	"fmt"
	"strings"
	"testing"
)

// looks gives a line for each fault that a person with weak eyes or a narrow panel
// would meet: text below 4.5:1, edges of controls below 3:1, boxes over the edge.
// Disabled controls are held to it too.
const looks = `(() => {
	const number = (color) => (color.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
	const over = ([r, g, b, a = 1], under) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
	const ground = (e) => (e ? over(number(getComputedStyle(e).backgroundColor), ground(e.parentElement)) : [255, 255, 255]);
	const light = (c) => c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const clear = (e) => (e ? getComputedStyle(e).opacity * clear(e.parentElement) : 1);
	const faults = [];
	for (const e of document.body.querySelectorAll("*")) {
		if (!e.checkVisibility() || e.closest("svg, .unseen, option")) continue;
		const style = getComputedStyle(e);
		const name = e.tagName.toLowerCase() + (e.id ? "#" + e.id : "." + e.className);
		const test = (what, color, on, least) => {
			const [r, g, b, a = 1] = number(color);
			const got = ratio(over([r, g, b, a * clear(e)], on), on);
			if (got < least) faults.push(name + ": " + what + " has " + got.toFixed(2) + ":1");
		};
		if ([...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) test("text", style.color, ground(e), 4.5);
		if (e.placeholder) test("placeholder", getComputedStyle(e, "::placeholder").color, ground(e), 4.5);
		if (e.value && e.type !== "checkbox") test("value", style.color, ground(e), 4.5);
		if (e.matches(".box, input:not(.switch, [type=hidden]), select, textarea, :is(.button, body:is(.app, .door) button):not(:disabled, .primary, .quiet, .switch)")) test("edge", style.borderTopColor, ground(e.parentElement), 3);
		if (e.matches(".switch:enabled, :is(.button, body:is(.app, .door) button).primary:not(:disabled)")) test("face", style.backgroundColor, ground(e.parentElement), 3);
		const box = e.getBoundingClientRect();
		if (box.left < -0.5 || box.right > innerWidth + 0.5) faults.push(name + ": from " + box.left + " to " + box.right);
		const scrolls = style.overflowX === "auto" || style.overflowX === "scroll";
		if (scrolls && e.scrollWidth > e.clientWidth) faults.push(name + ": scrolls sideways");
	}
	if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
	return faults.join("\n");
})()`

func (p *page) faults() string {
	p.t.Helper()
	p.eval("Promise.all(document.getAnimations().filter((a) => a instanceof CSSTransition).map((a) => a.finished))")
	found, _ := p.eval(looks).(string)
	return found
}

// TestPanelLooksFindFaults: the eye that looks at every state does see.
func TestPanelLooksFindFaults(t *testing.T) {
	p := launch(t, extensionDir).open("chrome-extension://" + extensionID + "/options.html")
	p.waitText("h1", "Plexus settings")
	if got := p.faults(); got != "" {
		t.Fatalf("faults in what should have none:\n%s", got)
	}
	for style, want := range map[string]string{
		"color: #999":                     "text has",
		"opacity: 0.4":                    "text has",
		"position: relative; left: 900px": "from",
		"width: 3000px":                   "sideways",
	} {
		p.eval(fmt.Sprintf(`document.querySelector("h1").style.cssText = %q`, style))
		if got := p.faults(); !strings.Contains(got, want) {
			t.Errorf("h1 with %s: %q", style, got)
		}
	}
}

const arabic = "افتتح الجسر عام 1931"

// TestPanelHoldsStill: a long answer above a hundred results moves nothing under the
// person's eyes, keeps the panel quick, and ends at once when a new question comes.
func TestPanelHoldsStill(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#status", "Connected")
	panel.typeText("#question", "Everything?\r")
	q := host.nextQuestion()
	many := make([]found, 100)
	for i := range many {
		many[i] = found{URL: fmt.Sprintf("https://a.test/%d", i), Title: strings.Repeat("Unbroken", 20), Snippet: arabic, Score: 1}
	}
	q.results(3, many...)
	q.token(arabic + " [100]. ")
	panel.wait(`document.querySelectorAll("#results li").length === 100 && document.querySelector("#answer a")`)
	if got := panel.faults(); got != "" {
		t.Errorf("a hundred results:\n%s", got)
	}
	if got := panel.eval(`(() => { const words = document.createRange(); words.selectNodeContents(document.querySelector("#answer").firstChild);
		return words.getBoundingClientRect().right > innerWidth * 0.8 })()`); got != true {
		t.Error("text that runs from right to left begins at the left edge")
	}
	panel.eval(`document.querySelector("#results li:nth-child(50)").scrollIntoView()`)
	panel.eval(`(() => {
		window.longest = 0;
		let last = performance.now();
		const tick = (now) => { longest = Math.max(longest, now - last); last = now; requestAnimationFrame(tick); };
		requestAnimationFrame(tick);
	})()`)
	const top = `Math.round(document.querySelector("#results li:nth-child(50)").getBoundingClientRect().top)`
	before := panel.eval(top)
	for range 2000 {
		q.token("A sentence of some length that goes on and on, to the end of this line and further than it. [7]\n")
	}
	panel.wait(`document.querySelector("#answer").textContent.length > 180_000`)
	if after := panel.eval(top); after != before {
		t.Errorf("the result that was read moved from %v to %v", before, after)
	}
	if got := panel.eval("longest"); got.(float64) > 2000 { // on an idle machine a tenth of that
		t.Errorf("the panel stood still for %v ms", got)
	}
	panel.typeText("#question", "Something else?\r")
	if id := receive(t, "a Cancel", host.cancels); id != q.id {
		t.Errorf("cancelled %d, asked %d", id, q.id)
	}
	q = host.nextQuestion()
	panel.waitText("#asked", "Something else?")
	q.last("No.")
	panel.waitText("#answer", "No.")
	if got := panel.eval(`document.querySelector("#main").scrollTop`); got != 0.0 {
		t.Errorf("the new answer begins %v px above the panel", got)
	}
}

// TestPanelByKeyboard: everything is reached by Tab in the order of reading, has a
// name, and hands the focus on when it goes away.
func TestPanelByKeyboard(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", false)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#notice-title", "Not allowed yet")
	unnamed := `[...document.querySelectorAll("button, input, textarea, a")].filter((e) => e.checkVisibility() &&
		!(e.textContent.trim() || e.ariaLabel || e.labels?.[0]?.textContent.trim())).map((e) => e.outerHTML).join("\n")`
	if got := panel.eval(unnamed); got != "" {
		t.Errorf("controls without a name:\n%v", got)
	}
	host.allowed.Store(true)
	panel.waitText("#status", "Connected")
	panel.typeText("#question", "Why?\t")
	panel.wait(`document.activeElement.id === "ask"`)
	panel.typeText("#ask", " ")
	q := host.nextQuestion()
	panel.wait(`document.activeElement.id === "stop"`)
	q.last("Because.")
	panel.wait(`document.activeElement.id === "question"`)
}
