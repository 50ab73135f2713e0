package statuspage

import (
	"cmp"
	"fmt"
	"math"
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
	// runFailures is how many failures of a run the status page shows. The page of the run has all.
	runFailures = 5
	// barsPerAxis is how fine bars are: equal ones that are closer together are one.
	barsPerAxis = 400
	// pollPause is the shortest pause that counts as waiting for objects. Shorter ones may be the client's work.
	pollPause = 100 * time.Millisecond
)

// runView is a run as the page shows it. All its times are real ones, not those of the emulator's clock.
type runView struct {
	Number            int
	Client            string
	Changes           []changePart
	Failures          []failure
	FailedCount       int    // The sum of what failed.
	OtherFailures     int    // How many are left out.
	Rejected          int    // By 429.
	Failed, Recovered string // What remained failed, and did not, by result.
	Started           statusTime
	Duration, Reason  string   // The reason is empty for a run that waited for nothing.
	Connected         bool     // Its process still has a connection.
	Open              bool     // It is the newest of the provider.
	Ticks             []string // The times at a quarter, a half, three quarters, and the end.
	Lanes             []*runLane
	Shows             map[string]bool // The classes of the bars.
	More              bool            // Only the page of the run has a lane for each address.
	Results           bool            // Each lane lists its results.
	IsChange          bool            // It changed something for good.

	end     time.Duration
	net     []*Change
	reasons []reason
}

// runLane is all requests of an operation, or of an address, or what else took time.
type runLane struct {
	Name, Path     string
	Objects        []Ref    // What the requests name, or the first ones of it. Without a kind, it does not exist.
	More           int      // How many others they name.
	Faults         []string // That hit requests of the lane.
	Bars           []runBar
	Count          int
	Rejected       int
	Failed         int // That remained failed.
	Total, Results string
	Label          string
	spans          []*runSpan
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
	limited     bool          // That attempt was rejected with 429.
	refused     *runSpan      // The attempt before this one, if the service refused it for a reason that may pass.
	repeats     bool          // The same request succeeded before.
	after       string        // What became of a failure.
}

// interval is a part of a run's time axis.
type interval struct{ from, to time.Duration }

// The classes of bars: what a request came to, and the time that retries waited.
const (
	barWait          = "wait"
	barOwn           = "own" // In the client, without a request.
	requestOK        = "ok"
	requestRejected  = "rejected" // 429.
	requestFailed    = "failed"
	requestRecovered = "recovered" // A failure that did not remain, or an object that does not exist.
	requestRunning   = "running"
)

func (x *Entry) class() string {
	switch {
	case x.running():
		return requestRunning
	case x.Status == 429:
		return requestRejected
	case x.Status == 404 && x.Method == "GET" && x.Operation != "":
		return requestRecovered
	case x.Status == 0 || x.Status >= 400 || x.unreadable() != "" || x.isPartial():
		return requestFailed
	}
	return requestOK
}

// isPartial reports whether the service refused a part of what it otherwise carried out.
func (x *Entry) isPartial() bool { return x.Status < 300 && len(x.Refusals) > 0 }

func (x *Entry) running() bool { return x.Status == 0 && x.Duration == 0 }

// result is the status, or what is there instead of one.
func (x *Entry) result() string {
	switch {
	case x.running():
		return "running"
	case x.Status == 0 && len(x.Changes) > 0:
		return lostResponse
	case x.Status == 0:
		return "no response"
	case x.unreadable() != "":
		return strconv.Itoa(x.Status) + " with " + x.unreadable()
	case x.isPartial():
		return map[bool]string{true: "partly "}[len(x.Changes) > 0] + "refused (HTTP " + strconv.Itoa(x.Status) + ")"
	}
	return strconv.Itoa(x.Status)
}

// outcome is the result with the service's words.
func (x *Entry) outcome() string {
	return Short(strings.Join(append([]string{x.result()}, x.Refusals...), ", "))
}

// lostResponse is the result of a request that was carried out, but not answered.
const lostResponse = "lost response"

// unreadable says why no client can read the response, whatever its status; empty if it can.
func (x *Entry) unreadable() string {
	switch x.Fault {
	case "truncated-body":
		return "half a body"
	case "non-json":
		return "HTML"
	case faultUnusable:
		return "an unusable body"
	}
	return ""
}

// isRetriable reports whether a client may repeat the request.
func (x *Entry) isRetriable() bool {
	return !x.running() && (x.Status == 429 || x.Status >= 500 || x.Status == 0 || x.unreadable() != "")
}

// name is the operation.
func (x *Entry) name() string { return cmp.Or(x.Operation, "no operation") }

// address is what was requested.
func (x *Entry) address() string { return Short(x.Method + " " + x.Path) }

// names reports whether a request is about an object that a change is about. The ID of a limit is that of its owner.
func (x *Entry) names(c *Change) bool {
	return c.Kind != "usage-limits" && strings.Contains(x.Path+"?"+x.Query, c.ID)
}

// lists reports whether a request lists the objects of a kind.
func (x *Entry) lists(kind string) bool {
	return strings.EqualFold(x.Operation, "list"+strings.ReplaceAll(kind, "-", ""))
}

// reads reports whether a request reads the state of the object.
func (x *Entry) reads(c *Change) bool {
	return x.Method == "GET" && (x.lists(c.Kind) || strings.Contains(strings.ToLower(x.Operation), strings.TrimSuffix(c.Kind, "s")) && x.names(c))
}

// spansOf puts the requests of a run on its time axis, and recognizes retries and failures that did not remain.
func spansOf(entries []Entry, now time.Time) []runSpan {
	type request struct {
		method, path, query string
		body                uint64
	}
	type failures struct { // Since the last success.
		first, last time.Duration // When the first and the last ended.
		limited     bool          // The last was a 429.
	}
	failed, unsolved, succeeded, refused := map[request]failures{}, map[request][]int{}, map[request]bool{}, map[request]*runSpan{}
	start := entries[0].Started
	spans := make([]runSpan, len(entries))
	for i := range entries {
		x := &entries[i]
		s := &spans[i]
		*s = runSpan{Entry: x, from: x.Started.Sub(start), class: x.class()}
		s.to = s.from + x.Duration
		if x.running() {
			s.to = max(s.from, now.Sub(start))
		}
		key := request{x.Method, x.Path, x.Query, x.BodyHash}
		s.repeats = succeeded[key]
		before, known := failed[key]
		if known && before.first <= s.from {
			s.retry, s.waitedSince, s.limited = true, before.first, before.limited
			if before.last <= s.from {
				s.waitedSince = before.last
			}
		}
		switch {
		case x.isRetriable() && known:
			failed[key] = failures{min(before.first, s.to), max(before.last, s.to), x.Status == 429}
		case x.isRetriable():
			failed[key] = failures{s.to, s.to, x.Status == 429}
		case !x.running():
			delete(failed, key)
		}
		if last := refused[key]; last != nil && last.to <= s.from {
			s.refused, s.waitedSince = last, last.to
		}
		if delete(refused, key); x.Method != "GET" && s.class == requestFailed && x.Status >= 400 && !x.isRetriable() {
			refused[key] = s
		}
		switch s.class {
		case requestFailed:
			unsolved[key] = append(unsolved[key], i)
		case requestOK:
			for _, j := range unsolved[key] {
				spans[j].class, spans[j].after = requestRecovered, ", recovered"
			}
			delete(unsolved, key)
			succeeded[key] = true
		}
	}
	for i := range spans {
		if s := &spans[i]; s.class == requestFailed && len(s.Changes) > 0 && !s.isPartial() {
			s.findLater(spans[i+1:])
		}
	}
	return spans
}

// findLater looks for a request that proves that the client learned what a request without a usable response had done.
func (s *runSpan) findLater(later []runSpan) {
	for i := range later {
		switch c, x := &s.Changes[0], &later[i]; {
		case x.class != requestOK:
		case x.names(c):
			s.class, s.after = requestRecovered, ", recovered"
			return
		case x.lists(c.Kind) && x.Time.UnixMilli() >= c.Listed:
			s.class, s.after = requestRecovered, ", found later"
		}
	}
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

// minus is what merged intervals leave of others.
func minus(all, cuts []interval) (left []interval) {
	for _, i := range all {
		for len(cuts) > 0 && cuts[0].to <= i.from {
			cuts = cuts[1:]
		}
		for _, cut := range cuts {
			if cut.from >= i.to {
				break
			}
			if cut.from > i.from {
				left = append(left, interval{i.from, cut.from})
			}
			i.from = cut.to
		}
		if i.from < i.to {
			left = append(left, i)
		}
	}
	return left
}

func length(all []interval) time.Duration {
	var sum time.Duration
	for _, i := range all {
		sum += i.to - i.from
	}
	return sum
}

// addRuns adds the newest runs, or those before a number, to the status page.
func (pages *Pages) addRuns(p *statusPage, before int, objects map[string]Row) {
	runs, older := pages.source.NewestRuns(statusRuns, max(0, before))
	p.NewerRuns = before > 0
	connected, now := pages.source.Connected(), clock.System.Now()
	hasOpen := false
	for _, entries := range runs {
		// Other clients, such as the buttons of the page, keep a connection although they wait for nothing.
		isProvider := ofProvider(&entries[0])
		r := viewRun(entries, objects, now, p.Now, isProvider && connected[entries[0].Run], false)
		r.OtherFailures = max(0, len(r.Failures)-runFailures)
		r.Failures = r.Failures[:len(r.Failures)-r.OtherFailures]
		r.Open, hasOpen = isProvider && !hasOpen, hasOpen || isProvider
		p.Runs = append(p.Runs, r)
		if older {
			p.OlderRuns = r.Number
		}
	}
}

// viewRun is what a page shows of a run, with a lane for each address, or for each operation. Its entries are in the order of their arrival. The time
// of the machine is now, and that of the emulator is clock. A connected run lasts until now.
func viewRun(entries []Entry, objects map[string]Row, now, clock time.Time, connected, all bool) *runView {
	spans := spansOf(entries, now)
	var end time.Duration
	if connected {
		end = now.Sub(entries[0].Started)
	}
	for i := range spans {
		end = max(end, spans[i].to)
	}
	net := netChanges(spans, objects, clock)
	readyBy := int64(math.MaxInt64) // After a run, nobody knows whether the client waited.
	if connected {
		readyBy = clock.UnixMilli()
	}
	r := &runView{
		Number: entries[0].Run, Client: clientName(entries[0].UserAgent), Started: statusTimeOf(entries[0].Started, now), Duration: Duration(end),
		Changes: changesOf(net, objects, readyBy), Connected: connected, Results: all, Shows: map[string]bool{},
	}
	if r.IsChange = r.Changes != nil; !r.IsChange {
		r.Changes = []changePart{{Text: unchanged(spans)}}
	}
	failed, recovered := map[string]int{}, map[string]int{}
	for i := range spans {
		switch s := &spans[i]; s.class {
		case requestRejected:
			r.Rejected++
		case requestRecovered:
			recovered[s.result()+s.after]++
		}
	}
	r.Failures, r.end, r.net = failuresOf(spans, net, objects), end, net
	for i := range r.Failures {
		f := &r.Failures[i]
		r.FailedCount += f.Failed()
		failed[f.result] += f.Failed()
	}
	r.Failed, r.Recovered = countedResults(failed), countedResults(recovered)
	for _, part := range []time.Duration{25, 50, 75, 100} {
		r.Ticks = append(r.Ticks, Duration(end*part/100))
	}
	r.reasons = reasonsOf(spans, objects, end, readyBy)
	r.Reason = headline(r.reasons, end)
	lane := (*Entry).name // Each request is in a lane, so that their numbers add up.
	if r.More = !all; all {
		lane = (*Entry).address
	}
	lanes := lanesOf(spans, lane)
	for _, lane := range lanes {
		lane.finish(end, objects)
	}
	r.Lanes = append(reasonLanes(r.reasons, end), lanes...)
	for _, lane := range r.Lanes {
		for _, bar := range lane.Bars {
			r.Shows[bar.Class] = true
		}
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

func quantity(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// runsPrefix begins the paths of the pages of runs.
const runsPrefix = "/runs/"

// runPage is what the page of a run shows: a lane for each address.
type runPage struct {
	pageHeader
	Run *runView
}

// runPage reads the page of a run.
func (pages *Pages) runPage(address *url.URL) (page, error) {
	id := strings.TrimPrefix(address.Path, runsPrefix)
	p := &runPage{pageHeader: headerOf(pages.source.State(), "Run "+Short(id))}
	number, _ := strconv.Atoi(id) // 0 is no run.
	runs, _ := pages.source.NewestRuns(1, number+1)
	if p.Missing = number < 1 || len(runs) == 0 || runs[0][0].Run != number; p.Missing {
		return p, nil
	}
	entries := runs[0]
	kinds, _, _, err := pages.objects("", "")
	if err != nil {
		return nil, err
	}
	p.Run = viewRun(entries, byID(kinds), clock.System.Now(), p.Now, ofProvider(&entries[0]) && pages.source.Connected()[number], true)
	p.Run.Open = true
	return p, nil
}
