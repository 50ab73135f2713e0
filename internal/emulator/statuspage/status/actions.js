"use strict";
// Buttons that act with the API key that the emulator printed. It is only in the tab's storage and in the Authorization header of requests to
// the emulator. The printed address has it after #, which no browser sends; it does not stay in the address.
const given = new URLSearchParams(location.hash.slice(1)).get("key");
if (given) {
  sessionStorage.setItem(keyName, given);
  history.replaceState(null, "", location.pathname + location.search);
}

function say(text, failed) {
  const result = document.getElementById("control-result");
  result.textContent = text;
  result.className = failed ? "bad" : "";
}

let asked = false; // Whether to ask for the key although there is one.

// prepare enables the buttons once there is a key.
function prepare() {
  const key = sessionStorage.getItem(keyName) || "", field = document.getElementById("api-key");
  reveal(document);
  document.querySelectorAll("button[data-path]").forEach(e => { e.disabled = !key; });
  if (field && field.value !== key) field.value = key;
  if (field && document.activeElement !== field) field.closest("p").hidden = Boolean(key) && !asked;
}

function send(method, path, body) {
  const headers = {Authorization: "Bearer " + sessionStorage.getItem(keyName)};
  if (body) headers["Content-Type"] = "application/json";
  return fetch(path, {method, headers, body: body || undefined, redirect: "error", cache: "no-store"});
}

// act carries out what a button stands for. The key must be that of the control API, also for operations that accept others.
async function act(button) {
  const label = button.textContent;
  button.disabled = true;
  say(label + "…");
  try {
    if ((await send("GET", "/_emulator/clock")).status === 401) {
      asked = true;
      prepare();
      say("The API key is wrong. Use the AGENTYARD_API_KEY that the emulator printed. Nothing was changed.", true);
      return;
    }
    const response = await send(button.dataset.method, button.dataset.path, button.dataset.body);
    if (response.ok) {
      say(label + ": done.");
      await refresh();
      return;
    }
    const text = await response.text();
    let detail = text;
    try { detail = JSON.parse(text).detail || text; } catch { /* It is no JSON. */ }
    say(label + ": " + response.status + " " + detail, true);
  } catch {
    say(label + ": the response was lost. Check whether it was done.", true);
  } finally {
    button.disabled = false;
  }
}

// refresh shows what changed, and which buttons the object has now. live.js does it only for the content of the page, so that no button
// changes under a finger.
async function refresh() {
  const page = await load(), buttons = page.getElementById("buttons"), shown = document.getElementById("buttons");
  swap(page);
  if (shown) shown.replaceChildren(...(buttons ? buttons.children : []));
  prepare();
}

document.addEventListener("click", event => {
  const button = event.target.closest?.("button[data-path]");
  if (button && (!("confirm" in button.dataset) || confirm(button.textContent + "?"))) act(button);
});
document.addEventListener("input", event => {
  if (event.target.id !== "api-key") return;
  sessionStorage.setItem(keyName, event.target.value.trim());
  say("");
  prepare();
});
document.addEventListener("change", event => {
  if (event.target.id !== "control-operation") return;
  const chosen = JSON.stringify(event.target.value), replace = text => text.replace(/("operation":)"\w+"/, (_, name) => name + chosen);
  document.querySelectorAll('button[data-path="/_emulator/faults"]').forEach(button => {
    button.dataset.body = replace(button.dataset.body);
  });
});
prepare();
