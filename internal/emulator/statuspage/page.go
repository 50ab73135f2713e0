// Package statuspage is the pages that show an emulator to people: its runs with their requests, and its objects.
package statuspage

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// statusRows is how many objects of each kind the status page lists.
	statusRows = 10
	// statusText is how many characters of a text it shows.
	statusText = 200
)

//go:embed status
var statusFiles embed.FS

// statusTemplates are the pages, and the parts of which they are made.
var statusTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"parts": func(text string) []string { return strings.Split(text, "-parallelism") }, // No browser breaks the option.
}).ParseFS(statusFiles, "status/*.html"))

// statusPage is what the status page shows. It contains no keys, signed URLs, prompts, or logs.
type statusPage struct {
	pageHeader
	Exports   []string // The provider's settings for a shell, with a placeholder for the key.
	Kept      bool     // The key and the objects outlive the process.
	Existing  []*Kind  // Those with objects.
	Runs      []*runView
	NewerRuns bool // This is a page of older runs.
	OlderRuns int  // The number that begins the next page of runs; 0 if there is none.
	Faults    []Fault
	Actions   pageActions
}

// statusTime is a time as the page shows it.
type statusTime struct {
	At         time.Time
	Exact, Age string
}

// page is what a template shows. Each begins with a pageHeader.
type page interface{ status() int }

// pageHeader is what all pages show.
type pageHeader struct {
	Title   string // Empty for the status page.
	Missing bool   // The page does not exist.
	Tier    string
	Now     time.Time
	Ahead   string // Empty if the clock was not moved.
}

func (h *pageHeader) status() int {
	if h.Missing {
		return http.StatusNotFound
	}
	return http.StatusOK
}

func headerOf(state State, title string) pageHeader {
	h := pageHeader{Title: title, Tier: state.Tier, Now: state.Now.UTC()}
	if state.Ahead > 0 {
		h.Ahead = Duration(state.Ahead)
	}
	return h
}

// Pages serves the status page, all pages behind it, and the files that they load.
type Pages struct {
	source Source
	mux    *http.ServeMux
}

// New returns the pages of a source.
func New(source Source) *Pages {
	p := &Pages{source, http.NewServeMux()}
	p.mux.HandleFunc("GET /{$}", p.servePage("status.html", p.statusPage))
	p.mux.HandleFunc("GET "+objectsPrefix, p.servePage("object.html", p.objectPage))
	p.mux.HandleFunc("GET "+runsPrefix, p.servePage("run.html", p.runPage))
	p.mux.HandleFunc("GET /status/version", func(w http.ResponseWriter, _ *http.Request) {
		writePage(w, http.StatusOK, "text/plain", strconv.AppendInt(nil, source.Version(), 10))
	})
	p.mux.HandleFunc("GET /status/{file}", p.serveFile)
	return p
}

func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// Have reports whether a request is for a page, or for a file of one. Pages need no key, so they are for this machine only: for any
// other they are no operation. A name in the Host header other than localhost does not count, because a website can make its own name
// point here.
func (p *Pages) Have(r *http.Request) bool {
	_, pattern := p.mux.Handler(r)
	return pattern != "" && IsLoopback(r.RemoteAddr) && IsLoopback(r.Host)
}

// servePage shows a template with what it reads.
func (p *Pages) servePage(name string, read func(*url.URL) (page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var text bytes.Buffer
		shown, err := read(r.URL)
		if err == nil {
			err = statusTemplates.ExecuteTemplate(&text, name, shown)
		}
		if err != nil {
			p.source.Fail(w, r, err)
			return
		}
		writePage(w, shown.status(), "text/html; charset=utf-8", text.Bytes())
	}
}

// serveFile sends a file that pages load.
func (p *Pages) serveFile(w http.ResponseWriter, r *http.Request) {
	contentType := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}[path.Ext(r.URL.Path)]
	data, err := statusFiles.ReadFile("status/" + r.PathValue("file"))
	if err != nil || contentType == "" {
		p.source.Fail(w, r, fs.ErrNotExist)
		return
	}
	writePage(w, http.StatusOK, contentType, data)
}

// writePage sends a page of the status page, or a file of one.
func writePage(w http.ResponseWriter, status int, contentType string, page []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(page) // The client may be gone.
}

// IsLoopback reports whether an address, with or without a port, is localhost or a loopback IP address.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// statusPage is the status page with the newest runs, or with those before a number.
func (p *Pages) statusPage(address *url.URL) (page, error) {
	before, _ := strconv.Atoi(address.Query().Get("before")) // Anything but a number begins with the newest run.
	state := p.source.State()
	shown := &statusPage{pageHeader: headerOf(state, ""), Kept: state.Kept, Faults: state.Faults, Actions: actionsOfPage()}
	// The settings as a shell takes them. The page must not show the key.
	shown.Exports = []string{"AGENTYARD_BASE_URL=" + state.URL, "AGENTYARD_API_KEY=PASTE-THE-KEY", "AGENTYARD_EMULATOR_CLOCK=" + ShellText(state.ClockFile)}
	kinds, _, _, err := p.objects("", "")
	p.addRuns(shown, before, byID(kinds))
	shown.Existing = firstRows(kinds)
	return shown, err
}

// objects reads and sorts the objects.
func (p *Pages) objects(kind, id string) ([]*Kind, *Row, Detail, error) {
	kinds, row, d, err := p.source.Objects(kind, id)
	for _, k := range kinds {
		k.finish()
	}
	if row != nil {
		row.finish()
	}
	return kinds, row, d, err
}

// byID returns all objects by their IDs. The ID of a limit is that of a member, who comes first.
func byID(kinds []*Kind) map[string]Row {
	objects := map[string]Row{}
	for _, k := range slices.Backward(kinds) {
		for i := range k.Rows {
			objects[k.Rows[i].ID] = k.Rows[i]
		}
	}
	return objects
}

// firstRows arranges the objects for the status page: kinds with failures first, and only the first rows of each.
func firstRows(kinds []*Kind) []*Kind {
	kinds = slices.DeleteFunc(kinds, func(k *Kind) bool { return k.Total == 0 })
	slices.SortStableFunc(kinds, func(a, b *Kind) int { return cmp.Compare(min(b.Failed, 1), min(a.Failed, 1)) })
	for _, k := range kinds {
		k.Rows = k.Rows[:min(k.Total, statusRows)]
		k.Rest = k.Total - len(k.Rows)
	}
	return kinds
}

// Short cuts a long text.
func Short(text string) string {
	if short := []rune(text); len(short) > statusText {
		return string(short[:statusText]) + "…"
	}
	return text
}

// Duration shows a duration in its two largest units.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute-50*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	large, small, names := time.Minute, time.Second, [2]string{"min", "s"}
	switch d = d.Round(time.Second); {
	case d >= 24*time.Hour:
		large, small, names = 24*time.Hour, time.Hour, [2]string{"d", "h"}
	case d >= time.Hour:
		large, small, names = time.Hour, time.Minute, [2]string{"h", "min"}
	}
	text := fmt.Sprintf("%d %s", d/large, names[0])
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, names[1])
	}
	return text
}

// finish counts and sorts the rows: what failed first, and then the newest.
func (k *Kind) finish() {
	k.Total = len(k.Rows)
	for i := range k.Rows {
		k.Rows[i].finish()
		k.Failed += 1 - severity(k.Rows[i])
	}
	slices.SortStableFunc(k.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(severity(a), severity(b)), cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.Name, b.Name))
	})
}

func (r *Row) finish() { r.Class, r.At = stateClasses[r.State], objectTimeOf(r.CreatedAt) }

func severity(r Row) int {
	if r.Class == "bad" {
		return 0
	}
	return 1
}
