package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plexus/adapters/memory"
)

const longAnswer = `## What it is

The **valley bridge** is a steel arch [1], *not* a suspension bridge. It ` + "`opened`" + ` in 1931 [page]; see [the archive](https://archive.test/1931) [9].

1. Four years of work
   - from both banks
   - in two shifts
2. One opening day

| Year | Crossings | Remark |
|------|----------:|--------|
| 1931 | 90,000 | on the first morning alone |
| 1932 | 1,204,000 | with the second track |

> Ninety thousand people crossed.

` + "```go\nfunc open(year int) bool {\n\treturn year >= 1931 // the arch was closed in the autumn before, and loaded with forty engines\n}\n```" + `

<img src=x onerror=alert(1)> stays text.`

// TestPanelTakesLateReasoningBack: what turns out to have been reasoning is no answer,
// wherever its end is cut (D19).
func TestPanelTakesLateReasoningBack(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#status", "Connected")
	for _, pieces := range [][]string{
		{"They ask for **two** things.", "\n</think>\n\n", "Both of ", "them."},
		{"They ask\n</th", "ink>\n", "\nBoth of them."},
	} {
		panel.typeText("#question", "Which?\r")
		q := host.nextQuestion()
		for _, piece := range pieces {
			q.token(piece)
		}
		q.last("")
		panel.waitShown("#ask")
		panel.waitText("#answer", "Both of them.")
	}
}

// TestPanelReadsMarkdown: an answer is read as Markdown while it comes, what stands
// is not touched again, code can be copied, and the looks hold in every state.
func TestPanelReadsMarkdown(t *testing.T) {
	host := startFakeHost(t, "127.0.0.1:0", true)
	panel := launch(t, extensionDir).openPanel(host.address())
	panel.waitText("#status", "Connected")
	panel.typeText("#question", "What is it?\r")
	q := host.nextQuestion()
	q.results(3, bridge...)
	for i, piece := range strings.SplitAfter(longAnswer, " ") {
		q.token(piece)
		if i == 20 {
			panel.wait(`document.querySelector("#answer p")`)
			panel.eval(`window.first = document.querySelector("#answer h4")`)
		}
	}
	q.last("")
	panel.waitShown("#ask")
	shape := panel.eval(`[...document.querySelectorAll("#answer > *")].map((e) => e.localName + (e.className && "." + e.className)).join(" ")`)
	if shape != "h4 p ol table blockquote div.code p" {
		t.Errorf("shape %v", shape)
	}
	if panel.eval(`window.first === document.querySelector("#answer h4")`) != true {
		t.Error("a heading that stood was made anew")
	}
	links := panel.eval(`[...document.querySelectorAll("#answer a")].map((a) => a.textContent + " " + a.href).join("\n")`)
	if links != "1 https://bridges.test/valley\nthe archive (archive.test) https://archive.test/1931" {
		t.Errorf("links\n%v", links)
	}
	panel.eval(`navigator.clipboard.writeText = async (text) => (window.copied = text)`)
	panel.click("#answer .copy")
	panel.waitText("#answer .copy", "Copied")
	if got := panel.eval(`window.copied`); got != "func open(year int) bool {\n\treturn year >= 1931 // the arch was closed in the autumn before, and loaded with forty engines\n}" {
		t.Errorf("copied %q", got)
	}
	screens(t, panel, "markdown")
}

// TestOwnerPageReadsMarkdown: while the answer comes, and once it stands in the page;
// without script its text is there, with its line ends.
func TestOwnerPageReadsMarkdown(t *testing.T) {
	_, with := withPersonalHost(t, &memory.ScriptedModel{Pieces: strings.SplitAfter(longAnswer, " ")})
	o := startOwnerPage(t, with)
	p := o.enter(launch(t, extensionDir))
	p.do(chromedp.Navigate(p.eval("location.href").(string) + "conversations/chat:main"))
	p.wait(`document.querySelector("#write")`)
	p.typeText("#text", "What is it?\r")
	p.wait(`document.querySelector("#answer").hidden && document.querySelector(".message:not(.mine, #answer) .words table")`)
	shape := p.eval(`[...document.querySelectorAll(".message:not(.mine, #answer) .words > *")].map((e) => e.localName).join(" ")`)
	if shape != "h4 p ol table blockquote div p" {
		t.Errorf("shape %v", shape)
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{320, 1280} {
			p.scheme(scheme)
			p.resize(width, 800)
			if got := p.faults(); got != "" {
				t.Errorf("%s, %d px: %s", scheme, width, got)
			}
		}
	}
	p.forbidScript()
	p.do(chromedp.Reload())
	p.wait(`document.querySelector(".message:not(.mine, #answer) .words")?.innerText.includes("in 1931 [page]; see [the archive]") && !document.querySelector(".words table")`)
}

// hostileMarkdown makes answers of pieces that mean something to Markdown or HTML,
// shows them in pieces, and gives a line for each element or attribute that no answer
// may have, and for each that lost or changed nothing but should have.
const hostileMarkdown = `import("./markdown.js").then(({ MarkdownView }) => {
	const allowed = { P: "", H3: "", H4: "", H5: "", H6: "", BLOCKQUOTE: "", UL: "", OL: "start", LI: "", HR: "", BR: "", EM: "", STRONG: "", CODE: "", PRE: "", TABLE: "", THEAD: "", TBODY: "",
		TR: "", TH: "class", TD: "class", DIV: "class", SPAN: "class", BUTTON: "class type", A: "class href target rel" };
	const pieces = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:x)", "[", "](", ")", "](https://a.test/", "![", "<https://", ">",
		"\u0060", "\u0060\u0060\u0060", "*", "**", "_", "|", "|-|-|\n", "---\n", "# ", "> ", "- ", "1. ", "\n", "\n\n", "  ", "\t", "&lt;", "&#60;", "\\", "[1]", "[page]", "https://u:p@a.test", "https://a.test/\"onclick=x", "x", "好", "\u202e", "\0", "\ud800"];
	let seed = 9;
	const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
	const faults = [];
	const root = document.createElement("div");
	for (let round = 0; round < 2000; round++) {
		const view = new MarkdownView(root, { mark: () => null, copy: "c", copied: "d" });
		const whole = Array.from({ length: 1 + random(30) }, () => pieces[random(pieces.length)]);
		for (const piece of whole) view.append(piece);
		view.end();
		for (const e of root.querySelectorAll("*")) {
			const names = (allowed[e.nodeName] ?? "none").split(" ");
			if (!(e.nodeName in allowed)) faults.push(e.nodeName + " of " + JSON.stringify(whole));
			for (const { name, value } of e.attributes) if (!names.includes(name)) faults.push(name + "=" + value + " of " + JSON.stringify(whole));
			if (e.nodeName === "A" && !/^https?:$/.test(e.protocol)) faults.push(e.href);
		}
	}
	return faults.slice(0, 5).join("\n");
})`

// TestHostileMarkdownInTheBrowser is the fuzz of the module's own tests once more, in
// a real DOM.
func TestHostileMarkdownInTheBrowser(t *testing.T) {
	panel := launch(t, extensionDir).open("chrome-extension://" + extensionID + "/options.html")
	if faults := panel.eval(hostileMarkdown); faults != "" {
		t.Errorf("%v", faults)
	}
}
