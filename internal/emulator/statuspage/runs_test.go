package statuspage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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
		Run: 7, Time: runStart.Add(at), Route: route, UserAgent: testAgent, Operation: operation, Method: method, Path: path, BodyHash: body,
		Started: runStart.Add(at), Duration: took, Status: status,
	}
}

const (
	ms = time.Millisecond
	s  = time.Second
)

// that did adds what a request did to a computer that is ready, or has failed, at a time after the start of the run.
func (x Entry) that(verb, name string, until time.Duration, failure string) Entry {
	x.Changes = append(slices.Clone(x.Changes), Change{verb, Ref{Kind: "computers", ID: "id-" + name, Name: name}, runStart.Add(until).UnixMilli(), 0, failure})
	return x
}

// at is the request with another operation and path.
func (x Entry) at(operation, path string) Entry {
	x.Operation, x.Path = operation, path
	return x
}

// by is the request of another client.
func (x Entry) by(agent string) Entry {
	x.UserAgent = agent
	return x
}

var objects = map[string]Row{"3": {Ref: Ref{"computers", "3", "web-1"}, Note: "Clone repositories: not found"}}

// because adds the service's words to a refusal, or to a success with refusals.
func (x Entry) because(words ...string) Entry {
	x.Refusals = words
	return x
}

// Whoever reads the page learns what failed, which objects are concerned, and why.
func TestViewRun_failures(t *testing.T) {
	t.Parallel()
	named := func(x Entry, name string) Entry {
		x.Named = name
		return x
	}
	bad := Change{Verb: "created", Ref: objects["3"].Ref, Failure: "provisioning failed"}
	made := sent("createComputer", 0, ms, 201, 9)
	made.Changes = []Change{bad}
	entries := []Entry{
		named(sent("createComputer", 0, ms, 400, 1), "a").because("No."), named(sent("createComputer", 0, ms, 400, 2), "b").because("No."),
		named(sent("createComputer", 0, ms, 400, 3), "c").because("No."), named(sent("createComputer", 0, ms, 400, 4), "d").because("No."),
		sent("deleteComputer", 0, ms, 409, 3).because("In use."), sent("deleteComputer", 10*s, ms, 409, 3).because("In use."),
		named(sent("setUserUsageLimits", 0, ms, 200, 5), "x@y, z@y").because("x@y: no member", "z@y: no member"), sent("listComputers", 0, ms, 0, 6), made,
		named(sent("createComputer", 20*s, ms, 503, 10), "e"), named(sent("createComputer", 20*s, ms, 504, 11), "f"), named(sent("createComputer", 20*s, ms, 504, 12), "g"),
		sent("bulkCreateComputers", 30*s, ms, 201, 13).that("created", "h", 0, "").because("No slot."),
	}
	var got []string
	r := viewRun(entries, objects, runStart, runStart.Add(time.Hour), false, true)
	for _, f := range r.Failures {
		got = append(got, fmt.Sprintf("%s %v %d: %s", f.What, f.First(), f.Others(), f.Why))
	}
	want := []string{
		"createComputer [{  a} {  b} {  c}] 1: 400, No. Nothing was changed. Fix the cause, and apply again.",
		"deleteComputer [{computers 3 web-1}] 0: 409 (2 times), In use. Nothing was changed. Fix the cause, and apply again.",
		"setUserUsageLimits [{  x@y} {  z@y}] 0: refused (HTTP 200), no member. Fix the cause, and apply again.",
		"listComputers [] 0: no response",
		"createComputer [{  e}] 0: 503. It may or may not have been created: Terraform's output says what was found. Apply again.",
		"createComputer [{  f} {  g}] 0: 504. They may or may not have been created: Terraform's output says what was found. Apply again.",
		"bulkCreateComputers [] 0: partly refused (HTTP 201), No slot. Fix the cause, and apply again.",
		"Computer [{computers 3 web-1}] 0: provisioning failed, Clone repositories: not found. Fix the cause, and apply again. The plan says whether it is replaced.",
	}
	check.Is(t, "the rows", got, want)
	check.Is(t, "what failed", r.Failed, "4 × 400, 2 × 504, 2 × refused (HTTP 200), 1 × 409, 1 × 503, 1 × no response, 1 × partly refused (HTTP 201), 1 × provisioning failed")
	check.Is(t, "how many failed", r.FailedCount, 13)
	check.Is(t, "the second of the computer", r.Failures[1].Each[1], failing{objects["3"].Ref, "10.0 s after the start (12:00:10.000 UTC): 409, In use."})
}

// A run under way lasts until now, and the legend explains what its bars show.
func TestViewRun_connected(t *testing.T) {
	t.Parallel()
	r := viewRun([]Entry{sent("listComputers", 0, s, 200, 0)}, nil, runStart.Add(30*s), runStart, true, false)
	if r.Duration != "30.0 s" || r.Reason != "30.0 s, almost all of it in the client, without a request." || fmt.Sprint(r.Shows) != "map[ok:true own:true]" {
		t.Errorf("%s, %s, %v", r.Duration, r.Reason, r.Shows)
	}
}

func TestViewRun_says(t *testing.T) {
	t.Parallel()
	half, html := sent("listComputers", 0, 10*ms, 200, 0), sent("listComputers", s, 10*ms, 200, 0)
	half.Fault, html.Fault = "truncated-body", "non-json"
	list := func(at time.Duration) Entry { return sent("listComputers", at, 10*ms, 200, 0) }
	create := func(at time.Duration, name string, until time.Duration) Entry {
		return sent("createComputer", at, 10*ms, 201, 1).that("created", name, until, "")
	}
	built := sent("updateEnvironment", 0, 10*ms, 200, 1)
	for i, name := range []string{"docs", "web", "api"} {
		built.Changes = append(built.Changes, Change{"updated", Ref{Kind: "environments", ID: name, Name: name}, runStart.UnixMilli(), 0, []string{"build failed", "", ""}[i]})
	}
	broken := sent("bulkCreateComputers", 0, 10*ms, 201, 2).that("created", "a", 0, "")
	for _, name := range []string{"b", "c", "d", "e"} {
		broken = broken.that("created", name, 0, "provisioning failed")
	}
	unfound, limit := sent("createSession", 0, 10*ms, 0, 1), sent("setGlobalUsageLimit", 0, 10*ms, 0, 2)
	unfound.Changes = []Change{{Verb: "created", Ref: Ref{Kind: "sessions", ID: "id-s", Name: "on a"}, Listed: runStart.Add(5 * s).UnixMilli()}}
	limit.Changes = []Change{{Verb: "set", Ref: Ref{Kind: "usage-limits", ID: "organization", Name: "of the organization"}}}
	keyed := sent("createApiKey", s, 10*ms, 0, 1)
	keyed.Changes = []Change{{Verb: "created", Ref: Ref{Kind: "api-keys", ID: "key_1", Name: "a of ci"}}}
	revoked := sent("revokeApiKey", 2*s, 10*ms, 204, 2).at("revokeApiKey", "/api-keys/key_1/revoke")
	revoked.Changes = []Change{{Verb: "revoked", Ref: keyed.Changes[0].Ref}}
	refused := func(at time.Duration) Entry {
		return sent("deleteComputer", at, 10*ms, 409, 2).because("It is in use.")
	}
	var eleven []Entry
	for i := range 10 {
		eleven = append(eleven, create(0, fmt.Sprint("c-", i), 9*s))
	}
	eleven = append(eleven, list(s), list(10*s), create(10*s+20*ms, "c-10", 19*s), list(11*s), list(20*s))
	restart := sent("restartComputer", 0, 10*ms, 200, 1).at("restartComputer", "/api/v0/computers/3")
	restart.Route = "/api/v0/computers/{computerId}"
	for name, tc := range map[string]struct {
		entries                 []Entry
		changes, reason, failed string
		recovered               string
	}{
		"one request": {[]Entry{sent("listComputers", 0, 12*ms, 200, 0)}, "Only reads", "", "", ""},
		"responses that nobody can read": {
			[]Entry{half, html, list(3 * s)}, "Only reads", "3.0 s, all of it waiting to retry failures.", "", "1 × 200 with HTML, recovered, 1 × 200 with half a body, recovered",
		},
		"a rate limit": {
			[]Entry{
				list(0), create(s, "a", 0), sent("createComputer", s, 10*ms, 429, 2), sent("createComputer", 3*s, 100*ms, 429, 2), create(8*s, "b", 0), sent("createComputer", 38*s, 2*s, 201, 2),
			}, "Created 2 computers", "40.0 s, mostly because of the rate limit (36.9 s). In requests: 2.1 s.", "", "",
		},
		"a slow client after a rate limit": {
			[]Entry{sent("createComputer", 0, 10*ms, 429, 1), sent("createComputer", 9*s, 10*ms, 201, 1), sent("createComputer", 11*s, 10*ms, 201, 2), sent("createComputer", 13*s, 10*ms, 201, 3)},
			"createComputer", "13.0 s, all of it because of the rate limit (9.0 s waiting after a 429, then sending more slowly).", "", "",
		},
		"a slow client in between": {
			[]Entry{
				sent("createComputer", 0, 10*ms, 429, 1), sent("createComputer", 2*s, 10*ms, 201, 1), sent("createComputer", 4*s, 10*ms, 201, 2), sent("createComputer", 4*s, 6*s, 201, 3),
			}, "createComputer", "10.0 s, mostly in requests (6.0 s). Rate limit: 4.0 s (2.0 s waiting after a 429, then sending more slowly).", "", "",
		},
		"mostly a slow client": {
			[]Entry{sent("createComputer", 0, 10*ms, 429, 1), sent("createComputer", 2*s, 10*ms, 201, 1), sent("createComputer", 4*s, s, 201, 2)},
			"createComputer", "5.0 s, mostly because of the rate limit (4.0 s: 2.0 s waiting after a 429, then sending more slowly). In requests: 1.0 s.", "", "",
		},
		"others work while a retry waits": {
			[]Entry{sent("createComputer", 0, s, 429, 1), sent("createComputer", s, 9*s, 201, 2), sent("createComputer", 11*s, s, 201, 1)},
			"createComputer", "12.0 s, mostly in requests (11.0 s). Rate limit: 1.0 s.", "", "",
		},
		"failures": {
			[]Entry{
				sent("createComputer", 0, 10*ms, 503, 1), sent("createComputer", s, 10*ms, 0, 1), sent("createComputer", 2*s, 10*ms, 503, 1), sent("deleteComputer", 3*s, 10*ms, 409, 2),
			}, "Nothing changed", "3.0 s, mostly waiting to retry failures (2.0 s). In the client, without a request: 990 ms.", "1 × 409, 1 × 503, 1 × no response", "",
		},
		"waiting for computers": {
			[]Entry{create(0, "ci-9", 6*s), create(0, "ci-10", 6*s), list(s), sent("createComputer", 2*s, 10*ms, 201, 1), list(5 * s), list(10 * s), list(14 * s)},
			"Created computers ci-9 to ci-10", "14.0 s, mostly waiting for 2 computers to become active (9.0 s). Waiting between repeated reads: 4.0 s. In the client, without a request: 990 ms.", "", "",
		},
		"nobody looks while a computer is set up": {
			[]Entry{create(0, "a", 6*s), list(10 * s)}, "Created computer a", "10.0 s, all of it in the client, without a request.", "", "",
		},
		"a limit while computers are set up": {
			[]Entry{create(0, "a", 9*s), list(s), sent("listComputers", 2*s, 10*ms, 429, 0), list(10 * s)},
			"Created computer a", "10.0 s, mostly because of the rate limit (8.0 s). Waiting for computer a to become active: 2.0 s.", "", "",
		},
		"numbers with zeros": {[]Entry{create(0, "ci-09", s), create(0, "ci-10", s)}, "Created 2 computers", "", "", ""},
		"failed builds":      {[]Entry{built, broken}, "Created 4 computers (provisioning failed) and 1 other computer · updated environment docs (build failed) and 2 other environments", "", "4 × provisioning failed, 1 × build failed", ""},
		"a lost key":         {[]Entry{keyed, revoked}, "revokeApiKey", "1.0 s, almost all of it in the client, without a request.", "", "1 lost response, recovered"},
		"lost, and not found": {
			[]Entry{unfound, limit, sent("listSessions", s, 10*ms, 200, 0), sent("listMembers", s, 10*ms, 200, 0).at("listMembers", "/api/v0/organization/users")},
			"Created session on a · set usage limit of the organization", "1.0 s, almost all of it in the client, without a request.", "2 lost responses", "",
		},
		"a lost computer": {
			[]Entry{sent("createComputer", 0, 10*ms, 0, 1).that("created", "a", 0, ""), list(20 * ms)}, "Created computer a", "", "", "1 lost response, found later",
		},
		"a new session": {
			[]Entry{sent("getSession", 0, 10*ms, 404, 3), sent("getSession", s, 10*ms, 200, 3)}, "Only reads", "1.0 s, almost all of it in the client, without a request.", "", "1 × 404",
		},
		"failed, and not there for long": {
			[]Entry{
				sent("createComputer", 0, 10*ms, 201, 1).that("created", "a", s, "provisioning failed").that("created", "b", 2*s, "").that("created", "c", 100*time.Hour, "not yet"),
				sent("deleteComputer", 20*ms, 10*ms, 204, 2).that("deleted", "b", 0, "").that("deleted", "x", 0, ""),
			}, "Created computer a (provisioning failed) and c · deleted computer x", "", "1 × provisioning failed", "",
		},
		"a refusal again and again": {
			[]Entry{refused(0), refused(10 * s), refused(20 * s), sent("deleteComputer", 30*s, 10*ms, 204, 2).that("deleted", "a", 0, "")},
			"Deleted computer a", "30.0 s, all of it repeating deleteComputer 2, refused 3 times: 409, It is in use.", "", "3 × 409, recovered",
		},
		"ten at a time": {eleven, "Created computers c-0 to c-10", "20.0 s, almost all of it waiting for 11 computers to become active, 10 at a time (raise -parallelism, or use a fleet).", "", ""},
		"a search": {
			[]Entry{sent("createComputer", 0, 10*ms, 503, 1), list(20 * ms), list(s), list(3 * s), list(7 * s), list(11 * s), list(15 * s)}, "Nothing changed",
			"15.0 s, mostly waiting between repeated reads (8.0 s). Looking for what a failed request may have created: 7.0 s.", "1 × 503", "",
		},
		"no search": {
			[]Entry{sent("createComputer", 0, 10*ms, 400, 1), list(20 * ms), list(s), sent("refreshComputer", s, 10*ms, 503, 2), list(3 * s)}, "Nothing changed",
			"3.0 s, mostly waiting between repeated reads (2.0 s). In the client, without a request: 980 ms.", "1 × 400, 1 × 503", "",
		},
		"no search of another client": {
			[]Entry{sent("createComputer", 0, 10*ms, 503, 1).by("curl"), list(20 * ms), list(s)}, "Nothing changed", "1.0 s, almost all of it waiting between repeated reads.", "1 × 503", "",
		},
		"what changes no object for good": {[]Entry{restart}, "Restarted computer web-1", "", "", ""},
		"under way": {
			[]Entry{list(0), sent("createComputer", 2*s, 0, 0, 1)}, "Nothing changed", "1 min, almost all of it in requests.", "", "",
		},
	} {
		r, changes := viewRun(tc.entries, objects, runStart.Add(time.Minute), runStart.Add(time.Minute), false, false), ""
		for _, part := range r.Changes {
			changes += part.String()
		}
		if changes != tc.changes || r.Reason != tc.reason || r.Failed != tc.failed || r.Recovered != tc.recovered {
			t.Errorf("%s: %q, %q, %q, %q\nwant %q, %q, %q, %q", name, changes, r.Reason, r.Failed, r.Recovered, tc.changes, tc.reason, tc.failed, tc.recovered)
		}
	}
}

// What is not ready yet is not said to be, and what failed so far comes first.
func TestViewRun_pending(t *testing.T) {
	t.Parallel()
	made := sent("createComputer", 0, ms, 201, 1).that("created", "c-1", s, "").that("created", "c-2", time.Hour, "").that("created", "c-3", time.Hour, "provisioning failed")
	built := sent("createEnvironment", 0, ms, 201, 1)
	built.Changes = []Change{{Verb: "created", Ref: Ref{Kind: "environments", ID: "e", Name: "app"}, Until: runStart.Add(time.Hour).UnixMilli()}}
	r := viewRun([]Entry{made, built, sent("createComputer", s, ms, 400, 2)}, nil, runStart.Add(time.Minute), runStart.Add(time.Minute), true, false)
	check.Is(t, "how many failed so far", r.FailedCount, 1)
	create := func(at time.Duration, name string, until time.Duration) Entry {
		return sent("createComputer", at, 0, 201, 1).that("created", name, until, "")
	}
	list := func(at time.Duration) Entry { return sent("listComputers", at, ms, 200, 0) }
	entries := []Entry{create(0, "c-5", 20*s), list(10 * s), list(20 * s), create(30*s, "c-4", time.Hour), list(40 * s), list(50 * s)}
	now := viewRun(entries, nil, runStart.Add(time.Minute), runStart.Add(time.Minute), true, false)
	check.Is(t, "the reason", now.Reason, "Now waiting for computer c-4 to become active (30.0 s). Before: 30.0 s, mostly waiting for computer c-5 to become active (20.0 s). In the client, without a request: 10.0 s.")
	entries = []Entry{create(0, "c-5", 20*s), create(0, "c-4", time.Hour), list(10 * s), list(20 * s), list(40 * s), list(50 * s)}
	now = viewRun(entries, nil, runStart.Add(time.Minute), runStart.Add(time.Minute), true, false)
	check.Says(t, now.Reason, "Now waiting for computer c-4 to become active (40.0 s).", "Before: 20.0 s, all of it waiting for computer c-5 to become active.")
	for _, tc := range []struct {
		first, then int
		says        string
	}{
		{10, 10, "10 computers to become active, 10 at a time (raise -parallelism, or use a fleet) (49.0 s). Before: 11.0 s,"}, {1, 10, "10 computers to become active, 10 at a time"},
		{0, 10, "10 computers to become active (49.0 s)"}, {10, 9, "9 computers to become active (49.0 s)"}, {11, 10, "10 computers to become active (49.0 s)"},
	} {
		entries = nil
		for i := range tc.first {
			entries = append(entries, create(0, fmt.Sprint("a", i), 10*s))
		}
		entries = append(entries, list(5*s), list(10*s))
		for i := range tc.then {
			entries = append(entries, create(11*s, fmt.Sprint("b", i), time.Hour))
		}
		now = viewRun(append(entries, list(40*s), list(50*s)), nil, runStart.Add(time.Minute), runStart.Add(time.Minute), true, false)
		check.Says(t, now.Reason, "Now waiting for "+tc.says)
	}
	check.Is(t, "the changes", fmt.Sprint(r.Changes), "[Created computers c-1 to c-3 (1 ready, 2 being provisioned)  and environment app (being built)]")
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
		check.Is(t, name, strings.Join(got, " "), tc.want)
	}
}

func TestViewRun_waterfall(t *testing.T) {
	t.Parallel()
	entries := []Entry{
		sent("listComputers", 0, 2*s, 200, 0), sent("createComputer", 2*s, s, 429, 1), sent("createComputer", 2*s, 2*s, 201, 2), sent("createComputer", 6*s, s, 201, 1),
		sent("listComputers", 7*s, 10*ms, 200, 0), sent("listComputers", 7*s+15*ms, 5*ms, 200, 0), sent("getComputer", 10*s, 0, 0, 3), sent("getComputer", 10*s, s, 200, 4),
	}
	entries[1].Fault = "rate-limited"
	r := viewRun(entries, objects, runStart.Add(20*s), runStart, false, false)
	var got []string
	for _, lane := range r.Lanes {
		got = append(got, fmt.Sprintf("%s, %s, %s, %v, %v", lane.Name, lane.Label, lane.Total, lane.Faults, lane.Objects))
		for _, bar := range lane.Bars {
			got = append(got, fmt.Sprintf("  %s %s %s: %s", bar.Class, bar.Left, bar.Width, bar.Title))
		}
	}
	want := []string{
		"In the client, without a request, 3.0 s, 3.0 s, [], []",
		"  own 35.05% 14.95%: 3.0 s",
		"Rate limit, 2.0 s, 2.0 s, [], []",
		"  wait 20.00% 10.00%: 2.0 s",
		"listComputers, 3 requests: 3 × 200, 2.0 s, [], []",
		"  ok 0.00% 10.00%: 200, <1 ms after the start (12:00:00.000 UTC), took 2.0 s",
		"  ok 35.00% 0.25%: 2 requests: 2 × 200, 7.0 s after the start (12:00:07.000 UTC), took 20 ms",
		"createComputer, 3 requests: 2 × 201, 1 × 429, 4.0 s, [rate-limited], []",
		"  wait 15.00% 15.00%: Waiting for a retry for 3.0 s",
		"  ok 10.00% 10.00%: 201, 2.0 s after the start (12:00:02.000 UTC), took 2.0 s",
		"  ok 30.00% 5.00%: 201, 6.0 s after the start (12:00:06.000 UTC), took 1.0 s, a retry",
		"  rejected 10.00% 5.00%: 429, 2.0 s after the start (12:00:02.000 UTC), took 1.0 s, fault rate-limited",
		"getComputer, 2 requests: 1 × 200, 1 × running, 11.0 s, [], [{computers 3 web-1} {  4}]",
		"  ok 50.00% 5.00%: 200, 10.0 s after the start (12:00:10.000 UTC), took 1.0 s",
		"  running 50.00% 50.00%: running, 10.0 s after the start (12:00:10.000 UTC), took 10.0 s",
	}
	check.Is(t, "the lanes", got, want)
	check.Is(t, "ticks", fmt.Sprint(r.Ticks), "[5.0 s 10.0 s 15.0 s 20.0 s]")
	if r.Client != "CLI 1.16.4, provider 1.2.3" || r.Duration != "20.0 s" || r.Started.Age != "20.0 s ago" || r.Rejected != 1 || r.Failed != "" {
		t.Errorf("run: %+v", r)
	}
	if l := r.Lanes[3]; l.Count != 3 || l.Rejected != 1 {
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
	r := viewRun(entries, nil, runStart, runStart, false, false)
	var classes []string
	for _, bar := range r.Lanes[1].Bars {
		classes = append(classes, bar.Class)
	}
	check.Is(t, "bars", classes, []string{requestOK, requestOK, requestRecovered})
}

func TestShortDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "<1 ms", 999 * time.Microsecond: "<1 ms", 12 * ms: "12 ms", 1250 * ms: "1.2 s", 59*s + 940*ms: "59.9 s", 59*s + 960*ms: "1 min", 61 * s: "1 min 1 s",
		59*time.Minute + 59*s + 600*ms: "1 h", 90 * time.Minute: "1 h 30 min", 50 * time.Hour: "2 d 2 h",
	} {
		check.Is(t, d.String(), Duration(d), want)
	}
}

// A limit has the ID of its member.
func TestPartsOf_linksTheLimit(t *testing.T) {
	t.Parallel()
	members := map[string]Row{"user_1": {Ref: Ref{"members", "user_1", "ada"}}}
	for verb, want := range map[string]string{"set": "/objects/usage-limits/user_1", "removed": ""} {
		check.Is(t, verb, partsOf("usage-limits", []*Change{{Verb: verb, Ref: Ref{"usage-limits", "user_1", "ada"}}}, members, 0)[0].Path, want)
	}
}
