"use strict";
// Live updates. While the page is visible, it asks each second whether something changed, and loads itself again if so, and every 5 seconds
// anyway, because states and ages change by themselves. It then replaces the parts that are marked with data-live and have an ID.
const touched = new Map(); // The ID of each element that a person opened or closed, and whether it is open.
let paused = false, version, loaded = 0;

function showState(name) {
  const texts = {live: "Live", paused: "Paused", disconnected: "Disconnected. Is the emulator running?"};
  const state = document.getElementById("live-state");
  if (state.textContent !== texts[name]) state.textContent = texts[name];
}

async function load() {
  const response = await fetch(location.href, {cache: "no-store"});
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// reveal shows what works only with a script.
function reveal(page) {
  page.querySelectorAll("[data-scripted]").forEach(e => { e.hidden = false; });
}

function swap(page) {
  reveal(page);
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = page.getElementById(old.id);
    if (!now || now.innerHTML === old.innerHTML) continue;
    for (const details of now.querySelectorAll("details[id]")) if (touched.has(details.id)) details.open = touched.get(details.id);
    old.replaceWith(document.adoptNode(now));
  }
  filter();
}

// filter hides the rows of a list that do not contain the text of the field above it.
function filter() {
  const text = (document.getElementById("filter")?.value || "").toLowerCase();
  document.querySelectorAll("#list tbody tr").forEach(row => { row.hidden = !row.textContent.toLowerCase().includes(text); });
}

// isUsed reports whether somebody marks text or types, which a replacement would undo.
function isUsed() {
  const selection = getSelection();
  return [...document.querySelectorAll("[data-live]")].some(part =>
    !selection.isCollapsed && part.contains(selection.anchorNode) || part.contains(document.activeElement) && document.activeElement.matches("input,select"));
}

async function update() {
  if (!paused && !document.hidden && !isUsed()) {
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
