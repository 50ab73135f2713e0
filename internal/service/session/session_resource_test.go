package session_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	sessionType   = "agentyard_session"
	sessionsRoute = "/api/v0/sessions"
)

// newComputer registers a computer outside Terraform, which is active immediately, and returns its ID.
func newComputer(e *acctest.Env, name string) string {
	var made struct{ ID string }
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": name, "provider": "byom", "hostId": uuid.NewString()}, &made)
	return made.ID
}

// newManagedComputer creates a managed computer and lets it become active.
func newManagedComputer(e *acctest.Env, name string) string {
	var made struct{ ID string }
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": name}, &made)
	e.Clock.Advance(10 * time.Minute)
	return made.ID
}

// newSession creates a session outside Terraform, waits until it appears in every response, and returns its ID.
func newSession(e *acctest.Env, computer string, settings map[string]any) string {
	id := newYoungSession(e, computer, settings)
	e.Clock.Advance(time.Hour)
	return id
}

func newYoungSession(e *acctest.Env, computer string, settings map[string]any) string {
	body := map[string]any{"computerId": computer}
	if settings != nil {
		body["sessionSettings"] = settings
	}
	var made struct{ SessionID string }
	e.API(http.MethodPost, sessionsRoute, body, &made)
	return made.SessionID
}

// patched updates settings of a session outside Terraform.
func patched(e *acctest.Env, id string, settings map[string]any) {
	e.API(http.MethodPatch, sessionsRoute+"/"+id, map[string]any{"sessionSettings": settings}, nil)
}

// changed simulates a change by the agent or by a user.
func changed(t *testing.T, e *acctest.Env, id string, change emulator.SessionChange) {
	t.Helper()
	acctest.Must(t, e.ChangeSession(id, change))
}

// idsOn returns the IDs of a computer's sessions that are not deleted, oldest first.
func idsOn(t testing.TB, e *acctest.Env, computer string) []string {
	t.Helper()
	all, err := e.Sessions()
	acctest.Must(t, err)
	var ids []string
	for _, s := range all {
		if s.ComputerID == computer {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// valuesOf returns a session with additional attributes.
func valuesOf(computer string, changes acctest.Values) acctest.Values {
	config := acctest.Values{"computer_id": computer}
	maps.Copy(config, changes)
	return config
}

func withSettings(computer string, settings map[string]any) acctest.Values {
	return valuesOf(computer, acctest.Values{"session_settings": settings})
}

// applied returns a session that was created by an apply and appears in every response.
func applied(t *testing.T, e *acctest.Env, config acctest.Values) *acctest.Instance {
	t.Helper()
	i := acctest.NewProcess(t, e, nil).NewInstance(sessionType)
	e.MustApply(t, i, config)
	e.Clock.Advance(time.Hour)
	return i
}

// mustPlan checks the action of a plan: "none" or another.
func mustPlan(t *testing.T, e *acctest.Env, i *acctest.Instance, config acctest.Values, action acctest.Action) acctest.Outcome {
	t.Helper()
	out := acctest.NewProcess(t, e, nil).Plan(i, config)
	out.MustDo(t, action)
	return out
}

// mustHaveSent checks what was sent since the previous call: methods and JSON with fields in any order.
func mustHaveSent(t *testing.T, bodies *acctest.Sent, want ...string) {
	t.Helper()
	taken := bodies.Take()
	same := slices.EqualFunc(taken, want, func(a, b string) bool {
		methodA, bodyA, _ := strings.Cut(a, " ")
		methodB, bodyB, _ := strings.Cut(b, " ")
		return methodA == methodB && sameJSON(t, bodyA, bodyB)
	})
	if !same {
		t.Errorf("sent %q, want %q", taken, want)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	return normalJSON(t, a) == normalJSON(t, b)
}

func normalJSON(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	encoded, err := json.Marshal(v)
	acctest.Must(t, err)
	return string(encoded)
}

// Everything that can be set is sent and stored, in a create and in an update. What is removed from the configuration is kept.
func TestSession_everySettingSetChangedAndRemoved(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	bodies := acctest.Sent{Path: sessionsRoute}
	e := acctest.New(t, bodies.Option)
	computer := newComputer(e, "dev")
	with := func(more settings) acctest.Values {
		config := valuesOf(computer, acctest.Values{"cwd": "/srv/app", "system_prompt_append": "Be brief."})
		if more != nil {
			config["session_settings"] = more
		}
		return config
	}
	first := settings{ // All that can be combined. autonomy_mode would conflict with two of them.
		"model": "model-light", "reasoning_effort": "low", "interaction_mode": "spec", "autonomy_level": "high", "spec_mode_model": "model-thinking", "spec_mode_reasoning_effort": "max",
		"provider_lock": "generic-chat-completion-api", "provider_lock_timestamp": "2026-02-01T00:00:00Z", "api_provider_lock": "generic",
		"tags":             []any{settings{"name": "team", "metadata": settings{"owner": "ada", "empty": ""}}, settings{"name": "ci"}},
		"worktree":         settings{"repo_root": "/srv/app", "branch": "main", "lifecycle": "ephemeral", "path": "/srv/tree", "parent_worktree_path": "/srv", "removed_at": "2026-02-02T00:00:00Z"},
		"setup_profile_id": "profile-1", "enabled_tool_ids": []any{"read", "write"}, "disabled_tool_ids": []any{"browse"}, "restrict_tool_ids": []any{},
		"tool_execution_mode": "script_only", "allow_subagents_in_scripts": false, "compaction_model": "custom:small", "compaction_threshold_check_enabled": false,
	}
	second := settings{ // Other values for all that can be updated.
		"model": "model-standard", "reasoning_effort": "none", "interaction_mode": "mission", "autonomy_level": "off", "spec_mode_model": "model-light", "spec_mode_reasoning_effort": "dynamic",
		"provider_lock": "other", "provider_lock_timestamp": "2026-02-01T00:00:01Z", "api_provider_lock": "other", "archived_at": "2026-02-03T00:00:00Z", "tags": []any{},
		"worktree": settings{"repo_root": "/srv/other"}, "setup_profile_id": "profile-2", "enabled_tool_ids": []any{}, "disabled_tool_ids": []any{"read"}, "restrict_tool_ids": []any{"read"},
		"tool_execution_mode": "script_only", "allow_subagents_in_scripts": false, "compaction_model": "current-model", "compaction_threshold_check_enabled": true,
	}
	i := applied(t, e, with(first))
	acctest.Says(t, strings.Join(bodies.Take(), " "), `"cwd":"/srv/app"`, `"systemPrompt":{"type":"preset","preset":"agent","append":"Be brief."}`)
	mustPlan(t, e, i, with(first), acctest.ActionNone)
	mustEqual(t, settingsIn(t, i), first)
	e.MustApply(t, i, with(second))
	bodies.Take()
	for _, left := range []settings{second, {"model": "model-standard"}, nil} {
		e.MustApply(t, i, with(left)).MustDo(t, acctest.ActionNone)
		mustEqual(t, settingsIn(t, i), second)
	}
	mustHaveSent(t, &bodies)
}

// A change of a create-only setting replaces the session.
func TestSession_createOnlySettingsReplace(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	i := applied(t, e, valuesOf(computer, nil))
	for _, settings := range []map[string]any{{"tool_execution_mode": "direct_only"}, {"tool_execution_mode": "script_only"}, {"allow_subagents_in_scripts": false}} {
		e.MustApply(t, i, withSettings(computer, settings)).MustDo(t, acctest.ActionReplace)
		mustPlan(t, e, i, withSettings(computer, settings), acctest.ActionNone)
	}
}
