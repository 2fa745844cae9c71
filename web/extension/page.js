// What the panel knows about the page in front, and what it sends of it.

import { api } from "./settings.js";
import { MAX_EXTRACT, MAX_SELECTION, MAX_TITLE, MAX_URL, MAX_WHOLE, clip, excerpt, size } from "./excerpt.js";
import { linkable } from "./markdown.js";

const patienceMs = 3000; // a page that hangs is asked about without its text
const retriesMs = [200, 600]; // a page that is just being replaced refuses, and its successor does not
const slow = new Error("the page does not answer");

export const noPage = Object.freeze({ kind: "none", why: "", url: "", title: "", selection: "", text: "", headings: [], more: false, unread: 0 });

async function extract(tabId) {
  const late = new Promise((_, reject) => setTimeout(reject, patienceMs, slow));
  const injected = api.scripting.executeScript({ target: { tabId, allFrames: true }, files: ["extract.js"], injectImmediately: true });
  const frames = (await Promise.race([injected, late])).map(({ result }) => result).filter(Boolean);
  const page = frames.find(({ top }) => top);
  if (!page) throw new Error("the page gave nothing");
  // What frames of other origins hold, where we may read them, follows the page.
  for (const frame of frames.filter((f) => f !== page && f.text !== "")) {
    const before = page.text === "" ? 0 : page.text.split("\n").length;
    page.headings.push(...frame.headings.map((line) => line + before));
    page.text += (before > 0 ? "\n" : "") + frame.text;
    page.more ||= frame.more;
    page.unread = Math.max(0, page.unread - 1);
  }
  return page;
}

// Why of a page nothing but title and address can be used.
function reason({ form, unread }) {
  if (form !== "text") return form;
  return unread > 0 ? "frames" : "empty";
}

/**
 * Reads the page in front of this window. `kind` is
 *   "page"     title, address, selection and text could be read,
 *   "bare"     only title and address; `why` is "pdf", "media" (a picture, sound or
 *              film), "frames" (of other sites, that hold all the text), "slow",
 *              "refused" (by the browser) or "empty",
 *   "locked"   the owner has not pressed the toolbar button on it,
 *   "private"  a private window, of which nothing is used,
 *   "none"     no web page.
 */
export async function readPage(retries = retriesMs) {
  const [tab] = await api.tabs.query({ active: true, currentWindow: true });
  if (!tab) return noPage;
  if (tab.incognito) return { ...noPage, kind: "private" };
  try {
    const page = await extract(tab.id);
    if (!linkable(page.url)) return noPage;
    const bare = page.text === "" && page.selection === "";
    return { ...page, kind: bare ? "bare" : "page", why: bare ? reason(page) : "" };
  } catch (err) {
    if (!linkable(tab.url ?? "")) return { ...noPage, kind: tab.url === undefined ? "locked" : "none" };
    const pdf = new URL(tab.url).pathname.toLowerCase().endsWith(".pdf");
    if (err !== slow && !pdf && retries.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, retries[0]));
      return readPage(retries.slice(1));
    }
    return { ...noPage, kind: "bare", why: err === slow ? "slow" : pdf ? "pdf" : "refused", url: tab.url, title: tab.title ?? "" };
  }
}

/**
 * The context of a SearchQuery; without a page every member says nothing. With
 * `whole` as much of the text goes as the host takes, else what fits the question.
 * `extract_total` is the size of the text that `extract` was chosen from, in bytes;
 * `extract_kind` says what it is: "whole", "excerpt", or of a long "selection".
 */
export function contextOf(page, question, whole = false) {
  if (!page || (page.kind !== "page" && page.kind !== "bare")) return { url: "", title: "" };
  // A cut address would be that of another page.
  const context = { url: page.url.length > MAX_URL ? "" : page.url, title: clip(page.title, MAX_TITLE) };
  const selection = clip(page.selection, MAX_SELECTION);
  const selected = selection.length < page.selection.length && !whole;
  const text = selected ? page.selection : page.text;
  const part = excerpt(text, question, whole ? MAX_WHOLE : MAX_EXTRACT, selected ? [] : page.headings);
  if (selection !== "") context.selection = selection;
  if (part === "") return context;
  const total = size(text);
  const kind = selected ? "selection" : size(part) === total && !page.more ? "whole" : "excerpt";
  return { ...context, extract: part, extract_total: total, extract_kind: kind };
}
