package emulator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestControlAPI(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleOwner)
	for _, key := range []string{"", "fk-wrong", user} {
		v.as(key, 401, "GET", "/_emulator/journal", nil)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.URL()+"/_emulator/journal", nil)
	check.Must(t, err)
	req.Header.Set("Authorization", "Basic Bearer "+v.BootstrapKey())
	other, err := do(req)
	check.Must(t, err)
	same(t, "status for another scheme", other.status, 401)

	fault := object{"operation": "createComputer", "kind": "status-before-commit", "status": 503, "retryAfter": "2", "times": 1, "delayMs": 5}
	v.call(201, "POST", "/_emulator/faults", fault)
	if p := v.Faults().Pending(); len(p) != 1 || p[0].Status != 503 || p[0].Delay != 5*time.Millisecond {
		t.Errorf("pending: %+v", p)
	}
	if got := v.call(200, "GET", "/_emulator/faults", nil).object(t)["faults"].([]any); fmt.Sprint(got[0]) != fmt.Sprint(object{
		"operation": "createComputer", "kind": "status-before-commit", "status": 503, "retryAfter": "2", "times": 1, "delayMs": 5,
	}) {
		t.Errorf("faults: %v", got)
	}
	v.call(503, "POST", computers, object{"name": "a"})
	h := v.call(201, "POST", "/_emulator/humans", object{"email": "new@people.example", "role": "user"}).object(t)
	v.as(h["key"].(string), 200, "GET", computers, nil)
	entries := v.call(200, "GET", "/_emulator/journal", nil).object(t)["entries"].([]any)
	first := entries[0].(object)
	if first["operation"] != "createComputer" || first["status"] != 503.0 || first["fault"] != "status-before-commit" || first["durationMs"] == nil {
		t.Errorf("first entry: %v", first)
	}
	same(t, "the control API shows", len(v.Journal().Entries()), len(entries))
}

func TestControlClock(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{DataFile: dataFile(t)})
	began := v.clock.Now()
	show := func(v *env, ahead time.Duration) {
		t.Helper()
		got := v.call(200, "GET", "/_emulator/clock", nil)
		want := began.Add(ahead)
		if o := got.object(t); o["time"] != want.Format(time.RFC3339) || o["ahead"] != ahead.String() || got.header.Get("Date") != want.Format(http.TimeFormat) {
			t.Errorf("%v with Date %s, want %v", o, got.header.Get("Date"), want)
		}
		if text, err := os.ReadFile(v.ClockFile()); err != nil || string(text) != ahead.String() {
			t.Errorf("the clock file says %q (%v), want %s", text, err, ahead)
		}
	}
	show(v, 0)
	same(t, "after 36 hours", v.call(200, "POST", "/_emulator/clock", object{"advance": "1d12h"}).object(t)["ahead"], "36h0m0s")
	show(v, 36*time.Hour)
	v.call(200, "POST", "/_emulator/clock", object{"to": began.Add(48 * time.Hour).Format(time.RFC3339)})
	show(v, 48*time.Hour)

	for _, tc := range []refusal{
		{object{}, `Give either "advance"`},
		{object{"advance": "soon"}, "a number with a unit"},
		{object{"advance": "-1s"}, "never goes back"},
		{object{"to": "tomorrow"}, "RFC 3339"},
		{object{"to": began.Add(47 * time.Hour).Format(time.RFC3339)}, "never goes back, and \"to\" is before the current time " + began.Add(48*time.Hour).Format(time.RFC3339)},
		{object{"to": "2300-01-01T00:00:00Z"}, "at most 36500 days ahead"},
		{object{"advance": "36499d"}, "36500 days ahead; it is already ahead by 48h0m0s"},
	} {
		v.detail(v.call(400, "POST", "/_emulator/clock", tc.body), tc.want)
	}
	show(v, 48*time.Hour)

	show(v.restart(), 48*time.Hour)
}

// TestRestartAndReset has the objects and the switches.
func TestControlReset(t *testing.T) {
	t.Parallel()
	v := startFiles(t)
	_, accountKey := v.account("robots")
	_, human := v.human(emulator.RoleOwner)
	url, fields := v.begin("notes.txt", object{"sizeBytes": 4})
	v.upload(204, url, fields, strings.NewReader("text"), nil)
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultDropBeforeCommit, Operation: "listComputers"})
	v.FailProvisioning(emulator.FailStep{Name: "a", Times: -1})
	v.FailBulkAfter(1, "full")
	v.call(200, "POST", "/_emulator/clock", object{"advance": "1d"})
	v.as(human, 401, "POST", "/_emulator/reset", nil)

	v.call(204, "POST", "/_emulator/reset", nil)
	same(t, "requests in the journal", len(v.Journal().Entries()), 0)
	v.noObjects()
	for _, key := range []string{human, accountKey} {
		v.as(key, 401, "GET", computers, nil)
	}
	same(t, "computers", v.names(v.BootstrapKey(), ""), "")
	same(t, "the clock is ahead by", v.call(200, "GET", "/_emulator/clock", nil).object(t)["ahead"], "24h0m0s")
	v.env.computer(object{"name": "a"}) // The name is free again, and nothing fails as it was programmed to.
	same(t, "error of the bulk creation", v.call(201, "POST", computers+"/bulk", object{"quantity": 2, "namePrefix": "c"}).object(t)["error"], nil)
	v.clock.Advance(time.Minute)
	same(t, "steps", v.steps("a"), "active ccccc")
}

// What the Go functions refuse is a 400 with their words, and so is a field that none of them has. TestControlREADME carries out each operation.
func TestControl_refuses(t *testing.T) {
	v := startParallel(t)
	check.Must(t, v.Invite("pending@people.example", ""))
	byom := v.computer(object{"name": "a", "provider": "byom"})["id"].(string)
	for _, c := range []struct {
		path string
		body any
		want string
	}{
		{"faults", object{"kind": "explode"}, `"explode" does not exist`},
		{"faults", object{"kind": "non-json", "operation": "none"}, `"none" does not exist`},
		{"faults", object{"colour": 1}, "unknown field"},
		{"tier", object{"tier": 3}, "tier must not be a JSON number."},
		{"tier", nil, "needs a JSON body"},
		{"provisioning-failures", object{"step": "none"}, `"none" does not exist`},
		{"computers/" + uuidA + "/daemon-down", nil, "does not exist"},
		{"humans", object{"email": "manager@agentyard.example"}, "already exists"},
		{"build-failures", object{"phase": "queued"}, `"queued" is not building or validating`},
		{"build-failures", object{"category": "weather"}, "source-resolution, provider"},
		{"source-providers/provider-c/available", nil, "provider-c does not exist"},
		{"default-environment", object{"environmentId": "env_none"}, "no environment env_none"},
		{"default-environment", object{"environmentId": v.environment(object{"scope": "user"})}, ""},
		{"environments/env_none/build", nil, ""},
		{"invitations", object{"email": "pending@people.example"}, "pending"},
		{"enterprise-controls", object{"email": "manager@agentyard.example"}, "must not be empty"},
		{"seats", object{"seats": -1}, "-1 is negative"},
		{"tier", object{"tier": "gold"}, "not free, team, or enterprise"},
		{"quiet-days", object{"date": "2026-02-30"}, "must be a date"},
		{"repositories", object{"url": "acme/new"}, "must have the form https://host/owner/name"},
		{"ci/merge", object{"repoFullName": "acme/api", "filePath": reviewFile}, "no open pull request"},
	} {
		v.detail(v.call(400, "POST", "/_emulator/"+c.path, c.body), c.want)
		v.as("", 401, "POST", "/_emulator/"+c.path, c.body)
	}
	v.call(400, "DELETE", "/_emulator/computers/"+uuidA, nil)
	v.call(400, "DELETE", "/_emulator/repositories?url=https%3A%2F%2Fcode.example%2Facme%2Fnone", nil)
	for _, path := range []string{"nothing", "computers/" + byom + "/explode", "source-providers/provider-a/away"} {
		v.detail(v.call(404, "POST", "/_emulator/"+path, nil), "no operation")
	}
}

// The README's commands work from top to bottom, the second block with the IDs of objects.
func TestControlREADME(t *testing.T) {
	v := startParallel(t)
	readme, err := os.ReadFile("README.md")
	check.Must(t, err)
	_, section, _ := strings.Cut(string(readme), "\n    api() {")
	_, section, _ = strings.Cut(section, "\n")
	section, _, _ = strings.Cut(section, "\n**Builds.**")
	first, second, found := strings.Cut(section, "\nThe other operations change one object.")
	if !found {
		t.Fatal("the README has no second block")
	}
	runs := func(block string, variables ...string) {
		t.Helper()
		var script strings.Builder
		script.WriteString("api() { printf '%s\\n' \"$1\" \"$2\" \"${3-}\"; }\n")
		for line := range strings.Lines(block) {
			if command, found := strings.CutPrefix(line, "    "); found {
				script.WriteString(command)
			}
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script.String())
		cmd.Env = append(os.Environ(), variables...)
		out, err := cmd.Output()
		check.Must(t, err)
		fields := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(fields) < 30 || len(fields)%3 != 0 {
			t.Fatalf("the commands are %q", fields)
		}
		for ; len(fields) > 0; fields = fields[3:] {
			var body any
			if fields[2] != "" {
				check.Must(t, json.Unmarshal([]byte(fields[2]), &body))
			}
			got, err := v.try(v.BootstrapKey(), fields[0], "/_emulator/"+fields[1], body)
			check.Must(t, err)
			if got.status >= 300 {
				t.Errorf("%s: %d %s", fields[:3], got.status, got.raw)
			}
		}
	}

	runs(first)
	box := v.computer(object{"name": "box"})["id"].(string)
	dev := v.ready(nil)
	v.opens(ciBody("create", ciTarget("acme/web", ".github/workflows/agent-nightly.yml")), "https://code.example/acme/web/pull/1")
	runs(second, "COMPUTER_ID="+box, "ENVIRONMENT_ID="+dev, "SESSION_ID="+v.session(object{"computerId": box, "sessionSettings": object{}}),
		"WIKI_RUN_ID="+v.wikiRun("https://code.example/acme/api", nil)["wikiRunId"].(string))
}

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
