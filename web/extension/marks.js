// What the host says beside the words of an answer: marks of sources, and sentences
// of its own.

import { linkable } from "./markdown.js";

/**
 * The address that a source mark leads to, or null. The marks are the host's: only a
 * result that came with this answer is a source, and [page] only when the page was
 * sent with the question. Any other number in brackets is text.
 */
export function sourceOf(name, results, pageURL) {
  return linkable(name === "page" ? pageURL : (results[Number(name) - 1]?.url ?? ""));
}

/**
 * A last piece that is a whole sentence in brackets is the host speaking and not an
 * answer, such as "[Nothing found. …]". Gives it without the brackets, or null.
 */
export function hostSentence(text) {
  const match = /^\s*\[([^[\]]{2,200}[.。])\]\s*$/.exec(text);
  return match ? match[1] : null;
}
