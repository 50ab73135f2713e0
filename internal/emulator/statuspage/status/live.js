"use strict";
// Live updates. While the page is visible, it asks each second whether something changed, and loads itself again if so, and every 5 seconds
// anyway, because states and ages change by themselves. It then updates the parts that are marked with data-live and have an ID, in place, so
// that the focus, a selection, and a tooltip stay.
const keyName = "agentyard-api-key"; // Where the tab's storage has the key; see actions.js.
const touched = new Map(); // The ID of each element that a person opened or closed, and whether it is open.
let paused = false, version, loaded = 0;

function showState(name) {
  const texts = {live: "Live", paused: "Paused", disconnected: "Disconnected. Is the emulator running?"};
  const state = document.getElementById("live-state");
  state.dataset.state = name;
  if (state.textContent !== texts[name]) state.textContent = texts[name];
}

async function load() {
  const response = await fetch(location.href, {cache: "no-store"});
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// reveal shows what works only with a script.
function reveal(page) {
  page.querySelectorAll("[data-scripted]").forEach(e => { e.hidden = false; });
  if (sessionStorage.getItem(keyName)) page.querySelectorAll("[data-copy=exports]").forEach(e => { e.textContent = "Copy, with the key"; });
}

// keyOf tells apart what stands side by side: an ID, a key, or where a link leads.
const keyOf = e => e.id || e.dataset?.key || e.getAttribute?.("href") || "";
const isSame = (old, now) => old.nodeName === now.nodeName && keyOf(old) === keyOf(now);

// follow makes an element what another one is, and keeps each child that is in both.
function follow(old, now) {
  for (const {name} of [...old.attributes]) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const {name, value} of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  let next = old.firstChild;
  for (const child of [...now.childNodes]) {
    let same = next; // Text is what it is beside; an element without a key does not pass one that has a key, which may come later.
    while (same && !isSame(same, child)) same = keyOf(child) || child.nodeType === Node.ELEMENT_NODE && !keyOf(same) ? same.nextSibling : null;
    if (!same) {
      old.insertBefore(document.adoptNode(child), next);
      continue;
    }
    for (; next !== same; ) next = remove(next);
    next = same.nextSibling;
    if (same.nodeType === Node.ELEMENT_NODE) follow(same, child);
    else if (same.data !== child.data) same.data = child.data;
  }
  while (next) next = remove(next);
}

function remove(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function swap(page) {
  reveal(page);
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = page.getElementById(old.id);
    if (!now || now.innerHTML === old.innerHTML) continue;
    for (const details of now.querySelectorAll("details[id]")) if (touched.has(details.id)) details.open = touched.get(details.id);
    follow(old, now);
  }
  filter();
}

// filter hides the rows of a list that do not contain the text of the field above it.
function filter() {
  const text = (document.getElementById("filter")?.value || "").toLowerCase(), rows = [...document.querySelectorAll("#list tbody tr")];
  rows.forEach(row => { row.hidden = !row.textContent.toLowerCase().includes(text); });
  const count = document.getElementById("count"), shown = rows.filter(row => !row.hidden).length;
  if (count) count.textContent = text ? shown + " of " + rows.length : rows.length;
}

async function update() {
  if (!paused && !document.hidden) {
    try {
      const now = await (await fetch("/status/version", {cache: "no-store"})).text();
      if (now !== version || Date.now() - loaded > 5000) {
        const page = await load();
        if (!paused) swap(page);
        version = now;
        loaded = Date.now();
      }
      if (!paused) showState("live");
    } catch { showState("disconnected"); }
  }
  setTimeout(update, 1000);
}

document.addEventListener("click", event => {
  const details = event.target.closest?.("summary")?.parentElement, copy = event.target.closest?.("button[data-copy]");
  if (details?.id) touched.set(details.id, !details.open);
  if (copy) {
    navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent.trim().replace("PASTE-THE-KEY", sessionStorage.getItem(keyName) || "PASTE-THE-KEY"))
      .then(() => "Copied", () => "Select the text to copy it").then(text => { copy.textContent = text; });
  }
  if (event.target.id !== "live-pause") return;
  paused = !paused;
  event.target.textContent = paused ? "Continue" : "Pause";
  showState(paused ? "paused" : "live");
});
document.addEventListener("input", event => { if (event.target.id === "filter") filter(); });
reveal(document);
update();
