"use strict";
// Live updates. The emulator sends an event when something changed. The page then loads itself again and replaces the parts that are marked
// with data-live and have an ID. What a person opened, typed, focused, or scrolled to stays.
const touched = new Map(); // The ID of each element that a person opened or closed, and whether it is open.
const controls = "a,button,summary,input,select,textarea,[tabindex]";
let events, watch, paused = false, loading = false, again = false, waiting = false;

function showState(name) {
  const texts = {live: "Live", paused: "Paused", disconnected: "Disconnected. Is the emulator running?"};
  const state = document.getElementById("live-state"), button = document.getElementById("live-pause");
  if (state.dataset.state === name) return;
  state.dataset.state = name;
  state.textContent = texts[name];
  button.textContent = paused ? "Continue" : "Pause";
}

async function load() {
  const response = await fetch(location.href, {cache: "no-store"});
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// place finds an element again in another version of the page: by its ID, or by its number below the nearest element with one.
function place(element) {
  const parent = element.closest("[id]");
  const below = at => [at, ...at.querySelectorAll(controls)];
  const number = parent ? below(parent).indexOf(element) : -1;
  return () => number < 0 ? null : below(document.getElementById(parent.id) || document.createElement("p"))[number];
}

// anchor is what the reader looks at: the first element with an ID that is not above the window.
function anchor() {
  const shown = scrollY > 0 && [...document.querySelectorAll("[data-live] [id]")].find(e => e.getClientRects().length && e.getBoundingClientRect().bottom > 0);
  return shown && {id: shown.id, top: shown.getBoundingClientRect().top};
}

function swapPart(old, now) {
  for (const details of now.querySelectorAll("details[id]")) if (touched.has(details.id)) details.open = touched.get(details.id);
  const fields = [...old.querySelectorAll("input[id],select[id],textarea[id]")].map(e => [e.id, e.value, e.checked]);
  const active = old.contains(document.activeElement) ? document.activeElement : null, find = active && place(active);
  const selection = active && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  old.replaceWith(document.adoptNode(now));
  for (const [id, value, checked] of fields) Object.assign(document.getElementById(id) || {}, {value, checked});
  const focused = find && find();
  if (!focused) return;
  focused.focus({preventScroll: true});
  if (selection && selection[0] !== null) focused.setSelectionRange(...selection);
}

// reveal shows what works only with a script.
function reveal(page) {
  page.querySelectorAll("[data-scripted]").forEach(e => { e.hidden = false; });
}

function swap(page) {
  const seen = anchor();
  reveal(page);
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = page.getElementById(old.id);
    if (now && now.innerHTML !== old.innerHTML) swapPart(old, now);
  }
  const moved = seen && document.getElementById(seen.id);
  if (moved && moved.getClientRects().length) scrollBy(0, moved.getBoundingClientRect().top - seen.top);
}

// isSelecting reports whether somebody marks text, which a replacement would undo.
function isSelecting() {
  const selection = getSelection();
  return !selection.isCollapsed && [...document.querySelectorAll("[data-live]")].some(part => part.contains(selection.anchorNode));
}

// update loads the page, one time after the other. A page that takes long to load is loaded less often.
async function update() {
  again = true;
  if (loading || paused || document.hidden) return;
  if (isSelecting()) {
    if (!waiting) document.addEventListener("selectionchange", () => { waiting = false; update(); }, {once: true});
    waiting = true;
    return;
  }
  again = false;
  loading = true;
  const started = performance.now();
  try {
    const page = await load();
    if (!paused) swap(page);
  } catch { /* The stream of events reports a lost connection. */ }
  setTimeout(() => { loading = false; if (again) update(); }, 2 * (performance.now() - started));
}

function alive() {
  clearTimeout(watch);
  watch = setTimeout(connect, 15000); // The emulator sends an event every 5 seconds.
  showState("live");
}

function connect() {
  events?.close();
  clearTimeout(watch);
  if (paused || document.hidden) return; // A hidden page leaves the connection to others: a browser has few of them.
  const stream = events = new EventSource("/status/events");
  for (const name of ["change", "beat"]) stream.addEventListener(name, () => { alive(); update(); });
  stream.onerror = () => {
    showState("disconnected");
    if (stream.readyState === EventSource.CLOSED) watch = setTimeout(connect, 3000);
  };
}

document.addEventListener("click", event => {
  const details = event.target.closest?.("summary")?.parentElement, copy = event.target.closest?.("button[data-copy]");
  if (details?.id) touched.set(details.id, !details.open);
  if (copy) {
    navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent.trim())
      .then(() => "Copied", () => "Select the text to copy it").then(text => { copy.textContent = text; });
  }
  if (event.target.id !== "live-pause") return;
  paused = !paused;
  showState(paused ? "paused" : "live");
  connect();
});
document.addEventListener("visibilitychange", connect);
reveal(document);
connect();
