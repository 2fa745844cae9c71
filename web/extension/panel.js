// The side panel: holds the connection, asks, and shows what comes.

import { askHost, fourDigits, offer } from "./admission.js";
import { MAX_EXTRACT, size } from "./excerpt.js";
import { hostSentence } from "./marks.js";
import { NerveClient, MAX_RESULTS } from "./nerve.js";
import { contextOf, noPage, readPage } from "./page.js";
import { api, defaultSettings, loadSettings, ownKey, parseAddress } from "./settings.js";
import { pickLanguage, speaker, translate } from "./strings.js";
import { ExchangeView, fitQuestion, showConnection, showControls, showPage, showSent, showTrying } from "./view.js";

const resultsWanted = Math.min(10, MAX_RESULTS);
const patienceMs = 4000; // a host that restarts is back by then; a longer absence gets its notice

const $ = (id) => document.getElementById(id);

let settings = defaultSettings;
let say = speaker("en");
let connection = "connecting";
let identity = { digits: "", ownerPage: "", knocked: false }; // knocked: the host may show our digits
let lostAt = -Infinity; // when an open connection went away
let usePage = true;
let page = noPage;
let whole = false; // as much of this page as possible is wanted
let context = contextOf(noPage, ""); // of the question as it stands
let preview = null; // timer of the next look at that
let door = null; // timer of the next look whether the host takes our token
let asked = ""; // the question that is shown
let request = null; // {cancel} of the running question
let attempt = 0; // counts changes of the connection, so that only the latest is explained
let reading = 0; // counts readings of the page, so that only the latest is shown

const client = new NerveClient({ onState: connectionChanged, longestPauseMs: 4000 });
client.hold(); // for as long as the panel lives

function show() {
  showConnection(connection, say, identity);
  updatePage();
  controls();
}

function controls() {
  showControls({ running: request !== null, ready: connection === "open" });
}

// Shows what would be sent if the question were asked now.
function updatePage() {
  clearTimeout(preview);
  context = contextOf(usePage ? page : noPage, $("question").value.trim() || asked, whole);
  const longer = page.kind === "page" && size(page.text) > MAX_EXTRACT;
  showPage(page, { used: usePage, whole, longer, context }, say);
}

function updatePageSoon() {
  clearTimeout(preview);
  preview = setTimeout(updatePage, 200);
}

async function connectionChanged(state) {
  const mine = ++attempt;
  if (state.name === "connecting") {
    showTrying(say);
    return;
  }
  if (state.name === "closed" && state.reason !== "stopped") {
    if (state.opened) lostAt = performance.now();
    const told = await askHost(settings.address, { token: settings.hostToken });
    if (mine !== attempt) return; // it opened, or was lost again, while we asked
    if (told.tokenAccepted === false) return tokenRefused(told);
    const reason = state.opened && state.code !== 1008 ? "reconnecting" : told.reason;
    const patient = reason === "notRunning" && performance.now() - lostAt < patienceMs;
    connection = patient ? "reconnecting" : reason;
    if (connection === "notAllowed" && settings.hostToken) connection = "wrongToken";
    identity = { ...identity, ownerPage: told.ownerPage, knocked: true };
  }
  if (state.name === "open") connection = "open";
  showConnection(connection, say, identity);
  controls();
}

// Nothing is offered to a host that has said that it does not take the token: it
// would keep it as an unknown key, waiting to be allowed.
function tokenRefused(told) {
  client.close();
  connection = "wrongToken";
  identity = { ...identity, ownerPage: told.ownerPage, knocked: false };
  showConnection(connection, say, identity);
  controls();
  clearTimeout(door);
  door = setTimeout(connect, patienceMs);
}

async function connect() {
  const mine = ++attempt;
  clearTimeout(door);
  showTrying(say);
  const { hostToken } = settings;
  if (hostToken !== "") {
    const told = await askHost(settings.address, { token: hostToken });
    if (mine !== attempt) return;
    if (told.tokenAccepted === false) return tokenRefused(told);
  }
  client.connect(parseAddress(settings.address) ?? defaultSettings.address, [offer(hostToken || (await ownKey()))]);
}

async function refreshPage() {
  const mine = ++reading;
  const read = await readPage();
  if (mine === reading) {
    if (read.url !== page.url) whole = false;
    page = read;
    updatePage();
  }
  return read;
}

async function ask(question) {
  if (connection !== "open" || question === "") return;
  stop();
  asked = question;
  const preparing = { cancel: () => (request = null) };
  request = preparing;
  controls();
  const read = await refreshPage();
  if (request !== preparing) return; // stopped, or asked anew, meanwhile
  begin(question, usePage ? read : noPage);
}

function begin(question, used) {
  const sent = contextOf(used, question, whole);
  const exchange = new ExchangeView(question, sent.url, say);
  let sentence = null;
  try {
    request = client.ask(
      { query: question, context: sent, opts: { search: true, max_results: resultsWanted } },
      {
        onResults: (results, tookMs) => exchange.showResults(results, tookMs),
        onToken: (text, last) => {
          sentence = last ? hostSentence(text) : null;
          if (sentence === null) exchange.append(text);
        },
        onEnd: (state) => end(exchange, state, sentence),
      },
    );
    if ($("question").value.trim() === question) $("question").value = ""; // what was typed meanwhile stays
    fitQuestion();
  } catch {
    end(exchange, "interrupted", null); // the connection went away while the page was read
  }
  controls();
}

function end(exchange, state, sentence) {
  request = null;
  if (state === "interrupted") exchange.end(say("interruptedNote"), { again: true });
  else if (state === "unreadable") exchange.end(say("unreadableNote"), { again: true });
  else if (state === "cancelled") exchange.end(say("cancelledNote"), { plain: true, again: true });
  else exchange.end(sentence ?? "", { plain: exchange.isEmpty, again: sentence !== null });
  controls();
}

function stop() {
  request?.cancel();
  controls();
}

async function applySettings() {
  settings = await loadSettings();
  const language = pickLanguage(settings.language);
  say = speaker(language);
  translate(document, say, language);
  const secret = settings.hostToken || (await ownKey());
  identity = { digits: await fourDigits(secret), ownerPage: "", knocked: false };
  connection = "connecting";
  lostAt = -Infinity;
  client.close();
  show();
  await connect();
}

function listen() {
  $("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    ask($("question").value.trim());
  });
  $("question").addEventListener("keydown", (event) => {
    // While an input method composes, Enter picks a candidate.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    ask($("question").value.trim());
  });
  $("question").addEventListener("input", () => {
    fitQuestion();
    controls();
    updatePageSoon();
  });
  $("use-page").addEventListener("change", (event) => {
    usePage = event.target.checked;
    updatePage();
  });
  $("whole").addEventListener("click", () => {
    whole = !whole;
    updatePage();
  });
  $("sent").addEventListener("toggle", () => showSent(context));
  $("stop").addEventListener("click", () => {
    stop();
    $("question").focus();
  });
  $("again").addEventListener("click", () => ask(asked));
  $("retry").addEventListener("click", () => (connection === "wrongToken" && !identity.knocked ? connect() : client.retryNow()));
  for (const id of ["settings", "notice-settings"]) $(id).addEventListener("click", () => api.runtime.openOptionsPage());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) stop();
  });
}

// The page in front changes without the panel: another tab, another address, a
// new selection (seen when the person comes back here), a press of the button.
function watchPage() {
  api.tabs.onActivated.addListener(refreshPage);
  api.tabs.onUpdated.addListener((_, change) => {
    if (change.status === "complete") refreshPage();
  });
  api.runtime.onMessage.addListener((message) => {
    if ("pressed" in message) refreshPage();
  });
  window.addEventListener("focus", refreshPage);
  api.storage.onChanged.addListener((changes) => {
    if (["address", "hostToken", "language", "key"].some((name) => name in changes)) applySettings();
  });
}

settings = await loadSettings();
usePage = settings.usePage;
listen();
watchPage();
await applySettings();
await refreshPage();
$("question").focus();
