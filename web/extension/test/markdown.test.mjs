import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeElement, elements, html, inner } from "./dom.mjs";
import { MarkdownView } from "../markdown.js";

const options = {
  mark: (name) => (name === "1" || name === "page" ? Object.assign(new FakeElement("a"), { className: "mark", href: `https://s.test/${name}` }) : null),
  copy: "Copy",
  copied: "Copied",
};

function shown(text) {
  const root = new FakeElement("div");
  const view = new MarkdownView(root, options);
  view.append(text);
  view.end();
  return root;
}

const a = (href, label, host = new URL(href).host) =>
  `<a href="${href}" target="_blank" rel="noopener noreferrer">${label}${host && `<span class="host"> (${host})</span>`}</a>`;
const code = (text, language = "") =>
  `<div class="code"><div class="code-head"><span>${language}</span><button class="copy quiet" type="button">Copy</button></div><pre><code>${text}</code></pre></div>`;

// Pairs of Markdown and what it becomes, by the sections of CommonMark 0.31.
// Headings are two levels lower, since they stand below those of the page.
const examples = {
  "thematic breaks": [
    ["***\n---\n___", "<hr><hr><hr>"],
    ["+++", "<p>+++</p>"],
    ["--\n**\n__", "<p>--\n**\n__</p>"],
    [" ***\n  ***\n   ***", "<hr><hr><hr>"],
    ["_____________________________________", "<hr>"],
    [" - - -", "<hr>"],
    [" **  * ** * ** * **", "<hr>"],
    ["- - - -    ", "<hr>"],
    ["_ _ _ _ a", "<p>_ _ _ _ a</p>"],
    ["a------", "<p>a------</p>"],
    [" *-*", "<p><em>-</em></p>"],
    ["- foo\n***\n- bar", "<ul><li>foo</li></ul><hr><ul><li>bar</li></ul>"],
    ["Foo\n***\nbar", "<p>Foo</p><hr><p>bar</p>"],
    ["* Foo\n* * *\n* Bar", "<ul><li>Foo</li></ul><hr><ul><li>Bar</li></ul>"],
    ["- Foo\n- * * *", "<ul><li>Foo</li><li><hr></li></ul>"],
  ],
  "ATX headings": [
    ["# foo\n## foo\n###### foo", "<h3>foo</h3><h4>foo</h4><h6>foo</h6>"],
    ["####### foo", "<p>####### foo</p>"],
    ["#5 bolt\n\n#hashtag", "<p>#5 bolt</p><p>#hashtag</p>"],
    ["\\## foo", "<p>## foo</p>"],
    ["# foo *bar* \\*baz\\*", "<h3>foo <em>bar</em> *baz*</h3>"],
    ["#                  foo                     ", "<h3>foo</h3>"],
    ["## foo ##\n  ###   bar    ###", "<h4>foo</h4><h5>bar</h5>"],
    ["# foo ##################################", "<h3>foo</h3>"],
    ["### foo ### b", "<h5>foo ### b</h5>"],
    ["# foo#", "<h3>foo#</h3>"],
    ["Foo bar\n# baz\nBar foo", "<p>Foo bar</p><h3>baz</h3><p>Bar foo</p>"],
    ["## \n#\n### ###", "<h4></h4><h3></h3><h5></h5>"],
  ],
  "setext headings": [
    ["Foo *bar*\n=========\n\nFoo *bar*\n---------", "<h3>Foo <em>bar</em></h3><h4>Foo <em>bar</em></h4>"],
    ["Foo *bar\nbaz*\n====", "<h3>Foo <em>bar\nbaz</em></h3>"],
    ["Foo\n-------------------------\n\nFoo\n=", "<h4>Foo</h4><h3>Foo</h3>"],
    ["Foo\n= =\n\nFoo\n--- -", "<p>Foo\n= =</p><p>Foo</p><hr>"],
    ["> Foo\n---", "<blockquote><p>Foo</p></blockquote><hr>"],
    ["- Foo\n---", "<ul><li>Foo</li></ul><hr>"],
  ],
  "fenced code": [
    ["```\n<\n >\n```", code("&lt;\n &gt;")],
    ["~~~\n<\n >\n~~~", code("&lt;\n &gt;")],
    ["``\nfoo\n``", "<p><code>foo</code></p>"],
    ["```\naaa\n~~~\n```", code("aaa\n~~~")],
    ["````\naaa\n```\n``````", code("aaa\n```")],
    ["```", code("")],
    ["`````\n\n```\naaa", code("\n```\naaa")],
    ["> ```\n> aaa\n\nbbb", `<blockquote>${code("aaa")}</blockquote><p>bbb</p>`],
    ["```\n\n  \n```", code("\n  ")],
    [" ```\n aaa\naaa\n```", code("aaa\naaa")],
    ["  ```\naaa\n  aaa\naaa\n  ```", code("aaa\naaa\naaa")],
    ["``` ```\naaa", "<p><code> </code>\naaa</p>"],
    ["```\naaa\n``` aaa", code("aaa\n``` aaa")],
    ["foo\n```\nbar\n```\nbaz", `<p>foo</p>${code("bar")}<p>baz</p>`],
    ["```ruby\ndef foo(x)\n  return 3\nend\n```", code("def foo(x)\n  return 3\nend", "ruby")],
    ["~~~~    ruby startline=3 $%@#$\nx\n~~~~~~~", code("x", "ruby")],
    ["```make\nall:\n\tgo build\n```", code("all:\n\tgo build", "make")],
  ],
  "block quotes": [
    ["> # Foo\n> bar\n> baz", "<blockquote><h3>Foo</h3><p>bar\nbaz</p></blockquote>"],
    ["># Foo\n>bar\n> baz", "<blockquote><h3>Foo</h3><p>bar\nbaz</p></blockquote>"],
    ["> bar\nbaz\n> foo", "<blockquote><p>bar\nbaz\nfoo</p></blockquote>"],
    ["> - foo\n- bar", "<blockquote><ul><li>foo</li></ul></blockquote><ul><li>bar</li></ul>"],
    ["> ```\nfoo\n```", `<blockquote>${code("")}</blockquote><p>foo</p>${code("")}`],
    [">", "<blockquote></blockquote>"],
    [">\n> foo\n>  ", "<blockquote><p>foo</p></blockquote>"],
    ["> foo\n\n> bar", "<blockquote><p>foo</p></blockquote><blockquote><p>bar</p></blockquote>"],
    ["> foo\n>\n> bar", "<blockquote><p>foo</p><p>bar</p></blockquote>"],
    ["> aaa\n***\n> bbb", "<blockquote><p>aaa</p></blockquote><hr><blockquote><p>bbb</p></blockquote>"],
    ["> bar\n\nbaz", "<blockquote><p>bar</p></blockquote><p>baz</p>"],
    ["> > > foo\nbar", "<blockquote><blockquote><blockquote><p>foo\nbar</p></blockquote></blockquote></blockquote>"],
  ],
  lists: [
    ["- one\n\n two", "<ul><li>one</li></ul><p>two</p>"],
    ["- one\n\n  two", "<ul><li><p>one</p><p>two</p></li></ul>"],
    ["-one\n\n2.two", "<p>-one</p><p>2.two</p>"],
    ["1.  A paragraph\n    with two lines.\n\n    > A quote.", "<ol><li><p>A paragraph\nwith two lines.</p><blockquote><p>A quote.</p></blockquote></li></ol>"],
    ["123456789. ok", '<ol start="123456789"><li>ok</li></ol>'],
    ["1234567890. not ok", "<p>1234567890. not ok</p>"],
    ["0. ok", '<ol start="0"><li>ok</li></ol>'],
    ["003. ok", '<ol start="3"><li>ok</li></ol>'],
    ["-1. not ok", "<p>-1. not ok</p>"],
    ["-\n  foo\n-\n  ```\n  bar\n  ```", `<ul><li>foo</li><li>${code("bar")}</li></ul>`],
    ["-\n\n  foo", "<ul><li></li></ul><p>foo</p>"],
    ["- foo\n-\n- bar", "<ul><li>foo</li><li></li><li>bar</li></ul>"],
    ["*", "<ul><li></li></ul>"],
    ["foo\n*\n\nfoo\n1.", "<p>foo\n*</p><p>foo\n1.</p>"],
    ["- foo\n  - bar\n    - baz", "<ul><li>foo<ul><li>bar<ul><li>baz</li></ul></li></ul></li></ul>"],
    ["10) foo\n    - bar", '<ol start="10"><li>foo<ul><li>bar</li></ul></li></ol>'],
    ["- - foo", "<ul><li><ul><li>foo</li></ul></li></ul>"],
    ["- # Foo\n- Bar\n  ---\n  baz", "<ul><li><h3>Foo</h3></li><li><h4>Bar</h4>baz</li></ul>"],
    ["- foo\n- bar\n+ baz", "<ul><li>foo</li><li>bar</li></ul><ul><li>baz</li></ul>"],
    ["1. foo\n2. bar\n3) baz", '<ol><li>foo</li><li>bar</li></ol><ol start="3"><li>baz</li></ol>'],
    ["Foo\n- bar\n- baz", "<p>Foo</p><ul><li>bar</li><li>baz</li></ul>"],
    ["The number of windows in my house is\n14.  The number of doors is 6.", "<p>The number of windows in my house is\n14.  The number of doors is 6.</p>"],
    ["The number of windows in my house is\n1.  The number of doors is 6.", "<p>The number of windows in my house is</p><ol><li>The number of doors is 6.</li></ol>"],
    ["- foo\n\n- bar\n\n\n- baz", "<ul><li><p>foo</p></li><li><p>bar</p></li><li><p>baz</p></li></ul>"],
    ["- a\n - b\n  - c", "<ul><li>a</li><li>b</li><li>c</li></ul>"],
    ["- a\n- b\n\n- c", "<ul><li><p>a</p></li><li><p>b</p></li><li><p>c</p></li></ul>"],
    ["* a\n  > b\n  >\n* c", "<ul><li>a<blockquote><p>b</p></blockquote></li><li>c</li></ul>"],
    ["1. ```\n   foo\n   ```\n\n   bar", `<ol><li>${code("foo")}<p>bar</p></li></ol>`],
    ["* foo\n  * bar\n\n  baz", "<ul><li><p>foo</p><ul><li>bar</li></ul><p>baz</p></li></ul>"],
    ["- foo\nbar", "<ul><li>foo\nbar</li></ul>"],
    // Not as CommonMark: what models write is meant so.
    ["1. one\n  - sub\n2. two", "<ol><li>one<ul><li>sub</li></ul></li><li>two</li></ol>"],
    ["-\tfoo\n\t- bar", "<ul><li>foo<ul><li>bar</li></ul></li></ul>"],
  ],
  paragraphs: [
    ["aaa\nbbb\n\nccc", "<p>aaa\nbbb</p><p>ccc</p>"],
    ["  aaa\n bbb", "<p>aaa\nbbb</p>"],
    ["foo  \nbar", "<p>foo<br>bar</p>"],
    ["foo\\\nbar", "<p>foo<br>bar</p>"],
    ["foo\\", "<p>foo\\</p>"],
  ],
  "escapes and entities": [
    ["\\!\\\"\\#\\$\\*\\[\\`", "<p>!&quot;#$*[`</p>"],
    ["\\A\\a\\ \\3\\«", "<p>\\A\\a\\ \\3\\«</p>"],
    ["\\*not emphasized* \\[1] \\[page]", "<p>*not emphasized* [1] [page]</p>"],
    ["\\\\*emphasis*", "<p>\\<em>emphasis</em></p>"],
    ["`` \\[\\` ``", "<p><code>\\[\\`</code></p>"],
    ["&nbsp; &amp; &lt;b&gt; &#35; &#X22; &#0; &copy &MadeUp;", "<p>\u00a0 &amp; &lt;b&gt; # &quot; \ufffd &amp;copy &amp;MadeUp;</p>"],
    ["&#42;foo&#42;", "<p>*foo*</p>"],
  ],
  "code spans": [
    ["`foo`", "<p><code>foo</code></p>"],
    ["`` foo ` bar ``", "<p><code>foo ` bar</code></p>"],
    ["` `` `", "<p><code>``</code></p>"],
    ["`  ``  `", "<p><code> `` </code></p>"],
    ["` a`", "<p><code> a</code></p>"],
    ["`foo\\`bar`", "<p><code>foo\\</code>bar`</p>"],
    ["*foo`*`", "<p>*foo<code>*</code></p>"],
    ["[not a `link](https://a.test/foo`)", "<p>[not a <code>link](https://a.test/foo</code>)</p>"],
    ["```foo``", "<p>```foo``</p>"],
    ["`foo", "<p>`foo</p>"],
    ["`foo``bar``", "<p>`foo<code>bar</code></p>"],
    ["`a[1]`", "<p><code>a[1]</code></p>"],
  ],
  emphasis: [
    ["*foo bar*", "<p><em>foo bar</em></p>"],
    ["a * foo bar*", "<p>a * foo bar*</p>"],
    ['a*"foo"*', "<p>a*&quot;foo&quot;*</p>"],
    ["foo*bar*", "<p>foo<em>bar</em></p>"],
    ["5*6*78", "<p>5<em>6</em>78</p>"],
    ["_foo bar_", "<p><em>foo bar</em></p>"],
    ["foo_bar_", "<p>foo_bar_</p>"],
    ["snake_case_name and __init__", "<p>snake_case_name and <strong>init</strong></p>"],
    ["foo-_(bar)_", "<p>foo-<em>(bar)</em></p>"],
    ["_foo*", "<p>_foo*</p>"],
    ["*foo bar *", "<p>*foo bar *</p>"],
    ["*(*foo*)*", "<p><em>(<em>foo</em>)</em></p>"],
    ["**foo bar**", "<p><strong>foo bar</strong></p>"],
    ["** foo bar**", "<p>** foo bar**</p>"],
    ["foo**bar**", "<p>foo<strong>bar</strong></p>"],
    ["__foo, __bar__, baz__", "<p><strong>foo, <strong>bar</strong>, baz</strong></p>"],
    ["*foo **bar** baz*", "<p><em>foo <strong>bar</strong> baz</em></p>"],
    ["*foo**bar**baz*", "<p><em>foo<strong>bar</strong>baz</em></p>"],
    ["*foo**bar*", "<p><em>foo**bar</em></p>"],
    ["***foo** bar*", "<p><em><strong>foo</strong> bar</em></p>"],
    ["*foo **bar***", "<p><em>foo <strong>bar</strong></em></p>"],
    ["foo***bar***baz", "<p>foo<em><strong>bar</strong></em>baz</p>"],
    ["foo******bar*********baz", "<p>foo<strong><strong><strong>bar</strong></strong></strong>***baz</p>"],
    ["** is not an empty emphasis", "<p>** is not an empty emphasis</p>"],
    ["foo ***", "<p>foo ***</p>"],
    ["foo *\\**", "<p>foo <em>*</em></p>"],
    ["foo *_*", "<p>foo <em>_</em></p>"],
    ["**foo*", "<p>*<em>foo</em></p>"],
    ["*foo**", "<p><em>foo</em>*</p>"],
    ["****foo*", "<p>***<em>foo</em></p>"],
    ["**foo** **", "<p><strong>foo</strong> **</p>"],
    ["******foo******", "<p><strong><strong><strong>foo</strong></strong></strong></p>"],
    ["_____foo_____", "<p><em><strong><strong>foo</strong></strong></em></p>"],
    ["*foo _bar* baz_", "<p><em>foo _bar</em> baz_</p>"],
    ["*foo __bar *baz bim__ bam*", "<p><em>foo <strong>bar *baz bim</strong> bam</em></p>"],
    ["**这是重点。**后文", "<p>**这是重点。**后文</p>"],
    ["*a `*`*", "<p><em>a <code>*</code></em></p>"],
    ["**a[**](https://a.test/)", `<p>**a${a("https://a.test/", "**")}</p>`],
  ],
  links: [
    ["[link](https://a.test/uri \"title\")", `<p>${a("https://a.test/uri", "link")}</p>`],
    ["[link](<https://a.test/my uri>)", `<p>${a("https://a.test/my%20uri", "link")}</p>`],
    ["[link](https://a.test/my uri)", `<p>[link](${a("https://a.test/my", "https://a.test/my", "")} uri)</p>`],
    ["[link](https://a.test/foo\\(and\\(bar\\))", `<p>${a("https://a.test/foo(and(bar)", "link")}</p>`],
    ["[a](https://a.test/w_(x))", `<p>${a("https://a.test/w_(x)", "a")}</p>`],
    ["[link [foo [bar]]](https://a.test/)", `<p>${a("https://a.test/", "link [foo [bar]]")}</p>`],
    ["[link] bar](https://a.test/)", `<p>[link] bar](${a("https://a.test/", "https://a.test/", "")})</p>`],
    ["[link *foo **bar** `#`*](https://a.test/)", `<p>${a("https://a.test/", "link <em>foo <strong>bar</strong> <code>#</code></em>")}</p>`],
    ["[foo [bar](https://a.test/)](https://b.test/)", `<p>[foo ${a("https://a.test/", "bar")}](${a("https://b.test/", "https://b.test/", "")})</p>`],
    ["*[foo*](https://a.test/)", `<p>*${a("https://a.test/", "foo*")}</p>`],
    ["*foo [bar* baz]", "<p><em>foo [bar</em> baz]</p>"],
    ["![foo](https://a.test/i.png)", `<p>${a("https://a.test/i.png", "foo")}</p>`],
    ["[![foo](https://a.test/i.png)](https://b.test/)", `<p>${a("https://b.test/", "foo")}</p>`],
    ["<https://a.test/x?y=1&z>", `<p>${a("https://a.test/x?y=1&amp;z", "https://a.test/x?y=1&amp;z", "")}</p>`],
    ["See https://a.test/x. (https://a.test/w_(x))", `<p>See ${a("https://a.test/x", "https://a.test/x", "")}. (${a("https://a.test/w_(x)", "https://a.test/w_(x)", "")})</p>`],
    ["见https://a.test/x，然后", `<p>见${a("https://a.test/x", "https://a.test/x", "")}，然后</p>`],
    ["[foo]\n\n[foo]: https://a.test/", `<p>[foo]</p><p>[foo]: ${a("https://a.test/", "https://a.test/", "")}</p>`],
    ...["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "/path", "https://good.test@evil.test/", "java\tscript:x", "vbscript:x"].map((to) => [`[x](${to})`, null]),
    ["https://good.test@evil.test/", "<p>https://good.test@evil.test/</p>"],
    ["[https://good.test/](https://evil.test/)", `<p>${a("https://evil.test/", "https://good.test/")}</p>`],
    ["[good.test](https://evil.test/)", `<p>${a("https://evil.test/", "good.test")}</p>`],
    ["https://EVIL.test/", `<p>${a("https://evil.test/", "https://EVIL.test/")}</p>`],
    ["https://exаmple.test/", `<p>${a("https://xn--exmple-4nf.test/", "https://exаmple.test/")}</p>`],
  ],
  tables: [
    ["| foo | bar |\n| --- | --- |\n| baz | bim |", "<table><thead><tr><th>foo</th><th>bar</th></tr></thead><tbody><tr><td>baz</td><td>bim</td></tr></tbody></table>"],
    ["| abc | defghi |\n:-: | -----------:\nbar | baz", '<table><thead><tr><th class="center">abc</th><th class="right">defghi</th></tr></thead><tbody><tr><td class="center">bar</td><td class="right">baz</td></tr></tbody></table>'],
    ["| f\\|oo |\n| ------ |\n| b `\\|` az |", "<table><thead><tr><th>f|oo</th></tr></thead><tbody><tr><td>b <code>|</code> az</td></tr></tbody></table>"],
    ["| abc | def |\n| --- | --- |\n| bar | baz |\n> bar", "<table><thead><tr><th>abc</th><th>def</th></tr></thead><tbody><tr><td>bar</td><td>baz</td></tr></tbody></table><blockquote><p>bar</p></blockquote>"],
    ["| abc | def |\n| --- |\n| bar |", "<p>| abc | def |\n| --- |\n| bar |</p>"],
    ["| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |", "<table><thead><tr><th>abc</th><th>def</th></tr></thead><tbody><tr><td>bar</td><td></td></tr><tr><td>bar</td><td>baz</td></tr></tbody></table>"],
    ["Text\n| a | b |\n|---|---|", "<p>Text</p><table><thead><tr><th>a</th><th>b</th></tr></thead></table>"],
  ],
  "HTML stays text": [
    ["<b>x</b> <!-- y --> <script>alert(1)</script>", "<p>&lt;b&gt;x&lt;/b&gt; &lt;!-- y --&gt; &lt;script&gt;alert(1)&lt;/script&gt;</p>"],
    ["<div>\n*x*\n</div>", "<p>&lt;div&gt;\n<em>x</em>\n&lt;/div&gt;</p>"],
  ],
  "source marks": [
    ["Opened in 1931 [1], see [page].", '<p>Opened in 1931 <a class="mark" href="https://s.test/1">[1]</a>, see <a class="mark" href="https://s.test/page">[page]</a>.</p>'.replaceAll("[1]</a>", "</a>").replaceAll("[page]</a>", "</a>")],
    ["Not offered: [2] [100] [0] [01] [1234] [x] [ 1 ] [\u20601]", "<p>Not offered: [2] [100] [0] [01] [1234] [x] [ 1 ] [\u20601]</p>"],
    ["[1](https://evil.test/)", `<p>${a("https://evil.test/", "1")}</p>`],
    ["[see [1]](https://evil.test/)", `<p>${a("https://evil.test/", "see [1]")}</p>`],
    ["**x [1]**", '<p><strong>x <a class="mark" href="https://s.test/1"></a></strong></p>'],
  ],
};

for (const [section, pairs] of Object.entries(examples)) {
  test(`CommonMark: ${section}`, () => {
    for (const [text, want] of pairs) {
      const got = inner(shown(text));
      if (want === null) assert.ok(!/<a /.test(got), `${text} made a link: ${got}`);
      else assert.equal(got, want, text);
    }
  });
}

// Draws at every piece, as if each took long to come.
function streamed(pieces, seen = () => {}) {
  const real = performance.now;
  let now = 0;
  performance.now = () => (now += 1e6);
  try {
    const root = new FakeElement("div");
    const view = new MarkdownView(root, options);
    for (const piece of pieces) {
      view.append(piece);
      seen(root);
    }
    view.end();
    return root;
  } finally {
    performance.now = real;
  }
}

const answer = `# The bridge

It opened in **1931** [1], *after* \`four years\` of work [page], see [its page](https://bridges.test/valley).

* One **bold** item
* Another one:
  1. first
  2. second with \`code\`

| Year | People |
|------|-------:|
| 1931 | 90,000 |
| 1932 | **70,000** |

> A quote
> of two lines.

\`\`\`go
func main() {
	fmt.Println("**not bold** [1]")
}
\`\`\`

- [ ] a task
- snake_case_names and 2 * 3 = 6

The end: https://bridges.test/x.`;

test("a stream ends as the whole text does, however it is cut", () => {
  for (const [text] of Object.values(examples).flat()) {
    assert.equal(inner(streamed(text)), inner(shown(text)), text);
  }
  for (let step = 1; step < 60; step++) {
    const pieces = Array.from({ length: Math.ceil(answer.length / step) }, (_, i) => answer.slice(i * step, (i + 1) * step));
    assert.equal(inner(streamed(pieces)), inner(shown(answer)), `step ${step}`);
  }
});

test("a stream never shows what it takes back, and leaves nodes alone that are done", () => {
  const whole = shown(answer).textContent;
  let first = null;
  const root = streamed(answer, (root) => {
    // The host of a link comes with its address, the rest only grows.
    const now = root.textContent.replace(/ \(bridges[^)]*\)/g, "");
    const want = whole.replace(/ \(bridges[^)]*\)/g, "");
    assert.ok(want.startsWith(now.trimEnd()), `shown: …${JSON.stringify(now.slice(-60))}`);
    assert.ok(!/\*\*|`/.test(now.replace(/fmt.*/s, "")), `raw marks: …${JSON.stringify(now.slice(-60))}`);
    if (root.childNodes.length === 2) first ??= root.childNodes[0];
  });
  assert.equal(root.childNodes[0], first);
  let item = null;
  const list = streamed("1. one\n2. two **bold**\n3. three", (root) => (item ??= root.childNodes[0]?.childNodes[0]));
  assert.equal(list.childNodes[0].childNodes[0], item, "an item while its list grows");
});

test("hostile text makes no other element or attribute", () => {
  const allowed = {
    p: [], h3: [], h4: [], h5: [], h6: [], blockquote: [], ul: [], ol: ["start"], li: [], hr: [], br: [], em: [], strong: [], code: [], pre: [],
    table: [], thead: [], tbody: [], tr: [], th: ["className"], td: ["className"], div: ["className"], span: ["className"],
    button: ["className", "type"], a: ["className", "href", "target", "rel"],
  };
  const classes = ["", "code", "code-head", "copy quiet", "host", "mark", "center", "right"];
  const pieces = ["<script>", "</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "[", "](", ")", "](https://a.test/", "![", "<https://", ">", "javascript:",
    "`", "```", "~~~\n", "*", "**", "_", "__", "|", "|-|-|\n", "---\n", "# ", "> ", "- ", "1. ", "\n", "\n\n", "  ", "    ", "\t", "&#x3c;", "&lt;", "\\", "[1]", "[page]",
    "https://u:p@a.test", "https://a.test/\"onclick=x", "data:text/html,", "<a href=javascript:x>", "x", "好", "🌍", "\u202e", "\u0000", "\ud800", "=", "+ ", "\" onmouseover=\"x", "style=", "'"];
  let seed = 20;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: 1 + random(40) }, () => pieces[random(pieces.length)]).join("");
    const root = round % 2 ? shown(text) : streamed(text.match(/[^]{1,7}/g));
    for (const element of elements(root)) {
      const attributes = Object.keys(element.attributes);
      const fine = allowed[element.name] && attributes.every((name) => allowed[element.name].includes(name)) && classes.includes(element.className ?? "");
      assert.ok(fine, `${html(element).slice(0, 200)}\nof ${JSON.stringify(text)}`);
      if (element.name === "a") assert.match(element.href, /^https?:\/\/[^@/]*(\/|$)/, JSON.stringify(text));
      if (element.start !== undefined) assert.ok(Number.isInteger(element.start));
    }
  }
});

// What a text takes is counted in time of this process; the ratio of two lengths
// tells in proportion from squared whatever the machine.
test("time stays in proportion to the text", () => {
  const hostile = {
    brackets: "[", "begun links": "[a](", "links to nowhere": "[a](b", "images": "![", closed: "]", "nested links": "[a](https://a.test/", stars: "*", "begun emphasis": "*a ",
    "crossed emphasis": "*a _b ", "strong in strong": "**a *b ", "emphasis that closes": "a**b c* ", ticks: "`", "runs of ticks": "` `` ``` ", quotes: ">", "quoted lines": "> > > > > > > > > > > >\n",
    "deep lists": "- - - - - - - - - - - -\n", items: "- a\n", "loose items": "- a\n\n", "more and more": " - a\n  - b\n   - c\n", bars: "|", "table rows": "|a|b|\n|-|-|\n", dashes: "-", blanks: " ",
    "blank ends": "a   \n", entities: "&#", addresses: "https://", "parentheses at the end": "https://a)", "closing parentheses": ")", escapes: "\\", hashes: "#", "hash lines": "# #\n", tildes: "~~~\n", "angles": "<https://a",
    "closers without openers": ["*a ", "b_ "], titles: '[a](https://a.test "', "lines": "a\n", "lazy lines": "> a\nb\n", "numbers": "1. ", underlines: "a\n=", tabs: "\t",
  };
  const spent = (text) => {
    let least = Infinity;
    for (let n = 0; n < 3; n++) {
      const before = process.cpuUsage();
      shown(text);
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, user + system);
    }
    return least + 1000; // µs; what is lost in the noise is no fault
  };
  for (const [name, piece] of Object.entries(hostile)) {
    const repeated = (text, length) => text.repeat(Math.ceil(length / text.length));
    const [short, long] = [10_000, 80_000].map((length) => spent([piece].flat().map((text) => repeated(text, length)).join("")));
    assert.ok(long / short < 36, `${name}: eight times the text takes ${(long / short).toFixed(1)} times as long (${long} µs)`);
  }
});

// The host puts U+2060 where a page that it quotes has signs of Markdown.
test("what the host quotes is shown as it stands", () => {
  const quoted = "\u2060*\u2060Bold*\u2060 and `\u2060code`\u2060[\u20601] or [here]\u2060(b) `c` [page] ";
  const page = '<a class="mark" href="https://s.test/page"></a>';
  assert.equal(inner(shown(quoted)).replaceAll("\u2060", ""), `<p>*Bold* and \`code\`[1] or [here](b) <code>c</code> ${page}</p>`);
  const apart = "Press `\u2060 to open. [page] Then `\u2060 again, 5*\u2060 a *\u2060b _\u2060c \\\u2060*\u2060 &\u2060#91;1] <\u2060b [page]";
  assert.equal(inner(shown(apart)).replaceAll("\u2060", ""), `<p>Press \` to open. ${page} Then \` again, 5* a *b _c \\* &amp;#91;1] &lt;b ${page}</p>`);
  assert.equal(inner(shown("\u2060# One\n\u20602. two")).replaceAll("\u2060", ""), "<p># One\n2. two</p>");
});
