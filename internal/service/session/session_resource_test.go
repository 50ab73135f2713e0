package session_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	sessionType   = "agentyard_session"
	sessionsRoute = "/api/v0/sessions"
)

// newComputer registers a computer outside Terraform, which is active immediately, and returns its ID.
func newComputer(e *acctest.Env, name string) string {
	return e.Make("/api/v0/computers", map[string]any{"name": name, "provider": "byom", "hostId": uuid.NewString()}).ID
}

// newManagedComputer creates a managed computer and lets it become active.
func newManagedComputer(e *acctest.Env, name string) string {
	id := e.Make("/api/v0/computers", map[string]any{"name": name}).ID
	e.Clock.Advance(10 * time.Minute)
	return id
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
	return e.Make(sessionsRoute, body).ID
}

// patched updates settings of a session outside Terraform.
func patched(e *acctest.Env, id string, settings map[string]any) {
	e.API(http.MethodPatch, sessionsRoute+"/"+id, map[string]any{"sessionSettings": settings}, nil)
}

// changed simulates a change by the agent or by a user.
func changed(t *testing.T, e *acctest.Env, id string, change emulator.SessionChange) {
	t.Helper()
	check.Must(t, e.ChangeSession(id, change))
}

// idsOn returns the IDs of a computer's sessions that are not deleted, oldest first.
func idsOn(t testing.TB, e *acctest.Env, computer string) []string {
	t.Helper()
	all, err := e.Sessions()
	check.Must(t, err)
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
	_, i := e.Created(t, sessionType, config)
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

// rewrite edits every session in the emulator's responses to the provider, depending on the request's method.
func rewrite(edit func(method string, session map[string]any)) acctest.Option {
	return acctest.Rewrite(sessionsRoute, "sessions", func(r *http.Request, session map[string]any) { edit(r.Method, session) })
}

// settingsIn returns the settings in a state, without null values.
func settingsIn(t *testing.T, i *acctest.Instance) map[string]any {
	t.Helper()
	found, _ := acctest.WithoutNulls(acctest.Plain(t, i.State)).(map[string]any)["session_settings"].(map[string]any)
	return found
}

// mustSettings checks the settings in a state. Nil is null.
func mustSettings(t *testing.T, i *acctest.Instance, want map[string]any) {
	t.Helper()
	found := settingsIn(t, i)
	for name, v := range want {
		check.Is(t, name+" in the state", found[name], v)
	}
}

// Values that the service returned for one worktree are not sent for another one, and removed_at is sent only if it is
// configured.
func TestSession_anotherWorktree(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	told := settings{"repoRoot": "/a", "branch": "a", "lifecycle": "ephemeral", "path": "/w/a", "parentWorktreePath": "/w", "removedAt": "2026-02-03T00:00:00Z"}
	const gone = "2026-02-03T00:00:00Z"
	for name, tc := range map[string]struct {
		after settings
		sent  string
		want  settings
	}{
		"another repository": {settings{"repo_root": "/b"}, `{"repoRoot":"/b"}`, settings{"repo_root": "/b"}},
		"another branch":     {settings{"repo_root": "/a", "branch": "b"}, `{"repoRoot":"/a","branch":"b"}`, settings{"repo_root": "/a", "branch": "b"}},
		"another lifecycle of a removed one": {settings{"repo_root": "/a", "lifecycle": "persistent", "removed_at": gone},
			`{"repoRoot":"/a","branch":"a","lifecycle":"persistent","path":"/w/a","parentWorktreePath":"/w","removedAt":"2026-02-03T00:00:00Z"}`,
			settings{"repo_root": "/a", "branch": "a", "lifecycle": "persistent", "path": "/w/a", "parent_worktree_path": "/w", "removed_at": gone}},
		"the same": {settings{"repo_root": "/a"}, ``, settings{"repo_root": "/a", "branch": "a", "lifecycle": "ephemeral", "path": "/w/a", "parent_worktree_path": "/w", "removed_at": gone}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bodies := acctest.Sent{Path: sessionsRoute}
			e := acctest.New(t, bodies.Option)
			computer := newComputer(e, "dev")
			i := applied(t, e, withSettings(computer, settings{"worktree": settings{"repo_root": "/a"}}))
			patched(e, i.ID(), settings{"worktree": told})
			bodies.Take()
			after := withSettings(computer, settings{"worktree": tc.after})
			e.MustApply(t, i, after)
			if tc.sent != "" {
				tc.sent = `PATCH {"sessionSettings":{"worktree":` + tc.sent + `}}`
			}
			check.Is(t, "sent", strings.Join(bodies.Take(), ""), tc.sent)
			for range 2 {
				mustSettings(t, i, settings{"worktree": tc.want})
				mustPlan(t, e, i, after, "none")
			}
		})
	}
}

func TestSession_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	type settings = map[string]any
	for name, tc := range map[string]struct {
		config   acctest.Values
		at, want string
	}{
		"a blank computer":       {acctest.Values{"computer_id": " "}, "computer_id", "Set the ID"},
		"a blank addition":       {valuesOf(computer, acctest.Values{"system_prompt_append": "\t"}), "system_prompt_append", "Write an addition"},
		"a blank prompt":         {valuesOf(computer, acctest.Values{"system_prompt": "  "}), "system_prompt", "Write a prompt"},
		"a worktree of no name":  {withSettings(computer, settings{"worktree": settings{"repo_root": " "}}), "session_settings.worktree.repo_root", "Set the path of the repository"},
		"a life cycle":           {withSettings(computer, settings{"worktree": settings{"repo_root": "/a", "lifecycle": "forever"}}), "session_settings.worktree.lifecycle", "must be \"ephemeral\" or \"persistent\""},
		"a model without a name": {withSettings(computer, settings{"compaction_model": "custom:"}), "session_settings.compaction_model", "such as custom:my-model"},

		"no setting": {withSettings(computer, settings{"tags": nil}), "session_settings", "check the spelling"},

		"an effort": {withSettings(computer, settings{"reasoning_effort": "some"}), "session_settings.reasoning_effort", `must be "none", "dynamic",`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.MustNotCreate(t, sessionType, tc.config, tc.at, tc.want)
		})
	}
	both := e.Plan(t, e.NewInstance(t, sessionType), valuesOf(computer, acctest.Values{"system_prompt": "a", "system_prompt_append": "b"}))
	check.Says(t, both.Text(), `"system_prompt_append" cannot be specified`)
	t.Cleanup(func() { e.WantRequests(t, "createSession", 0) })
}

// An error that only the apply can find says what to correct.
func TestSession_refusedByTheService(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	pending := e.Make("/api/v0/computers", map[string]any{"name": "slow"}).ID
	e.MustNotCreate(t, sessionType, valuesOf(pending, nil), "", "createSession", "400", "If its status is provisioning, wait until it is active", "agentyard_computer_restart")
}

// The service writes IDs in lower case. A computer ID in a different case is the same computer.
func TestSession_caseOfTheComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	upper := strings.ToUpper(computer)
	i := applied(t, e, valuesOf(upper, nil))
	id := i.ID()
	mustPlan(t, e, i, valuesOf(upper, nil), "none")
	mustPlan(t, e, i, valuesOf(computer, nil), "none")
	e.MustApply(t, i, withSettings(computer, map[string]any{"model": "model-light"}))
	mustPlan(t, e, i, withSettings(upper, map[string]any{"model": "model-light"}), "none")
	if i.ID() != id || i.Attribute("computer_id") != upper || i.Tainted {
		t.Errorf("session %s instead of %s, on %s, tainted %v", i.ID(), id, i.Attribute("computer_id"), i.Tainted)
	}
}
