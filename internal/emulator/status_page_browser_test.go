package emulator_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// measured is what a browser says about a page in a window of a width.
type measured struct {
	Page       string
	Width      int
	Content    int      // The width that the content needs.
	Columns    int      // In which the page is laid out.
	Background string   // Of a section; it comes from the style sheet.
	Cut        []string // Texts that do not fit their cells.
}

// frames shows each page in two widths, and posts what it measured.
const frames = `<!DOCTYPE html><title>frames</title><script>
const pages = %s, results = [], frames = pages.flatMap(page => [390, 1280].map(width => ({page, width})));
async function measure() {
  for (const {page, width} of frames) {
    const frame = document.createElement("iframe");
    frame.style = "border:0;height:844px;width:" + width + "px";
    frame.src = "/" + page;
    await new Promise(loaded => { frame.onload = loaded; document.body.append(frame); });
    const doc = frame.contentDocument, style = of => frame.contentWindow.getComputedStyle(doc.querySelector(of));
    results.push({
      Page: page, Width: width, Content: doc.documentElement.scrollWidth,
      Columns: style("main").gridTemplateColumns.split(" ").length, Background: style("section").backgroundColor,
      Cut: [...doc.querySelectorAll("td,th,dt,dd,h1,h2,p")].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent),
    });
    frame.remove();
  }
  await fetch("/measured", {method: "POST", body: JSON.stringify(results)});
}
addEventListener("load", () => measure().catch(e => fetch("/measured", {method: "POST", body: String(e)})));
</script><body></body>`

func TestStatusPage_inChromium(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	var policy string
	for name, fill := range map[string]func(*env){"empty": func(*env) {}, "many": manyComputers, "failures": failures} {
		v := start(t, emulator.Options{})
		fill(v)
		a := v.as("", 200, "GET", "/", nil)
		pages[name], policy = string(a.raw), a.header.Get("Content-Security-Policy")
	}
	names, err := json.Marshal([]string{"empty", "many", "failures"})
	must(t, err)
	assets := start(t, emulator.Options{}).Handler()
	body := inChromium(t, func(w http.ResponseWriter, r *http.Request) {
		page, known := pages[strings.TrimPrefix(r.URL.Path, "/")]
		switch {
		case known: // The policy counts, except that it allows no frames.
			w.Header().Set("Content-Security-Policy", strings.Replace(policy, "; frame-ancestors 'none'", "", 1))
			_, _ = io.WriteString(w, page)
		case strings.HasPrefix(r.URL.Path, "/status/"):
			assets.ServeHTTP(w, r)
		default:
			_, _ = fmt.Fprintf(w, frames, names)
		}
	})
	var all []measured
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatalf("the measurement failed: %s", body)
	}
	same(t, "measurements", len(all), 6)
	for _, m := range all {
		columns := 1
		if m.Width > 1000 {
			columns = 2
		}
		if m.Content > m.Width || m.Columns != columns || len(m.Cut) > 0 ||
			!slices.Contains([]string{"rgb(255, 255, 255)", "rgb(28, 32, 37)"}, m.Background) {
			t.Errorf("%+v", m)
		}
	}
}
