// A NERVE client in Node, built on the extension's module: asks what the command
// line says and prints what came, one JSON line per question.
//
//   node --experimental-websocket client.mjs ws://ADDRESS TOKEN FIRST_ID QUERY…
import { NerveClient } from "../../web/extension/nerve.js";

const [address, token, firstID, ...queries] = process.argv.slice(2);
const client = new NerveClient({
  firstID: BigInt(firstID),
  onState: (state) => {
    if (state.name === "open") run().then(() => client.close());
    if (state.name === "closed" && state.reason !== "stopped") {
      console.log(JSON.stringify({ closed: state.reason }));
      client.close();
    }
  },
});

function ask(text) {
  return new Promise((resolve) => {
    const got = { id: "", results: null, text: "", end: "" };
    const { id } = client.ask(
      { query: text, context: { url: "https://page.test/café", title: "Café 日本", extract: "The café 日本 opened in 1931. It has two rooms." }, opts: { search: true, max_results: 10 } },
      {
        onResults: (results) => (got.results = results.length),
        onToken: (t) => (got.text += t),
        onEnd: (end) => resolve({ ...got, end }),
      },
    );
    got.id = String(id);
  });
}

async function run() {
  const ms = await client.ping();
  if (!(ms >= 0)) throw new Error("no round trip");
  for (const query of queries) console.log(JSON.stringify(await ask(query)));
}

client.connect(address, token === "" ? [] : ["anvesha-v1." + token]);
