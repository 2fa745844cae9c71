// Bounds what leaves the page: selection and excerpt, in UTF-8 bytes.

export const MAX_EXTRACT = 4095; // the document asks for less than 4 KiB
export const MAX_SELECTION = 2048;
export const MAX_TITLE = 512;
export const MAX_URL = 8192;

const encoder = new TextEncoder();
const sentenceEnd = /[.!?…](?=["'”’)\]]*\s)|[。！？]|\n/g;

function size(text) {
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

/** Lower-case words of three letters and more, and pairs of CJK characters. */
export function terms(question) {
  const found = new Set();
  for (const [word] of question.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    const cjk = [...word].filter((c) => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(c));
    if (cjk.length === 0 && word.length >= 3) found.add(word);
    for (let i = 0; i + 1 < cjk.length; i++) found.add(cjk[i] + cjk[i + 1]);
  }
  return [...found];
}

/**
 * The part of a page's text to send with a question: all of it when it fits,
 * else its first paragraph and those that share most words with the question, in
 * the order of the page.
 */
export function excerpt(text, question, maxBytes = MAX_EXTRACT) {
  const sound = text.toWellFormed();
  if (size(sound) <= maxBytes) return sound;
  const words = terms(question);
  const paragraphs = sound.split("\n").map((line, index) => {
    const lower = line.toLowerCase();
    return { line, index, score: index === 0 ? Infinity : words.filter((w) => lower.includes(w)).length };
  });
  const chosen = [];
  let room = maxBytes;
  for (const p of paragraphs.sort((a, b) => b.score - a.score || a.index - b.index)) {
    const line = clip(p.line, Math.min(room, maxBytes / 2));
    if (line === "") continue;
    chosen.push({ ...p, line });
    room -= size(line) + 1;
    if (room < 80) break;
  }
  return chosen.sort((a, b) => a.index - b.index).map((p) => p.line).join("\n");
}
