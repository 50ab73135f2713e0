package emulator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// driver opens pages in a frame, uses their buttons as a person does, and posts what it saw.
const driver = `<!DOCTYPE html><title>driver</title><body><script>
const {key, paths, computer} = %s, seen = {Layouts: []}, turn = () => new Promise(done => setTimeout(done, 5));
async function until(check) { for (;;) { const found = check(); if (found) return found; await turn(); } }
async function open(path, width) {
  const frame = document.createElement("iframe");
  frame.style = "border:0;height:900px;width:" + width + "px";
  frame.src = path;
  await new Promise(loaded => { frame.onload = loaded; document.body.replaceChildren(frame); });
  return frame.contentDocument;
}
const api = (method, path) => fetch("/_emulator/" + path, {method, headers: {Authorization: "Bearer " + key}});
const buttonOf = (doc, label) => [...doc.querySelectorAll("button")].find(b => b.textContent === label);
function type(doc, value) {
  const field = doc.getElementById("api-key");
  field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
}
async function click(doc, label) {
  const button = buttonOf(doc, label), result = doc.getElementById("control-result");
  result.textContent = "";
  button.click();
  if (!("confirm" in button.dataset) || button.textContent === label) await until(() => result.textContent && !result.textContent.endsWith("…"));
  return result.textContent;
}
async function drive() {
  for (const path of paths) for (const width of [500, 1000, 1400]) {
    const doc = await open(path, width);
    doc.querySelectorAll("details").forEach(d => { d.open = true; });
    seen.Layouts.push({
      Page: path, Width: width, Content: doc.documentElement.scrollWidth,
      Cut: [...doc.querySelectorAll("td,th,dt,dd,h1,h2,p,summary,button,label,.command")].filter(e => e.clientWidth && !e.closest(".unseen") && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent),
    });
  }
  let doc = await open("/", 1000);
  const moves = buttonOf(doc, "Forward 1 day");
  seen.WithoutKey = moves.disabled && !moves.hidden;
  type(doc, "fk-wrong");
  seen.Wrong = await click(doc, "Forward 1 day");
  seen.ClockThen = (await (await api("GET", "clock")).json()).ahead;
  type(doc, key);
  seen.Right = await click(doc, "Forward 1 day");
  seen.Clock = (await (await api("GET", "clock")).json()).ahead;
  await click(doc, "Lose the response");
  const operation = doc.getElementById("control-operation");
  operation.value = "createEnvironment";
  operation.dispatchEvent(new Event("change", {bubbles: true}));
  await click(doc, "Return 503");
  seen.Command = buttonOf(doc, "Return 503").parentElement.querySelector(".command").textContent;
  const faults = async () => (await (await api("GET", "faults")).json()).faults.map(f => f.operation + " " + f.kind).join(", ");
  seen.Faults = [await faults(), await click(doc, "Clear faults of requests"), await faults()];

  doc = await open("/objects/computers/" + computer, 1000); // The tab remembers the key.
  seen.HiddenLines = [...doc.querySelectorAll("pre")].filter(e => e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth).length;
  doc.defaultView.navigator.clipboard.writeText = async text => { seen.Copied = text; };
  const copy = buttonOf(doc, "Copy");
  copy.click();
  await until(() => copy.textContent === "Copied");
  await click(doc, "Break");
  seen.Armed = buttonOf(doc, "Confirm: Break") !== undefined;
  const armed = buttonOf(doc, "Confirm: Break");
  armed.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
  seen.Disarmed = armed.textContent;
  await click(doc, "Break");
  await click(doc, "Confirm: Break");
  seen.Broken = (await until(() => doc.querySelector("main .badge.bad"))).textContent;
  await until(() => !buttonOf(doc, "Break"));
  await click(doc, "Delete");
  seen.Deleted = await click(doc, "Confirm: Delete");
  await until(() => doc.querySelector("main").textContent.includes("No object has this address."));
  seen.Stored = [Object.keys(sessionStorage).sort().join(), localStorage.length, document.cookie];
  await fetch("/measured", {method: "POST", body: JSON.stringify(seen)});
}
drive().catch(e => fetch("/measured", {method: "POST", body: String(e && e.stack || e)}));
</script></body>`

func TestStatusPage_buttonsInChromium(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	pages := everything(v)
	v.call(201, "POST", computers+"/bulk", object{"namePrefix": "a-long-prefix-of-a-fleet-in-an-organization-with-many", "quantity": 20})
	computer := v.computer(object{"name": "a-computer-with-a-very-long-name-that-fills-its-cell-and-more-ok"[:63]})["id"].(string)
	v.clock.Advance(time.Minute)
	paths := []string{"/", "/objects/computers", "/objects/computers/" + computer}
	for _, path := range pages {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	arguments, err := json.Marshal(map[string]any{"key": v.BootstrapKey(), "computer": computer, "paths": paths})
	must(t, err)
	body := inChromium(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Dest") == "document" {
			_, _ = fmt.Fprintf(w, driver, arguments)
			return
		}
		v.Handler().ServeHTTP(framed{w}, r)
	})
	var seen struct {
		Layouts []struct {
			Page           string
			Width, Content int
			Cut            []string
		}
		WithoutKey, Armed                                                  bool
		Wrong, ClockThen, Right, Clock, Command, Disarmed, Broken, Deleted string
		Copied                                                             string
		HiddenLines                                                        int
		Faults                                                             []string
		Stored                                                             []any
	}
	if err := json.Unmarshal(body, &seen); err != nil {
		t.Fatalf("the driver failed: %s", body)
	}
	same(t, "layouts", len(seen.Layouts), 3*len(paths))
	for _, l := range seen.Layouts {
		if l.Content > l.Width || len(l.Cut) > 0 {
			t.Errorf("%+v", l)
		}
	}
	same(t, "buttons need a key", seen.WithoutKey, true)
	same(t, "a wrong key", seen.Wrong, "The API key is wrong. Use the AGENTYARD_API_KEY that the emulator printed. Nothing was changed.")
	same(t, "the clock after it", seen.ClockThen, "0s")
	same(t, "the right key", seen.Right, "Forward 1 day: done.")
	same(t, "the clock after it", seen.Clock, "24h0m0s")
	same(t, "faults", seen.Faults, []string{"createComputer drop-after-commit, createEnvironment status-before-commit", "Clear faults of requests: done.", ""})
	same(t, "command", seen.Command, `agentyard-emulator control POST faults '{"operation":"createEnvironment","kind":"status-before-commit","status":503}'`)
	same(t, "texts that are cut off", seen.HiddenLines, 0)
	same(t, "copied", importOf(seen.Copied), "agentyard_computer "+computer)
	same(t, "one click only arms", seen.Armed, true)
	same(t, "Escape disarms", seen.Disarmed, "Break")
	same(t, "broken", seen.Broken, "error")
	same(t, "deleted", seen.Deleted, "Delete: done.")
	v.call(404, "GET", computers+"/"+computer, nil)
	same(t, "what the browser keeps", fmt.Sprint(seen.Stored), "[agentyard-api-key 0 ]")
}

// framed is a response whose page may be in a frame of the test.
type framed struct{ http.ResponseWriter }

// Unwrap lets the emulator flush events.
func (f framed) Unwrap() http.ResponseWriter { return f.ResponseWriter }

func (f framed) WriteHeader(status int) {
	h := f.Header()
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "; frame-ancestors 'none'", "", 1))
	f.ResponseWriter.WriteHeader(status)
}
