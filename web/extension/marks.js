// Finds the source marks [1] … [100] and [page] in a text that comes in pieces.

const whole = /\[(\d{1,3}|page)\]/g;
const begun = /\[(\d{0,3}|p|pa|pag|page)$/;

/** Splits streamed text into plain pieces and marks; a mark may be cut by pieces. */
export class MarkReader {
  #held = "";

  /** Gives a list of {text} and {mark, text}; a possible mark at the end is held back. */
  push(piece) {
    const text = this.#held + piece;
    const cut = text.search(begun);
    this.#held = cut < 0 ? "" : text.slice(cut);
    return split(cut < 0 ? text : text.slice(0, cut));
  }

  /** Gives what was held back. */
  end() {
    const rest = this.#held;
    this.#held = "";
    return split(rest);
  }
}

function split(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(whole)) {
    if (match.index > from) parts.push({ text: text.slice(from, match.index) });
    parts.push({ text: match[0], mark: match[1] });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}

/** The address if it may be linked: http and https only, else null. */
export function linkable(address) {
  try {
    const url = new URL(address);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * A last piece that is a whole sentence in brackets is the host speaking and not an
 * answer, such as "[Nothing found. …]". Gives it without the brackets, or null.
 */
export function hostSentence(text) {
  const match = /^\s*\[([^[\]]{2,200}[.。])\]\s*$/.exec(text);
  return match ? match[1] : null;
}
