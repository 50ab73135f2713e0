package emulator_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// TestFaultKinds creates a computer under each fault and looks at the response, at what was committed, and at the journal.
func TestFaultKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault     emulator.Fault
		broken    bool // The transport fails, or the body ends early.
		status    int
		retry     string
		body      string
		committed bool
	}{
		{fault: emulator.Fault{Kind: emulator.FaultStatusBeforeCommit}, status: 500},
		{fault: emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 503, RetryAfter: "7"}, status: 503, retry: "7"},
		{fault: emulator.Fault{Kind: emulator.FaultStatusAfterCommit, Status: 502}, status: 502, committed: true},
		{fault: emulator.Fault{Kind: emulator.FaultRateLimited}, status: 429, retry: "1"},
		{fault: emulator.Fault{Kind: emulator.FaultRateLimited, RetryAfter: "3"}, status: 429, retry: "3"},
		{fault: emulator.Fault{Kind: emulator.FaultDropBeforeCommit}, broken: true},
		{fault: emulator.Fault{Kind: emulator.FaultDropAfterCommit}, broken: true, committed: true},
		{fault: emulator.Fault{Kind: emulator.FaultTruncatedBody}, broken: true, status: 201, committed: true},
		{fault: emulator.Fault{Kind: emulator.FaultNonJSON}, status: 201, committed: true},
		{fault: emulator.Fault{Kind: emulator.FaultOtherResponse, Body: "{}"}, status: 200, body: "{}", committed: true},
		{fault: emulator.Fault{Kind: emulator.FaultOtherServer, Status: 404, Body: "<html>nothing here</html>"}, status: 404, body: "<html>nothing here</html>"},
		{fault: emulator.Fault{Kind: emulator.FaultCommitsLate}, broken: true, committed: true},
		{fault: emulator.Fault{Kind: emulator.FaultCommitsLate, Delay: time.Hour}, broken: true},
		{fault: emulator.Fault{Kind: emulator.FaultDelayAfterCommit, Delay: time.Millisecond}, status: 201, committed: true},
	} {
		t.Run(fmt.Sprint(c.fault.Kind, c.status, c.retry), func(t *testing.T) {
			v := startParallel(t)
			c.fault.Operation = "createComputer"
			v.Faults().Add(c.fault)
			v.call(200, "GET", "/api/v0/computers", nil) // Another operation is not hit.
			a, err := v.try(v.BootstrapKey(), "POST", "/api/v0/computers", object{"name": "a"})
			if (err != nil) != c.broken {
				t.Fatalf("error: %v", err)
			}
			if a.status != c.status {
				t.Fatalf("status %d, want %d", a.status, c.status)
			}
			if c.status != 0 && a.header.Get(emulator.FaultHeader) != string(c.fault.Kind) {
				t.Errorf("fault header: %q", a.header.Get(emulator.FaultHeader))
			}
			same(t, "Retry-After", a.header.Get("Retry-After"), c.retry)
			if c.fault.Kind == emulator.FaultNonJSON && (!bytes.Contains(a.raw, []byte("<html>")) || a.header.Get("Content-Type") == "application/json") {
				t.Errorf("body: %s", a.raw)
			}
			if c.fault.Kind == emulator.FaultTruncatedBody && !bytes.HasPrefix(a.raw, []byte(`{"id":`)) {
				t.Errorf("the first half of the body did not arrive: %q", a.raw)
			}
			if c.body != "" && (string(a.raw) != c.body || strings.HasPrefix(c.body, "{") != (a.header.Get("Content-Type") == "application/json")) {
				t.Errorf("body: %s (%s)", a.raw, a.header.Get("Content-Type"))
			}
			entries := v.Journal().Entries()
			if e := entries[1]; e.Operation != "createComputer" || e.Fault != string(c.fault.Kind) || e.Status != c.status {
				t.Errorf("journal: %+v", e)
			}
			same(t, "pending faults", len(v.Faults().Pending()), 0)
			want := http.StatusNotFound
			if c.committed {
				want = http.StatusOK
			}
			v.call(want, "GET", "/api/v0/computers/name/a", nil)
		})
	}
}

// A request that commits late is carried out once, before the first request after its time.
func TestFaultCommitsLate(t *testing.T) {
	v := startParallel(t)
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultCommitsLate, Delay: time.Minute})
	if _, err := v.try(v.BootstrapKey(), "POST", computers, object{"name": "a"}); err == nil {
		t.Error("there was an answer")
	}
	v.call(404, "GET", computers+"/name/a", nil)
	v.clock.Advance(time.Minute)
	v.call(200, "GET", computers+"/name/a", nil)
	same(t, "computers", len(v.call(200, "GET", computers, nil).object(t)["computers"].([]any)), 1)
}

func TestFaultSpoilsAnEmptyAnswer(t *testing.T) {
	t.Parallel()
	for _, kind := range []emulator.FaultKind{emulator.FaultTruncatedBody, emulator.FaultNonJSON} {
		v := start(t, emulator.Options{})
		id := v.call(201, "POST", "/api/v0/computers", object{"name": "a"}).object(t)["id"].(string)
		v.Faults().Add(emulator.Fault{Kind: kind})
		a, err := v.try(v.BootstrapKey(), "DELETE", "/api/v0/computers/"+id, nil)
		if a.status != 200 || (err != nil) != (kind == emulator.FaultTruncatedBody) {
			t.Errorf("%s: %d %v", kind, a.status, err)
		}
		v.call(404, "GET", "/api/v0/computers/"+id, nil)
	}
}

func TestFaultCounting(t *testing.T) {
	v := startParallel(t)
	v.Faults().Add(
		emulator.Fault{Operation: "listComputers", Kind: emulator.FaultStatusBeforeCommit, Status: 503, After: 1, Times: 2},
		emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 500, Match: "/providers", Times: -1},
	)
	for i, want := range []int{200, 503, 503, 200} {
		if a, err := v.try(v.BootstrapKey(), "GET", "/api/v0/computers", nil); err != nil || a.status != want {
			t.Errorf("request %d: %d %v, want %d", i+1, a.status, err, want)
		}
	}
	for range 3 {
		v.call(500, "GET", "/api/v0/computers/providers", nil)
	}
	if p := v.Faults().Pending(); len(p) != 1 || p[0].Times != -1 {
		t.Errorf("pending: %+v", p)
	}
	v.Faults().Clear()
	v.call(200, "GET", "/api/v0/computers/providers", nil)
}

func TestFaultNotFoundAfterCreate(t *testing.T) {
	v := startParallel(t)
	v.Faults().Add(emulator.Fault{Operation: "createComputer", Kind: emulator.FaultNotFoundAfterCreate, Reads: 2})
	created := v.call(201, "POST", "/api/v0/computers", object{"name": "a"})
	same(t, "fault header of the creation", created.header.Get(emulator.FaultHeader), "")
	path := "/api/v0/computers/" + created.object(t)["id"].(string)
	for range 2 {
		same(t, "fault header of the 404", v.call(404, "GET", path, nil).header.Get(emulator.FaultHeader), string(emulator.FaultNotFoundAfterCreate))
	}
	v.call(200, "GET", path, nil)
}

// A page that leads to itself is what a reader of all pages must not follow for ever.
func TestFaultRepeatedCursor(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{MaxPageSize: 1})
	v.join("a@people.example", "b@people.example")
	v.Faults().Add(emulator.Fault{Operation: "listMembers", Kind: emulator.FaultRepeatedCursor, Times: 2})
	get := func(query string, spoiled bool) (users, next any, more bool) {
		t.Helper()
		a := v.call(200, "GET", members+query, nil)
		same(t, query+": fault header", a.header.Get(emulator.FaultHeader) == string(emulator.FaultRepeatedCursor), spoiled)
		o := a.object(t)
		p := o["pagination"].(object)
		return o["users"], p["nextCursor"], p["hasMore"].(bool)
	}
	first, cursor, more := get("", false)
	if !more {
		t.Fatal("there is one page")
	}
	query := fmt.Sprintf("?cursor=%v", cursor)
	second, again, more := get(query, true)
	if again != cursor || !more || fmt.Sprint(second) == fmt.Sprint(first) {
		t.Errorf("second page: %v, more %t, cursor %v, want %v", second, more, again, cursor)
	}
	get(query, true)
	if _, third, _ := get(query, false); third == cursor {
		t.Errorf("after the fault: cursor %v", third)
	}
	// What is no page is left as it is, and what takes no cursor is not hit.
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultRepeatedCursor})
	v.detail(v.call(400, "GET", members+"?cursor=x", nil), "not a cursor")
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultRepeatedCursor})
	v.call(200, "GET", computers, nil)
	same(t, "pending", len(v.Faults().Pending()), 1)
}

// Analytics has a form of paging of its own.
func TestFaultRepeatedCursorOfAnalytics(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{Wrap: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"data":[],"meta":{"org_id":"org_1","start_date":"2026-04-01","end_date":"2026-04-01","has_more":false,"next_cursor":null}}`))
		})
	}})
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultRepeatedCursor})
	same(t, "answer", v.call(200, "GET", "/api/v1/analytics/users?startDate=2026-04-01&endDate=2026-04-01&cursor=user_1", nil).object(t), object{
		"data": []any{}, "meta": object{"org_id": "org_1", "start_date": "2026-04-01", "end_date": "2026-04-01", "has_more": true, "next_cursor": "user_1"},
	})
}

func TestFaultThatMakesNoSense(t *testing.T) {
	v := startParallel(t)
	for want, f := range map[string]emulator.Fault{
		"kind":       {Kind: "explode"},
		"status 200": {Kind: emulator.FaultStatusAfterCommit, Status: 200},
	} {
		v.Faults().Add(f)
		v.detail(v.call(500, "GET", "/api/v0/computers", nil), want)
	}
}
