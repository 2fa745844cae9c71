// What the extension remembers: the settings of options.html and its own key.

export const api = globalThis.browser ?? globalThis.chrome;

export const defaultSettings = Object.freeze({
  address: "ws://127.0.0.1:9001",
  hostToken: "", // 64 hex digits; "" offers the extension's own key instead
  language: "", // "en", "zh-CN", or "" for the browser's
  usePage: true, // whether the panel starts with "use this page" on
});

/** Gives the settings with every default filled in. */
export async function loadSettings() {
  return { ...defaultSettings, ...(await api.storage.local.get(Object.keys(defaultSettings))) };
}

export function saveSettings(changes) {
  return api.storage.local.set(changes);
}

/** Gives this installation's key, 64 hex digits, and makes it on first use. */
export async function ownKey() {
  // One lock, because the worker at install and a panel can ask at the same time
  // and must not end with two keys.
  return navigator.locks.request("own-key", async () => {
    const { key } = await api.storage.local.get("key");
    if (key) return key;
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const fresh = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
    await api.storage.local.set({ key: fresh });
    return fresh;
  });
}

/**
 * Reads an address as typed: ws:// with a loopback name, and nothing after the
 * port. Gives it in its short form, or null.
 */
export function parseAddress(text) {
  let url;
  try {
    url = new URL(text.trim());
  } catch {
    return null;
  }
  const loopback = url.hostname === "127.0.0.1" || url.hostname === "localhost";
  const bare = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (url.protocol !== "ws:" || !loopback || !bare) return null;
  return `ws://${url.host}${url.pathname === "/" ? "" : url.pathname}`;
}

/** A host token is 64 lower-case hex digits; empty means none. */
export function isHostToken(text) {
  return text === "" || /^[0-9a-f]{64}$/.test(text);
}
