package emulator

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
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
var statusTemplates = template.Must(template.ParseFS(statusFiles, "status/*.html"))

// statusPage is what the status page shows. It contains no keys, signed URLs, prompts, or logs.
type statusPage struct {
	pageHeader
	Exports   []string // The provider's settings for a shell, with a placeholder for the key.
	Kept      bool     // The key and the objects outlive the process.
	Kinds     []*statusKind
	Runs      []*statusRun
	NewerRuns bool // This is a page of older runs.
	OlderRuns int  // The number that begins the next page of runs; 0 if there is none.
	Faults    []statusFault
	Off       []string // What the control API switched off.
	Actions   pageActions
}

// statusFault is something that the control API programmed.
type statusFault struct{ Kind, For, Left string }

// statusTime is a time as the page shows it.
type statusTime struct{ Exact, Age string }

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

func (e *Emulator) pageHeader(title string) pageHeader {
	h := pageHeader{Title: title, Tier: e.tier(), Now: e.clock.Now().UTC()}
	if by := e.clock.By(); by > 0 {
		h.Ahead = shortDuration(by)
	}
	return h
}

// newPages serves the status page, all pages behind it, and the files that they load.
func newPages(e *Emulator) *http.ServeMux {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /{$}", e.servePage("status.html", e.statusPage))
	pages.HandleFunc("GET "+objectsPrefix, e.servePage("object.html", e.objectPage))
	pages.HandleFunc("GET "+runsPrefix, e.servePage("run.html", e.runPage))
	pages.HandleFunc("GET /status/version", func(w http.ResponseWriter, _ *http.Request) {
		e.writePage(w, http.StatusOK, "text/plain", strconv.AppendInt(nil, e.changes.Load(), 10))
	})
	pages.HandleFunc("GET /status/{file}", e.serveStatusFile)
	return pages
}

// isPage reports whether a request is for a page, or for a file of one. Pages need no key, so they are for this machine only: for any
// other they are no operation. A name in the Host header other than localhost does not count, because a website can make its own name
// point here.
func (e *Emulator) isPage(r *http.Request) bool {
	_, pattern := e.pages.Handler(r)
	return pattern != "" && isLoopback(r.RemoteAddr) && isLoopback(r.Host)
}

// servePage shows a template with what it reads.
func (e *Emulator) servePage(name string, read func(*url.URL) (page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var text bytes.Buffer
		p, err := read(r.URL)
		if err == nil {
			err = statusTemplates.ExecuteTemplate(&text, name, p)
		}
		if err != nil {
			e.writeError(w, r, err)
			return
		}
		e.writePage(w, p.status(), "text/html; charset=utf-8", text.Bytes())
	}
}

// serveStatusFile sends a file that pages load.
func (e *Emulator) serveStatusFile(w http.ResponseWriter, r *http.Request) {
	contentType := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}[path.Ext(r.URL.Path)]
	data, err := statusFiles.ReadFile("status/" + r.PathValue("file"))
	if err != nil || contentType == "" {
		e.writeError(w, r, notFound("There is no file at the path %s.", r.URL.Path))
		return
	}
	e.writePage(w, http.StatusOK, contentType, data)
}

// writePage sends a page of the status page, or a file of one.
func (e *Emulator) writePage(w http.ResponseWriter, status int, contentType string, page []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(page); err != nil {
		e.log.Debug("the client went away", "error", err)
	}
}

// isLoopback reports whether an address, with or without a port, is localhost or a loopback IP address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// exports are the provider's settings as a shell takes them. The page must not show the key.
func (e *Emulator) exports() []string {
	return []string{"AGENTYARD_BASE_URL=" + e.URL(), "AGENTYARD_API_KEY=PASTE-THE-KEY", "AGENTYARD_EMULATOR_CLOCK=" + shellText(e.ClockFile())}
}

// statusPage is the status page with the newest runs, or with those before a number.
func (e *Emulator) statusPage(address *url.URL) (page, error) {
	before, _ := strconv.Atoi(address.Query().Get("before")) // Anything but a number begins with the newest run.
	p := &statusPage{pageHeader: e.pageHeader(""), Exports: e.exports(), Kept: e.opts.DataFile != "", Actions: actionsOfPage()}
	p.Faults, p.Off = append(e.faults.view(), e.switched().view()...), e.switched().off()
	kinds, _, _, err := e.readObjects("", "")
	e.addRuns(p, before, byID(kinds))
	p.Kinds = firstRows(kinds)
	return p, err
}

// byID returns all objects by their IDs. The ID of a limit is that of a member.
func byID(kinds []*statusKind) map[string]objectRef {
	objects := map[string]objectRef{}
	for _, k := range kinds {
		for i := range k.Rows {
			if k.ID != objectLimits {
				objects[k.Rows[i].ID] = k.Rows[i].objectRef
			}
		}
	}
	return objects
}

// firstRows arranges the objects for the status page: kinds with failures first, and only the first rows of each.
func firstRows(kinds []*statusKind) []*statusKind {
	worst := func(k *statusKind) int {
		if k.Total == 0 {
			return 1
		}
		return severity(k.Rows[0])
	}
	slices.SortStableFunc(kinds, func(a, b *statusKind) int { return cmp.Compare(worst(a), worst(b)) })
	for _, k := range kinds {
		k.Rows = k.Rows[:min(k.Total, statusRows)]
		k.Rest = k.Total - len(k.Rows)
	}
	return kinds
}

// view shows the faults that are still pending.
func (f *Faults) view() []statusFault {
	var views []statusFault
	for _, p := range f.Pending() {
		v := statusFault{Kind: string(p.Kind), For: "all operations", Left: timesLeft(p.Times)}
		if p.Operation != "" {
			v.For = p.Operation
		}
		if p.Match != "" {
			v.For += ", paths with " + shortText(p.Match)
		}
		if p.After > 0 {
			v.For += fmt.Sprintf(", after %d more", p.After)
		}
		views = append(views, v)
	}
	return views
}

// view shows the failures that were programmed for objects.
func (p switches) view() []statusFault {
	var views []statusFault
	for _, f := range p.failSteps {
		views = append(views, statusFault{"provisioning failure", objectsNamed("computers", f.Name) + ", step " + f.Step, timesLeft(f.Times)})
	}
	for _, f := range p.failBuilds {
		views = append(views, statusFault{"build failure", objectsNamed("environments", f.Name) + ", phase " + f.Phase, timesLeft(f.Times)})
	}
	if p.bulk != nil {
		views = append(views, statusFault{"bulk failure", fmt.Sprintf("after %d computers", p.bulk.after), timesLeft(1)})
	}
	return views
}

// off lists what the control API switched off.
func (p switches) off() []string {
	var names []string
	for _, s := range []struct {
		off  bool
		name string
	}{{p.noEnvironments, "environments"}, {p.noSessions, "sessions"}, {p.noAnalytics, "analytics"}, {p.noIntegration, "repositories"}} {
		if s.off {
			names = append(names, s.name)
		}
	}
	for id, available := range p.providers {
		if !available {
			names = append(names, id)
		}
	}
	slices.Sort(names)
	return names
}

func objectsNamed(plural, name string) string {
	if name == "" {
		return "all " + plural
	}
	return plural + " " + shortText(name)
}

func timesLeft(times int) string {
	if times < 0 {
		return "always"
	}
	return fmt.Sprintf("%d left", times)
}

func shortText(text string) string {
	if short := []rune(text); len(short) > statusText {
		return string(short[:statusText]) + "…"
	}
	return text
}

// shortDuration shows a duration in its two largest units.
func shortDuration(d time.Duration) string {
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
