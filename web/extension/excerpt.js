// Chooses what of a page's text is sent with a question. Sizes are bytes of UTF-8.

export const MAX_EXTRACT = 4095; // the document asks for less than 4 KiB
export const MAX_WHOLE = 65536; // when the person wants the whole page to be used
export const MAX_SELECTION = 2048;
export const MAX_TITLE = 512;
export const MAX_URL = 8192;

const encoder = new TextEncoder();
const sentenceEnd = /[.!?…](?=["'”’)\]]*\s)|[。！？]|\n/g;

export function size(text) {
  return encoder.encode(text).byteLength;
}

/**
 * The longest beginning of text within maxBytes. It ends behind a sentence where
 * that costs no more than a third, and never inside a code point.
 */
export function clip(text, maxBytes) {
  const sound = text.toWellFormed();
  const { read } = encoder.encodeInto(sound, new Uint8Array(maxBytes));
  if (read === sound.length) return sound;
  const head = sound.slice(0, read);
  let end = 0;
  for (const match of sound.slice(0, read + 1).matchAll(sentenceEnd)) {
    if (match.index + match[0].length <= read) end = match.index + match[0].length;
  }
  return end >= (read * 2) / 3 ? head.slice(0, end).trimEnd() : head;
}

// Words of a question that say nothing about what it asks for. Without accents, as
// words are compared; for each language the articles, pronouns, prepositions,
// auxiliary verbs and question words.
const stopWords = new Set(
  `a an the and or but if of to in on at by for from with about into over under after before as than then so not no nor is are was were be been being
  am do does did done has have had having can could will would shall should may might must it its this that these those there here he she they we you i me
  my your his her their our us them what which who whom whose when where why how many much any some all also just please tell say give explain show
  according page article text site website does there's what's
  der die das den dem des ein eine einen einem einer eines und oder aber wenn von zu im am auf bei fur mit uber aus nach vor als so nicht kein keine ist
  sind war waren sein wird werden wurde wurden hat haben hatte hatten kann konnen soll muss es dies diese dieser dieses er sie wir ihr ich du man was
  welche welcher welches wer wen wem wessen wann wo warum wieso wie viel viele bitte sag erklare seite artikel hier zum zur
  le la les un une des du de et ou mais si dans sur chez par pour avec sans est sont etait etaient etre a ont avait avoir fait peut ce cet cette ces il
  elle ils elles nous vous je tu on que qui quoi quel quelle quels quelles quand comment pourquoi combien est-ce dit page ici ne pas au aux
  el los las lo unos unas y o pero en por para con sin es son era eran ser estar esta este esto estos estas fue fueron ha han hay que quien cual cuales
  cuando donde como cuanto cuantos por que se su sus al del pagina articulo aqui mi me te
  il gli i uno e ed ma di da in con su per tra fra che chi cosa quale quali quando dove come perche quanto quanti sono era erano essere ha hanno
  questo questa questi queste si non nel nella della dello degli delle dei al alla pagina articolo qui
  os as um uma uns umas e em no na nos nas do da dos das por para com sem sao foi foram ser estar tem isto isso este esta que quem qual quais quando onde
  como quanto quantos artigo aqui nao ao
  het een en of maar als van te op bij voor met over uit naar dan niet geen is zijn was waren wordt worden werd heeft hebben had kan kunnen dit deze die
  dat hij zij we je ik wat welke wie wanneer waar waarom hoe veel artikel pagina hier er`.split(/\s+/),
);
const stopPhrases =
  /是什么时候|什么时候|为什么|是什么|什么样|什么|怎么样|怎么|怎样|如何|为何|何时|何地|哪里|哪儿|哪个|哪些|哪年|多少|多久|多大|多长|几个|是不是|有没有|是否|请问|告诉我|告诉|一下|关于|根据|这篇|这个|那个|这些|那些|本文|本页|文章|文中|页面|网页|网站|我们|你们|他们|可以|能否|能不能|[的了吗呢吧啊嘛哪谁]|です|ます|でした|ました|ですか|ますか|いつ|どこ|なぜ|どう|どの|何/g;

// Questions about the page as a whole, in the languages above.
const overview =
  /\b(summ?ar|overview|tl;?dr|gist\b|key points?|main points?|main ideas?|takeaways?|outline|translate|what (is|does) (this|the) (page|article|text|site|website|document)|zusammenfass|fass\w*\b.*\bzusammen|uberblick|worum geht|ubersetz|resum|synthese|apercu|de quoi (parle|s'agit)|tradui|de que (trata|va)|sintesis|traduc|traduz|riassu|riassunt|sintesi|di cosa (parla|tratta)|traduci|do que (trata|fala)|samenvat|waar gaat|vertaal)|总结|概括|概述|概要|摘要|综述|归纳|简述|大意|要点|主要内容|主旨|讲了什么|讲的是什么|说了什么|说的是什么|什么内容|翻译|要約|まとめ|概要|요약/u;

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const runs = new RegExp(`(?:${unspaced.source}|ー)+|(?:(?!${unspaced.source})[\\p{L}\\p{N}\\p{M}])+`, "gu");

const fold = (text) => text.toLowerCase().normalize("NFD").replace(/\p{Script=Latin}\p{M}+/gu, (c) => c[0]).normalize("NFC");

// Endings go, so that "opened" answers to "open". What is left is compared whole:
// "cat" does not answer to "category".
const stem = (word) => (/^[a-z]{4,}$/.test(word) ? word.replace(/(?<=...)(ies|ing|ed|es|en|er|em|s|e|n|y)$/, "") : word);

/** Calls found(term, word) for every whole word and every pair of characters of a script without spaces. */
function eachTerm(folded, found) {
  for (const [run] of folded.matchAll(runs)) {
    if (!unspaced.test(run)) found(stem(run), run);
    else if ([...run].length === 1) found(run, run);
    else for (let chars = [...run], i = 0; i + 1 < chars.length; i++) found(chars[i] + chars[i + 1], run);
  }
}

/** What a question asks for: its words without endings and stop words, pairs of CJK characters. */
export function terms(question) {
  const wanted = new Set();
  eachTerm(fold(question).replace(stopPhrases, " "), (term, word) => {
    if (!stopWords.has(word) && (word.length > 1 || /[\p{N}\p{Script=Han}]/u.test(word)) && !/^\p{Script=Hiragana}+$/u.test(term)) wanted.add(term);
  });
  return [...wanted];
}

/** Whether a question is about the page as a whole. */
export function isOverview(question) {
  return overview.test(fold(question)) || terms(question).length === 0;
}

const longestUnit = 600; // bytes; longer lines are used in parts
const gapMark = "…"; // stands, on a line of its own, for what is left out

// A text in the parts that are chosen from: {text, bytes, line, heading, last}, where
// `last` says that the line ends with it.
function units(text, headings) {
  const isHeading = new Set(headings);
  const all = [];
  for (const [line, whole] of text.split("\n").entries()) {
    let rest = whole;
    while (rest.length > longestUnit / 3) {
      const part = clip(rest.slice(0, longestUnit), longestUnit);
      if (part.length === rest.length) break;
      all.push({ text: part, bytes: size(part), line, heading: isHeading.has(line), last: false });
      rest = rest.slice(part.length);
    }
    all.push({ text: rest, bytes: size(rest) + 1, line, heading: isHeading.has(line), last: true });
  }
  return all;
}

// Gives each unit the weight of what it shares with the question: words that few
// units have count more, and so do several in one place.
function weigh(all, wanted) {
  const having = new Map(wanted.map((term) => [term, []]));
  for (const [i, unit] of all.entries()) {
    const folded = fold(unit.text);
    eachTerm(folded, (term) => {
      const list = having.get(term);
      if (list && list.at(-1) !== i) list.push(i);
    });
    for (const [term, list] of having) if (term.length === 1 && unspaced.test(term) && list.at(-1) !== i && folded.includes(term)) list.push(i);
  }
  const scores = new Float64Array(all.length);
  const matches = new Uint16Array(all.length);
  for (const list of having.values()) {
    for (const i of list) {
      scores[i] += Math.log(1 + all.length / list.length);
      matches[i]++;
    }
  }
  return scores.map((score, i) => score * (1 + 0.3 * (matches[i] - 1)));
}

/** Collects units until the room is used up. */
class Choice {
  #all;
  #text; // of chosen units, by number
  room;

  constructor(all, room) {
    this.#all = all;
    this.#text = new Array(all.length).fill(null);
    this.room = room;
  }

  has(i) {
    return this.#text[i] !== null;
  }

  /** Takes a unit, or its beginning; gives whether there was room. */
  take(i, most = Infinity) {
    if (i < 0 || i >= this.#all.length || this.has(i)) return false;
    const unit = this.#all[i];
    const text = unit.bytes > most ? clip(unit.text, most) : unit.text;
    const gap = size(gapMark) + 2;
    const beside = [i - 1, i + 1].filter((n) => this.has(n)).length;
    const cost = text === unit.text ? unit.bytes + (1 - beside) * gap : size(text) + 1 + gap;
    if (text.trim() === "" || cost > this.room) return false;
    this.#text[i] = text;
    this.room -= cost;
    return true;
  }

  /** Takes units one after another from `from` on while a share of the room lasts. */
  takeWhile(from, step, share) {
    const least = this.room - share;
    for (let i = from; i >= 0 && i < this.#all.length && this.room > least; i += step) {
      if (!this.has(i) && this.#all[i].bytes > this.room - least && !this.take(i, this.room - least)) return;
      this.take(i);
    }
  }

  text() {
    let out = "";
    let before = null; // the unit behind which we are
    for (const [i, unit] of this.#all.entries()) {
      if (this.#text[i] === null) continue;
      const adjoins = before !== null && this.#text[before] === this.#all[before].text && this.#all.slice(before + 1, i).every((u) => u.text.trim() === "");
      if (before !== null && !adjoins) out += `\n${gapMark}\n`;
      else if (before !== null && this.#all[before].last) out += "\n".repeat(unit.line - this.#all[before].line);
      out += this.#text[i];
      before = i;
    }
    return out;
  }
}

const headingAbove = (all, i) => {
  for (let h = i; h >= 0 && i - h < 200; h--) if (all[h].heading) return h;
  return -1;
};

function takeForQuestion(choice, all, scores, room) {
  choice.takeWhile(0, 1, 0.12 * room);
  choice.takeWhile(all.length - 1, -1, 0.06 * room);
  const ranked = [...scores.keys()].filter((i) => scores[i] > 0).sort((a, b) => scores[b] - scores[a] || a - b);
  const keep = 0.25 * room; // for the outline, and for what stands around the best
  for (const i of ranked) {
    if (choice.room < keep) break;
    if (!choice.take(i)) continue;
    choice.take(headingAbove(all, i));
    if (all[i].heading) choice.take(i + 1);
  }
  const outline = choice.room - 0.1 * room;
  for (let i = 0; i < all.length && choice.room > outline; i++) if (all[i].heading) choice.take(i, 120);
  for (let reach = 1; reach <= 4; reach++) for (const i of ranked.slice(0, 12)) choice.take(i + reach) || choice.take(i - reach);
  for (const i of ranked) choice.take(i);
}

// For a question about the whole, or one that shares no word with the page (it may be
// in another language): the outline, and a piece of every stretch of the text.
function takeSpread(choice, all, room) {
  choice.takeWhile(0, 1, 0.2 * room);
  choice.takeWhile(all.length - 1, -1, 0.08 * room);
  const outline = choice.room - 0.25 * room;
  for (let i = 0; i < all.length && choice.room > outline; i++) if (all[i].heading) choice.take(i, 120);
  const total = all.reduce((sum, { bytes }) => sum + bytes, 0);
  const piece = Math.max(240, room / 64);
  const stretch = total / Math.max(1, Math.floor(choice.room / (piece + 5)));
  let next = 0;
  let at = 0;
  for (const [i, unit] of all.entries()) {
    if (at >= next && !unit.heading && choice.take(i, piece)) next = at + stretch;
    at += unit.bytes;
  }
}

/**
 * The part of a page's text to send with a question: all of it when it fits, else
 * its beginning and end, headings, and what shares most with the question, in the
 * order of the page. A line "…" stands for what is left out. `headings` are the
 * numbers of the lines that are headings.
 */
export function excerpt(text, question, maxBytes = MAX_EXTRACT, headings = []) {
  const sound = text.toWellFormed();
  if (size(sound) <= maxBytes) return sound;
  const all = units(sound, headings);
  const choice = new Choice(all, maxBytes);
  const scores = isOverview(question) ? [] : weigh(all, terms(question));
  if (scores.some((score) => score > 0)) takeForQuestion(choice, all, scores, maxBytes);
  else takeSpread(choice, all, maxBytes);
  choice.takeWhile(0, 1, choice.room);
  return clip(choice.text(), maxBytes);
}
