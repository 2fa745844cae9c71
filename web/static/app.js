// Everything works without this script. It signs in from the link of
// `plexus open`, finds the session again, keeps pages fresh and copies text.
"use strict";

const home = "plexus.session";
const asked = "plexus.extension";
const focused = "plexus.focus";

// The panel of an extension leads here with its four digits. They are kept for the
// time that signing in takes, and name the row to go to.
const digits = /^#extension=(\d{4})$/.exec(location.hash)?.[1];
if (digits) sessionStorage.setItem(asked, digits);

function signIn() {
  const secret = location.hash.startsWith("#open=") ? location.hash.slice(6) : "";
  // Whatever else has ever had this port may have left something there.
  const kept = localStorage.getItem(home);
  const known = /^\/s\/[0-9a-f]{32}\/$/.test(kept) ? kept : null;
  if (secret) {
    // The secret leaves the address bar and the history before anything else.
    history.replaceState(null, "", location.pathname);
    document.getElementById("working").hidden = false;
    document.getElementById("secret").value = secret;
    document.getElementById("by-link").submit();
  } else if (location.search === "?left" || (known && location.pathname.startsWith(known))) {
    localStorage.removeItem(home); // the session has ended
  } else if (known && location.pathname === "/" && !location.search) {
    location.replace(known);
  }
}

// A page of a session.
function session(base) {
  localStorage.setItem(home, base);
  const lost = document.getElementById("lost");
  const shown = new Map();
  let source = null;
  let busy = false;
  let again = false;
  let last = Date.now();
  let overdue = 0;

  // What an action did is said once, not again when the page is loaded again.
  const address = new URL(location.href);
  if (address.searchParams.has("done")) {
    address.searchParams.delete("done");
    history.replaceState(null, "", address);
  }

  const parts = () => document.querySelectorAll("[data-live]");
  for (const part of parts()) shown.set(part.id, part.outerHTML);

  const wanted = /^\d{4}$/.exec(sessionStorage.getItem(asked))?.[0];
  const list = base + "extensions";
  if (wanted && location.pathname !== list) location.replace(list);
  else if (wanted) {
    sessionStorage.removeItem(asked);
    const row = [...document.querySelectorAll(".extension")].find((e) => e.querySelector(".digits").textContent.includes(wanted));
    row?.scrollIntoView({ block: "center" });
    row?.querySelector("button")?.focus({ preventScroll: true });
  }

  // What has the focus must have it again when its part is replaced, and when a form
  // has been sent and its page comes back.
  const name = (e) => e.id || [e.tagName, e.form?.action ?? e.href, e.name, e.textContent.trim()].join(" ");

  const find = (root, held) => [...root.querySelectorAll("a, button, input, select, textarea, summary")].find((e) => name(e) === held);

  document.addEventListener("submit", (e) => {
    if (e.defaultPrevented || e.target.method !== "post") return;
    const active = document.activeElement;
    sessionStorage.setItem(focused, [Date.now(), active.matches(":focus-visible"), name(active)].join(" "));
  });
  const [, at, visible, held] = /^(\d+) (true|false) (.*)$/s.exec(sessionStorage.getItem(focused)) ?? [];
  sessionStorage.removeItem(focused);
  if (held && Date.now() - at < 10_000 && document.activeElement === document.body) {
    find(document, held)?.focus({ preventScroll: true, focusVisible: visible === "true" });
  }

  function replace(part, fresh) {
    shown.set(part.id, fresh.outerHTML);
    const active = part.contains(document.activeElement) ? document.activeElement : null;
    part.replaceWith(fresh);
    enhance(fresh);
    if (!active) return;
    const next = find(fresh, name(active));
    (next ?? document.getElementById("content")).focus({ preventScroll: true });
    // What has been typed and not sent stays, with the caret where it was.
    if (next && typeof active.selectionStart === "number" && active.value !== active.defaultValue) {
      next.value = active.value;
      next.setSelectionRange(active.selectionStart, active.selectionEnd);
    }
  }

  const loaded = performance.getEntriesByType("navigation")[0]?.responseStatus;
  const typed = () => [...document.querySelectorAll("input, textarea")].some((e) => e.value !== e.defaultValue);

  // Nothing moves under a pointer that is about to press, for a few seconds.
  function aiming() {
    const aimed = document.querySelector("[data-live] :is(a, button):is(:hover, :active)");
    overdue = aimed ? overdue || Date.now() : 0;
    return aimed && Date.now() - overdue < 4000;
  }

  async function refresh() {
    if (busy || aiming()) {
      again = true;
      return;
    }
    busy = true;
    again = false;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.status === 401 || (answer.status === 404 && loaded === 200 && !typed())) return location.reload();
      // A page that is not there, or that answers forms alone, is no sign that the host is gone.
      if (answer.status >= 500) throw new Error("status " + answer.status);
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of parts()) {
        const fresh = next.getElementById(part.id);
        if (fresh && fresh.outerHTML !== shown.get(part.id)) replace(part, fresh);
      }
      document.dispatchEvent(new Event("plexus:fresh"));
      last = Date.now();
      lost.hidden = true;
    } catch {
      lost.hidden = false;
    } finally {
      busy = false;
    }
  }

  // A hidden tab holds no connection: a browser opens only six to one host.
  function listen() {
    source?.close();
    source = null;
    if (document.hidden) return;
    source = new EventSource(base + "events");
    source.onopen = refresh;
    source.onmessage = refresh;
  }

  document.addEventListener("visibilitychange", listen);
  addEventListener("pageshow", (e) => e.persisted && listen());
  addEventListener("pagehide", () => source?.close());
  setInterval(() => {
    if (document.hidden) return;
    // Without a stream this is how the page learns; with one, times grow older.
    const patience = source?.readyState === EventSource.OPEN ? 30_000 : 3000;
    if (again || Date.now() - last > patience) refresh();
  }, 1000);
  listen();
  enhance(document);
}

function enhance(root) {
  for (const button of root.querySelectorAll("[data-copy]")) {
    const label = button.textContent;
    button.hidden = !navigator.clipboard;
    button.onclick = async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).value);
      button.textContent = document.body.dataset.copied;
      setTimeout(() => (button.textContent = label), 2000);
    };
  }
}

if (document.body.dataset.base) session(document.body.dataset.base);
else if (document.getElementById("by-link")) signIn();
