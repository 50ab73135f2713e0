package emulator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// driver opens pages in a frame, uses one of their buttons as a person does, and posts what it saw.
const driver = `<!DOCTYPE html><title>driver</title><body><script>
const {key, paths} = %s, seen = {Layouts: []}, turn = () => new Promise(done => setTimeout(done, 5));
async function until(check) { for (;;) { const found = check(); if (found) return found; await turn(); } }
async function open(path, width) {
  const frame = document.createElement("iframe");
  frame.style = "border:0;height:900px;width:" + width + "px";
  frame.src = path;
  await new Promise(loaded => { frame.onload = loaded; document.body.replaceChildren(frame); });
  return frame.contentDocument;
}
const create = name => fetch("/api/v0/computers", {method: "POST", headers: {Authorization: "Bearer " + key, "Content-Type": "application/json"}, body: JSON.stringify({name})});
const says = (doc, text) => doc.getElementById("page").textContent.includes(text);
const buttonOf = (doc, label) => [...doc.querySelectorAll("button")].find(b => b.textContent === label);
async function forward(doc, value) {
  const field = doc.getElementById("api-key"), result = doc.getElementById("control-result");
  field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
  buttonOf(doc, "Forward 1 day").click();
  await until(() => result.textContent && !result.textContent.endsWith("…"));
  return result.textContent;
}
async function drive() {
  for (const path of paths) for (const width of [500, 1000, 1400]) {
    const doc = await open(path, width);
    doc.querySelectorAll("details").forEach(d => { d.open = true; });
    seen.Layouts.push({
      Page: path, Width: width, Content: doc.documentElement.scrollWidth,
      Cut: [...doc.querySelectorAll("td,th,li,dt,dd,h1,h2,p,summary,button,label")].filter(e => e.clientWidth && !e.closest(".unseen") && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent),
    });
  }
  const doc = await open("/", 1000), pause = doc.getElementById("live-pause"), state = doc.getElementById("live-state");
  seen.WithoutKey = buttonOf(doc, "Forward 1 day").disabled;
  seen.Wrong = await forward(doc, "fk-wrong");
  seen.Right = await forward(doc, key);
  await create("first-live");
  await until(() => says(doc, "first-live"));
  seen.States = [await until(() => state.dataset.state)];
  const link = await until(() => [...doc.querySelectorAll("#computers a")].find(a => a.textContent === "first-live")), age = doc.querySelector("#runs time").textContent;
  link.focus();
  await create("focus-kept");
  await until(() => says(doc, "focus-kept") && doc.querySelector("#runs time").textContent !== age);
  seen.Focused = doc.activeElement === link;
  pause.click();
  seen.States.push(state.dataset.state);
  seen.Paused = state.textContent + ", " + pause.textContent;
  await create("second-live");
  await new Promise(done => setTimeout(done, 2500));
  seen.WhilePaused = says(doc, "second-live");
  pause.click();
  await until(() => says(doc, "second-live"));
  const list = await open("/objects/computers", 1000), field = list.getElementById("filter");
  field.value = "CI-1";
  field.dispatchEvent(new Event("input", {bubbles: true}));
  seen.Filtered = [...list.querySelectorAll("#list tbody tr")].filter(row => row.offsetHeight).length;
  seen.Count = list.getElementById("count").textContent;
  sessionStorage.clear();
  const opened = await open("/#key=" + encodeURIComponent(key), 1000);
  seen.Opened = [buttonOf(opened, "Forward 1 day").disabled, opened.getElementById("api-key").closest("p").hidden, opened.location.hash].join();
  seen.Stored = [Object.keys(sessionStorage).sort().join(), localStorage.length, document.cookie];
  opened.defaultView.fetch = () => Promise.reject(new Error("The emulator is gone."));
  const gone = opened.getElementById("live-state");
  await until(() => gone.dataset.state === "disconnected");
  seen.States.push(gone.dataset.state + ", " + (getComputedStyle(gone).color !== getComputedStyle(opened.body).color));
  await fetch("/measured", {method: "POST", body: JSON.stringify(seen)});
}
drive().catch(e => fetch("/measured", {method: "POST", body: String(e && e.stack || e)}));
</script></body>`

func TestStatusPage_inChromium(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	pages := everything(v)
	v.computer(object{"name": strings.Repeat("a-computer-with-a-very-long-name-", 2)[:63]})
	v.clock.Advance(time.Minute)
	paths := []string{"/", "/runs/1", "/objects/computers"}
	for _, path := range pages {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	arguments, err := json.Marshal(map[string]any{"key": v.BootstrapKey(), "paths": paths})
	check.Must(t, err)
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
		WithoutKey, WhilePaused bool
		Focused                 bool
		Count                   string
		States                  []string
		Filtered                int
		Wrong, Right            string
		Paused, Opened          string
		Stored                  []any
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
	same(t, "the right key", seen.Right, "Forward 1 day: done.")
	same(t, "paused", seen.Paused, "Paused, Continue")
	same(t, "changes while paused", seen.WhilePaused, false)
	same(t, "computers named like ci-1", seen.Filtered, 4)
	same(t, "how many of how many", seen.Count, "4 of 17")
	same(t, "a link keeps the focus while the page changes", seen.Focused, true)
	same(t, "states of the connection", seen.States, []string{"live", "paused", "disconnected, true"})
	same(t, "the printed address", seen.Opened, "false,true,")
	same(t, "what the browser keeps", fmt.Sprint(seen.Stored), "[agentyard-api-key 0 ]")
}

// framed is a response whose page may be in a frame of the test.
type framed struct{ http.ResponseWriter }

func (f framed) WriteHeader(status int) {
	h := f.Header()
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "; frame-ancestors 'none'", "", 1))
	f.ResponseWriter.WriteHeader(status)
}

// chromium returns the path of the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs Chromium on the PATH") //nolint:forbidigo // Not every machine has it.
	return ""
}

// inChromium opens the root of a server, and returns what its script posts to /measured.
func inChromium(t *testing.T, pages http.HandlerFunc) []byte {
	t.Helper()
	browser := chromium(t)
	results := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/measured" {
			body, _ := io.ReadAll(r.Body)
			results <- body
			return
		}
		pages(w, r)
	}))
	t.Cleanup(server.Close)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), server.URL)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // So that it ends its other processes.
	cmd.WaitDelay = 10 * time.Second
	check.Must(t, cmd.Start())
	var waited error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waited = cmd.Wait()
	}()
	select {
	case body := <-results:
		stop()
		<-ended
		return body
	case <-ended:
		t.Fatalf("Chromium ended before it measured the pages: %v", waited)
	}
	return nil
}
