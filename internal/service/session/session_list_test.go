package session_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func sessionList(name, arguments, config string) string {
	return fmt.Sprintf("list \"agentyard_session\" %q {\n  provider = agentyard\n%s\n  config {\n%s\n  }\n}\n", name, arguments, config)
}

func TestAccSessionList(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	here, there := newComputer(e, "here"), newComputer(e, "there")
	full, least, other := makeTalk(e, here, fullSettings), makeTalk(e, here, nil), makeTalk(e, there, nil)
	want := whileItChanges(t, e, full, here, fullSettingsAre)
	e.Clock.Advance(emulatedLag)
	for _, name := range []string{"cwd", "system_prompt", "system_prompt_append"} {
		want[name] = nothing
	}

	identity := func(s talk, computer string) map[string]knownvalue.Check {
		return attributes{"id": exactly(s.ID), "computer_id": exactly(computer)}
	}
	on := func(list string) string { return "agentyard_session." + list }
	named := func(list string, s talk, computer, name string) querycheck.QueryResultCheck {
		return querycheck.ExpectResourceDisplayName(on(list), queryfilter.ByResourceIdentity(identity(s, computer)), exactly(name))
	}
	var whole []querycheck.KnownValueCheck
	delete(want, "updated_at") // The resource does not have these two.
	delete(want, "service_credits")
	for name, check := range want {
		whole = append(whole, querycheck.KnownValueCheck{Path: tfjsonpath.New(name), KnownValue: check})
	}
	e.Journal().Reset()
	e.Run(t, resource.TestStep{
		Query: true,
		Config: e.Config(sessionList("plain", "", "") + sessionList("all", "include_resource = true", "") + sessionList("two", "limit = 2", "") +
			sessionList("here", "", fmt.Sprintf("computer_id = %q", here))),
		QueryResultChecks: []querycheck.QueryResultCheck{
			querycheck.ExpectLength(on("plain"), 3), querycheck.ExpectLength(on("all"), 3), querycheck.ExpectLength(on("two"), 2), querycheck.ExpectLength(on("here"), 2),
			querycheck.ExpectIdentity(on("plain"), identity(other, there)), querycheck.ExpectNoIdentity(on("here"), identity(other, there)), querycheck.ExpectNoIdentity(on("two"), identity(full, here)),
			named("plain", full, here, "Fix the\nlogin"), named("all", full, here, "Fix the\nlogin"), named("all", least, here, least.ID), named("here", least, here, least.ID),
			querycheck.ExpectResourceKnownValues(on("all"), queryfilter.ByResourceIdentity(identity(full, here)), whole),
			querycheck.ExpectResourceKnownValues(on("all"), queryfilter.ByResourceIdentity(identity(least, here)), []querycheck.KnownValueCheck{
				{Path: tfjsonpath.New("session_settings"), KnownValue: usualSettingsAre}, {Path: tfjsonpath.New("title"), KnownValue: nothing},
			}),
		},
	})
	if n := len(e.Journal().Entries()); n != e.Journal().Count("listSessions") {
		t.Errorf("a query sent more than listings: %+v", e.Journal().Entries())
	}
}

// A query requests no more pages than its limit needs, and lists of the same sessions share pages.
func TestAccSessionList_requests(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.NewRealTime(t, atOnce, func(o *emulator.Options) { o.MaxPageSize = 10 })
	computer := newComputer(e, "dev")
	for range 35 {
		makeTalk(e, computer, nil)
	}
	cli := acctest.NewCLI(t, e, "")
	for _, tc := range []struct {
		lists string
		pages int
		limit string
	}{
		{sessionList("a", "limit = 1", ""), 1, "limit=1"},
		{sessionList("a", "limit = 10", ""), 1, "limit=10"},
		{sessionList("a", "limit = 21", ""), 3, "limit=21"},
		{sessionList("a", "limit = 1000", ""), 4, "limit=100"},
		{sessionList("a", "", "") + sessionList("b", "include_resource = true", "") + sessionList("c", "limit = 500", ""), 4, "limit=100"},
		{sessionList("a", "limit = 5", "") + sessionList("b", "limit = 5", fmt.Sprintf("computer_id = %q", computer)), 2, "limit=5"},
	} {
		cli.Write("sessions.tfquery.hcl", tc.lists)
		e.Journal().Reset()
		cli.MustRun("query")
		entries := e.Journal().Entries()
		for _, entry := range entries {
			if entry.Operation != "listSessions" || !slices.Contains(strings.Split(entry.Query, "&"), tc.limit) {
				t.Errorf("%s: %s?%s was sent", tc.lists, entry.Operation, entry.Query)
			}
		}
		if len(entries) != tc.pages {
			t.Errorf("%s: %d pages were read, want %d", tc.lists, len(entries), tc.pages)
		}
	}
}

func TestAccSessionList_errors(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	for range 3 {
		makeTalk(e, computer, nil)
	}
	query := func(config, want string) resource.TestStep {
		return resource.TestStep{Query: true, Config: config, ExpectError: regexp.MustCompile(want)}
	}
	e.Run(t,
		query(e.Config(sessionList("x", "", `computer_id = ""`)), `must not be blank`),
		query(e.Config(sessionList("x", "", `computer_id = " "`)), `must not be blank.\s+Set\s+the\s+ID\s+of\s+a\s+computer,\s+or\s+omit\s+it`),
		query(acctest.ConfigAt(e.URL(), "fk-wrong", sessionList("x", "", "")), `Cannot list sessions(.|\n)*401`),
	)
	e.Faults().Add(emulator.Fault{Operation: "listSessions", Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: 1, Times: -1})
	e.Run(t, query(e.Config(sessionList("x", "", "")), `Cannot list sessions(.|\n)*listSessions(.|\n)*500`))
	e.Faults().Clear()
	e.AllowSessions(false)
	e.Run(t, query(e.Config(sessionList("x", "", "")), `Cannot list sessions(.|\n)*403(.|\n)*selected\s+organizations`))
}

// generated runs a query with a file of lists, and returns the generated configuration.
func generated(t *testing.T, cli *acctest.CLI, lists string) string {
	t.Helper()
	cli.Write("sessions.tfquery.hcl", lists)
	cli.MustRun("query", "-generate-config-out=generated.tf")
	text, err := os.ReadFile(filepath.Join(cli.Dir, "generated.tf"))
	acctest.Must(t, err)
	return string(text)
}

// mustImportUnchanged plans and applies the import of a number of sessions, and fails the test if it changes any.
func mustImportUnchanged(t *testing.T, e *acctest.Env, cli *acctest.CLI, total int) {
	t.Helper()
	e.Journal().Reset()
	plan := cli.MustRun("plan", "-input=false", "-out=plan")
	acctest.Says(t, plan.Output, fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", total))
	cli.MustRun("apply", "-input=false", "plan")
	cli.MustPlanEmpty()
	for _, entry := range e.Journal().Entries() {
		if entry.Method != http.MethodGet {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
}

// The configuration that a query generates imports all existing sessions.
func TestAccSessionList_generatedConfigurationPlansClean(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	const total = 120
	e := acctest.NewRealTime(t, atOnce, func(o *emulator.Options) { o.MaxPageSize = 0 })
	computer, gone := newComputer(e, "dev"), newComputer(e, "gone")
	makeTalk(e, gone, fullSettings)
	for n := range total - 1 {
		var settings map[string]any
		switch n % 4 {
		case 1:
			settings = fullSettings
		case 2:
			settings = map[string]any{"autonomyMode": "spec", "tags": []any{}, "compactionModel": "custom:m", "worktree": map[string]any{"repoRoot": "/srv/${x}/%{y}"}}
		case 3:
			tag := map[string]any{"name": "a \"b\" ${c} %{d}\n", "metadata": map[string]string{"k \"x\"": "${v}", "": ""}}
			settings = map[string]any{"interactionMode": "agi", "tags": []any{tag, map[string]any{"name": "b", "metadata": map[string]string{}}}, "enabledToolIds": []string{"${t}"}}
		}
		s := makeTalk(e, computer, settings)
		if n%3 == 0 {
			if err := e.ChangeSession(s.ID, emulator.SessionChange{Title: new("Fix ${this} %{and}\n\"that\""), Status: new("running"), MessageCount: new(int64(n))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The service keeps the session of a deleted computer.
	e.API(http.MethodDelete, "/api/v0/computers/"+gone, nil, nil)
	cli := acctest.NewCLI(t, e, "")
	text := generated(t, cli, sessionList("all", "include_resource = true\n  limit = 1000", ""))
	if n := strings.Count(text, "resource \"agentyard_session\""); n != total {
		t.Fatalf("configuration of %d sessions was generated, want %d", n, total)
	}
	mustImportUnchanged(t, e, cli, total)
}

// Values from a later version of the service, which the contract does not contain, are generated unchanged. Without them, the
// configuration imports the session.
func TestAccSessionList_generatedWithUnknownValues(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.NewRealTime(t, atOnce)
	s := makeTalk(e, newComputer(e, "dev"), nil)
	var listing map[string]any
	e.API(http.MethodGet, sessionsRoute, nil, &listing)
	listing["sessions"].([]any)[0].(map[string]any)["sessionSettings"] = map[string]any{
		"model": "model-light", "reasoningEffort": "cosmic", "interactionMode": "swarm", "autonomyLevel": "boundless", "autonomyMode": "auto-low", "toolExecutionMode": "dreamt",
		"compactionModel": "", "setupProfileId": "", "tags": []any{map[string]any{"name": "odd", "metadata": map[string]any{"n": 1}}},
		"worktree": map[string]any{"repoRoot": "/srv/app", "lifecycle": "eternal", "branch": "", "new": true}, "new": map[string]any{"a": 1},
	}
	body, err := json.Marshal(listing)
	acctest.Must(t, err)
	e.Faults().Add(emulator.Fault{Operation: "listSessions", Kind: emulator.FaultOtherResponse, Body: string(body), Times: -1})
	cli := acctest.NewCLI(t, e, "")
	text := generated(t, cli, sessionList("all", "include_resource = true", ""))
	for _, want := range []string{`"cosmic"`, `"swarm"`, `"boundless"`, `"dreamt"`, `"eternal"`, s.ID} {
		acctest.Says(t, text, want)
	}
	if strings.Contains(text, "auto-low") {
		t.Errorf("the deprecated mode was generated: %s", text)
	}
	unknown := regexp.MustCompile(`(?m)^\s*\w+\s*=\s*"(cosmic|swarm|boundless|dreamt|eternal)"\n`)
	if r := cli.Run("validate"); r.ExitCode == 0 || strings.Count(r.Output, "Error: Invalid Value") != len(unknown.FindAllString(text, -1)) {
		t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
	}
	cli.Write("generated.tf", unknown.ReplaceAllString(text, ""))
	mustImportUnchanged(t, e, cli, 1)
}

// A session may have no computer, but a resource always has one: the configured computer is adopted.
func TestAccSessionList_onNoComputer(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.NewRealTime(t, atOnce)
	computer := newComputer(e, "dev")
	acctest.Must(t, e.ChangeSession(makeTalk(e, computer, nil).ID, emulator.SessionChange{ComputerID: new("")}))
	cli := acctest.NewCLI(t, e, "")
	text := generated(t, cli, sessionList("all", "include_resource = true", ""))
	argument := regexp.MustCompile(`(resource "agentyard_session" "all_0" {(?:.|\n)*?computer_id\s*=) null`)
	if !argument.MatchString(text) {
		t.Fatalf("generated: %s", text)
	}
	cli.Write("generated.tf", argument.ReplaceAllString(text, fmt.Sprintf("${1} %q", computer)))
	e.Journal().Reset()
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
	if n := e.Journal().Count("createSession") + e.Journal().Count("deleteSession"); n != 0 {
		t.Errorf("%d creations and deletions were sent", n)
	}
}
