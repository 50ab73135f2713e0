package emulator_test

import (
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
