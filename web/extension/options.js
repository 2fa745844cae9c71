// The settings page.

import { isHostToken, loadSettings, parseAddress, saveSettings } from "./settings.js";
import { pickLanguage, speaker, translate } from "./strings.js";

const $ = (id) => document.getElementById(id);
let say;

function speak(language) {
  const picked = pickLanguage(language);
  say = speaker(picked);
  translate(document, say, picked);
}

function mark(id, bad) {
  $(id).setAttribute("aria-invalid", String(bad));
  $(`${id}-bad`).hidden = !bad;
  return bad;
}

async function save(event) {
  event.preventDefault();
  const address = parseAddress($("address").value);
  const hostToken = $("token").value.trim();
  const faults = [mark("address", address === null) && "address", mark("token", !isHostToken(hostToken)) && "token"].filter(Boolean);
  $("saved").textContent = "";
  if (faults.length > 0) {
    $(faults[0]).focus();
    return;
  }
  const language = $("language").value;
  await saveSettings({ address, hostToken, language, usePage: $("use-page").checked });
  $("address").value = address;
  speak(language);
  $("saved").textContent = say("saved");
}

const settings = await loadSettings();
speak(settings.language);
$("address").value = settings.address;
$("token").value = settings.hostToken;
$("language").value = settings.language;
$("use-page").checked = settings.usePage;
$("form").addEventListener("submit", save);
$("form").addEventListener("input", () => ($("saved").textContent = ""));
