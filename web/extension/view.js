// The panel's page: puts what panel.js knows into elements. Everything from
// outside becomes a text node; addresses become links only when they are http(s).

import { MarkdownView, linkable } from "./markdown.js";
import { sourceOf } from "./marks.js";

const $ = (id) => document.getElementById(id);

function element(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function link(className, text, address) {
  const made = element("a", className, text);
  made.href = address;
  made.target = "_blank";
  made.rel = "noopener noreferrer";
  return made;
}

/** One command, with what it does and a button that copies it above. */
function command(label, text, say) {
  const row = element("div", "command");
  const head = element("div", "command-head", label);
  const copy = element("button", "copy", say("copy"));
  copy.type = "button";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = say("copied");
  });
  head.append(copy);
  const code = element("code", "", text);
  code.id = `command-${text.split(" ").slice(1).join("-")}`;
  copy.setAttribute("aria-describedby", code.id); // which of several it copies
  row.append(head, code);
  return row;
}

function notices(say, { digits, ownerPage, knocked }) {
  return {
    notRunning: { commands: [[say("startCommand"), "plexus serve"]] },
    notAllowed: {
      digits,
      allowAt: ownerPage && `${ownerPage}#extension=${digits}`,
      commands: [[say("allowCommand"), `plexus extensions allow ${digits}`]],
    },
    // A token that was offered to a host that could not tell waits there like a key.
    wrongToken: { digits: knocked ? digits : undefined, commands: [[say("tokenCommand"), "plexus token path"]], settings: true },
    reconnecting: { commands: [] },
  };
}

let shown = ""; // the notice in the page, so that a retry neither moves the focus nor is read out again

/** Shows the state of the connection; `state` is connecting, open, notRunning, notAllowed, wrongToken or reconnecting. */
export function showConnection(state, say, identity) {
  $("retry").textContent = say("retry");
  const now = [state, document.documentElement.lang, identity.digits, identity.ownerPage, identity.knocked].join(" ");
  if (now === shown) return;
  shown = now;
  $("dot").dataset.state = state === "wrongToken" ? "notAllowed" : state;
  $("status").textContent = say(state === "wrongToken" ? "notAllowed" : state);
  const notice = notices(say, identity)[state];
  $("notice").hidden = !notice;
  if (!notice) return;
  $("notice-title").textContent = say(state + "Title");
  $("notice-body").textContent = say(state + "Body");
  $("digits-row").hidden = !notice.digits;
  $("digits").textContent = notice.digits ?? "";
  $("digits-label").textContent = say(state === "wrongToken" ? "digitsOfToken" : "digitsLabel");
  $("allow").hidden = !notice.allowAt;
  if (notice.allowAt) $("allow").href = notice.allowAt;
  $("commands").hidden = notice.commands.length === 0;
  $("commands").replaceChildren(...notice.commands.map(([label, text]) => command(label, text, say)));
  $("notice-settings").hidden = !notice.settings;
}

/** Says that an attempt to connect is under way, without taking a notice away. */
export function showTrying(say) {
  $("retry").textContent = say("retrying");
}

const pageLines = { locked: "pageLocked", private: "pagePrivate", none: "pageNone" };
const bareLines = { pdf: "barePDF", media: "bareMedia", frames: "bareFrames", slow: "bareSlow", refused: "bareRefused", empty: "bareEmpty" };

const kilobytes = (bytes) => (Math.max(bytes, 103) / 1024).toFixed(bytes < 10_000 ? 1 : 0).replace(/\.0$/, "");

// "4 of 21 KB": how much is sent, and of how much.
function sizeLine({ context, more }, say) {
  if (context.extract === undefined) return "";
  const used = new TextEncoder().encode(context.extract).length;
  const total = context.extract_total;
  const values = { used: kilobytes(used), total: kilobytes(total) + (more ? "+" : "") };
  if (context.extract_kind === "selection") return say("sizeSelection", values);
  return say(context.extract_kind === "whole" ? "sizeWhole" : "sizePart", values);
}

/**
 * Shows the page in front and what of it is sent: `context` is that of the question
 * as it stands, `whole` whether as much as possible of the page is wanted, `longer`
 * whether that is more than what is sent without it.
 */
export function showPage(page, { used, whole, longer, context }, say) {
  const usable = page.kind === "page" || page.kind === "bare";
  const sent = usable && used;
  $("use-page").disabled = page.kind === "private" || page.kind === "none";
  $("use-page").checked = used && page.kind !== "private" && page.kind !== "none";
  $("page-title").textContent = usable && !used ? say("pageOff") : usable ? page.title || page.url : say(pageLines[page.kind]);
  $("page-title").title = page.url;
  $("page-title").classList.toggle("hint", page.kind === "locked" && used);
  $("page-bare").hidden = page.kind !== "bare" || !sent;
  $("page-bare").textContent = page.kind === "bare" ? say(bareLines[page.why]) : "";
  $("page-frames").hidden = page.kind !== "page" || page.unread === 0 || !sent;
  $("page-frames").textContent = page.unread > 0 ? say(page.unread === 1 ? "frameUnread" : "framesUnread", { count: page.unread }) : "";
  $("selection").hidden = page.selection === "" || !sent;
  $("selection-text").textContent = page.selection.replace(/\s+/g, " ").slice(0, 200);
  $("sent-box").hidden = !sent || context.extract === undefined;
  $("size").textContent = sizeLine({ context, more: page.more }, say);
  $("whole").hidden = !longer;
  $("whole").setAttribute("aria-pressed", String(whole));
  if ($("sent").open) showSent(context);
  $("question").placeholder = say(usable && used ? "questionHintPage" : "questionHint");
}

/** Shows the very text that is sent. */
export function showSent(context) {
  const text = context.extract ?? "";
  if ($("sent-text").textContent !== text) $("sent-text").textContent = text;
}

/** Shows whether a question can be asked or a running one stopped. */
export function showControls({ running, ready }) {
  const before = document.activeElement;
  $("ask").hidden = running;
  $("stop").hidden = !running;
  $("ask").disabled = !ready || $("question").value.trim() === "";
  $("again").disabled = !ready;
  // A control that disappears passes the focus on; otherwise the keyboard focus
  // would be lost.
  if (before === $("ask") && running) $("stop").focus();
  else if (before !== document.body && !before.checkVisibility()) $("question").focus();
}

/** Lets the question box grow with its text. */
export function fitQuestion() {
  const box = $("question");
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}

// What the host sends behind reasoning of a model that nobody could tell from its
// answer before this.
const thoughtEnd = "\n</think>\n\n";

/** One question and what comes back, from the moment it is asked. */
export class ExchangeView {
  #say;
  #pageURL;
  #results = [];
  #answer;
  #tail = ""; // of the answer so far, in which thoughtEnd may have begun
  #empty = true;

  constructor(question, pageURL, say) {
    this.#say = say;
    this.#pageURL = pageURL;
    this.#answer = this.#begin();
    $("empty").hidden = true;
    $("exchange").hidden = false;
    $("asked").textContent = question;
    $("answer").setAttribute("aria-busy", "true");
    $("results").replaceChildren();
    for (const id of ["found", "nothing", "note"]) $(id).hidden = true;
    $("looking").hidden = false;
    $("main").scrollTop = 0;
  }

  get isEmpty() {
    return this.#empty && this.#results.length === 0;
  }

  showResults(results, tookMs) {
    this.#results = results;
    $("found").hidden = results.length === 0;
    $("took").textContent = this.#say("tookMs", { ms: tookMs });
    $("results").replaceChildren(...results.map((result, i) => this.#result(result, i + 1)));
  }

  #result({ url, title, snippet }, number) {
    const address = linkable(url);
    const name = title.trim() || url;
    const text = element("div", "");
    text.append(address ? link("result-title", name, address) : element("span", "result-title", name));
    text.append(element("div", "result-host", address ? new URL(address).host : url));
    if (snippet.trim() !== "") text.append(element("div", "result-snippet", snippet));
    const item = element("li", "");
    item.append(element("span", "number", String(number)), text);
    return item;
  }

  #begin() {
    return new MarkdownView($("answer"), { mark: (name) => this.#mark(name), copy: this.#say("copy"), copied: this.#say("copied") });
  }

  append(text) {
    const seen = this.#tail + text;
    this.#tail = seen.slice(-thoughtEnd.length);
    const at = seen.lastIndexOf(thoughtEnd);
    if (at >= 0) { // all of it was reasoning
      text = seen.slice(at + thoughtEnd.length);
      this.#tail = "";
      this.#answer.end();
      this.#answer = this.#begin();
      this.#empty = true;
    }
    if (text.trim() !== "") this.#empty = false;
    $("looking").hidden = true;
    this.#answer.append(text);
  }

  #mark(name) {
    const address = sourceOf(name, this.#results, this.#pageURL);
    if (!address) return null;
    const made = link("mark", name === "page" ? this.#say("pageMark") : name, address);
    made.title = address;
    return made;
  }

  /** Ends the exchange; `note` is a text to show under the answer, or "". */
  end(note, { plain = false, again = false } = {}) {
    this.#answer.end();
    $("answer").setAttribute("aria-busy", "false");
    $("looking").hidden = true;
    $("nothing").hidden = note !== "" || !this.isEmpty;
    $("note").hidden = note === "";
    $("note").classList.toggle("plain", plain);
    $("note-text").textContent = note;
    $("again").hidden = !again;
  }
}
