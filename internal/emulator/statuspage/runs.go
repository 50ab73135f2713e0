package statuspage

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// ProviderAgent begins the User-Agent of the provider.
	ProviderAgent = "terraform-provider-agentyard/"
	// statusRuns is how many runs the status page lists. Older ones are on further pages.
	statusRuns = 8
	// runLanes is how many lanes of a run the status page shows. The page of the run has all.
	runLanes = 12
	// barsPerAxis is how fine bars are: equal ones that are closer together are one.
	barsPerAxis = 400
	// pollPause is the shortest pause between repeated reads that counts as waiting.
	pollPause = 100 * time.Millisecond
)

// runView is a run as the page shows it. All its times are real ones, not those of the emulator's clock.
type runView struct {
	Number           int
	Client           string
	Counts           []string // Such as "24 reads".
	Rejected, Failed int      // By 429, and by another error.
	Started          statusTime
	Duration         string
	Connected        bool // Its process still has a connection.
	Open             bool // It is the newest of the provider.
	Partial          bool // Its first requests are forgotten.
	Answer           []string
	Ticks            []string // The times at a quarter, a half, three quarters, and the end.
	Lanes            []*runLane
	Rest             int // How many lanes only the page of the run has.
}

// runLane is all requests with one method and path.
type runLane struct {
	Name, Path      string
	Object          Ref      // What the requests name, if that exists.
	ID              string   // What they name otherwise.
	Faults          []string // That hit requests of the lane.
	Bars            []runBar
	Count, Rejected int
	Slowest, Total  string
	Label           string
	spans           []*runSpan
}

// runBar is a request, or several equal ones close together, or the time that retries waited. Left and Width are percentages.
type runBar struct {
	Left, Width, Class, Title string
}

// runSpan is a request on the time axis of its run.
type runSpan struct {
	*Entry
	from, to    time.Duration // Since the start of the run.
	class       string
	retry       bool
	waitedSince time.Duration // When the attempt before the retry had failed.
}

// interval is a part of a run's time axis.
type interval struct{ from, to time.Duration }

// The classes of bars: what a request came to, and the time that retries waited.
const (
	barWait         = "wait"
	requestOK       = "ok"
	requestRejected = "rejected" // 429.
	requestFailed   = "failed"
	requestRunning  = "running"
)

func (x *Entry) class() string {
	switch {
	case x.running():
		return requestRunning
	case x.Status == 429:
		return requestRejected
	case x.Status == 0 || x.Status >= 400 || x.unreadable() != "":
		return requestFailed
	}
	return requestOK
}

func (x *Entry) running() bool { return x.Status == 0 && x.Duration == 0 }

// result is the status, or what is there instead of one.
func (x *Entry) result() string {
	switch {
	case x.running():
		return "running"
	case x.Status == 0:
		return "no response"
	case x.unreadable() != "":
		return strconv.Itoa(x.Status) + " with " + x.unreadable()
	}
	return strconv.Itoa(x.Status)
}

// unreadable says why no client can read the response, whatever its status; empty if it can.
func (x *Entry) unreadable() string {
	switch x.Fault {
	case "truncated-body":
		return "half a body"
	case "non-json":
		return "HTML"
	}
	return ""
}

// isRetriable reports whether a client may repeat the request.
func (x *Entry) isRetriable() bool {
	return !x.running() && (x.Status == 429 || x.Status >= 500 || x.Status == 0 || x.unreadable() != "")
}

// name is the operation, or what was requested instead.
func (x *Entry) name() string {
	if x.Operation != "" {
		return x.Operation
	}
	return Short(x.Method + " " + x.Path)
}

// spansOf puts the requests of a run on its time axis, and recognizes retries.
func spansOf(entries []Entry, now time.Time) []runSpan {
	type request struct {
		method, path, query string
		body                uint64
	}
	type failures struct{ first, last time.Duration } // When the first and the last failure since the last success ended.
	failed := map[request]failures{}
	start := entries[0].Started
	spans := make([]runSpan, len(entries))
	for i := range entries {
		x := &entries[i]
		s := runSpan{Entry: x, from: x.Started.Sub(start), class: x.class()}
		s.to = s.from + x.Duration
		if x.running() {
			s.to = max(s.from, now.Sub(start))
		}
		key := request{x.Method, x.Path, x.Query, x.BodyHash}
		before, known := failed[key]
		if known && before.first <= s.from {
			s.retry, s.waitedSince = true, before.first
			if before.last <= s.from {
				s.waitedSince = before.last
			}
		}
		switch {
		case x.isRetriable() && known:
			failed[key] = failures{min(before.first, s.to), max(before.last, s.to)}
		case x.isRetriable():
			failed[key] = failures{s.to, s.to}
		case !x.running():
			delete(failed, key)
		}
		spans[i] = s
	}
	return spans
}

// union merges intervals that overlap.
func union(all []interval) []interval {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	var merged []interval
	for _, i := range all {
		if n := len(merged); n > 0 && i.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, i.to)
			continue
		}
		merged = append(merged, i)
	}
	return merged
}

// gaps are what merged intervals leave open between each other.
func gaps(merged []interval) []interval {
	var open []interval
	for i := 1; i < len(merged); i++ {
		open = append(open, interval{merged[i-1].to, merged[i].from})
	}
	return open
}

// overlap is how much time two lists of merged intervals have in common.
func overlap(a, b []interval) time.Duration {
	var common time.Duration
	for i, j := 0, 0; i < len(a) && j < len(b); {
		common += max(0, min(a[i].to, b[j].to)-max(a[i].from, b[j].from))
		if a[i].to < b[j].to {
			i++
		} else {
			j++
		}
	}
	return common
}

func length(all []interval) time.Duration {
	var sum time.Duration
	for _, i := range all {
		sum += i.to - i.from
	}
	return sum
}

// addRuns adds the newest runs, or those before a number, to the status page.
func (pages *Pages) addRuns(p *statusPage, before int, objects map[string]Ref) {
	runs, older := pages.source.NewestRuns(statusRuns, max(0, before))
	p.NewerRuns = before > 0
	connected, now := pages.source.Connected(), clock.System.Now()
	hasOpen := false
	for _, entries := range runs {
		r := viewRun(entries, objects, now, runLanes)
		r.Partial = pages.source.IsPartial(r.Number)
		// Other clients, such as the buttons of the page, keep a connection although they wait for nothing.
		if ofProvider(&entries[0]) {
			r.Connected, r.Open, hasOpen = connected[r.Number], !hasOpen, true
		}
		p.Runs = append(p.Runs, r)
		if older {
			p.OlderRuns = r.Number
		}
	}
}

// viewRun is what a page shows of a run, with at most so many lanes. Its entries are in the order of their arrival.
func viewRun(entries []Entry, objects map[string]Ref, now time.Time, most int) *runView {
	spans := spansOf(entries, now)
	var end time.Duration
	for i := range spans {
		end = max(end, spans[i].to)
	}
	r := &runView{
		Number: entries[0].Run, Client: clientName(entries[0].UserAgent), Started: statusTimeOf(entries[0].Started, now), Duration: Duration(end),
		Counts: countsOf(spans), Answer: answerOf(spans, end),
	}
	for i := range spans {
		switch spans[i].class {
		case requestRejected:
			r.Rejected++
		case requestFailed:
			r.Failed++
		}
	}
	for _, part := range []time.Duration{25, 50, 75, 100} {
		r.Ticks = append(r.Ticks, Duration(end*part/100))
	}
	lanes := lanesOf(spans)
	r.Lanes = lanes[:min(most, len(lanes))]
	r.Rest = len(lanes) - len(r.Lanes)
	for _, lane := range r.Lanes {
		lane.finish(end, objects)
	}
	return r
}

// ofProvider reports whether the provider sent a request.
func ofProvider(x *Entry) bool { return strings.HasPrefix(x.UserAgent, ProviderAgent) }

// clientName is a short name for a User-Agent.
func clientName(agent string) string {
	version, ok := strings.CutPrefix(agent, ProviderAgent)
	provider, cli, both := strings.Cut(version, " Terraform/")
	switch {
	case ok && both:
		return Short("CLI " + cli + ", provider " + provider)
	case agent == "":
		return "no User-Agent"
	}
	return Short(agent)
}

// verbs are the counted kinds of requests, most important first.
var verbs = []string{"create", "update", "delete", "read"}

// verbOf is what an operation does, as far as its name and method say.
func verbOf(x *Entry) string {
	switch {
	case x.Method == "GET":
		return "read"
	case x.Method == "DELETE" || strings.HasPrefix(x.Operation, "revoke"):
		return "delete"
	case strings.HasPrefix(x.Operation, "create") || strings.HasPrefix(x.Operation, "bulkCreate") || strings.HasPrefix(x.Operation, "invite"):
		return "create"
	}
	return "update"
}

// countsOf counts the successful requests by what they do.
func countsOf(spans []runSpan) []string {
	counts := map[string]int{}
	for i := range spans {
		if spans[i].class == requestOK {
			counts[verbOf(spans[i].Entry)]++
		}
	}
	var texts []string
	for _, verb := range verbs {
		if n := counts[verb]; n > 0 {
			texts = append(texts, quantity(n, verb))
		}
	}
	return texts
}

func quantity(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

const (
	// runsPrefix begins the paths of the pages of runs.
	runsPrefix = "/runs/"
)

// runPage is what the page of a run shows: all its lanes.
type runPage struct {
	pageHeader
	Run *runView
}

// runPage reads the page of a run.
func (pages *Pages) runPage(address *url.URL) (page, error) {
	id := strings.TrimPrefix(address.Path, runsPrefix)
	p := &runPage{pageHeader: headerOf(pages.source.State(), "Run "+Short(id))}
	number, _ := strconv.Atoi(id) // 0 is no run.
	entries := pages.source.Requests(number)
	if number == 0 || len(entries) == 0 {
		p.Missing = true
		return p, nil
	}
	kinds, _, _, err := pages.objects("", "")
	if err != nil {
		return nil, err
	}
	p.Run = viewRun(entries, byID(kinds), clock.System.Now(), len(entries))
	p.Run.Connected, p.Run.Partial, p.Run.Open = ofProvider(&entries[0]) && pages.source.Connected()[number], pages.source.IsPartial(number), true
	return p, nil
}
