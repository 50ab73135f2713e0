package session_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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

// fullSettings has every setting.
var fullSettings = map[string]any{
	"model": "model-thinking", "reasoningEffort": "high", "interactionMode": "auto", "autonomyLevel": "low", "autonomyMode": "auto-low", "specModeModel": "model-light",
	"specModeReasoningEffort": "none", "providerLock": "generic-chat-completion-api", "providerLockTimestamp": "2026-02-01T00:00:00Z", "apiProviderLock": "api-a",
	"archivedAt": "2026-02-02T00:00:00Z", "setupProfileId": "profile-1", "compactionModel": "current-model", "compactionThresholdCheckEnabled": false,
	"toolExecutionMode": "script_only", "allowSubagentsInScripts": true,
	"enabledToolIds": []string{"b", "a"}, "disabledToolIds": []string{}, "restrictToolIds": []string{"c"},
	"tags":     []any{map[string]any{"name": "plain"}, map[string]any{"name": "rich", "metadata": map[string]string{"a": "1"}}},
	"worktree": map[string]any{"repoRoot": "/srv/app", "branch": "b", "lifecycle": "persistent", "path": "/srv/b", "parentWorktreePath": "/srv/a", "removedAt": "2026-02-03T00:00:00Z"},
}

const (
	// usualSettingsAre are the settings that the organization sets for a new session.
	usualSettingsAre = `{"model":"model-standard","reasoning_effort":"medium","interaction_mode":"auto","autonomy_level":"medium","spec_mode_model":"model-thinking","spec_mode_reasoning_effort":"high"}`
	// fullSettingsAre are the attributes for fullSettings.
	fullSettingsAre = `{"model":"model-thinking","reasoning_effort":"high","interaction_mode":"auto","autonomy_level":"low","autonomy_mode":"auto-low",
		"spec_mode_model":"model-light","spec_mode_reasoning_effort":"none","provider_lock":"generic-chat-completion-api","provider_lock_timestamp":"2026-02-01T00:00:00Z",
		"api_provider_lock":"api-a","archived_at":"2026-02-02T00:00:00Z","setup_profile_id":"profile-1","compaction_model":"current-model","compaction_threshold_check_enabled":false,
		"tool_execution_mode":"script_only","allow_subagents_in_scripts":true,"enabled_tool_ids":["a","b"],"disabled_tool_ids":[],"restrict_tool_ids":["c"],
		"tags":[{"name":"plain"},{"name":"rich","metadata":{"a":"1"}}],
		"worktree":{"repo_root":"/srv/app","branch":"b","lifecycle":"persistent","path":"/srv/b","parent_worktree_path":"/srv/a","removed_at":"2026-02-03T00:00:00Z"}}`
)

// atMillis returns a time that the service returns in milliseconds.
func atMillis(millis int64) string { return time.UnixMilli(millis).UTC().Format(time.RFC3339Nano) }

func mustEqual(t *testing.T, got, want any) {
	t.Helper()
	if got, want := encoded(t, got), encoded(t, want); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// readSession reads the data source, and returns its attributes without nulls.
func readSession(t *testing.T, e *acctest.Env, settings, config acctest.Values) map[string]any {
	t.Helper()
	return withoutNulls(e.MustRead(t, settings, sessionType, config)).(map[string]any)
}

// somebody adds a human and returns their API key.
func somebody(t *testing.T, e *acctest.Env, role string) string {
	t.Helper()
	return e.MemberKey(uuid.NewString()+"@people.example", role)
}

// whileItChanges lets an agent work in a session that has fullSettings, and returns what is read after it.
func whileItChanges(t *testing.T, e *acctest.Env, s talk, computer string) map[string]any {
	t.Helper()
	completed := s.CreatedAt + 7500
	err := e.ChangeSession(s.ID, emulator.SessionChange{
		Status: new("running"), Title: new("Fix the\nlogin"), MessageCount: new(int64(7)), ServiceCredits: new(12.5), ParentSessionID: new("parent-1"), CompletedAt: &completed,
	})
	acctest.Must(t, err)
	return map[string]any{
		"id": s.ID, "parent_session_id": "parent-1", "title": "Fix the\nlogin", "status": "running", "message_count": 7, "created_at": atMillis(s.CreatedAt),
		"updated_at": atMillis(e.Now().UnixMilli()), "completed_at": atMillis(completed), "computer_id": computer, "session_settings": json.RawMessage(normalJSON(t, fullSettingsAre)),
		"service_credits": 12.5,
	}
}

// asCreated returns what is read of a new session.
func asCreated(t *testing.T, s talk, computer string) map[string]any {
	t.Helper()
	return map[string]any{
		"id": s.ID, "status": "idle", "message_count": 0, "created_at": atMillis(s.CreatedAt), "updated_at": atMillis(s.CreatedAt), "computer_id": computer,
		"session_settings": json.RawMessage(normalJSON(t, usualSettingsAre)), "service_credits": 0,
	}
}

// The result is the same if the service omits the settings when it returns a single session.
func TestSessionDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	for _, settingsOnReads := range []bool{false, true} {
		e := acctest.New(t)
		e.SessionSettingsOnReads(settingsOnReads)
		computer := newComputer(e, "dev")
		full, least := makeTalk(e, computer, fullSettings), makeTalk(e, computer, nil)
		want := whileItChanges(t, e, full, computer)
		e.Journal().Reset()
		mustEqual(t, readSession(t, e, nil, acctest.Values{"id": full.ID}), want)
		mustEqual(t, readSession(t, e, nil, acctest.Values{"id": full.ID, "computer_id": computer}), want)
		mustEqual(t, readSession(t, e, nil, acctest.Values{"id": least.ID}), asCreated(t, least, computer))
		if n := e.Journal().Count("listSessions"); (n == 0) != settingsOnReads {
			t.Errorf("%d listings were sent", n)
		}
	}
}

// A session of another owner is in no list, so its settings are known only if a read by ID returns them.
func TestSessionDataSource_ofSomebodyElse(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	mine := makeTalk(e, computer, nil)
	manager, want := acctest.Values{"api_key": somebody(t, e, emulator.RoleManager)}, asCreated(t, mine, computer)
	e.SessionSettingsOnReads(true)
	mustEqual(t, readSession(t, e, manager, acctest.Values{"id": mine.ID}), want)
	e.SessionSettingsOnReads(false)
	delete(want, "session_settings")
	mustEqual(t, readSession(t, e, manager, acctest.Values{"id": mine.ID}), want)
	user := acctest.Values{"api_key": somebody(t, e, emulator.RoleUser)}
	e.MustNotRead(t, user, sessionType, acctest.Values{"id": mine.ID}, "", "Cannot read session", "getSession", "403", "the API key of the session's owner")
}

const missing = "5ab8c2f0-6f0e-4b5a-9d66-2f7f3c1e9a10"

func TestSessionDataSource_errors(t *testing.T) {
	t.Parallel()
	const cannot, notFound = "Cannot read session", "Session Not Found"
	e := acctest.New(t)
	there := newComputer(e, "there")
	s := makeTalk(e, newComputer(e, "here"), nil)
	fails := func(config acctest.Values, at string, want ...string) {
		t.Helper()
		e.MustNotRead(t, nil, sessionType, config, at, want...)
	}
	on := func(computer string) acctest.Values {
		return acctest.Values{"id": s.ID, "computer_id": computer}
	}
	fails(acctest.Values{"id": missing}, "id", notFound, missing+"\" was not found. Check the ID. If the session was just created, try again in a few minutes.")
	fails(on(there), "computer_id", "Session on Another Computer", "Correct computer_id, or omit it")
	fails(acctest.Values{"id": " "}, "id", "id must not be blank. Give the ID of a session")
	fails(on(" "), "computer_id", "computer_id must not be blank. Give the ID of a computer, or omit it")
	fails(acctest.Values{"id": ".."}, "", cannot, "cannot be part")
	fails(acctest.Values{"id": s.ID + "/interrupt"}, "id", notFound)
	e.Faults().Add(emulator.Fault{Operation: "getSession", Kind: emulator.FaultOtherResponse, Body: `{"sessionId":"another","status":"idle"}`, Times: -1})
	fails(acctest.Values{"id": s.ID}, "", cannot, "getSession", "another")
	e.Faults().Clear()
	e.AllowSessions(false)
	fails(acctest.Values{"id": s.ID}, "", cannot, "403", "not enabled", "selected organizations")
	if n := e.Journal().Count("interruptSession"); n > 0 {
		t.Error("an ID reached another operation")
	}
}
