import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Flag, MAX_INFLIGHT, NerveClient, NotOpenError, Type, decodeFrame, encodeFrame } from "../nerve.js";
import { Clock } from "./clock.mjs";

// A socket that does what the test says.
class FakeSocket {
  static made = [];
  readyState = 0;
  sent = [];
  closedWith = null;

  constructor(url, protocols) {
    Object.assign(this, { url, protocols });
    FakeSocket.made.push(this);
  }

  send(bytes) {
    assert.equal(this.readyState, 1, "sent on a socket that is not open");
    this.sent.push(decodeFrame(bytes));
  }

  close(code) {
    this.readyState = 2;
    this.closedWith = code;
  }

  open() {
    this.readyState = 1;
    this.onopen({});
  }

  lose(code = 1006) {
    this.readyState = 3;
    this.onclose({ code });
  }

  receive(frame) {
    this.onmessage({ data: encodeFrame(frame).buffer });
  }

  token(id, t, flags) {
    this.receive({ type: Type.AiToken, flags, id, payload: JSON.stringify({ t }) });
  }
}

let clock, states, client, log;
const socket = () => FakeSocket.made.at(-1);
const sentTypes = () => socket().sent.map((frame) => frame.type);

beforeEach(() => {
  FakeSocket.made = [];
  clock = new Clock();
  states = [];
  log = [];
  client = new NerveClient({ ...clock.options(), WebSocket: FakeSocket, random: () => 1, onState: (s) => states.push(s) });
});

function connect() {
  client.connect("ws://127.0.0.1:9001", ["anvesha-v1.k"]);
  socket().open();
}

const query = { query: "q", context: { url: "", title: "" }, opts: { search: true, max_results: 10 } };
const handlers = {
  onResults: (results, ms) => log.push(["results", results.length, ms]),
  onToken: (text, last) => log.push([text, last]),
  onEnd: (state) => log.push(state),
};

test("a question, its results, its answer", () => {
  connect();
  const { id } = client.ask(query, handlers);
  const [sent] = socket().sent;
  assert.deepEqual([sent.type, sent.flags, sent.id], [Type.SearchQuery, Flag.Final, id]);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(sent.payload)), { v: 1, ...query });
  socket().receive({
    type: Type.SearchResult,
    id,
    payload: '{"results":[{"url":"u","title":"t","snippet":"s","score":1}],"took_ms":34}',
  });
  socket().token(id, "Hello", Flag.Stream);
  socket().token(id, "", Flag.Final);
  assert.deepEqual(log, [["results", 1, 34], ["Hello", false], "done"]);
});

test("FINAL, both flags and neither end a request; STREAM does not", () => {
  connect();
  for (const [flags, want] of [[Flag.Final, 1], [Flag.Stream | Flag.Final, 1], [0, 1], [0x80, 1], [Flag.Stream | 0x80, 0]]) {
    log.length = 0;
    const { id } = client.ask(query, handlers);
    socket().token(id, "x", flags);
    assert.equal(log.filter((entry) => entry === "done").length, want, `flags ${flags}`);
  }
});

test("requests run side by side and late frames of unknown ids are ignored", () => {
  connect();
  const one = client.ask(query, { onToken: (t) => log.push("1" + t) });
  const two = client.ask(query, { onToken: (t) => log.push("2" + t) });
  assert.notEqual(one.id, two.id);
  socket().token(two.id, "b", Flag.Stream);
  socket().token(one.id, "a", Flag.Final);
  socket().token(one.id, "late", Flag.Stream);
  socket().token(99n, "stranger", Flag.Stream);
  assert.deepEqual(log, ["2b", "1a"]);
  assert.ok(client.isOpen);
});

test("cancel sends the id, ends once and hears nothing more", () => {
  connect();
  const request = client.ask(query, handlers);
  request.cancel();
  request.cancel();
  socket().token(request.id, "late", Flag.Final);
  assert.deepEqual(sentTypes(), [Type.SearchQuery, Type.Cancel]);
  assert.equal(socket().sent[1].id, request.id);
  assert.equal(socket().sent[1].payload.byteLength, 0);
  assert.deepEqual(log, ["cancelled"]);
});

test("cancel from within a token handler", () => {
  connect();
  const request = client.ask(query, { onToken: () => request.cancel(), onEnd: (s) => log.push(s) });
  socket().token(request.id, "x", Flag.Final);
  assert.deepEqual(log, ["cancelled"]);
});

test("CR-15 a lost connection interrupts a stream, which is never resumed", () => {
  connect();
  const { id } = client.ask(query, handlers);
  socket().token(id, "half", Flag.Stream);
  socket().lose(1001);
  assert.deepEqual(log, [["half", false], "interrupted"]);
  assert.deepEqual(states.at(-1), { name: "closed", reason: "lost", code: 1001, opened: true, retryInMs: 500 });
  clock.advance(500);
  socket().open();
  socket().token(id, "old", Flag.Stream);
  const again = client.ask(query, handlers);
  assert.notEqual(again.id, id);
  assert.equal(log.length, 2);
});

test("a payload that breaks the schema ends its request alone", () => {
  connect();
  const { id } = client.ask(query, handlers);
  client.ask(query, { onEnd: () => assert.fail("the other request ended") });
  socket().receive({ type: Type.SearchResult, id, payload: '{"results":null,"took_ms":0}' });
  assert.deepEqual(log, ["unreadable"]);
  assert.equal(sentTypes().at(-1), Type.Cancel);
  assert.ok(client.isOpen);
});

test("bytes that are not NERVE close the connection", () => {
  for (const data of [new Uint8Array(20).buffer, "text", new ArrayBuffer(3)]) {
    connect();
    socket().onmessage({ data });
    assert.equal(socket().closedWith, 4002);
    assert.equal(states.at(-1).reason, "protocol");
  }
});

test("pauses double up to the longest, and a frame resets them", () => {
  const pauses = () => states.filter((s) => s.name === "closed").map((s) => s.retryInMs);
  client.connect("ws://127.0.0.1:9001");
  for (let i = 0; i < 7; i++) {
    socket().lose();
    clock.advance(states.at(-1).retryInMs);
  }
  assert.deepEqual(pauses(), [500, 1000, 2000, 4000, 8000, 15000, 15000]);
  socket().open();
  socket().lose();
  assert.equal(pauses().at(-1), 15000, "a host that hangs up at once is not hurried");
  clock.advance(15_000);
  socket().open();
  socket().token(1n, "x", Flag.Stream);
  socket().lose();
  assert.equal(pauses().at(-1), 500);
});

test("jitter shortens a pause by up to half", () => {
  const jittered = new NerveClient({ ...clock.options(), WebSocket: FakeSocket, random: () => 0, onState: (s) => states.push(s) });
  jittered.connect("ws://127.0.0.1:9001");
  socket().lose();
  assert.equal(states.at(-1).retryInMs, 250);
});

test("retryNow dials at once, and only while a pause runs", () => {
  client.retryNow();
  client.connect("ws://127.0.0.1:9001");
  client.retryNow();
  assert.equal(FakeSocket.made.length, 1);
  socket().lose();
  client.retryNow();
  assert.equal(FakeSocket.made.length, 2);
  clock.advance(5_000);
  assert.equal(FakeSocket.made.length, 2, "the planned attempt was dropped");
});

test("a refusal is told from a loss, and an attempt that hangs is given up", () => {
  client.connect("ws://127.0.0.1:9001");
  socket().lose();
  assert.deepEqual(states.at(-1), { name: "closed", reason: "refused", code: 1006, opened: false, retryInMs: 500 });
  clock.advance(500);
  clock.advance(10_000);
  assert.equal(states.at(-1).reason, "refused");
  assert.equal(socket().closedWith, 4000);
});

test("Pings every 20 s while a request is open or the connection is held", () => {
  connect();
  clock.advance(60_000);
  assert.deepEqual(sentTypes(), [], "an idle connection sends none");
  const pings = () => socket().sent.filter((f) => f.type === Type.Ping);
  const step = () => {
    clock.advance(20_000);
    socket().receive({ type: Type.Ping, id: pings().at(-1).id });
  };
  const request = client.ask(query);
  step();
  step();
  request.cancel();
  clock.advance(60_000);
  assert.equal(pings().length, 2);
  const release = client.hold();
  step();
  release();
  release();
  clock.advance(60_000);
  assert.equal(pings().length, 3);
  assert.equal(clock.pending, 0);
});

test("hold() outlives a reconnection", () => {
  client.hold();
  connect();
  socket().lose();
  clock.advance(500);
  socket().open();
  clock.advance(20_000);
  assert.deepEqual(sentTypes(), [Type.Ping]);
});

test("CR-15 an unanswered Ping ends the connection", () => {
  client.hold();
  connect();
  clock.advance(29_999);
  assert.ok(client.isOpen);
  clock.advance(1);
  assert.equal(client.isOpen, false);
  assert.equal(states.at(-1).reason, "silent");
  assert.equal(socket().closedWith, 4000);
});

test("ping measures, and a Ping of the peer is echoed", async () => {
  connect();
  const rtt = client.ping();
  clock.advance(3);
  socket().receive({ type: Type.Ping, id: socket().sent[0].id });
  assert.equal(await rtt, 3);
  socket().receive({ type: Type.Ping, id: 77n, payload: "probe" });
  const echo = socket().sent[1];
  assert.deepEqual([echo.type, echo.flags, echo.id, new TextDecoder().decode(echo.payload)], [Type.Ping, Flag.Final, 77n, "probe"]);
});

test("X1 ids start anywhere, wrap, and pass by those in use", () => {
  const wrapping = new NerveClient({ ...clock.options(), WebSocket: FakeSocket, firstID: 2n ** 64n - 1n });
  wrapping.connect("ws://127.0.0.1:9001");
  socket().open();
  assert.deepEqual([wrapping.ask(query).id, wrapping.ask(query).id], [2n ** 64n - 1n, 0n]);
});

test("ask needs an open connection and a free place", async () => {
  assert.throws(() => client.ask(query), NotOpenError);
  await assert.rejects(client.ping(), NotOpenError);
  connect();
  for (let i = 0; i < MAX_INFLIGHT; i++) client.ask(query);
  assert.throws(() => client.ask(query), RangeError);
});

test("a payload over 1 MiB is refused and leaves no trace", () => {
  connect();
  assert.throws(() => client.ask({ ...query, query: "x".repeat(1024 * 1024) }), RangeError);
  socket().lose();
  assert.deepEqual(log, []);
});

test("lone surrogates leave as U+FFFD, not as an escape", () => {
  connect();
  client.ask({ ...query, query: "a\ud83d" });
  assert.match(new TextDecoder().decode(socket().sent[0].payload), /"query":"a\ufffd"/);
});

test("close is final and connect begins anew", () => {
  connect();
  const first = socket();
  client.ask(query, handlers);
  client.close();
  client.close();
  assert.deepEqual(log, ["interrupted"]);
  assert.equal(first.closedWith, 1000);
  first.lose(1000);
  clock.advance(60_000);
  assert.equal(FakeSocket.made.length, 1);
  assert.equal(states.filter((s) => s.name === "closed").length, 1);
  connect();
  assert.ok(client.isOpen);
});

test("connecting elsewhere drops the old connection without a closed state", () => {
  connect();
  const first = socket();
  client.connect("ws://localhost:9002");
  assert.equal(first.readyState, 2);
  first.lose();
  first.onmessage?.({ data: "ignored" });
  assert.deepEqual(states.map((s) => s.name), ["connecting", "open", "connecting"]);
});
