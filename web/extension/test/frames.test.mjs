import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Flag, MAX_PAYLOAD, NerveError, Type, decodeFrame, encodeFrame, parseResults, parseToken } from "../nerve.js";

const vectors = (name) => JSON.parse(readFileSync(new URL(`../../../tests/fixtures/nerve/v1/${name}.json`, import.meta.url)));
const fromHex = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const toHex = (bytes) => Buffer.from(bytes).toString("hex");

function bytesOf(vector) {
  if (vector.hex !== undefined) return fromHex(vector.hex);
  const header = fromHex(vector.header_hex);
  const whole = new Uint8Array(header.length + vector.payload_len);
  whole.set(header);
  whole.fill(typeof vector.payload_fill === "string" ? parseInt(vector.payload_fill, 16) : vector.payload_fill, header.length);
  return whole;
}

function check(vector, acceptable) {
  const bytes = bytesOf(vector);
  if (!vector.valid) {
    assert.throws(() => decodeFrame(bytes), (err) => err instanceof NerveError && acceptable.includes(err.kind));
    return;
  }
  const want = vector.decoded;
  const frame = decodeFrame(bytes.buffer);
  assert.equal(frame.type, want.type_byte);
  assert.equal(frame.type, Type[want.type]);
  assert.equal(frame.flags, want.flags);
  assert.equal(frame.id, BigInt(want.request_id));
  assert.equal(frame.payload.byteLength, want.payload_length);
  assert.equal(frame.last, want.final || !want.stream);
  assert.deepEqual(encodeFrame(frame), bytes, "encode(decode(x)) is x");
}

for (const vector of vectors("nerve-vectors")) {
  test(`C1 ${vector.name}`, () => check(vector, [vector.error, ...[vector.also_acceptable ?? []].flat()]));
}

test("C4 the encoder refuses what the wire cannot carry", () => {
  assert.throws(() => encodeFrame({ type: Type.Ping, id: 1n, payload: new Uint8Array(MAX_PAYLOAD + 1) }), RangeError);
  assert.throws(() => encodeFrame({ type: 0x06, id: 1n }), RangeError);
  for (const id of [-1n, 1n << 64n, 1]) assert.throws(() => encodeFrame({ type: Type.Ping, id }), RangeError);
  assert.equal(encodeFrame({ type: Type.Ping, id: 1n, payload: new Uint8Array(MAX_PAYLOAD) }).length, MAX_PAYLOAD + 20);
});

test("X1 ids up to 2^64−1 and lengths in UTF-8 bytes", () => {
  const frame = encodeFrame({ type: Type.AiToken, flags: Flag.Stream, id: 2n ** 64n - 1n, payload: '{"t":"café 日本 🔎"}' });
  assert.equal(toHex(frame.subarray(8, 16)), "ffffffffffffffff");
  assert.equal(new DataView(frame.buffer).getUint32(16, true), frame.length - 20);
  assert.equal(parseToken(decodeFrame(frame).payload), "café 日本 🔎");
});

test("a frame may lie inside a larger buffer", () => {
  const inner = encodeFrame({ type: Type.AiToken, id: 7n, payload: '{"t":"x"}' });
  const outer = new Uint8Array(inner.length + 9);
  outer.set(inner, 5);
  assert.equal(parseToken(decodeFrame(outer.subarray(5, 5 + inner.length)).payload), "x");
});

// JSON.parse keeps no spelling, so JavaScript cannot tell 34.0 from 34 and reads a
// number of any size as a double.
const unseenByJavaScript = new Set(["took-float", "took-exponent", "score-too-big-for-f32"]);

for (const vector of vectors("nerve-response-vectors")) {
  test(`R1 ${vector.name}`, () => {
    const parse = vector.type === "AiToken" ? parseToken : parseResults;
    const payload = fromHex(vector.payload_hex);
    if (vector.accepted_by_rust_client || unseenByJavaScript.has(vector.name)) parse(payload);
    else assert.throws(() => parse(payload), (err) => err instanceof NerveError && err.kind === "Json");
  });
}
