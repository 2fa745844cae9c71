// What the panel knows about the page in front.

import { api } from "./settings.js";
import { MAX_EXTRACT, MAX_SELECTION, MAX_TITLE, MAX_URL, clip, excerpt } from "./excerpt.js";
import { linkable } from "./markdown.js";

const patienceMs = 2000; // a page that hangs is asked about without its text

function extract(tabId) {
  const late = new Promise((_, reject) => setTimeout(reject, patienceMs, new Error("the page does not answer")));
  const injected = api.scripting.executeScript({ target: { tabId }, files: ["extract.js"], injectImmediately: true });
  return Promise.race([injected, late]);
}

/**
 * Reads the page in front of this window. `kind` is
 *   "page"     title, address, selection and text could be read,
 *   "bare"     only title and address (a PDF, say, or a page that nobody may read),
 *   "locked"   the owner has not pressed the toolbar button on it,
 *   "private"  a private window, of which nothing is used,
 *   "none"     no web page.
 */
export async function readPage() {
  const nothing = { url: "", title: "", selection: "", text: "" };
  const [tab] = await api.tabs.query({ active: true, currentWindow: true });
  if (!tab) return { ...nothing, kind: "none" };
  if (tab.incognito) return { ...nothing, kind: "private" };
  try {
    const [{ result }] = await extract(tab.id);
    if (!linkable(result.url)) return { ...nothing, kind: "none" };
    return { ...result, kind: result.text === "" && result.selection === "" ? "bare" : "page" };
  } catch {
    if (linkable(tab.url ?? "")) return { ...nothing, kind: "bare", url: tab.url, title: tab.title ?? "" };
    return { ...nothing, kind: tab.url === undefined ? "locked" : "none" };
  }
}

/** The context of a SearchQuery; without a page every member says nothing. */
export function contextOf(page, question) {
  if (!page || (page.kind !== "page" && page.kind !== "bare")) return { url: "", title: "" };
  // A cut address would be that of another page.
  const context = { url: page.url.length > MAX_URL ? "" : page.url, title: clip(page.title, MAX_TITLE) };
  const selection = clip(page.selection, MAX_SELECTION);
  const text = excerpt(page.text, question, MAX_EXTRACT);
  if (selection !== "") context.selection = selection;
  if (text !== "") context.extract = text;
  return context;
}
