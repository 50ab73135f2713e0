package statuspage

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reason is what a part of a run's time passed with, as far as the requests show.
type reason struct {
	name  string
	time  []interval
	class string // Of its bars; empty for requests, which have lanes of their own.
	note  string // What the time is made of, in parentheses.
}

// title is the name that begins a sentence or a line.
func (r *reason) title() string { return sentence(strings.TrimPrefix(r.name, "because of the ")) }

// slowPause is the longest pause of a client that sends more slowly after a 429.
const slowPause = 2 * time.Second

// reasonsOf divides the time of a run among reasons, longest first: no moment has two. The first one is what a run under
// way waits for now.
func reasonsOf(spans []runSpan, known map[string]Row, end time.Duration, readyBy int64) []reason {
	var sent, limited, retried, refused []interval
	var refusals []*runSpan
	next := map[time.Duration]*runSpan{}
	for i := range spans {
		s := &spans[i]
		sent = append(sent, interval{s.from, s.to})
		switch wait := (interval{s.waitedSince, s.from}); {
		case s.limited:
			limited = append(limited, wait)
		case s.retry:
			retried = append(retried, wait)
		case s.refused != nil:
			refused, refusals = append(refused, wait), append(refusals, s.refused)
		}
		next[s.from] = s
	}
	whole := []interval{{0, end}}
	before, current := awaitedIn(spans, end, readyBy)
	awaited := union(timesOf(before, ""))
	var objects, repeats, slower, own []interval
	idle := whole
	take := func(all []interval) []interval {
		left := minus(idle, union(all))
		taken := minus(idle, left)
		idle = left
		return taken
	}
	requests, limits, retries, repetitions := take(sent), take(limited), take(retried), take(refused)
	now := take(minus(union(timesOf(current, "")), awaited)) // Before, the run waited for others too.
	others := minus(whole, awaited)
	for _, pause := range idle {
		s := next[pause.to]
		if s == nil || s.Method != "GET" || pause.to-pause.from < pollPause {
			continue
		}
		if part := minus([]interval{pause}, others); part != nil {
			objects = append(objects, part...)
		} else if s.repeats {
			repeats = append(repeats, pause)
		}
	}
	limited = union(limited)
	rest := minus(repeats, union(searchesIn(spans)))
	searches := minus(repeats, rest)
	for _, pause := range minus(minus(idle, objects), repeats) {
		if len(limited) > 0 && pause.from >= limited[0].from && pause.to-pause.from <= slowPause && next[pause.to] != nil {
			slower = append(slower, pause)
		} else {
			own = append(own, pause)
		}
	}
	note := ""
	if length(slower) >= pollPause {
		note = fmt.Sprintf(" (%s waiting after a 429, then sending more slowly)", Duration(length(limits)))
		limits = append(limits, slower...)
	} else {
		own = append(own, slower...)
	}
	reasons := []reason{
		{"now waiting for " + becoming(current, slices.Concat(before, current)), now, barWait, ""},
		{"waiting for " + becoming(before, before), objects, barWait, ""}, {"because of the rate limit", limits, barWait, note}, {"waiting to retry failures", retries, barWait, ""},
		{repeated(refusals, known), repetitions, barWait, ""}, {"waiting between repeated reads", rest, barWait, ""},
		{"looking for what a failed request may have created", searches, barWait, ""}, {"in requests", requests, "", ""}, {"in the client, without a request", own, barOwn, ""},
	}
	slices.SortStableFunc(reasons[1:], func(a, b reason) int { return cmp.Compare(length(b.time), length(a.time)) })
	return reasons
}

// searchPause and searchTime limit the pauses of one search, each and in all.
const searchPause, searchTime = 5 * time.Second, 8 * time.Second

// searchesIn is when the provider listed objects again after a creation without a usable response, to see whether there is a new one. Other
// clients do not do that.
func searchesIn(spans []runSpan) (searches []interval) {
	for i := range spans {
		x, effect := spans[i].Entry, Effects[spans[i].Operation]
		if effect.Verb != "created" || !x.isRetriable() || x.Status == http.StatusTooManyRequests || x.Status == http.StatusNotImplemented || !ofProvider(x) {
			continue
		}
		at, left := spans[i].to, searchTime
		for j := i + 1; j < len(spans) && left > 0; j++ {
			s := &spans[j]
			if pause := s.from - at; s.lists(effect.Kind) && pause >= 0 && pause <= min(searchPause, left) {
				searches, at, left = append(searches, interval{at, s.from}), s.to, left-pause
			}
		}
	}
	return searches
}

// repeated says which refused requests the client repeated, and why the service refused the first one.
func repeated(refusals []*runSpan, objects map[string]Row) string {
	counts := map[string]int{}
	for _, s := range refusals {
		counts[s.Operation+s.Path]++
	}
	switch len(counts) {
	case 0:
		return "waiting to repeat refused requests"
	case 1:
		first := refusals[0]
		return strings.TrimSpace("repeating "+first.name()+" "+brief(first.object(objects).Name)) + ", refused " + quantity(len(refusals), "time") + ": " + first.outcome()
	}
	return fmt.Sprintf("repeating %d refused requests, %s first: %s", len(counts), refusals[0].name(), refusals[0].outcome())
}

// brief is a name in a sentence.
func brief(name string) string {
	if runes := []rune(name); len(runes) > 40 {
		return string(runes[:39]) + "…"
	}
	return name
}

// becomes is what the client waits for an object to do.
var becomes = map[string]string{"computers": "to become active", "environments": "to be built", "sessions": "to appear"}

// awaiting is when the client waited for an object that it had changed.
type awaiting struct {
	*Change
	interval
}

// awaitedIn are the waits for objects that are ready by a time, and those for others, which last until now: the client read the state of each
// object before and after it was ready, or again and again.
func awaitedIn(spans []runSpan, now time.Duration, readyBy int64) (before, current []awaiting) {
	for i := range spans {
		for at := range spans[i].Changes {
			c, wait, reads := &spans[i].Changes[at], interval{spans[i].to, spans[i].to}, 0
			for j := i + 1; j < len(spans) && c.Until > spans[i].Time.UnixMilli(); j++ {
				if s := &spans[j]; s.class != requestRejected && s.reads(c) {
					reads, wait.to = reads+1, s.from
					if s.Time.UnixMilli() >= c.Until {
						break
					}
				}
			}
			switch {
			case reads < 2:
			case c.Until > readyBy:
				current = append(current, awaiting{c, interval{wait.from, max(wait.to, now)}})
			default:
				before = append(before, awaiting{c, wait})
			}
		}
	}
	return before, current
}

// timesOf are the times of the waits for objects of a kind, or of all.
func timesOf(waits []awaiting, kind string) (times []interval) {
	for _, w := range waits {
		if kind == "" || w.Kind == kind {
			times = append(times, w.interval)
		}
	}
	return times
}

// becoming says what the client waited for. Only together with all waits so far, those of now show whether -parallelism limits it.
func becoming(waits, all []awaiting) string {
	var kinds []string
	for _, w := range waits {
		if !slices.Contains(kinds, w.Kind) {
			kinds = append(kinds, w.Kind)
		}
	}
	for i, kind := range kinds {
		n, times := len(timesOf(waits, kind)), timesOf(all, kind)
		kinds[i] = quantity(n, noun(kind))
		if n == 1 {
			kinds[i] = noun(kind) + " " + brief(waits[slices.IndexFunc(waits, func(w awaiting) bool { return w.Kind == kind })].Name)
		}
		kinds[i] += " " + becomes[kind]
		if n >= usualParallelism && len(times) > usualParallelism && most(times) == usualParallelism {
			kinds[i] += fmt.Sprintf(", %d at a time (raise -parallelism%s)", usualParallelism, map[string]string{"computers": ", or use a fleet"}[kind])
		}
	}
	return strings.Join(kinds, " and ")
}

// usualParallelism is how many objects a CLI works on at a time by default.
const usualParallelism = 10

// most is how many intervals overlap at most.
func most(all []interval) (count int) {
	for _, i := range all {
		overlapping := 0
		for _, other := range all {
			if other.from <= i.from && i.from < other.to {
				overlapping++
			}
		}
		count = max(count, overlapping)
	}
	return count
}

// headline says why a run took as long as it did, and first what it waits for now; nothing if nothing took time.
func headline(reasons []reason, end time.Duration) string {
	if now := length(reasons[0].time); now >= pollPause {
		before := headline(append([]reason{{}}, reasons[1:]...), end-now)
		return strings.TrimSuffix(fmt.Sprintf("%s (%s). Before: %s", sentence(reasons[0].name), Duration(now), before), " Before: ")
	}
	text, rest := Duration(end), ""
	for _, r := range reasons {
		switch took := length(r.time); {
		case took < max(pollPause, end/20):
		case 20*took >= 19*end && rest == "":
			text += map[bool]string{true: ", all of it ", false: ", almost all of it "}[Duration(took) == Duration(end)] + r.name + r.note
		case 2*took >= end && rest == "":
			text += fmt.Sprintf(", mostly %s (%s)", r.name, strings.TrimSuffix(strings.Replace(Duration(took)+r.note, " (", ": ", 1), ")"))
		default:
			rest += fmt.Sprintf(" %s: %s%s.", r.title(), Duration(took), r.note)
		}
	}
	if text+rest == Duration(end) {
		return ""
	}
	return strings.TrimSuffix(text, ".") + "." + rest
}

// reasonLanes are what took time beside requests, longest first.
func reasonLanes(reasons []reason, end time.Duration) (lanes []*runLane) {
	for _, r := range reasons {
		took := length(r.time)
		if r.class == "" || took < pollPause {
			continue
		}
		lane := &runLane{Name: r.title() + r.note, Total: Duration(took), Label: Duration(took)}
		times, wide := union(r.time), slices.Clone(r.time)
		for i := range wide { // Waits that are close become one bar.
			wide[i].to = max(wide[i].to, wide[i].from+end/barsPerAxis)
		}
		for _, bar := range union(wide) {
			lane.Bars = append(lane.Bars, barOf(bar, end, r.class, Duration(bar.to-bar.from-length(minus([]interval{bar}, times)))))
		}
		lanes = append(lanes, lane)
	}
	return lanes
}

// countedResults lists results such as "2 × 503, 1 × no response".
func countedResults(results map[string]int) string {
	names := slices.SortedFunc(maps.Keys(results), func(a, b string) int { return cmp.Or(cmp.Compare(results[b], results[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		n := results[name]
		names[i] = fmt.Sprintf("%d × %s", n, name)
		if more, lost := strings.CutPrefix(name, lostResponse); lost {
			names[i] = quantity(n, lostResponse) + more
		}
	}
	return strings.Join(names, ", ")
}

// lanesOf arranges the requests of a run in lanes, in the order of their first request.
func lanesOf(spans []runSpan, name func(*Entry) string) []*runLane {
	byName := map[string]*runLane{}
	var lanes []*runLane
	for i := range spans {
		s := &spans[i]
		lane := byName[name(s.Entry)]
		if lane == nil {
			lane = &runLane{Name: s.name(), Path: s.address()}
			byName[name(s.Entry)] = lane
			lanes = append(lanes, lane)
		}
		if lane.spans = append(lane.spans, s); s.Path != lane.spans[0].Path {
			lane.Path = s.Method + " " + s.Route
		}
	}
	return lanes
}

// layers are the classes of bars from bottom to top: what stands out is not covered.
var layers = []string{barWait, requestOK, requestRunning, requestRejected, requestRecovered, requestFailed}

// finish draws the bars of a lane.
func (l *runLane) finish(end time.Duration, objects map[string]Row) {
	l.Count = len(l.spans)
	var total time.Duration
	var waits []interval
	counts, seen, results := map[string]int{}, map[Ref]bool{}, map[string]int{}
	for _, s := range l.spans {
		total += s.to - s.from
		if o := s.object(objects); o.Name != "" && !seen[o] {
			l.Objects, seen[o] = append(l.Objects, o), true
		}
		counts[s.class]++
		results[s.result()]++
		if s.Fault != "" && !slices.Contains(l.Faults, s.Fault) {
			l.Faults = append(l.Faults, s.Fault)
		}
		if s.retry {
			waits = append(waits, interval{s.waitedSince, s.from})
		}
	}
	l.More = max(0, len(l.Objects)-3)
	l.Objects = l.Objects[:len(l.Objects)-l.More]
	l.Rejected, l.Failed, l.Total, l.Results = counts[requestRejected], counts[requestFailed], Duration(total), countedResults(results)
	l.Label = quantity(l.Count, "request") + ": " + l.Results
	for _, w := range union(waits) {
		l.Bars = append(l.Bars, barOf(w, end, barWait, "Waiting for a retry for "+Duration(w.to-w.from)))
	}
	// Equal requests stand together, so that those that are close become one bar, whatever lies between them.
	slices.SortStableFunc(l.spans, func(a, b *runSpan) int {
		return cmp.Or(cmp.Compare(slices.Index(layers, a.class), slices.Index(layers, b.class)), cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.from, b.from))
	})
	for first := 0; first < len(l.spans); {
		next := first + 1
		for next < len(l.spans) && l.spans[next].joins(l.spans[first], end/barsPerAxis) {
			next++
		}
		l.Bars = append(l.Bars, barOfSpans(l.spans[first:next], end))
		first = next
	}
}

// object is what a request names in its path: the last object, or the last name if no such object exists. It is empty if there is none.
func (s *runSpan) object(objects map[string]Row) (named Ref) {
	if s.Operation == "" {
		return Ref{Name: s.address()}
	}
	route, path := strings.Split(s.Route, "/"), strings.Split(s.Path, "/")
	if len(route) != len(path) { // A parameter contains a slash.
		return Ref{}
	}
	for i, part := range slices.Backward(route) {
		if !strings.HasPrefix(part, "{") {
			continue
		}
		if o := objects[path[i]]; o.Name != "" {
			return o.Ref
		}
		for _, c := range s.Changes {
			if c.ID == path[i] {
				return Ref{Name: Short(c.Name)}
			}
		}
		named.Name = cmp.Or(named.Name, Short(path[i]))
	}
	return named
}

// joins reports whether a request is drawn as one bar with another one that came before it: they begin together, and it does not end later.
func (s *runSpan) joins(first *runSpan, near time.Duration) bool {
	return s.class == first.class && s.Fault == first.Fault && s.from-first.from <= near && s.to-first.to <= near
}

func barOfSpans(spans []*runSpan, end time.Duration) runBar {
	first := spans[0]
	whole := interval{first.from, first.to}
	for _, s := range spans {
		whole.to = max(whole.to, s.to)
	}
	title := first.result()
	if len(spans) > 1 {
		results := map[string]int{}
		for _, s := range spans {
			results[s.result()]++
		}
		title = fmt.Sprintf("%d requests: %s", len(spans), countedResults(results))
	}
	title += first.after
	title += fmt.Sprintf(", %s, took %s", first.when(), Duration(whole.to-whole.from))
	if first.retry {
		title += ", a retry"
	}
	if first.Fault != "" {
		title += ", fault " + first.Fault
	}
	return barOf(whole, end, first.class, title)
}

// when is when a request began.
func (s *runSpan) when() string {
	return fmt.Sprintf("%s after the start (%s UTC)", Duration(s.from), s.Started.UTC().Format("15:04:05.000"))
}

func barOf(i interval, end time.Duration, class, title string) runBar {
	width := max(i.to-i.from, end/barsPerAxis) // Nobody sees less.
	return runBar{percent(min(i.from, end-width), end), percent(width, end), class, title}
}

func percent(part, whole time.Duration) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(whole, time.Millisecond)), 'f', 2, 64) + "%"
}
