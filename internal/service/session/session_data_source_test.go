package session_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// attributes contains the expected values of an object by attribute name.
type attributes map[string]knownvalue.Check

// talk is the create response of a session that was created outside Terraform.
type talk struct {
	ID        string `json:"sessionId"`
	CreatedAt int64
}

// emulatedLag is longer than a new or changed session takes to appear in every response.
const emulatedLag = 10 * time.Second

// makeTalk creates a session outside Terraform. If the clock can be moved, the session appears in every response.
func makeTalk(e *acctest.Env, computer string, settings map[string]any) talk {
	var made talk
	body := map[string]any{"computerId": computer}
	if settings != nil {
		body["sessionSettings"] = settings
	}
	e.API(http.MethodPost, sessionsRoute, body, &made)
	if e.Clock != nil {
		e.Clock.Advance(emulatedLag)
	}
	return made
}

// fullSettings has every setting. fullSettingsAre checks the attributes for it.
var (
	fullSettings = map[string]any{
		"model": "model-thinking", "reasoningEffort": "high", "interactionMode": "auto", "autonomyLevel": "low", "autonomyMode": "auto-low", "specModeModel": "model-light",
		"specModeReasoningEffort": "none", "providerLock": "generic-chat-completion-api", "providerLockTimestamp": "2026-02-01T00:00:00Z", "apiProviderLock": "api-a",
		"archivedAt": "2026-02-02T00:00:00Z", "setupProfileId": "profile-1", "compactionModel": "current-model", "compactionThresholdCheckEnabled": false,
		"toolExecutionMode": "script_only", "allowSubagentsInScripts": true,
		"enabledToolIds": []string{"b", "a"}, "disabledToolIds": []string{}, "restrictToolIds": []string{"c"},
		"tags":     []any{map[string]any{"name": "plain"}, map[string]any{"name": "rich", "metadata": map[string]string{"a": "1"}}},
		"worktree": map[string]any{"repoRoot": "/srv/app", "branch": "b", "lifecycle": "persistent", "path": "/srv/b", "parentWorktreePath": "/srv/a", "removedAt": "2026-02-03T00:00:00Z"},
	}
	// usualSettingsAre checks the settings that the organization sets for a new session.
	usualSettingsAre = knownvalue.ObjectExact(attributes{
		"model": exactly("model-standard"), "reasoning_effort": exactly("medium"), "interaction_mode": exactly("auto"), "autonomy_level": exactly("medium"), "autonomy_mode": nothing,
		"spec_mode_model": exactly("model-thinking"), "spec_mode_reasoning_effort": exactly("high"), "provider_lock": nothing, "provider_lock_timestamp": nothing, "api_provider_lock": nothing,
		"archived_at": nothing, "setup_profile_id": nothing, "compaction_model": nothing, "compaction_threshold_check_enabled": nothing, "tool_execution_mode": nothing,
		"allow_subagents_in_scripts": nothing, "enabled_tool_ids": nothing, "disabled_tool_ids": nothing, "restrict_tool_ids": nothing, "tags": nothing, "worktree": nothing,
	})
	nothing = knownvalue.Null()
)

// fullSettingsAre checks the attributes for fullSettings.
var fullSettingsAre = knownvalue.ObjectExact(attributes{
	"model": exactly("model-thinking"), "reasoning_effort": exactly("high"), "interaction_mode": exactly("auto"), "autonomy_level": exactly("low"), "autonomy_mode": exactly("auto-low"),
	"spec_mode_model": exactly("model-light"), "spec_mode_reasoning_effort": exactly("none"), "provider_lock": exactly("generic-chat-completion-api"),
	"provider_lock_timestamp": exactly("2026-02-01T00:00:00Z"), "api_provider_lock": exactly("api-a"), "archived_at": exactly("2026-02-02T00:00:00Z"),
	"setup_profile_id": exactly("profile-1"), "compaction_model": exactly("current-model"), "compaction_threshold_check_enabled": knownvalue.Bool(false),
	"tool_execution_mode": exactly("script_only"), "allow_subagents_in_scripts": knownvalue.Bool(true),
	"enabled_tool_ids": setOf("a", "b"), "disabled_tool_ids": setOf(), "restrict_tool_ids": setOf("c"),
	"tags": knownvalue.ListExact([]knownvalue.Check{
		knownvalue.ObjectExact(attributes{"name": exactly("plain"), "metadata": nothing}),
		knownvalue.ObjectExact(attributes{"name": exactly("rich"), "metadata": knownvalue.MapExact(attributes{"a": exactly("1")})}),
	}),
	"worktree": knownvalue.ObjectExact(attributes{
		"repo_root": exactly("/srv/app"), "branch": exactly("b"), "lifecycle": exactly("persistent"), "path": exactly("/srv/b"),
		"parent_worktree_path": exactly("/srv/a"), "removed_at": exactly("2026-02-03T00:00:00Z"),
	}),
})

func exactly(s string) knownvalue.Check { return knownvalue.StringExact(s) }

func setOf(items ...string) knownvalue.Check {
	checks := []knownvalue.Check{}
	for _, item := range items {
		checks = append(checks, exactly(item))
	}
	return knownvalue.SetExact(checks)
}

// atMillis checks a time that the service returns in milliseconds.
func atMillis(millis int64) knownvalue.Check {
	return exactly(time.UnixMilli(millis).UTC().Format(time.RFC3339Nano))
}

func reads(hcl string, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{Config: hcl, ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: checks}
}

func failsToRead(hcl, want string) resource.TestStep {
	return resource.TestStep{Config: hcl, PlanOnly: true, ExpectError: regexp.MustCompile(want)}
}

// shows checks attributes of an object.
func shows(address string, want attributes) []statecheck.StateCheck {
	var checks []statecheck.StateCheck
	for name, check := range want {
		checks = append(checks, statecheck.ExpectKnownValue(address, tfjsonpath.New(name), check))
	}
	return checks
}

// somebody adds a human and returns their API key.
func somebody(t *testing.T, e *acctest.Env, role string) string {
	t.Helper()
	return e.MemberKey(uuid.NewString()+"@people.example", role)
}

// whileItChanges lets an agent work in a session, and returns the expected values of a read after it.
func whileItChanges(t *testing.T, e *acctest.Env, s talk, computer string, settings knownvalue.Check) attributes {
	t.Helper()
	completed := s.CreatedAt + 7500
	err := e.ChangeSession(s.ID, emulator.SessionChange{
		Status: new("running"), Title: new("Fix the\nlogin"), MessageCount: new(int64(7)), ServiceCredits: new(12.5), ParentSessionID: new("parent-1"), CompletedAt: &completed,
	})
	acctest.Must(t, err)
	return attributes{
		"id": exactly(s.ID), "parent_session_id": exactly("parent-1"), "title": exactly("Fix the\nlogin"), "status": exactly("running"), "message_count": knownvalue.Int64Exact(7),
		"created_at": atMillis(s.CreatedAt), "updated_at": atMillis(e.Now().UnixMilli()), "completed_at": atMillis(completed), "computer_id": exactly(computer),
		"session_settings": settings, "service_credits": knownvalue.Float64Exact(12.5),
	}
}

func sessionByID(id, more string) string {
	return fmt.Sprintf("data \"agentyard_session\" \"x\" {\n  id = %q\n%s}\n", id, more)
}

// The result is the same if the service omits the settings when it returns a single session.
func TestAccSessionDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	const x = "data.agentyard_session.x"
	for _, settingsOnReads := range []bool{false, true} {
		t.Run(fmt.Sprint("settings on reads ", settingsOnReads), func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			e.SessionSettingsOnReads(settingsOnReads)
			computer := newComputer(e, "dev")
			full, least := makeTalk(e, computer, fullSettings), makeTalk(e, computer, nil)
			want := whileItChanges(t, e, full, computer, fullSettingsAre)
			onComputer := fmt.Sprintf("  computer_id = %q\n", computer)
			e.Journal().Reset()
			e.Run(t,
				reads(e.Config(sessionByID(full.ID, "")), shows(x, want)...),
				reads(e.Config(sessionByID(full.ID, onComputer)), shows(x, want)...),
				reads(e.Config(sessionByID(least.ID, "")), shows(x, attributes{
					"id": exactly(least.ID), "parent_session_id": nothing, "title": nothing, "status": exactly("idle"), "message_count": knownvalue.Int64Exact(0), "created_at": atMillis(least.CreatedAt),
					"updated_at": atMillis(least.CreatedAt), "completed_at": nothing, "computer_id": exactly(computer), "session_settings": usualSettingsAre, "service_credits": knownvalue.Float64Exact(0),
				})...),
			)
			if n := e.Journal().Count("listSessions"); (n == 0) != settingsOnReads {
				t.Errorf("%d listings were sent", n)
			}
		})
	}
}

// A session of another owner is in no list, so its settings are known only if a read by ID returns them.
func TestAccSessionDataSource_ofSomebodyElse(t *testing.T) {
	t.Parallel()
	const x = "data.agentyard_session.x"
	e := acctest.New(t)
	mine := makeTalk(e, newComputer(e, "dev"), nil)
	manager, user := somebody(t, e, emulator.RoleManager), somebody(t, e, emulator.RoleUser)
	hcl := sessionByID(mine.ID, "")
	e.Run(t, reads(acctest.ConfigAt(e.URL(), manager, hcl), shows(x, attributes{"status": exactly("idle"), "session_settings": nothing})...))
	e.SessionSettingsOnReads(true)
	e.Run(t,
		reads(acctest.ConfigAt(e.URL(), manager, hcl), shows(x, attributes{"session_settings": usualSettingsAre})...),
		failsToRead(acctest.ConfigAt(e.URL(), user, hcl), `Cannot read session(.|\n)*getSession(.|\n)*403(.|\n)*the\s+API\s+key\s+of\s+the\s+session's\s+owner`),
	)
}

const missing = "5ab8c2f0-6f0e-4b5a-9d66-2f7f3c1e9a10"

func TestSessionDataSource_errors(t *testing.T) {
	t.Parallel()
	const cannot, notFound = "Cannot read session", "Session Not Found"
	e := acctest.New(t)
	there := newComputer(e, "there")
	s := makeTalk(e, newComputer(e, "here"), nil)
	fails := func(settings, config acctest.Values, at string, want ...string) {
		t.Helper()
		_, out := acctest.NewProcess(t, e, settings).ReadData("agentyard_session", config)
		out.MustFail(t, at, want...)
	}
	on := func(computer string) acctest.Values {
		return acctest.Values{"id": s.ID, "computer_id": computer}
	}
	fails(nil, acctest.Values{"id": missing}, "id", notFound, missing+"\" was not found. Check the ID. If the session was just created, try again in a few minutes.")
	fails(nil, on(there), "computer_id", "Session on Another Computer", "Correct computer_id, or omit it")
	fails(nil, on(missing), "computer_id", "Session on Another Computer")
	fails(nil, acctest.Values{"id": ""}, "id", "id must not be blank")
	fails(nil, acctest.Values{"id": " "}, "id", "id must not be blank. Give the ID of a session")
	fails(nil, on(""), "computer_id", "computer_id must not be blank")
	fails(nil, on(" "), "computer_id", "computer_id must not be blank. Give the ID of a computer, or omit it")
	fails(nil, nil, "id", "required")
	fails(nil, acctest.Values{"id": ".."}, "", cannot, "cannot be part")
	fails(nil, acctest.Values{"id": s.ID + "/interrupt"}, "id", notFound)
	fails(nil, acctest.Values{"id": "%2e%2e?x=1#"}, "id", notFound)
	fails(acctest.Values{"api_key": "fk-wrong"}, acctest.Values{"id": s.ID}, "", cannot, "getSession", "401", "AGENTYARD_API_KEY")
	for want, fault := range map[string]emulator.Fault{
		"getSession|503":                         {Operation: "getSession", Kind: emulator.FaultStatusBeforeCommit, Status: 503},
		"listSessions|500":                       {Operation: "listSessions", Kind: emulator.FaultStatusBeforeCommit, Status: 500},
		"getSession|not in the service's format": {Operation: "getSession", Kind: emulator.FaultOtherServer, Status: 404},
		"getSession|another":                     {Operation: "getSession", Kind: emulator.FaultOtherResponse, Body: `{"sessionId":"another","status":"idle"}`},
		"getSession|the field status is missing": {Operation: "getSession", Kind: emulator.FaultOtherResponse, Body: `{"sessionId":"` + s.ID + `"}`},
	} {
		fault.Times = -1
		e.Faults().Add(fault)
		fails(nil, acctest.Values{"id": s.ID}, "", append(strings.Split(want, "|"), cannot)...)
		e.Faults().Clear()
	}
	e.AllowSessions(false)
	fails(nil, acctest.Values{"id": s.ID}, "", cannot, "403", "not enabled", "selected organizations")
	if n := e.Journal().Count("interruptSession"); n > 0 {
		t.Error("an ID reached another operation")
	}
}

// A new session does not appear in responses for 2 seconds.
func TestAccSessionDataSource_madeInTheSameApply(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.SessionListDelay = 2 * time.Second })
	hcl := e.Config(fmt.Sprintf(`
resource "agentyard_session" "new" {
  computer_id      = %q
  session_settings = { model = "model-light", tags = [{ name = "new" }] }
}
data "agentyard_session" "x" {
  id          = agentyard_session.new.id
  computer_id = agentyard_session.new.computer_id
}
data "agentyard_sessions" "x" {
  computer_id = agentyard_session.new.computer_id
  depends_on  = [data.agentyard_session.x]
}
`, newComputer(e, "dev")))
	settings := knownvalue.ObjectPartial(attributes{"model": exactly("model-light"), "tags": knownvalue.ListSizeExact(1), "spec_mode_model": exactly("model-thinking")})
	e.Run(t, reads(hcl, append(shows("data.agentyard_session.x", attributes{"status": exactly("idle"), "session_settings": settings, "service_credits": knownvalue.Float64Exact(0)}),
		shows("data.agentyard_sessions.x", attributes{"sessions": knownvalue.ListSizeExact(1)})...)...))
	e.WantRequests(t, "createSession", 1)
}

// Every session is read by ID for its credits. The settings of all sessions come from one list of their computer.
func TestAccSessionDataSource_sharesListings(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, atOnce, func(o *emulator.Options) { o.MaxPageSize = 0 })
	computer := newComputer(e, "dev")
	var ids []string
	for range 30 {
		ids = append(ids, makeTalk(e, computer, nil).ID)
	}
	encoded, err := json.Marshal(ids)
	acctest.Must(t, err)
	cli := acctest.NewCLI(t, e, fmt.Sprintf(`
data "agentyard_session" "x" {
  for_each = toset(%s)
  id       = each.value
}
output "models" {
  value = join(" ", distinct([for s in data.agentyard_session.x : s.session_settings.model]))
}
`, encoded))
	e.Journal().Reset()
	acctest.Says(t, cli.MustRun("plan", "-input=false").Output, `models = "model-standard"`)
	if singles, listings, all := e.Journal().Count("getSession"), e.Journal().Count("listSessions"), len(e.Journal().Entries()); singles != 30 || listings != 1 || all != 31 {
		t.Errorf("%d reads, %d listings, %d requests", singles, listings, all)
	}
}
