import assert from "node:assert/strict";
import { test } from "node:test";
import { fourDigits, whyRefused } from "../admission.js";
import { MAX_EXTRACT, clip, excerpt, terms } from "../excerpt.js";
import { linkable } from "../markdown.js";
import { hostSentence, sourceOf } from "../marks.js";
import { contextOf } from "../page.js";
import { isHostToken, parseAddress } from "../settings.js";
import { languages, pickLanguage, speaker } from "../strings.js";

const bytes = (text) => new TextEncoder().encode(text).length;

test("four digits: first four bytes of SHA-256 over the text, big-endian, modulo 10000", async () => {
  // SHA-256("abc") begins ba7816bf; 0xba7816bf = 3128432319.
  assert.equal(await fourDigits("abc"), "2319");
  assert.match(await fourDigits("0".repeat(64)), /^\d{4}$/);
});

test("not running is told from not allowed", async () => {
  const answer = (status, body) => async (url, init) => {
    assert.equal(url, "http://127.0.0.1:9001");
    assert.deepEqual([init.method, init.body], ["POST", ""]);
    return new Response(body, { status });
  };
  const ask = (fetch) => whyRefused("ws://127.0.0.1:9001", fetch);
  assert.equal(await ask(answer(426, '{"product":"plexus","allowed":false}')), "notAllowed");
  assert.equal(await ask(answer(426, '{"product":"plexus","allowed":true}')), "notAllowed");
  assert.equal(await ask(answer(426, '{"product":"other"}')), "notRunning");
  assert.equal(await ask(answer(426, "")), "notRunning");
  assert.equal(await ask(answer(200, '{"product":"plexus","allowed":true}')), "notRunning");
  assert.equal(await ask(async () => Promise.reject(new TypeError("network"))), "notRunning");
});

test("addresses: ws on this machine only", () => {
  assert.equal(parseAddress(" ws://127.0.0.1:9001/ "), "ws://127.0.0.1:9001");
  assert.equal(parseAddress("ws://localhost:9001/nerve"), "ws://localhost:9001/nerve");
  for (const bad of ["", "127.0.0.1:9001", "wss://127.0.0.1:9001", "http://127.0.0.1", "ws://example.com", "ws://127.0.0.1.example.com", "ws://a@127.0.0.1", "ws://127.0.0.1/?x", "ws://0.0.0.0:1"]) {
    assert.equal(parseAddress(bad), null, bad);
  }
});

test("host tokens: 64 lower-case hex digits or none", () => {
  assert.ok(isHostToken("") && isHostToken("0a".repeat(32)));
  for (const bad of ["0A".repeat(32), "0a".repeat(31), "0a".repeat(33), " "]) assert.ok(!isHostToken(bad));
});

test("D18 a mark leads to what was offered and nowhere else", () => {
  const results = [{ url: "https://a.test/1" }, { url: "javascript:alert(1)" }, { url: "http://a.test/3" }];
  const lead = (name, found = results, page = "https://p.test/") => sourceOf(name, found, page);
  assert.deepEqual(["1", "2", "3", "4", "100", "page"].map((name) => lead(name)), ["https://a.test/1", null, "http://a.test/3", null, null, "https://p.test/"]);
  assert.deepEqual(["1", "page"].map((name) => lead(name, [], "")), [null, null], "nothing was offered");
});

test("only http and https become links", () => {
  assert.equal(linkable("https://a.test/x y"), "https://a.test/x%20y");
  assert.equal(linkable("http://a.test"), "http://a.test/");
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "chrome://settings", "a.test", ""]) assert.equal(linkable(bad), null);
});

test("a sentence of the host is told from an answer", () => {
  assert.equal(hostSentence("\n\n[The answer was interrupted.]"), "The answer was interrupted.");
  assert.equal(hostSentence("\n\n[回答中断了。]"), "回答中断了。");
  for (const answer of ["", "[1]", "[page]", "Opened in 1931 [1]", "[a long mark] and more", "[not [one] of them]"]) assert.equal(hostSentence(answer), null);
});

test("CR-30 clip never cuts a code point and prefers a sentence", () => {
  const text = "你好世界 🌍 👨‍👩‍👧 end";
  for (let n = 0; n <= bytes(text); n++) {
    const cut = clip(text, n);
    assert.ok(bytes(cut) <= n && text.startsWith(cut) && cut.isWellFormed(), `${n} bytes`);
  }
  assert.equal(clip(text, 1000), text);
  assert.equal(clip("One two three. Four five six seven.", 20), "One two three.");
  assert.equal(clip("One. Two three four five six seven", 24), "One. Two three four five", "too little would be left");
  assert.equal(clip("第一句话。第二句话很长很长", 24), "第一句话。第二句", "fifteen bytes of 24 are too few");
  assert.equal(clip("第一句话。第二", 18), "第一句话。");
  assert.equal(clip("x\ud83d", 10), "x\ufffd");
});

test("an excerpt fits, keeps order and holds what the question is about", () => {
  const filler = Array.from({ length: 60 }, (_, i) => `Paragraph ${i} tells of weather, roads and the long winter of the valley.`);
  filler[50] = "The bridge opened in 1931 after four years of work.";
  const page = ["A bridge in the valley.", ...filler].join("\n");
  const text = excerpt(page, "When did the bridge open?");
  assert.ok(bytes(text) <= MAX_EXTRACT);
  assert.ok(text.startsWith("A bridge in the valley.\n"));
  assert.ok(text.includes("opened in 1931"));
  const order = [...text.matchAll(/Paragraph (\d+)/g)].map(([, n]) => Number(n));
  assert.deepEqual(order, order.toSorted((a, b) => a - b));
  assert.equal(excerpt("short", "q"), "short");
  const wide = excerpt("汉".repeat(5000), "q");
  assert.ok(bytes(wide) <= MAX_EXTRACT && bytes(wide) > 1000 && wide.isWellFormed());
});

test("terms: words of three letters, pairs of CJK characters", () => {
  assert.deepEqual(terms("When is a bridge?"), ["when", "bridge"]);
  assert.deepEqual(terms("大桥何时"), ["大桥", "桥何", "何时"]);
});

test("D14 no page means an empty context and nothing else", () => {
  const nothing = { url: "", title: "" };
  for (const kind of ["none", "private", "locked"]) {
    assert.deepEqual(contextOf({ kind, url: "https://a.test", title: "t", selection: "s", text: "x" }, "q"), nothing);
  }
  assert.deepEqual(contextOf({ kind: "bare", url: "https://a.test", title: "t", selection: "", text: "" }, "q"), { url: "https://a.test", title: "t" });
  const full = contextOf({ kind: "page", url: "https://a.test", title: "t", selection: "s".repeat(9000), text: "x" }, "q");
  assert.deepEqual([full.selection.length, full.extract], [2048, "x"]);
  const endless = contextOf({ kind: "page", url: "https://a.test/" + "x".repeat(2_000_000), title: "t", selection: "", text: "x" }, "q");
  assert.deepEqual(endless, { url: "", title: "t", extract: "x" });
});

test("both languages say the same things", () => {
  assert.deepEqual(Object.keys(languages["zh-CN"]).sort(), Object.keys(languages.en).sort());
  assert.equal(pickLanguage("", "zh-TW"), "zh-CN");
  assert.equal(pickLanguage("", "de-DE"), "en");
  assert.equal(pickLanguage("en", "zh-CN"), "en");
  assert.equal(speaker("en")("tookMs", { ms: 34 }), "34 ms");
});
