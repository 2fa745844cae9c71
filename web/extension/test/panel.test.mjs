import assert from "node:assert/strict";
import { test } from "node:test";
import { askHost, fourDigits } from "../admission.js";
import { MAX_EXTRACT, MAX_WHOLE, clip, excerpt, isOverview, terms } from "../excerpt.js";
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
  const ask = async (fetch) => (await askHost("ws://127.0.0.1:9001", { fetch })).reason;
  assert.equal(await ask(answer(426, '{"product":"plexus","allowed":false}')), "notAllowed");
  assert.equal(await ask(answer(426, '{"product":"plexus","allowed":true}')), "notAllowed");
  assert.equal(await ask(answer(426, '{"product":"other"}')), "notRunning");
  assert.equal(await ask(answer(426, "")), "notRunning");
  assert.equal(await ask(answer(200, '{"product":"plexus","allowed":true}')), "notRunning");
  assert.equal(await ask(async () => Promise.reject(new TypeError("network"))), "notRunning");
});

test("a host may tell where the owner's page is and whether it takes a token", async () => {
  const ask = async (body, token) => {
    let sent = null;
    const fetch = async (_, init) => {
      sent = init.body;
      return new Response(JSON.stringify({ product: "plexus", allowed: false, ...body }), { status: 426 });
    };
    const { ownerPage, tokenAccepted } = await askHost("ws://127.0.0.1:9001", { token, fetch });
    return [sent, ownerPage, tokenAccepted];
  };
  assert.deepEqual(await ask({}), ["", "", null]);
  assert.deepEqual(await ask({ page: "http://127.0.0.1:9010/", token: false }, "ab"), ["anvesha-v1.ab", "http://127.0.0.1:9010/", false]);
  assert.deepEqual(await ask({ page: "http://localhost:9010/x?y#z", token: true }, "ab"), ["anvesha-v1.ab", "http://localhost:9010/", true]);
  for (const page of ["https://127.0.0.1/", "http://evil.test/", "http://127.0.0.1.evil.test/", "http://a@127.0.0.1/", "javascript:alert(1)", 7, null, ""]) {
    assert.deepEqual(await ask({ page, token: "no" }), ["", "", null], String(page));
  }
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

test("terms: no stop words, whole words without endings, pairs of CJK characters", () => {
  assert.deepEqual(terms("When was a bridge opened?"), ["bridg", "open"]);
  assert.deepEqual(terms("大桥是什么时候通车的？"), ["大桥", "通车"]);
  assert.deepEqual(terms("猫"), ["猫"]);
  assert.deepEqual(terms("Wann wurde die Brücke gebaut?"), ["bruck", "gebaut"]);
  assert.deepEqual(terms("Quelle est la hauteur de l'église ?"), ["hauteur", "eglis"]);
  assert.deepEqual(terms("¿Cuándo se abrió el puente?"), ["abrio", "puent"]);
  assert.deepEqual(terms("Quando è stato aperto il ponte?"), ["stato", "aperto", "pont"]);
  assert.deepEqual(terms("What is it about?"), []);
});

test("questions about the whole are told from others", () => {
  for (const q of ["Summarise this", "tl;dr", "What is this page about?", "Give me the key points", "总结一下", "这篇文章讲了什么？", "Fasse die Seite zusammen", "Résume cette page", "De quoi parle cet article ?",
    "Resume esta página", "Riassumi", "Faça um resumo", "Vat samen: samenvatting", "Translate it into Dutch", "要約して"]) assert.ok(isOverview(q), q);
  for (const q of ["When did it open?", "Who wrote the summons?", "大桥何时通车", "What does the gistfile do to disks?"]) assert.ok(!isOverview(q), q);
});

// A page of about 200 KB with headings, whose one fact stands where `at` says.
function longPage(fact, at, every = 20) {
  const words = "river valley stone market winter summer train road school harbour light colour music paper lantern".split(" ");
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const lines = [];
  const headings = [];
  for (let i = 0; i < 400; i++) {
    if (i % every === 0) headings.push(lines.push(`Section ${i / every}`) - 1);
    lines.push(i === at ? fact : `${Array.from({ length: 75 }, () => words[random(words.length)]).join(" ")}.`);
  }
  lines.push("The end of the report.");
  return { text: lines.join("\n"), headings };
}

test("D17 the excerpt of a long page: question, headings, beginning, end, marked gaps", () => {
  for (const [fact, question] of [
    ["The dam was finished in 1962.", "When was the dam finished?"],
    ["大坝于一九六二年完工。", "大坝是什么时候完工的？"],
    ["Der Damm wurde 1962 fertig gestellt.", "Wann war der Damm fertig?"],
    ["The damage was great.", "What was damaged?"],
  ]) {
    for (const at of [3, 150, 260, 398]) {
      const { text, headings } = longPage(fact, at);
      const part = excerpt(text, question, MAX_EXTRACT, headings);
      assert.ok(bytes(part) <= MAX_EXTRACT && bytes(part) > 3000, `${bytes(part)} bytes`);
      assert.ok(part.includes(fact), `${question} at ${at}`);
      assert.ok(part.startsWith("Section 0\n") && part.endsWith("The end of the report."));
      assert.ok(part.includes(`Section ${Math.floor(at / 20)}\n`), "the heading above it");
      assert.match(part, /\n…\n/);
    }
  }
  const many = longPage("The dam was finished in 1962.", 300, 2);
  assert.ok(excerpt(many.text, "When was the dam finished?", MAX_EXTRACT, many.headings).includes("Section 150\nThe dam"), "of many headings, the one above it");
  const { text, headings } = longPage("The damage was great.", 200);
  assert.ok(!excerpt(text, "Where is the dam?", MAX_EXTRACT, headings).includes("damage"), "a part of a word is no match");
});

test("D17 a question about the whole takes a spread, with the outline", () => {
  for (const question of ["Summarise this page", "总结", "Ist das glaubwürdig?"]) {
    const { text, headings } = longPage("Who can summarise a page has read it.", 30);
    const part = excerpt(text, question, MAX_EXTRACT, headings);
    assert.ok(bytes(part) <= MAX_EXTRACT && bytes(part) > 3000, `${bytes(part)} bytes`);
    for (let n = 0; n < 20; n++) assert.ok(part.includes(`Section ${n}\n`), `section ${n}`);
    const lines = part.split("\n").filter((line) => line !== "…" && !line.startsWith("Section"));
    const places = lines.map((line) => text.indexOf(line) / text.length);
    assert.ok(places.every((place) => place >= 0), "every line stands in the page");
    for (let tenth = 0; tenth < 10; tenth++) assert.ok(places.some((place) => Math.floor(place * 10) === tenth), `nothing of tenth ${tenth}`);
  }
});

test("D17 the whole page: up to 64 KiB, and beyond that the part that matters", () => {
  const { text, headings } = longPage("The dam was finished in 1962.", 260);
  const part = excerpt(text, "When was the dam finished?", MAX_WHOLE, headings);
  assert.ok(bytes(part) <= MAX_WHOLE && bytes(part) > 60_000 && part.includes("1962"));
  assert.equal(excerpt(text.slice(0, 65_536), "x", MAX_WHOLE, headings), text.slice(0, 65_536));
});

test("an excerpt takes time in proportion, whatever the page is made of", () => {
  const spent = (text) => {
    const before = process.cpuUsage();
    excerpt(text, "When did the bridge of the valley open and who built it?", MAX_EXTRACT, text.split("\n").map((_, i) => i));
    const { user, system } = process.cpuUsage(before);
    return user + system + 3000;
  };
  for (const piece of ["bridge ", "bridge\n", "x", "\n", " ", "桥", ". ", "a. b\n", "\u0301", "1"]) {
    const [short, long] = [20_000, 160_000].map((length) => Math.min(...[1, 2, 3].map(() => spent(piece.repeat(length / piece.length)))));
    assert.ok(long / short < 36, `${JSON.stringify(piece)}: ${short} µs, ${long} µs`);
  }
});

const page = (changes) => ({ kind: "page", why: "", url: "https://a.test", title: "t", selection: "", text: "x", headings: [], more: false, unread: 0, ...changes });

test("D14 no page means an empty context and nothing else", () => {
  const nothing = { url: "", title: "" };
  for (const kind of ["none", "private", "locked"]) assert.deepEqual(contextOf(page({ kind, selection: "s" }), "q"), nothing);
  assert.deepEqual(contextOf(page({ kind: "bare", text: "" }), "q"), { url: "https://a.test", title: "t" });
  const endless = contextOf(page({ url: "https://a.test/" + "x".repeat(2_000_000) }), "q");
  assert.deepEqual(endless, { url: "", title: "t", extract: "x", extract_total: 1, extract_kind: "whole" });
});

test("D17 the context says how much there is and what of it is sent", () => {
  const { text, headings } = longPage("The dam was finished in 1962.", 260);
  const kinds = (changes, whole) => {
    const { selection, extract, extract_total, extract_kind } = contextOf(page(changes), "When was the dam finished?", whole);
    return [bytes(selection ?? ""), bytes(extract) > MAX_EXTRACT, extract_total, extract_kind];
  };
  assert.deepEqual(kinds({ text: "汉" }), [0, false, 3, "whole"]);
  assert.deepEqual(kinds({ text: "汉", more: true }), [0, false, 3, "excerpt"], "a page that was not read to its end");
  assert.deepEqual(kinds({ text, headings }), [0, false, bytes(text), "excerpt"]);
  assert.deepEqual(kinds({ text, headings }, true), [0, true, bytes(text), "excerpt"]);
  assert.deepEqual(kinds({ text: text.slice(0, 50_000), headings }, true), [0, true, 50_000, "whole"]);
  assert.deepEqual(kinds({ text, headings, selection: "Some words." }), [11, false, bytes(text), "excerpt"], "a short selection goes beside the page");
  assert.deepEqual(kinds({ text, headings, selection: text.slice(0, 9000) }).slice(1), [false, 9000, "selection"], "a long one is what the person means");
  assert.deepEqual(kinds({ text, headings, selection: text.slice(0, 9000) }, true).slice(1), [true, bytes(text), "excerpt"]);
  const full = contextOf(page({ selection: "s".repeat(9000) }), "q");
  assert.deepEqual([full.selection.length, full.extract.length > 3000], [2048, true]);
});

test("both languages say the same things", () => {
  assert.deepEqual(Object.keys(languages["zh-CN"]).sort(), Object.keys(languages.en).sort());
  assert.equal(pickLanguage("", "zh-TW"), "zh-CN");
  assert.equal(pickLanguage("", "de-DE"), "en");
  assert.equal(pickLanguage("en", "zh-CN"), "en");
  assert.equal(speaker("en")("tookMs", { ms: 34 }), "34 ms");
});
