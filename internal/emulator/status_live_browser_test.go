package emulator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// liveDriver opens pages with runs in frames, and watches them while something changes.
const liveDriver = `<!DOCTYPE html><title>driver</title><body><script>
const {key} = %s, seen = {Layouts: []}, turn = () => new Promise(done => setTimeout(done, 5));
async function until(check) { for (;;) { const found = check(); if (found) return found; await turn(); } }
async function open(path, width, scheme) {
  const frame = document.createElement("iframe");
  frame.style = "border:0;height:900px;color-scheme:" + scheme + ";width:" + width + "px";
  frame.src = path;
  await new Promise(loaded => { frame.onload = loaded; document.body.replaceChildren(frame); });
  return frame.contentDocument;
}
const create = name => fetch("/api/v0/computers", {method: "POST", headers: {Authorization: "Bearer " + key, "Content-Type": "application/json"}, body: JSON.stringify({name})});
const says = (doc, text) => doc.getElementById("page").textContent.includes(text);
const state = doc => doc.getElementById("live-state").textContent;
async function drive() {
  for (const path of ["/", "/runs/1", "/?before=2", "/empty", "/failures"]) for (const scheme of ["light", "dark"]) for (const width of [500, 1000, 1400]) {
    const doc = await open(path, width, scheme), view = doc.defaultView;
    doc.querySelectorAll("details").forEach(d => { d.open = true; });
    const bars = [...doc.querySelectorAll("#page .lanes rect")].map(b => b.getBoundingClientRect().width), page = doc.querySelector("section").getBoundingClientRect();
    seen.Layouts.push({
      Page: path, Scheme: scheme, Dark: view.matchMedia("(prefers-color-scheme: dark)").matches, Background: view.getComputedStyle(doc.body).backgroundColor,
      Width: width, Content: doc.documentElement.scrollWidth, Columns: view.getComputedStyle(doc.querySelector("main")).gridTemplateColumns.split(" ").length, Bars: bars.length, Thin: bars.filter(width => width < 0.5).length, Section: page.width,
      Cut: [...doc.querySelectorAll("td,th,li,dt,dd,h1,h2,p,summary,button,label,.command")].filter(e => e.clientWidth && !e.closest(".unseen") && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent),
    });
  }
  const doc = await open("/", 1000, "light");
  doc.defaultView.kept = true;
  await until(() => state(doc) === "Live");
  doc.defaultView.navigator.clipboard.writeText = async text => { seen.Copied = text; };
  const copy = doc.querySelector("#connect button");
  copy.click();
  await until(() => copy.textContent === "Copied");
  await create("first-live");
  await until(() => says(doc, "first-live"));

  const older = () => doc.getElementById("run-1"), newest = () => doc.querySelector("details.run");
  older().querySelector("summary").click();
  newest().querySelector("summary").click();
  older().querySelector("summary").focus();
  doc.getElementById("control").open = true;
  doc.getElementById("api-key").value = "typed";
  doc.defaultView.scrollTo(0, 200);
  await create("second-live");
  await until(() => says(doc, "second-live"));
  seen.Older = older().open;
  seen.Newest = newest().open;
  seen.Focus = doc.activeElement === older().querySelector("summary");
  seen.Typed = doc.getElementById("api-key").value;
  seen.Scrolled = doc.defaultView.scrollY > 0;

  const button = doc.getElementById("live-pause");
  button.click();
  seen.Paused = state(doc) + ", " + button.textContent;
  await create("third-live");
  while (await (await fetch("/streams")).text() !== "0") await turn();
  seen.WhilePaused = says(doc, "third-live");
  button.click();
  await until(() => says(doc, "third-live"));
  await until(() => state(doc) === "Live");
  seen.Continued = button.textContent;
  await fetch("/stop");
  await until(() => state(doc) !== "Live");
  seen.Stopped = state(doc);
  seen.Kept = doc.defaultView.kept;
  await fetch("/measured", {method: "POST", body: JSON.stringify(seen)});
}
drive().catch(e => fetch("/measured", {method: "POST", body: String(e && e.stack || e)}));
</script></body>`

func TestStatusPage_liveInChromium(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	apply := v.process()
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultRateLimited, Times: 3}, emulator.Fault{Kind: emulator.FaultDropBeforeCommit})
	for i := range 40 {
		apply.send("GET", fmt.Sprintf("/api/v0/computers/a-long-name-of-a-computer-that-does-not-exist-in-any-organization-%02d", i/2), "")
	}
	v.call(200, "GET", computers, nil)
	arguments, err := json.Marshal(map[string]string{"key": v.BootstrapKey()})
	must(t, err)
	empty, failed := start(t, emulator.Options{}), start(t, emulator.Options{})
	failures(failed)
	others := map[string]*env{"/empty": empty, "/failures": failed}
	var streams atomic.Int32
	body := inChromium(t, func(w http.ResponseWriter, r *http.Request) {
		other := others[r.URL.Path]
		switch {
		case other != nil:
			r.URL.Path = "/"
			other.Handler().ServeHTTP(framed{w}, r)
		case r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Dest") == "document":
			_, _ = fmt.Fprintf(w, liveDriver, arguments)
		case r.URL.Path == "/stop":
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		case r.URL.Path == "/streams":
			_, _ = fmt.Fprint(w, streams.Load())
		case r.URL.Path == "/status/events":
			streams.Add(1)
			defer streams.Add(-1)
			v.Handler().ServeHTTP(framed{w}, r)
		default:
			v.Handler().ServeHTTP(framed{w}, r)
		}
	})
	var seen struct {
		Layouts []struct {
			Page, Scheme, Background            string
			Dark                                bool
			Width, Content, Columns, Bars, Thin int
			Section                             float64
			Cut                                 []string
		}
		Older, Newest, Focus, Scrolled, WhilePaused, Kept bool
		Typed, Paused, Continued, Stopped, Copied         string
	}
	if err := json.Unmarshal(body, &seen); err != nil {
		t.Fatalf("the driver failed: %s", body)
	}
	same(t, "layouts", len(seen.Layouts), 30)
	backgrounds := map[string]string{}
	for _, l := range seen.Layouts {
		columns := 1
		if l.Width > 500 {
			columns = 2
		}
		if l.Content > l.Width || l.Columns != columns || len(l.Cut) > 0 || (l.Bars == 0) != (l.Page == "/empty") || l.Thin > 0 || l.Section > 0 && l.Section < float64(l.Width)*0.85 {
			t.Errorf("%+v", l)
		}
		backgrounds[l.Scheme] = l.Background
	}
	same(t, "backgrounds", backgrounds, map[string]string{"light": "rgb(246, 247, 249)", "dark": "rgb(20, 23, 27)"})
	same(t, "the run of the provider that was closed is not open, the newest that was opened is", []bool{seen.Older, seen.Newest}, []bool{false, true})
	same(t, "the focus and the scroll position stay", []bool{seen.Focus, seen.Scrolled}, []bool{true, true})
	same(t, "a typed text", seen.Typed, "typed")
	same(t, "copied", seen.Copied, "export AGENTYARD_BASE_URL="+v.URL()+"\nexport AGENTYARD_API_KEY=PASTE-THE-KEY\nexport AGENTYARD_EMULATOR_CLOCK="+v.ClockFile())
	same(t, "paused", seen.Paused, "Paused, Continue")
	same(t, "changes while paused", seen.WhilePaused, false)
	same(t, "continued", seen.Continued, "Pause")
	same(t, "after the emulator stopped", seen.Stopped, "Disconnected. Is the emulator running?")
	same(t, "the page was never reloaded", seen.Kept, true)
}
