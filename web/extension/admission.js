// How the panel tells "not running" from "not allowed yet", and the four digits.

import { SUBPROTOCOL_PREFIX } from "./nerve.js";

/** The one subprotocol entry that carries a key or the host token. */
export function offer(secret) {
  return SUBPROTOCOL_PREFIX + secret;
}

/**
 * The four digits that panel and host both show: SHA-256 over the key as text,
 * its first four bytes big-endian, modulo 10000.
 */
export async function fourDigits(key) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return String(new DataView(hash).getUint32(0) % 10000).padStart(4, "0");
}

/**
 * Asks the host why the socket did not open. A refused upgrade shows only as
 * close 1006, but a plain POST is answered to extensions (a GET may carry no
 * Origin). `reason` is "notRunning" or "notAllowed": an `allowed` of true on a
 * socket that is refused all the same means another key of ours is, or a wrong
 * token. `ownerPage` is the address of the owner's page, "" when the host tells
 * none. A host that is given a `token` may say `tokenAccepted`; null is no answer.
 */
export async function askHost(address, { token = "", fetch = globalThis.fetch } = {}) {
  const nobody = { reason: "notRunning", ownerPage: "", tokenAccepted: null };
  try {
    const response = await fetch(address.replace(/^ws:/, "http:"), {
      method: "POST",
      body: token && offer(token),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(3000),
    });
    const body = response.status === 426 ? await response.json() : null;
    if (body?.product !== "plexus") return nobody;
    return { reason: "notAllowed", ownerPage: ownerPage(body.page), tokenAccepted: typeof body.token === "boolean" ? body.token : null };
  } catch {
    return nobody;
  }
}

// Only a page of this machine is linked, whatever answers there.
function ownerPage(address) {
  const url = URL.canParse(address) ? new URL(address) : null;
  const here = url?.protocol === "http:" && ["127.0.0.1", "localhost"].includes(url.hostname) && url.username === "" && url.password === "";
  return here ? `${url.origin}/` : "";
}
