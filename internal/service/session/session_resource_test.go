package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	sessionType    = "agentyard_session"
	sessionAddress = sessionType + ".test"
	sessionsRoute  = "/api/v0/sessions"
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
	if err := e.ChangeSession(id, change); err != nil {
		t.Error(err)
	}
}

// sessionsOn returns a computer's sessions that are not deleted, oldest first.
func sessionsOn(t testing.TB, e *acctest.Env, computer string) []emulator.Session {
	t.Helper()
	all, err := e.Sessions()
	acctest.Must(t, err)
	return slices.DeleteFunc(all, func(s emulator.Session) bool { return s.ComputerID != computer })
}

func idsOn(t testing.TB, e *acctest.Env, computer string) []string {
	t.Helper()
	var ids []string
	for _, s := range sessionsOn(t, e, computer) {
		ids = append(ids, s.ID)
	}
	return ids
}

// none checks that no session is left.
func none(e *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error {
		left, err := e.Sessions()
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left: %+v", left)
		}
		return err
	}
}

// runSessions runs steps that must leave no session behind.
func runSessions(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, CheckDestroy: none(e), Steps: steps})
}

// hclOf returns a session with additional lines.
func hclOf(computer, more string) string {
	return fmt.Sprintf("resource %q \"test\" {\n  computer_id = %q\n  %s\n}\n", sessionType, computer, more)
}

// valuesOf returns the same configuration for a process without a CLI. Changes are additional attributes.
func valuesOf(computer string, changes acctest.Values) acctest.Values {
	config := acctest.Values{"computer_id": computer}
	for name, v := range changes {
		config[name] = v
	}
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

// sent collects the bodies of create and update requests for sessions.
type sent struct {
	mu     sync.Mutex
	bodies []string
}

func (s *sent) option(o *emulator.Options) {
	acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			isChange := r.Method == http.MethodPost || r.Method == http.MethodPatch
			if isChange && strings.HasPrefix(r.URL.Path, sessionsRoute) && strings.HasPrefix(r.UserAgent(), "terraform-provider-agentyard/") {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					panic(http.ErrAbortHandler)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.mu.Lock()
				s.bodies = append(s.bodies, r.Method+" "+string(body))
				s.mu.Unlock()
			}
			next.ServeHTTP(w, r)
		})
	})(o)
}

// take returns what was sent since the previous call.
func (s *sent) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.bodies
	s.bodies = nil
	return taken
}

// must checks what was sent since the previous call: methods and JSON with fields in any order.
func (s *sent) must(t *testing.T, want ...string) {
	t.Helper()
	taken := s.take()
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

// plannedThenEmpty expects an action in the plan, and an empty plan after it.
func plannedThenEmpty(action plancheck.ResourceActionType, checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return acctest.PlannedThenEmpty(sessionAddress, action, checks...)
}

// Everything that can be set is sent and stored, in a create and in an update. What is removed from the configuration is kept.
func TestSession_everySettingSetChangedAndRemoved(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	var bodies sent
	e := acctest.New(t, bodies.option)
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
	bodies.must(t, `POST {"computerId":"`+computer+`","cwd":"/srv/app","systemPrompt":{"type":"preset","preset":"agent","append":"Be brief."},"sessionSettings":{
		"model":"model-light","reasoningEffort":"low","interactionMode":"spec","autonomyLevel":"high","specModeModel":"model-thinking","specModeReasoningEffort":"max",
		"providerLock":"generic-chat-completion-api","providerLockTimestamp":"2026-02-01T00:00:00Z","apiProviderLock":"generic",
		"tags":[{"name":"team","metadata":{"owner":"ada","empty":""}},{"name":"ci"}],
		"worktree":{"repoRoot":"/srv/app","branch":"main","lifecycle":"ephemeral","path":"/srv/tree","parentWorktreePath":"/srv","removedAt":"2026-02-02T00:00:00Z"},
		"setupProfileId":"profile-1","enabledToolIds":["read","write"],"disabledToolIds":["browse"],"restrictToolIds":[],
		"toolExecutionMode":"script_only","allowSubagentsInScripts":false,"compactionModel":"custom:small","compactionThresholdCheckEnabled":false}}`)
	mustEqual(t, settingsIn(t, i), first)
	mustPlan(t, e, i, with(first), acctest.ActionNone)

	e.MustApply(t, i, with(second))
	// For another worktree, only configured values are sent, because the rest belongs to the previous worktree.
	bodies.must(t, `PATCH {"sessionSettings":{
		"model":"model-standard","reasoningEffort":"none","interactionMode":"mission","autonomyLevel":"off","specModeModel":"model-light","specModeReasoningEffort":"dynamic",
		"providerLock":"other","providerLockTimestamp":"2026-02-01T00:00:01Z","apiProviderLock":"other","archivedAt":"2026-02-03T00:00:00Z","tags":[],
		"worktree":{"repoRoot":"/srv/other"},
		"setupProfileId":"profile-2","enabledToolIds":[],"disabledToolIds":["read"],"restrictToolIds":["read"],"compactionModel":"current-model","compactionThresholdCheckEnabled":true}}`)
	for _, left := range []settings{second, {"model": "model-standard"}, nil} {
		e.MustApply(t, i, with(left)).MustDo(t, acctest.ActionNone)
		mustEqual(t, settingsIn(t, i), second)
	}
	bodies.must(t)
}

// A change of a create-only argument replaces the session.
func TestSession_createOnlyReplaces(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	one, other := newComputer(e, "one"), newComputer(e, "other")
	i := applied(t, e, valuesOf(one, nil))
	for _, config := range []acctest.Values{
		valuesOf(one, acctest.Values{"cwd": "/srv"}),
		valuesOf(one, acctest.Values{"cwd": "/srv/app"}),
		valuesOf(one, acctest.Values{"cwd": "/srv/app", "system_prompt": "Be brief."}),
		valuesOf(one, acctest.Values{"cwd": "/srv/app", "system_prompt": "Be thorough."}),
		valuesOf(one, acctest.Values{"cwd": "/srv/app", "system_prompt_append": "Be thorough."}),
		valuesOf(one, acctest.Values{"cwd": "/srv/app"}),
		withSettings(one, map[string]any{"tool_execution_mode": "direct_only"}),
		withSettings(one, map[string]any{"tool_execution_mode": "script_only"}),
		withSettings(one, map[string]any{"allow_subagents_in_scripts": true}),
		withSettings(one, map[string]any{"allow_subagents_in_scripts": false}),
		withSettings(other, map[string]any{"allow_subagents_in_scripts": false}),
	} {
		e.MustApply(t, i, config).MustDo(t, acctest.ActionReplace)
		mustPlan(t, e, i, config, acctest.ActionNone)
	}
	if len(idsOn(t, e, one)) != 0 || len(idsOn(t, e, other)) != 1 {
		t.Errorf("left: %v and %v", idsOn(t, e, one), idsOn(t, e, other))
	}
}
