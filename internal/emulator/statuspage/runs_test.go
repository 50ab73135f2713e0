package statuspage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const testAgent = ProviderAgent + "1.2.3 Terraform/1.16.4"

var runStart = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// sent is a request of a run: when it began, how long it took, and what was returned; 0 is a cut connection.
func sent(operation string, at, took time.Duration, status int, body uint64) Entry {
	method, path := "POST", "/api/v0/computers"
	switch {
	case strings.HasPrefix(operation, "get"):
		method, path = "GET", "/api/v0/computers/"+fmt.Sprint(body)
	case strings.HasPrefix(operation, "list"):
		method = "GET"
	case strings.HasPrefix(operation, "delete"):
		method, path = "DELETE", "/api/v0/computers/"+fmt.Sprint(body)
	}
	route := path
	if strings.Count(path, "/") == 4 {
		route = "/api/v0/computers/{computerId}"
	}
	return Entry{
		Run: 7, Route: route, UserAgent: testAgent, Operation: operation, Method: method, Path: path, BodyHash: body,
		Started: runStart.Add(at), Duration: took, Status: status,
	}
}

const (
	ms = time.Millisecond
	s  = time.Second
)

func TestViewRun_answers(t *testing.T) {
	t.Parallel()
	other := sent("listComputers", 0, 5*ms, 200, 0)
	other.UserAgent, other.Operation, other.Path = "curl/8.5.0", "", "/nothing"
	half, html := sent("listComputers", 0, 10*ms, 200, 0), sent("listComputers", s, 10*ms, 200, 0)
	half.Fault, html.Fault = "truncated-body", "non-json"
	for name, tc := range map[string]struct {
		entries []Entry
		counts  string
		answer  []string
	}{
		"one request": {
			[]Entry{sent("listComputers", 0, 12*ms, 200, 0)}, "1 read", []string{"12 ms, all of it in requests."},
		},
		"responses that nobody can read": {
			[]Entry{half, html, sent("listComputers", 3*s, 10*ms, 200, 0)}, "1 read",
			[]string{
				"3.0 s: 30 ms in requests, 3.0 s between them (longest pause 2.0 s, before listComputers).", "2 failures: 1 × 200 with HTML, 1 × 200 with half a body.",
				"For 3.0 s, a retry was waiting and no request was under way.",
			},
		},
		"a rate limit": {
			[]Entry{
				sent("listComputers", 0, 100*ms, 200, 0), sent("createComputer", s, 100*ms, 201, 1), sent("createComputer", s, 10*ms, 429, 2),
				sent("createComputer", 3*s, 100*ms, 429, 2), sent("createComputer", 38*s, 2*s, 201, 2),
			}, "2 creates, 1 read",
			[]string{
				"40.0 s: 2.3 s in requests, 37.7 s between them (longest pause 34.9 s, before createComputer).",
				"2 requests were rejected with 429 (rate limit).", "For 36.8 s, a retry was waiting and no request was under way.",
				"After a 429, the provider also sends at a lower rate for a while.",
			},
		},
		"others work while a retry waits": {
			[]Entry{sent("createComputer", 0, s, 429, 1), sent("createComputer", s, 9*s, 201, 2), sent("createComputer", 11*s, s, 201, 1)}, "2 creates",
			[]string{
				"12.0 s: 11.0 s in requests, 1.0 s between them (longest pause 1.0 s, before createComputer).", "1 request was rejected with 429 (rate limit).",
				"For 1.0 s, a retry was waiting and no request was under way.", "After a 429, the provider also sends at a lower rate for a while.",
			},
		},
		"failures": {
			[]Entry{
				sent("createComputer", 0, 10*ms, 503, 1), sent("createComputer", s, 10*ms, 0, 1), sent("createComputer", 2*s, 10*ms, 503, 1),
				sent("deleteComputer", 3*s, 10*ms, 409, 2),
			}, "",
			[]string{
				"3.0 s: 40 ms in requests, 3.0 s between them (longest pause 990 ms, before createComputer).", "4 failures: 2 × 503, 1 × 409, 1 × no response.",
				"For 2.0 s, a retry was waiting and no request was under way.",
			},
		},
		"waiting for a status": {
			[]Entry{sent("createComputer", 0, 500*ms, 201, 1), sent("getComputer", 5*s, 10*ms, 200, 9), sent("getComputer", 10*s, 10*ms, 200, 9)}, "1 create, 2 reads",
			[]string{
				"10.0 s: 520 ms in requests, 9.5 s between them (longest pause 5.0 s, before getComputer).",
				"For 5.0 s, the provider waited between repeated reads (getComputer).",
			},
		},
		"under way": {
			[]Entry{sent("listComputers", 0, 10*ms, 200, 0), sent("createComputer", 2*s, 0, 0, 1)}, "1 read",
			[]string{
				"1 min: 58.0 s in requests, 2.0 s between them (longest pause 2.0 s, before createComputer).",
			},
		},
		"another client": {[]Entry{other}, "1 read", []string{"5 ms, all of it in requests."}},
	} {
		r := viewRun(tc.entries, nil, runStart.Add(time.Minute), runLanes)
		if got := strings.Join(r.Counts, ", "); got != tc.counts {
			t.Errorf("%s: counts %q, want %q", name, got, tc.counts)
		}
		if !slices.Equal(r.Answer, tc.answer) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(r.Answer, "\n"), strings.Join(tc.answer, "\n"))
		}
	}
}

// A pause counts before a read that succeeded before, if no request was under way and no retry was waiting.
func TestAnswerOf_polls(t *testing.T) {
	t.Parallel()
	page := sent("listComputers", 6*s, ms, 200, 0)
	page.Query = "cursor=abc" // Or of other objects.
	curl := func(x Entry) Entry {
		x.UserAgent = "curl/8.5.0"
		return x
	}
	for name, tc := range map[string]struct {
		entries []Entry
		want    string
	}{
		"a change in between": {
			[]Entry{
				sent("createComputer", 0, s, 201, 1), sent("listComputers", s, s, 200, 0), sent("listComputers", 5*s, s, 200, 0), sent("createComputer", 6*s, s, 201, 2),
				sent("getComputer", 7*s, s, 200, 3), sent("getComputer", 10*s, s, 200, 3), sent("createComputer", 30*s, s, 201, 4),
			}, "For 5.0 s, the provider waited between repeated reads (listComputers, getComputer).",
		},
		"a request under way": {
			[]Entry{sent("listComputers", 0, s, 200, 0), sent("createComputer", s, 6*s, 201, 1), sent("listComputers", 3*s, s, 200, 0), sent("listComputers", 9*s, s, 200, 0)},
			"For 2.0 s, the provider waited between repeated reads (listComputers).",
		},
		"a retry waits": {
			[]Entry{
				sent("listComputers", 0, s, 200, 0), sent("listComputers", 3*s, s, 200, 0), sent("createComputer", 4*s, s, 429, 1), sent("listComputers", 8*s, s, 200, 0),
				sent("createComputer", 10*s, s, 201, 1),
			}, "For 2.0 s, the provider waited between repeated reads (listComputers).",
		},
		"the read is a retry": {[]Entry{sent("listComputers", 0, s, 200, 0), sent("listComputers", s, s, 503, 0), sent("listComputers", 9*s, s, 200, 0)}, ""},
		"the first read":      {[]Entry{sent("createComputer", 0, s, 201, 1), sent("listComputers", 5*s, s, 200, 0)}, ""},
		"it did not succeed":  {[]Entry{sent("getComputer", 0, s, 404, 1), sent("getComputer", 5*s, s, 200, 1)}, ""},
		"a change":            {[]Entry{sent("createComputer", 0, s, 201, 1), sent("createComputer", 5*s, s, 201, 1)}, ""},
		"another page":        {[]Entry{sent("listComputers", 0, s, 200, 0), page}, ""},
		"no time":             {[]Entry{sent("listComputers", 0, s, 200, 0), sent("listComputers", s+90*ms, s, 200, 0)}, ""},
		"another client": {
			[]Entry{curl(sent("listComputers", 0, s, 200, 0)), curl(sent("listComputers", 3*s, s, 200, 0))}, "For 2.0 s, the client waited between repeated reads (listComputers).",
		},
	} {
		var got string
		for _, sentence := range viewRun(tc.entries, nil, runStart.Add(time.Minute), runLanes).Answer {
			if strings.Contains(sentence, "repeated reads") {
				got += sentence
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// A retry repeats a request that failed, and nothing succeeded in between.
func TestSpansOf_retries(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		entries []Entry
		want    string // For each request, how long it waited for its retry; - is no retry.
	}{
		"429, and then success": {
			[]Entry{sent("createComputer", 0, s, 429, 1), sent("createComputer", 3*s, s, 201, 1), sent("createComputer", 5*s, s, 201, 1)}, "- 2s -",
		},
		"each attempt after the last one": {
			[]Entry{sent("createComputer", 0, s, 429, 1), sent("createComputer", 3*s, s, 503, 1), sent("createComputer", 9*s, s, 0, 1), sent("createComputer", 11*s, s, 201, 1)},
			"- 2s 5s 1s",
		},
		"another body":     {[]Entry{sent("createComputer", 0, s, 429, 1), sent("createComputer", 3*s, s, 201, 2)}, "- -"},
		"a refusal":        {[]Entry{sent("createComputer", 0, s, 409, 1), sent("createComputer", 3*s, s, 201, 1)}, "- -"},
		"at the same time": {[]Entry{sent("listComputers", 0, 5*s, 429, 0), sent("listComputers", s, s, 429, 0), sent("listComputers", 6*s, s, 200, 0)}, "- - 1s"},
		"before the other ended": {
			[]Entry{sent("listComputers", 0, s, 429, 0), sent("listComputers", 0, 9*s, 429, 0), sent("listComputers", 3*s, s, 200, 0)}, "- - 2s",
		},
		"under way": {[]Entry{sent("createComputer", 0, s, 429, 1), sent("createComputer", 3*s, 0, 0, 1)}, "- 2s"},
	} {
		var got []string
		for _, span := range spansOf(tc.entries, runStart.Add(time.Minute)) {
			wait := "-"
			if span.retry {
				wait = (span.from - span.waitedSince).String()
			}
			got = append(got, wait)
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", name, text, tc.want)
		}
	}
}

func TestViewRun_waterfall(t *testing.T) {
	t.Parallel()
	entries := []Entry{
		sent("listComputers", 0, 2*s, 200, 0), sent("createComputer", 2*s, s, 429, 1), sent("createComputer", 2*s, 2*s, 201, 2), sent("createComputer", 6*s, s, 201, 1),
		sent("listComputers", 7*s, 10*ms, 200, 0), sent("listComputers", 7*s+15*ms, 5*ms, 200, 0), sent("getComputer", 10*s, 0, 0, 3),
	}
	entries[1].Fault = "rate-limited"
	objects := map[string]Ref{"3": {"computers", "3", "web-1", false}}
	r := viewRun(entries, objects, runStart.Add(20*s), runLanes)
	var got []string
	for _, lane := range r.Lanes {
		got = append(got, fmt.Sprintf("%s, %s, %s, %v, %s%s", lane.Name, lane.Label, lane.Total, lane.Faults, lane.ID, lane.Object.Path()))
		for _, bar := range lane.Bars {
			got = append(got, fmt.Sprintf("  %s %s %s: %s", bar.Class, bar.Left, bar.Width, bar.Title))
		}
	}
	want := []string{
		"listComputers, 3 requests, 2.0 s, [], ",
		"  ok 0.00% 10.00%: 200, <1 ms after the start (12:00:00.000 UTC), took 2.0 s",
		"  ok 35.00% 0.25%: 2 requests: 2 × 200, 7.0 s after the start (12:00:07.000 UTC), took 20 ms",
		"createComputer, 3 requests, 1 rejected with 429, 4.0 s, [rate-limited], ",
		"  wait 15.00% 15.00%: Waiting for a retry for 3.0 s",
		"  ok 10.00% 10.00%: 201, 2.0 s after the start (12:00:02.000 UTC), took 2.0 s",
		"  ok 30.00% 5.00%: 201, 6.0 s after the start (12:00:06.000 UTC), took 1.0 s, a retry",
		"  rejected 10.00% 5.00%: 429, 2.0 s after the start (12:00:02.000 UTC), took 1.0 s, fault rate-limited",
		"getComputer, 1 request, 1 running, 10.0 s, [], 3/objects/computers/3",
		"  running 50.00% 50.00%: running, 10.0 s after the start (12:00:10.000 UTC), took 10.0 s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if ticks := fmt.Sprint(r.Ticks); ticks != "[5.0 s 10.0 s 15.0 s 20.0 s]" {
		t.Errorf("ticks: %s", ticks)
	}
	if r.Client != "CLI 1.16.4, provider 1.2.3" || r.Duration != "20.0 s" || r.Started.Age != "20.0 s ago" || r.Rejected != 1 || r.Failed != 0 {
		t.Errorf("run: %+v", r)
	}
	if l := r.Lanes[1]; l.Count != 3 || l.Rejected != 1 || l.Slowest != "2.0 s" {
		t.Errorf("lane: %+v", l)
	}
}

// What alternates has one bar of each kind, as long as nobody sees more.
func TestViewRun_mergesBars(t *testing.T) {
	t.Parallel()
	var entries []Entry
	for i := range 100 {
		entries = append(entries, sent("listComputers", time.Duration(i)*10*time.Microsecond, 5*time.Microsecond, 200+200*(i%2), 0))
	}
	entries = append(entries, sent("listComputers", time.Minute, s, 200, 0))
	r := viewRun(entries, nil, runStart, runLanes)
	var classes []string
	for _, bar := range r.Lanes[0].Bars {
		classes = append(classes, bar.Class)
	}
	if !slices.Equal(classes, []string{requestOK, requestOK, requestFailed}) {
		t.Errorf("bars: %v", classes)
	}
}

func TestShortDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "<1 ms", 999 * time.Microsecond: "<1 ms", 12 * ms: "12 ms", 1250 * ms: "1.2 s", 59*s + 940*ms: "59.9 s", 59*s + 960*ms: "1 min", 61 * s: "1 min 1 s",
		59*time.Minute + 59*s + 600*ms: "1 h", 90 * time.Minute: "1 h 30 min", 50 * time.Hour: "2 d 2 h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

func TestVerbOf(t *testing.T) {
	t.Parallel()
	for want, operations := range map[string]string{
		"create": "bulkCreateComputers createApiKey createEnvironmentBuild createFileDownload createWikiRun inviteMember",
		"delete": "revokeApiKey", "update": "rotateApiKey setGlobalUsageLimit restartComputer editCiWorkflow",
	} {
		for _, operation := range strings.Fields(operations) {
			if got := verbOf(&Entry{Operation: operation, Method: "POST"}); got != want {
				t.Errorf("%s: %s, want %s", operation, got, want)
			}
		}
	}
	if got := verbOf(&Entry{Method: "GET"}) + verbOf(&Entry{Method: "DELETE"}); got != "readdelete" {
		t.Error(got)
	}
}
