package statuspage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answerOf says in sentences why a run took as long as it did. Each is certain.
func answerOf(spans []runSpan, end time.Duration) []string {
	var sent, waits []interval
	results := map[string]int{}
	rejected, failed := 0, 0
	for i := range spans {
		s := &spans[i]
		sent = append(sent, interval{s.from, s.to})
		if s.retry {
			waits = append(waits, interval{s.waitedSince, s.from})
		}
		switch s.class {
		case requestRejected:
			rejected++
		case requestFailed:
			failed++
			results[s.result()]++
		}
	}
	busy := union(sent)
	pauses := gaps(busy)
	waits = union(waits)
	answer := []string{durationSentence(spans, end, length(busy), pauses)}
	if polls := pollSentence(spans, pauses, waits); polls != "" {
		answer = append(answer, polls)
	}
	if rejected > 0 {
		answer = append(answer, fmt.Sprintf("%s rejected with 429 (rate limit).", was(rejected)))
	}
	if failed > 0 {
		answer = append(answer, fmt.Sprintf("%s: %s.", quantity(failed, "failure"), countedResults(results)))
	}
	if waited := overlap(pauses, waits); waited >= time.Millisecond {
		answer = append(answer, fmt.Sprintf("For %s, a retry was waiting and no request was under way.", Duration(waited)))
	}
	if rejected > 0 && ofProvider(spans[0].Entry) {
		answer = append(answer, "After a 429, the provider also sends at a lower rate for a while.")
	}
	return answer
}

func durationSentence(spans []runSpan, end, inRequests time.Duration, pauses []interval) string {
	if len(pauses) == 0 {
		return fmt.Sprintf("%s, all of it in requests.", Duration(end))
	}
	longest := slices.MaxFunc(pauses, func(a, b interval) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	next := slices.IndexFunc(spans, func(s runSpan) bool { return s.from == longest.to })
	return fmt.Sprintf("%s: %s in requests, %s between them (longest pause %s, before %s).",
		Duration(end), Duration(inRequests), Duration(end-inRequests), Duration(longest.to-longest.from), spans[next].name())
}

func was(n int) string {
	if n == 1 {
		return "1 request was"
	}
	return fmt.Sprintf("%d requests were", n)
}

// countedResults lists results such as "2 × 503, 1 × no response".
func countedResults(results map[string]int) string {
	var names []string
	for name := range results {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(results[b], results[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%d × %s", results[name], name)
	}
	return strings.Join(names, ", ")
}

// pollSentence says how long the client waited before it repeated a read that had succeeded: that is how it waits for a status. A pause
// counts if no request was under way and no retry was waiting. Short ones may be the client's work.
func pollSentence(spans []runSpan, pauses, waits []interval) string {
	type address struct{ path, query string }
	before := map[time.Duration]interval{} // Pauses by their end.
	for _, pause := range pauses {
		if pause.to-pause.from >= pollPause {
			before[pause.to] = pause
		}
	}
	succeeded := map[address]bool{}
	var polls []interval
	var names []string
	for i := range spans {
		s := &spans[i]
		if verbOf(s.Entry) != "read" {
			continue
		}
		read := address{s.Path, s.Query}
		if pause, ok := before[s.from]; ok && succeeded[read] && !s.retry {
			polls = append(polls, pause)
			if !slices.Contains(names, s.name()) {
				names = append(names, s.name())
			}
		}
		succeeded[read] = succeeded[read] || s.class == requestOK
	}
	polls = union(polls)
	waited := length(polls) - overlap(polls, waits)
	if waited < pollPause {
		return ""
	}
	client := "client"
	if ofProvider(spans[0].Entry) {
		client = "provider"
	}
	return fmt.Sprintf("For %s, the %s waited between repeated reads (%s).", Duration(waited), client, strings.Join(names, ", "))
}

// lanesOf arranges the requests of a run in lanes, in the order of their first request.
func lanesOf(spans []runSpan) []*runLane {
	type address struct{ method, path string }
	byAddress := map[address]*runLane{}
	var lanes []*runLane
	for i := range spans {
		s := &spans[i]
		key := address{s.Method, s.Path}
		lane := byAddress[key]
		if lane == nil {
			lane = &runLane{Name: s.name(), Path: Short(s.Method + " " + s.Path)}
			byAddress[key] = lane
			lanes = append(lanes, lane)
		}
		lane.spans = append(lane.spans, s)
	}
	return lanes
}

// layers are the classes of bars from bottom to top: what stands out is not covered.
var layers = []string{barWait, requestOK, requestRunning, requestRejected, requestFailed}

// finish draws the bars of a lane.
func (l *runLane) finish(end time.Duration, objects map[string]Ref) {
	l.ID = namedBy(l.spans[0].Entry)
	l.Object = objects[l.ID]
	l.Count = len(l.spans)
	var total, slowest time.Duration
	var waits []interval
	counts := map[string]int{}
	for _, s := range l.spans {
		total += s.to - s.from
		slowest = max(slowest, s.to-s.from)
		counts[s.class]++
		if s.Fault != "" && !slices.Contains(l.Faults, s.Fault) {
			l.Faults = append(l.Faults, s.Fault)
		}
		if s.retry {
			waits = append(waits, interval{s.waitedSince, s.from})
		}
	}
	l.Rejected, l.Slowest, l.Total = counts[requestRejected], Duration(slowest), Duration(total)
	l.Label = quantity(l.Count, "request")
	for _, part := range []struct{ class, text string }{
		{requestRejected, "rejected with 429"}, {requestFailed, "failed"}, {requestRunning, "running"},
	} {
		if n := counts[part.class]; n > 0 {
			l.Label += fmt.Sprintf(", %d %s", n, part.text)
		}
	}
	for _, w := range union(waits) {
		l.Bars = append(l.Bars, barOf(w, end, barWait, "Waiting for a retry for "+Duration(w.to-w.from)))
	}
	// Equal requests stand together, so that those that are close become one bar, whatever lies between them.
	slices.SortStableFunc(l.spans, func(a, b *runSpan) int {
		return cmp.Or(cmp.Compare(slices.Index(layers, a.class), slices.Index(layers, b.class)), cmp.Compare(a.Fault, b.Fault))
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

// namedBy is the last parameter in the path of a request: the ID or the name of what it is about. It is empty without one.
func namedBy(x *Entry) string {
	route, path := strings.Split(x.Route, "/"), strings.Split(x.Path, "/")
	if len(route) != len(path) { // A parameter contains a slash.
		return ""
	}
	for i, part := range slices.Backward(route) {
		if strings.HasPrefix(part, "{") {
			return Short(path[i])
		}
	}
	return ""
}

// joins reports whether a request is drawn as one bar with another one that came before it.
func (s *runSpan) joins(first *runSpan, near time.Duration) bool {
	return s.class == first.class && s.Fault == first.Fault && s.to-first.from <= near
}

func barOfSpans(spans []*runSpan, end time.Duration) runBar {
	first := spans[0]
	whole := interval{first.from, first.to}
	for _, s := range spans {
		whole.to = max(whole.to, s.to)
	}
	title := first.result()
	if len(spans) > 1 {
		title = fmt.Sprintf("%d requests: %s", len(spans), countedResultsOf(spans))
	}
	title += fmt.Sprintf(", %s after the start (%s UTC), took %s", Duration(first.from), first.Started.UTC().Format("15:04:05.000"), Duration(whole.to-whole.from))
	if first.retry {
		title += ", a retry"
	}
	if first.Fault != "" {
		title += ", fault " + first.Fault
	}
	return barOf(whole, end, first.class, title)
}

func countedResultsOf(spans []*runSpan) string {
	results := map[string]int{}
	for _, s := range spans {
		results[s.result()]++
	}
	return countedResults(results)
}

func barOf(i interval, end time.Duration, class, title string) runBar {
	width := max(i.to-i.from, end/barsPerAxis) // Nobody sees less.
	return runBar{percent(min(i.from, end-width), end), percent(width, end), class, title}
}

func percent(part, whole time.Duration) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(whole, time.Millisecond)), 'f', 2, 64) + "%"
}
