import assert from "node:assert/strict";
import { mock, test } from "node:test";

// A browser with one tab, which answers each injection with the next of these.
let tab;
let answers;
globalThis.chrome = {
  tabs: { query: async () => [tab] },
  scripting: {
    executeScript: async () => {
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  },
};
const { readPage } = await import("../page.js");

const url = "https://example.org/list";
const read = [{ result: { top: true, form: "text", url, title: "List", selection: "", text: "One line", headings: [], more: false, unread: 0 } }];
const replaced = new Error("Frame with ID 0 was removed.");

async function reading() {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const page = readPage();
    for (let i = 0; i < 20; i++) {
      await new Promise(setImmediate);
      mock.timers.tick(100);
    }
    return await page;
  } finally {
    mock.timers.reset();
  }
}

test("a page that is just being replaced is read once it is there", async () => {
  tab = { id: 1, url, title: "List" };
  for (const before of [[], [replaced], [[]], [replaced, [{ result: null }]]]) {
    answers = [...before, read];
    const { kind, text } = await reading();
    assert.deepEqual([kind, text], ["page", "One line"], `${before.length} before`);
  }
});

test("a page that the browser lets nobody read is said to be one, and has its address", async () => {
  tab = { id: 1, url, title: "List" };
  answers = [new Error("Cannot access contents of the page.")];
  const page = await reading();
  assert.deepEqual([page.kind, page.why, page.url, page.title], ["bare", "refused", url, "List"]);
});

test("a page whose address is not shown to us is locked, at once", async () => {
  tab = { id: 1 };
  answers = [new Error("Cannot access contents of the page."), read];
  assert.equal((await readPage()).kind, "locked");
});
