// NERVE V1 for JavaScript: the wire format and a client that keeps a connection.
//
// One file without dependencies, for extension pages, workers and Node (20 with
// --experimental-websocket, or any later one). Nothing here touches the page,
// storage or a global timer unless the defaults are used.
//
//   import { NerveClient } from "./nerve.js";
//
//   const client = new NerveClient({ onState: (s) => console.log(s.name, s.reason ?? "") });
//   client.connect("ws://127.0.0.1:9001", ["anvesha-v1." + key]);
//   const request = client.ask(
//     { query: "go context cancel", context: { url: "", title: "" }, opts: { search: true, max_results: 10 } },
//     { onResults: (results, tookMs) => {}, onToken: (text, last) => {}, onEnd: (state) => {} });
//   request.cancel();
//
// connect(url, protocols)  opens and keeps the connection: a lost or refused one
//                          is tried again after a growing, jittered pause.
//                          Called again it drops the old connection first.
// retryNow()               ends such a pause at once.
// close()                  ends the connection for good.
// hold()                   keeps the connection alive by a NERVE Ping every 20 s
//                          until the function it returns is called. An open
//                          request does the same by itself.
// ping()                   resolves to the round trip in milliseconds, or rejects.
// ask(query, handlers)     sends one SearchQuery; `v` is added. Throws NotOpenError
//                          when the connection is not open, RangeError when the
//                          payload is over 1 MiB or 1,024 requests are in flight.
//
// States (onState): {name: "connecting"}, {name: "open"},
// {name: "closed", reason, code, opened, retryInMs} with reason
//   "refused"   it never opened (no host, or the host does not admit us: a
//               browser does not say which; docs/extension-protocol.md does),
//   "lost"      it was open and went away, "silent" a Ping was not answered,
//   "protocol"  the peer sent bytes that are not NERVE, "stopped" close().
// retryInMs is null after close().
//
// A request ends exactly once, with one of
//   "done"         the frame that ends the request came,
//   "cancelled"    cancel() was called; late frames are ignored,
//   "interrupted"  the connection went away; it is never resumed, because the
//                  host forgets a request with its connection,
//   "unreadable"   the host sent a payload that breaks the schema.
// No handler is called after onEnd, and none while ask() runs.

export const MAGIC = 0x4e455256;
export const VERSION = 1;
export const HEADER_SIZE = 20;
export const MAX_PAYLOAD = 1024 * 1024;
export const MAX_INFLIGHT = 1024;
export const MAX_RESULTS = 100;
export const SUBPROTOCOL_PREFIX = "anvesha-v1.";

export const Type = Object.freeze({
  Ping: 0x01,
  SearchQuery: 0x02,
  SearchResult: 0x03,
  AiToken: 0x04,
  Cancel: 0x05,
  AgentTaskStart: 0x10,
  AgentTaskEvent: 0x11,
  AgentTaskDone: 0x12,
});

export const Flag = Object.freeze({ Stream: 0x01, Final: 0x02 });

const knownTypes = new Set(Object.values(Type));
const maxID = (1n << 64n) - 1n;
const emptyPayload = new Uint8Array(0);

/** A frame or payload that is not NERVE V1; `kind` is the document's name for the fault. */
export class NerveError extends Error {
  constructor(kind, message) {
    super(`${kind}: ${message}`);
    this.name = "NerveError";
    this.kind = kind;
  }
}

/** ask() or ping() on a connection that is not open. */
export class NotOpenError extends Error {
  constructor() {
    super("the connection is not open");
    this.name = "NotOpenError";
  }
}

/**
 * Lays out one frame. `id` is a BigInt in 0 … 2^64−1; `payload` is bytes, or a
 * string that is sent as UTF-8.
 */
export function encodeFrame({ type, flags = Flag.Final, id, payload = emptyPayload }) {
  const body = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  if (!knownTypes.has(type)) throw new RangeError(`unknown message type ${type}`);
  if (typeof id !== "bigint" || id < 0n || id > maxID) throw new RangeError("request id: want a BigInt in 0 … 2^64−1");
  if (body.byteLength > MAX_PAYLOAD) throw new RangeError("payload over 1 MiB");
  const frame = new Uint8Array(HEADER_SIZE + body.byteLength);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, VERSION, true);
  view.setUint8(6, type);
  view.setUint8(7, flags);
  view.setBigUint64(8, id, true);
  view.setUint32(16, body.byteLength, true);
  frame.set(body, HEADER_SIZE);
  return frame;
}

/**
 * Reads one frame that fills the buffer exactly (ArrayBuffer or typed array).
 * The payload is a view of that buffer, not a copy. Throws NerveError; what is
 * wrong in the header is found before anything about the payload is.
 */
export function decodeFrame(buffer) {
  const bytes = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEADER_SIZE) throw new NerveError("MalformedFrame", `header of ${bytes.byteLength} bytes`);
  checkHeader(view);
  const length = view.getUint32(16, true);
  const flags = view.getUint8(7);
  if (bytes.byteLength !== HEADER_SIZE + length) {
    throw new NerveError("MalformedFrame", `${length} bytes promised, ${bytes.byteLength - HEADER_SIZE} came`);
  }
  return {
    type: view.getUint8(6),
    flags,
    id: view.getBigUint64(8, true),
    // Both bits set is undefined by the document and read as FINAL; neither is
    // one whole message. So only a lone STREAM means that more follows.
    last: (flags & (Flag.Stream | Flag.Final)) !== Flag.Stream,
    payload: bytes.subarray(HEADER_SIZE),
  };
}

function checkHeader(view) {
  const magic = view.getUint32(0, true);
  if (magic !== MAGIC) throw new NerveError("InvalidMagic", `0x${magic.toString(16)}`);
  const version = view.getUint16(4, true);
  if (version !== VERSION) throw new NerveError("UnsupportedVersion", `${version}`);
  const type = view.getUint8(6);
  if (!knownTypes.has(type)) throw new NerveError("UnknownMessageType", `0x${type.toString(16)}`);
  const length = view.getUint32(16, true);
  if (length > MAX_PAYLOAD) throw new NerveError("PayloadTooLarge", `${length} bytes`);
}

function parseJSON(payload) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload));
  } catch {
    throw new NerveError("Json", "not UTF-8 JSON");
  }
}

/** Reads an AiToken payload and gives its text. Throws NerveError of kind Json. */
export function parseToken(payload) {
  const value = parseJSON(payload);
  if (typeof value?.t !== "string") throw new NerveError("Json", "t is not a string");
  return value.t;
}

/** Reads a SearchResult payload: {results: [{url, title, snippet, score}], tookMs}. Throws NerveError of kind Json. */
export function parseResults(payload) {
  const value = parseJSON(payload);
  if (!Array.isArray(value?.results)) throw new NerveError("Json", "results is not an array");
  if (!Number.isInteger(value.took_ms) || value.took_ms < 0) throw new NerveError("Json", "took_ms is not a count");
  const results = value.results.map((item) => {
    const { url, title, snippet, score } = item ?? {};
    if ([url, title, snippet].some((s) => typeof s !== "string") || !Number.isFinite(score)) {
      throw new NerveError("Json", "a result misses a member");
    }
    return { url, title, snippet, score };
  });
  return { results, tookMs: value.took_ms };
}

const defaults = {
  WebSocket: globalThis.WebSocket,
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer),
  now: () => performance.now(),
  random: Math.random,
  firstID: 1n, // BigInt; ids count up from here and are never used twice
  openWithinMs: 10_000,
  pingEveryMs: 20_000,
  pongWithinMs: 10_000,
  firstPauseMs: 500, // doubles with each failure
  longestPauseMs: 15_000,
  onState: () => {},
};

/** Keeps one connection and the requests on it. See the head of this file. */
export class NerveClient {
  #options;
  #url = "";
  #protocols = [];
  #socket = null; // the one socket whose events count
  #open = false;
  #stopped = true;
  #failures = 0;
  #retryTimer = null;
  #openTimer = null;
  #pingTimer = null;
  #pings = new Map(); // id → {sentAt, timer, resolve, reject}
  #requests = new Map(); // id → handlers
  #holds = 0;
  #nextID;

  constructor(options = {}) {
    this.#options = { ...defaults, ...options };
    this.#nextID = this.#options.firstID;
  }

  get isOpen() {
    return this.#open;
  }

  connect(url, protocols = []) {
    this.#drop("stopped", null);
    this.#url = url;
    this.#protocols = protocols;
    this.#stopped = false;
    this.#failures = 0;
    this.#dial();
  }

  retryNow() {
    if (this.#retryTimer === null) return;
    this.#clearRetry();
    this.#failures = 0;
    this.#dial();
  }

  close() {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#drop("stopped", 1000);
    this.#emit({ name: "closed", reason: "stopped", code: 1000, opened: false, retryInMs: null });
  }

  hold() {
    let held = true;
    this.#holds++;
    this.#keepAlive();
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      this.#keepAlive();
    };
  }

  ping() {
    return new Promise((resolve, reject) => {
      if (!this.#open) return reject(new NotOpenError());
      const id = this.#newID();
      const timer = this.#options.setTimeout(() => this.#drop("silent", 4000), this.#options.pongWithinMs);
      this.#pings.set(id, { sentAt: this.#options.now(), timer, resolve, reject });
      this.#send({ type: Type.Ping, id });
    });
  }

  ask(query, { onResults = () => {}, onToken = () => {}, onEnd = () => {} } = {}) {
    if (!this.#open) throw new NotOpenError();
    if (this.#requests.size >= MAX_INFLIGHT) throw new RangeError("1,024 requests are in flight");
    const id = this.#newID();
    // A lone surrogate would become an escape that strict JSON readers refuse.
    const payload = JSON.stringify({ v: 1, ...query }, (_, value) => (typeof value === "string" ? value.toWellFormed() : value));
    this.#send({ type: Type.SearchQuery, id, payload });
    this.#requests.set(id, { onResults, onToken, onEnd });
    this.#keepAlive();
    return { id, cancel: () => this.#cancel(id) };
  }

  #cancel(id) {
    if (!this.#requests.has(id)) return;
    if (this.#open) this.#send({ type: Type.Cancel, id });
    this.#end(id, "cancelled");
  }

  #end(id, state) {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    this.#keepAlive();
    request.onEnd(state);
  }

  #newID() {
    let id = this.#nextID;
    while (this.#requests.has(id) || this.#pings.has(id)) id = BigInt.asUintN(64, id + 1n);
    this.#nextID = BigInt.asUintN(64, id + 1n);
    return id;
  }

  #send(frame) {
    this.#socket.send(encodeFrame(frame));
  }

  #emit(state) {
    this.#options.onState(state);
  }

  #dial() {
    const socket = new this.#options.WebSocket(this.#url, this.#protocols);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#openTimer = this.#options.setTimeout(() => this.#drop("refused", 4000), this.#options.openWithinMs);
    const mine = (run) => (event) => {
      if (this.#socket === socket) run(event);
    };
    socket.onopen = mine(() => this.#opened());
    socket.onmessage = mine((event) => this.#receive(event.data));
    socket.onclose = mine((event) => this.#drop(this.#open ? "lost" : "refused", null, event.code));
    // An error means an abnormal end. Browsers send a close after it, Node 20 does
    // not when the connection never opened.
    socket.onerror = mine(() => this.#drop(this.#open ? "lost" : "refused", null));
    this.#emit({ name: "connecting" });
  }

  #opened() {
    this.#clearOpenTimer();
    this.#open = true;
    this.#keepAlive();
    this.#emit({ name: "open" });
  }

  #receive(data) {
    let frame;
    try {
      if (typeof data === "string") throw new NerveError("MalformedFrame", "a text message");
      frame = decodeFrame(data);
    } catch {
      this.#drop("protocol", 4002);
      return;
    }
    this.#failures = 0; // a host that opens and hangs up at once keeps its long pauses
    if (frame.type === Type.Ping) this.#receivePing(frame);
    else if (this.#requests.has(frame.id)) this.#receiveAnswer(frame);
  }

  // A Ping carries no mark of being an echo: one of ours is, any other is a question.
  #receivePing({ id, payload }) {
    const ping = this.#pings.get(id);
    if (!ping) {
      this.#send({ type: Type.Ping, id, payload });
      return;
    }
    this.#pings.delete(id);
    this.#options.clearTimeout(ping.timer);
    ping.resolve(this.#options.now() - ping.sentAt);
  }

  #receiveAnswer({ type, id, last, payload }) {
    const request = this.#requests.get(id);
    try {
      if (type === Type.SearchResult) {
        const { results, tookMs } = parseResults(payload);
        request.onResults(results, tookMs);
      } else if (type === Type.AiToken) {
        const text = parseToken(payload);
        if (text !== "") request.onToken(text, last);
        if (last && this.#requests.has(id)) this.#end(id, "done");
      }
    } catch (err) {
      if (!(err instanceof NerveError)) throw err;
      if (this.#open) this.#send({ type: Type.Cancel, id });
      this.#end(id, "unreadable");
    }
  }

  // Forgets the present socket, whatever its state, ends what depends on it and,
  // unless the client was stopped, plans the next attempt.
  #drop(reason, closeWith, code = closeWith ?? 1006) {
    this.#clearRetry();
    this.#clearOpenTimer();
    this.#clearPingTimer();
    const { socket, opened } = { socket: this.#socket, opened: this.#open };
    this.#socket = null;
    this.#open = false;
    if (socket && socket.readyState < 2) socket.close(closeWith ?? 1000);
    for (const ping of this.#pings.values()) {
      this.#options.clearTimeout(ping.timer);
      ping.reject(new NotOpenError());
    }
    this.#pings.clear();
    for (const id of [...this.#requests.keys()]) this.#end(id, "interrupted");
    if (!socket || this.#stopped || reason === "stopped") return;
    const retryInMs = this.#pause();
    this.#retryTimer = this.#options.setTimeout(() => {
      this.#retryTimer = null;
      this.#dial();
    }, retryInMs);
    this.#emit({ name: "closed", reason, code, opened, retryInMs });
  }

  // Half of the pause is fixed and half random, so that many clients of one
  // host do not come back in step.
  #pause() {
    const { firstPauseMs, longestPauseMs, random } = this.#options;
    const full = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#failures, 20));
    this.#failures++;
    return Math.round(full / 2 + (full / 2) * random());
  }

  #keepAlive() {
    const wanted = this.#open && (this.#holds > 0 || this.#requests.size > 0);
    if (!wanted) this.#clearPingTimer();
    else if (this.#pingTimer === null) {
      this.#pingTimer = this.#options.setTimeout(() => {
        this.#pingTimer = null;
        this.ping().catch(() => {}); // a lost connection is reported as a state
        this.#keepAlive();
      }, this.#options.pingEveryMs);
    }
  }

  #clearRetry() {
    if (this.#retryTimer !== null) this.#options.clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
  }

  #clearOpenTimer() {
    if (this.#openTimer !== null) this.#options.clearTimeout(this.#openTimer);
    this.#openTimer = null;
  }

  #clearPingTimer() {
    if (this.#pingTimer !== null) this.#options.clearTimeout(this.#pingTimer);
    this.#pingTimer = null;
  }
}
