// Shows Markdown as DOM nodes, also while it is still coming. One file without
// dependencies, for the panel and every other page of ours. A text can make no other
// elements and attributes than those of the last part; innerHTML is never used.
//
// Knows paragraphs, # and underlined headings, lists, quotes, fenced code, tables
// (GFM), rules, emphasis, code, links, escapes, and the source marks [1] … [100] and
// [page]. Follows CommonMark 0.31 but for this:
//   - HTML, indented code, reference links and footnotes stay text; of entities amp,
//     lt, gt, quot, apos, nbsp and numbers are known; titles of links are dropped;
//   - line ends in a paragraph are kept, and it ends at the first one after 8 KiB;
//   - images are links, never loaded; addresses are http and https without user
//     names, and their host is shown; http://… is a link without < > too (GFM);
//   - a list marker two columns in is a list in the item, also below "1.";
//   - containers nest 8 deep, emphasis 16 and over 32 signs; tables have 32 columns.

/** The address if it may be linked: http and https only, else null. */
export function linkable(address) {
  const url = URL.canParse(address) ? new URL(address) : null;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url.href : null;
}

// Blocks. Lines are taken one by one, and no pattern repeats within a repetition, so
// that no text takes more than time in proportion.

const blank = (line) => line.trim() === "";
const indentOf = (line) => line.length - line.trimStart().length;
const isRule = (line) => indentOf(line) < 4 && /^([-*_])\1{2,}$/.test(line.replaceAll(" ", ""));
const fenceOf = (line) => /^ {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))$/.exec(line);
const headingOf = (line) => /^ {0,3}(#{1,6})(?= |$)/.exec(line);
const quoteOf = (line) => /^ {0,3}> ?/.exec(line);
const itemOf = (line) => /^( {0,3})([-+*]|\d{1,9}[.)])(?:[ \t]( *)|$)/.exec(line);

function startsBlock(line) {
  const item = itemOf(line); // only "1." with a text ends a paragraph: "in\n1931. It" is none
  const begins = item && !blank(line.slice(item[0].length)) && (!/^\d/.test(item[2]) || Number.parseInt(item[2], 10) === 1);
  return Boolean(begins || isRule(line) || fenceOf(line) || headingOf(line) || quoteOf(line));
}

// Whether a line without its container's mark goes on with the paragraph before it.
const continues = (before, line) => !blank(before) && !blank(line) && !startsBlock(line) && !headingOf(before) && !isRule(before);

// The cells of a row; a bar in a cell is written \|.
function cellsOf(line) {
  const row = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return row.split(/(?<!\\)\|/, 34).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function alignments(header, line) {
  if (!header.includes("|") || !/^ {0,3}[|:-][ |:-]*$/.test(line ?? "") || !line.includes("-")) return null;
  const cells = cellsOf(line);
  if (cells.length > 32 || cells.length !== cellsOf(header).length || !cells.every((c) => /^:?-+:?$/.test(c))) return null;
  return cells.map((c) => (!c.endsWith(":") ? "" : c.startsWith(":") ? "center" : "right"));
}

/** Reads lines into blocks {kind, from, apart, …}: its first line, and whether a blank one came before. */
function blocksOf(lines, depth = 0) {
  const blocks = [];
  const nested = (i) => depth < 8 && (quote(lines, i, depth) || list(lines, i, depth));
  for (let i = 0; i < lines.length; ) {
    const block = blank(lines[i]) ? null : fenced(lines, i) || line(lines[i], i) || nested(i) || table(lines, i) || paragraph(lines, i);
    if (block) blocks.push({ ...block, from: i, apart: i > 0 && blank(lines[i - 1]) });
    i = block?.next ?? i + 1;
  }
  return blocks;
}

function fenced(lines, at) {
  const open = fenceOf(lines[at]);
  if (!open) return null;
  const [fence, indent] = [open[1] ?? open[3], indentOf(lines[at])];
  const body = [];
  let i = at + 1;
  for (; i < lines.length; i++) {
    const text = lines[i].trim();
    if (text.length >= fence.length && indentOf(lines[i]) < 4 && text === fence[0].repeat(text.length)) break;
    body.push(lines[i].slice(Math.min(indent, indentOf(lines[i]))));
  }
  return { kind: "code", language: unescape((open[2] ?? open[4]).trim()).split(/\s/, 1)[0].slice(0, 30), text: body.join("\n"), next: i + 1 };
}

function line(text, at) {
  if (isRule(text)) return { kind: "rule", next: at + 1 };
  const heading = headingOf(text);
  const title = heading && text.slice(heading[0].length).trim();
  return heading && { kind: "heading", level: heading[1].length, text: title.replace(/(^| )#+$/, "").trim(), next: at + 1 };
}

function quote(lines, at, depth) {
  if (!quoteOf(lines[at])) return null;
  const inner = [];
  let [i, code] = [at, false]; // a paragraph goes on without its mark, code does not
  for (; i < lines.length; i++) {
    const mark = quoteOf(lines[i]);
    if (!mark && (code || !continues(inner.at(-1), lines[i]))) break;
    inner.push(lines[i].slice(mark?.[0].length ?? 0));
    if (mark && fenceOf(inner.at(-1))) code = !code;
  }
  return { kind: "quote", blocks: blocksOf(inner, depth + 1), next: i };
}

function list(lines, at, depth) {
  const first = itemOf(lines[at]);
  if (!first) return null;
  const items = [];
  let [i, apart, loose] = [at, false, false];
  for (let item = first; item?.[2].at(-1) === first[2].at(-1) && !isRule(lines[i]); item = i < lines.length ? itemOf(lines[i]) : null) {
    loose ||= apart;
    const empty = blank(lines[i].slice(item[0].length));
    const column = item[1].length + item[2].length + 1 + (empty || item[3].length > 3 ? 0 : item[3].length);
    const inner = [lines[i].slice(column)];
    let code = Boolean(fenceOf(inner[0]));
    for (i++, apart = false; i < lines.length; i++) {
      const text = lines[i].replace(/^\t+/, (tabs) => "    ".repeat(tabs.length));
      const indent = indentOf(text);
      if (blank(text)) apart = true;
      else if (apart && empty && inner.every(blank)) break;
      else if (indent >= column || (indent >= item[1].length + 2 && itemOf(text.slice(indent)))) apart = false;
      else if (apart || code || itemOf(text) || !continues(inner.at(-1), text)) break;
      inner.push(text.slice(Math.min(indent, column)));
      if (fenceOf(inner.at(-1))) code = !code;
    }
    const blocks = blocksOf(inner, depth + 1);
    loose ||= blocks.some((block, n) => n > 0 && block.apart);
    items.push(blocks);
  }
  return { kind: "list", start: Number.parseInt(first[2], 10), loose, items, next: i };
}

function table(lines, at) {
  const align = alignments(lines[at], lines[at + 1]);
  if (!align) return null;
  let i = at + 2;
  while (i < lines.length && !blank(lines[i]) && !startsBlock(lines[i])) i++;
  const rows = [lines[at], ...lines.slice(at + 2, i)].map(cellsOf);
  return { kind: "table", align, rows: rows.map((cells) => align.map((_, n) => cells[n] ?? "")), next: i };
}

function paragraph(lines, at) {
  const text = [];
  let i = at;
  for (let length = 0; i < lines.length && !blank(lines[i]) && length < 8192; i++) {
    const under = i > at && /^ {0,3}(?:(=+)|-+) *$/.exec(lines[i]);
    if (under) return { kind: "heading", level: under[1] ? 1 : 2, text: text.join("\n"), next: i + 1 };
    if (i > at && (startsBlock(lines[i]) || alignments(lines[i], lines[i + 1]))) break;
    text.push(lines[i].trimStart());
    length += lines[i].length;
  }
  return { kind: "paragraph", text: text.join("\n"), next: i };
}

// Inlines. Tokens only note where emphasis and links begin and end, so that nesting
// needs no recursion. U+2060 behind a sign makes it text: so the host quotes pages.

const special =
  /\\([!-/:-@[-`{-~])|([`*_])\u2060|(\\|  )?\n|(`+)|(\*+|_+)|\[([1-9]\d{0,2}|page)\](?!\()|(!?\[)|(\])|&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));|<(https?:\/\/[^\s<>]+)>|(?<!\w)(https?:\/\/(?:[^\s<>[\]()|`"“”，。；：！？、）】》」]|\([^\s<>()]*\))+(?<![?!.,:;*_~']))/g;
const target =
  /\(\s{0,9}(?:<([^<>\n]{0,2000})>|((?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.){0,500}\)){0,2000}))(?:\s{1,9}(?:"[^"]{0,300}"|'[^']{0,300}'|\([^()]{0,300}\)))?\s{0,9}\)/y;
const named = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const unescape = (text) => text.replace(/\\([!-/:-@[-`{-~])/g, "$1");
const character = (code) => (code > 0 && code < 0x110000 && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd");

function safe(address) {
  const href = linkable(address);
  const url = href && new URL(href);
  return url && url.username === "" && url.password === "" ? { href, host: url.host } : null;
}

// A run of * or _ with what it may do between the characters around it.
function runOf(signs, before, after) {
  const [space, sign] = [/^\s?$/u, /[\p{P}\p{S}]/u];
  const left = !space.test(after) && (!sign.test(after) || space.test(before) || sign.test(before));
  const right = !space.test(before) && (!sign.test(before) || space.test(after) || sign.test(after));
  const [opens, closes] = signs[0] === "*" ? [left, right] : [left && (!right || sign.test(before)), right && (!left || sign.test(after))];
  return { sign: signs[0], left: signs.length, length: signs.length, opens, closes, ends: 0, begins: [] };
}

const pairs = (a, b) => a.sign === b.sign && !((a.closes || b.opens) && (a.length + b.length) % 3 === 0 && a.length % 3 !== 0);

/** CommonMark's "process emphasis": notes in runs what they end and begin; gives those that could still begin something. */
function pairUp(runs) {
  const stack = [];
  for (const closer of runs) {
    while (closer.closes && closer.left > 0) {
      const near = stack.slice(-32);
      const i = near.findLastIndex((opener) => pairs(opener, closer));
      if (i < 0) break;
      const used = Math.min(near[i].left, closer.left, 2);
      near[i].begins.unshift(used === 2 ? "strong" : "em");
      near[i].left -= used;
      closer.left -= used;
      closer.ends++;
      stack.length -= near.length - (near[i].left > 0 ? i + 1 : i);
    }
    if (closer.opens && closer.left > 0) stack.push(closer);
  }
  return stack;
}

/** Cuts a text into strings and tokens; of an open one what is not closed yet counts as closed at its end. */
function tokensOf(source, open) {
  const text = open ? withoutBegun(source) : source.trimEnd();
  const tokens = [];
  const runs = []; // that emphasis may still be made of
  const brackets = [];
  const ticks = new Map(); // length of a run of ` → its places, the last one first
  for (const { 0: run, index } of [...text.matchAll(/`+/g)].reverse()) {
    if (!ticks.get(run.length)?.push(index)) ticks.set(run.length, [index]);
  }
  let at = 0;
  for (let found; (found = special.exec(text)); special.lastIndex = at) {
    const index = found.index;
    const [all, slashed, joined, hard, tick, run, mark, bracket, close, decimal, hex, name, angled, loose] = found;
    tokens.push(text.slice(at, index));
    at = index + all.length;
    if (slashed ?? joined) tokens.push(slashed ?? joined);
    else if (all.endsWith("\n")) tokens.push(hard ? { hard } : "\n");
    else if (tick) {
      const places = ticks.get(tick.length) ?? [];
      while (places.length > 0 && places.at(-1) <= index) places.pop();
      const end = places.at(-1) ?? (open && !/\w/.test(text[index - 1] ?? "") ? text.length : -1);
      let code = text.slice(at, end).replaceAll("\n", " ");
      if (code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "") code = code.slice(1, -1);
      tokens.push(end < 0 ? tick : { code });
      if (end >= 0) at = Math.min(end + tick.length, text.length);
    } else if (run) {
      const before = [...text.slice(Math.max(0, index - 2), index)].at(-1) ?? "";
      runs.push(runOf(run, before, String.fromCodePoint(text.codePointAt(at) ?? 32)));
      tokens.push(runs.at(-1));
    } else if (mark) tokens.push({ mark });
    else if (bracket) {
      brackets.push({ text: bracket, runs: runs.length, to: null });
      tokens.push(brackets.at(-1));
    } else if (close) {
      const begin = brackets.pop();
      target.lastIndex = at;
      const aim = begin && text[at] === "(" ? target.exec(text) : null;
      if (aim) begin.to = safe(unescape(aim[1] ?? aim[2]));
      tokens.push(begin?.to ? { end: begin.to } : close);
      if (!begin?.to) continue;
      pairUp(runs.splice(begin.runs));
      at = target.lastIndex;
      if (begin.text === "[") brackets.length = 0; // no link holds a link
    } else if (name || decimal || hex) tokens.push(name ? named[name] : character(decimal ? Number(decimal) : Number.parseInt(hex, 16)));
    else {
      const address = angled ?? loose;
      const to = safe(address);
      const shown = to && address.startsWith(new URL(to.href).origin);
      tokens.push(...(to ? [{ to }, address, { end: shown ? { host: "" } : to }] : [all]));
    }
  }
  for (const run of pairUp(runs)) {
    if (!open || (run.closes && run.left < 2)) continue;
    run.begins.unshift(run.left > 1 ? "strong" : "em");
    run.left = 0;
  }
  return [...tokens, text.slice(at)];
}

// A text that is still coming without a mark, link or emphasis that has only begun.
function withoutBegun(text) {
  const begun = text.lastIndexOf("[");
  let end = begun >= 0 && /^\[[^\]\n]{0,80}(\](\([^)\n]{0,2000})?)?$/.test(text.slice(begun, begun + 2100)) ? begun : text.length;
  while (/[*_`]/.test(text[end - 1])) end--;
  return text.slice(0, end);
}

// Nodes. Every element and attribute that can come out is made here.

function make(tag, className = "", children = [], members = {}) {
  const element = Object.assign(document.createElement(tag), className && { className }, members);
  for (const child of children) element.append(child);
  return element;
}

function addInlines(parent, text, options, open) {
  const stack = [{ into: parent, link: false }];
  let words = "";
  const add = (node) => {
    for (const child of [words, node]) if (child) stack.at(-1).into.append(child);
    words = "";
  };
  // Without an element what begins here is shown as part of what is around it.
  const begin = (element, link = stack.at(-1).link) => {
    add(element);
    stack.push({ into: element ?? stack.at(-1).into, link, own: Boolean(element) });
  };
  for (const token of tokensOf(text, open)) {
    const { link, own } = stack.at(-1);
    const flat = stack.length > 16;
    if (typeof token === "string") words += token;
    else if (token.hard) add(make("br"));
    else if (token.code !== undefined) add(make("code", "", [token.code]));
    else if (token.mark) add((!link && options.mark?.(token.mark)) || `[${token.mark}]`);
    else if (token.end) {
      add(own && token.end.host ? make("span", "host", [` (${token.end.host})`]) : "");
      stack.pop();
    } else if (token.sign) {
      if (token.ends > 0) add("");
      stack.length -= token.ends;
      words += token.sign.repeat(token.left);
      for (const tag of token.begins) begin(flat ? null : make(tag));
    } else if (!token.to) words += token.text;
    else if (flat || link) begin(null, true);
    else begin(make("a", "", [], { href: token.to.href, target: "_blank", rel: "noopener noreferrer" }), true);
  }
  add("");
  return parent;
}

function codeBlock({ language, text }, options) {
  const code = make("code", "", [text]);
  const copy = make("button", "copy quiet", [options.copy], { type: "button" });
  copy.onclick = async () => {
    await navigator.clipboard.writeText(code.textContent);
    copy.textContent = options.copied;
  };
  return make("div", "code", [make("div", "code-head", [make("span", "", [language]), copy]), make("pre", "", [code])]);
}

function build(block, options, open) {
  const { kind, level, text, align, start } = block;
  const inlines = (tag, className, words, last) => addInlines(make(tag, className), words, options, last);
  const all = (blocks, last) => blocks.map((b, i) => build(b, options, last && i === blocks.length - 1));
  if (kind === "paragraph") return inlines("p", "", text, open);
  if (kind === "heading") return inlines(`h${Math.min(level + 2, 6)}`, "", text, open); // below those of the page around
  if (kind === "rule") return make("hr");
  if (kind === "code") return codeBlock(block, options);
  if (kind === "quote") return make("blockquote", "", all(block.blocks, open));
  if (kind === "list") {
    const items = block.items.map((blocks, n) => {
      const nodes = all(blocks, open && n === block.items.length - 1);
      return make("li", "", nodes.flatMap((node, i) => (block.loose || blocks[i].kind !== "paragraph" ? node : [...node.childNodes])));
    });
    return make(start >= 0 ? "ol" : "ul", "", items, start >= 0 && start !== 1 ? { start } : {});
  }
  const row = (tag, cells, last) => make("tr", "", cells.map((words, n) => inlines(tag, align[n], words, last && n === cells.length - 1)));
  const rows = block.rows.map((cells, n) => row(n === 0 ? "th" : "td", cells, open && n === block.rows.length - 1));
  return make("table", "", [make("thead", "", rows.splice(0, 1)), ...(rows.length > 0 ? [make("tbody", "", rows)] : [])]);
}

// Makes children equal to those given; equal ones stay, so nothing flickers and a selection holds.
function patch(parent, old, fresh) {
  for (const node of old.slice(fresh.length)) node.remove();
  for (const [i, node] of fresh.entries()) {
    if (!old[i]) parent.append(node);
    else if (old[i].nodeType === 3 && node.nodeType === 3 && node.data.startsWith(old[i].data)) old[i].appendData(node.data.slice(old[i].length));
    else if (old[i].isEqualNode(node)) continue;
    else if (old[i].cloneNode(false).isEqualNode(node.cloneNode(false)) && node.nodeType === 1) patch(old[i], [...old[i].childNodes], [...node.childNodes]);
    else old[i].replaceWith(node);
  }
}

// A last line that may turn into something else: signs of blocks, or a fence.
const mayTurn = (line) => line.length < 80 && (/^[-=*+#>`~|:_ \t]*(?:\d{1,9}[.)]?)?$/.test(line) || Boolean(fenceOf(line)));

/**
 * Shows one text in an element. Options: mark(name) gives the node for a source mark,
 * or null without such a source; `copy` and `copied` are the words on a button of code.
 */
export class MarkdownView {
  #root;
  #options;
  #rest = ""; // the text from the last block on, the only one that can still change
  #settled = 0; // nodes before that block
  #timer = null;
  #next = 0; // when to draw again, so that drawing takes a fifth of the time at most

  constructor(root, options) {
    this.#root = root;
    this.#options = options;
    root.replaceChildren();
  }

  append(text) {
    this.#rest += text.replaceAll("\r", "");
    const wait = this.#next - performance.now();
    if (wait <= 0) this.#draw(true);
    else this.#timer ??= setTimeout(() => this.#draw(true), wait);
  }

  /** Draws what is there as complete. */
  end() {
    this.#draw(false);
  }

  #draw(open) {
    clearTimeout(this.#timer);
    this.#timer = null;
    const began = performance.now();
    const lines = this.#rest.split("\n");
    const blocks = blocksOf(open && mayTurn(lines.at(-1)) ? lines.slice(0, -1) : lines);
    const last = blocks.at(-1);
    // The first row of a table is none yet before the row of dashes has come.
    if (open && last?.kind === "paragraph") last.text = last.text.split("\n").filter((line) => !line.startsWith("|")).join("\n");
    patch(this.#root, [...this.#root.childNodes].slice(this.#settled), blocks.map((block) => build(block, this.#options, open && block === last)));
    this.#settled += Math.max(0, blocks.length - 1);
    this.#rest = lines.slice(last?.from ?? 0).join("\n");
    this.#next = performance.now() + Math.max(30, 4 * (performance.now() - began));
  }
}
