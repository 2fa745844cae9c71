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
 * Origin). Gives "notRunning" or "notAllowed": an `allowed` of true on a socket
 * that is refused all the same means another key of ours is, or a wrong token.
 */
export async function whyRefused(address, fetch = globalThis.fetch) {
  try {
    const response = await fetch(address.replace(/^ws:/, "http:"), {
      method: "POST",
      body: "",
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(3000),
    });
    const body = response.status === 426 ? await response.json() : null;
    return body?.product === "plexus" ? "notAllowed" : "notRunning";
  } catch {
    return "notRunning";
  }
}
