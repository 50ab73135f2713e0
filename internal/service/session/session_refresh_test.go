package session_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A change outside Terraform is drift if the setting is configured. Otherwise, the state takes the new value.
func TestSession_drift(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	for name, tc := range map[string]struct {
		configured settings
		elsewhere  settings
		told       settings
		sent       string
	}{
		"a text":       {settings{"model": "model-light"}, settings{"model": "m"}, settings{"model": "m"}, `{"model":"model-light"}`},
		"removed tags": {settings{"tags": []any{settings{"name": "a"}}}, settings{"tags": []any{}}, settings{"tags": []any{}}, `{"tags":[{"name":"a"}]}`},
		"a branch":     {settings{"worktree": settings{"repo_root": "/a", "branch": "a"}}, settings{"worktree": settings{"repoRoot": "/a", "branch": "b"}}, settings{"worktree": settings{"repo_root": "/a", "branch": "b"}}, `{"worktree":{"repoRoot":"/a","branch":"a"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bodies := acctest.Sent{Path: sessionsRoute}
			e := acctest.New(t, bodies.Option)
			one, other := newComputer(e, "one"), newComputer(e, "other")
			configured, bare := applied(t, e, withSettings(one, tc.configured)), applied(t, e, valuesOf(other, nil))
			for _, id := range []string{configured.ID(), bare.ID()} {
				patched(e, id, tc.elsewhere)
			}
			bodies.Take()
			mustPlan(t, e, bare, valuesOf(other, nil), "none")
			mustSettings(t, bare, tc.told)
			mustPlan(t, e, configured, withSettings(one, tc.configured), "update")
			mustSettings(t, configured, tc.told)
			e.MustApply(t, configured, withSettings(one, tc.configured))
			check.Is(t, "sent", bodies.Take(), []string{`PATCH {"sessionSettings":` + tc.sent + `}`})
			mustPlan(t, e, configured, withSettings(one, tc.configured), "none")
		})
	}
}

// The plan shows only the settings that change.
func TestSession_planShowsWhatChanges(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	i := applied(t, e, withSettings(computer, map[string]any{"autonomy_level": "low", "worktree": map[string]any{"repo_root": "/srv"}}))
	after := withSettings(computer, map[string]any{"autonomy_level": "high", "worktree": map[string]any{"repo_root": "/srv"}})
	got := acctest.NewProcess(t, e, nil).Changes(i, after)
	check.Is(t, "the plan shows", got, []string{"session_settings.autonomy_level", "session_settings.autonomy_mode"})
}

// The agent's work is not drift.
func TestSession_whatMovesByItself(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	config := withSettings(computer, map[string]any{"model": "model-light"})
	i := applied(t, e, config)
	title, parent, status, messages, credits, done := "Mend the build", "0b2f7f6e-0000-4000-8000-000000000000", "running", int64(7), 12.5, e.Now().UnixMilli()
	changed(t, e, i.ID(), emulator.SessionChange{
		Title: &title, ParentSessionID: &parent, Status: &status, MessageCount: &messages, ServiceCredits: &credits, CompletedAt: &done,
		Artifacts: []emulator.SessionArtifact{{ID: "a", Kind: "pull-request"}},
	})
	// An update of settings leaves these values to the next refresh.
	after := withSettings(computer, map[string]any{"model": "model-standard"})
	e.MustApply(t, i, after)
	e.Clock.Advance(time.Minute)
	mustPlan(t, e, i, after, "none")
	for name, want := range map[string]string{"title": title, "status": status, "parent_session_id": parent, "completed_at": "2026-03-01T13:00:00Z"} {
		check.Is(t, name, i.Attribute(name), want)
	}
}

// If responses have no settings at all, the settings in the state are kept.
func TestSession_answersWithoutSettings(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	all := settings{
		"model": "model-light", "tags": []any{settings{"name": "a", "metadata": settings{"b": "c"}}}, "enabled_tool_ids": []any{"read"}, "disabled_tool_ids": []any{},
		"worktree": settings{"repo_root": "/a", "branch": "b"}, "compaction_threshold_check_enabled": false,
	}
	for _, onReads := range []bool{false, true} {
		e := acctest.New(t, rewrite(func(_ string, session map[string]any) { delete(session, "sessionSettings") }))
		e.SessionSettingsOnReads(onReads)
		computer := newComputer(e, "dev")
		config := withSettings(computer, all)
		_, i := e.Created(t, sessionType, config)
		mustSettings(t, i, all)
		for range 2 {
			mustPlan(t, e, i, config, "none")
			mustSettings(t, i, all)
			e.Clock.Advance(time.Minute)
		}
		e.MustApply(t, i, withSettings(computer, settings{"model": "model-standard"}))
		mustSettings(t, i, settings{"model": "model-standard", "tags": all["tags"], "worktree": all["worktree"]})
		mustPlan(t, e, i, withSettings(computer, settings{"model": "model-standard"}), "none")
	}
}

// A session that was moved to another computer still exists, and is deleted when the configured session replaces it.
func TestSession_onAnotherComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	configured := newComputer(e, "dev")
	config := withSettings(configured, map[string]any{"model": "model-light"})
	i := applied(t, e, config)
	before := i.ID()
	other := newComputer(e, "other")
	changed(t, e, before, emulator.SessionChange{ComputerID: &other})

	mustPlan(t, e, i, config, "replace")
	e.MustApply(t, i, config)
	if ids := idsOn(t, e, configured); len(ids) != 1 || ids[0] != i.ID() || i.ID() == before {
		t.Errorf("on the configured computer: %v, in the state: %s", ids, i.ID())
	}
	check.None(t, "left on the other computer", idsOn(t, e, other))
}

// deleted deletes a session or a computer outside Terraform.
func deleted(e *acctest.Env, path string) { e.API(http.MethodDelete, path, nil, nil) }

// When its computer is deleted, a managed computer's session is archived, and a registered computer's session stays
// unchanged. Both can still be read and destroyed.
func TestSession_itsComputerIsDeleted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		computer   func(e *acctest.Env, name string) string
		isArchived bool
	}{
		"managed":    {newManagedComputer, true},
		"registered": {newComputer, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			newSession(e, newComputer(e, "other"), nil)
			computer := tc.computer(e, "box")
			config := withSettings(computer, map[string]any{"model": "model-light"})
			i := applied(t, e, config)
			id := i.ID()
			deleted(e, "/api/v0/computers/"+computer)
			e.Clock.Advance(time.Hour)
			for range 2 {
				mustPlan(t, e, i, config, "none")
			}
			if i.ID() != id {
				t.Fatalf("the state holds %q", i.ID())
			}
			if _, archived := settingsIn(t, i)["archived_at"]; archived != tc.isArchived {
				t.Errorf("the settings are %v", settingsIn(t, i))
			}
			again, out := imported(t, e, id)
			if len(out.Errors) > 0 || settingsIn(t, again)["model"] != "model-light" {
				t.Errorf("%s: %v", out, settingsIn(t, again))
			}
			e.MustApply(t, i, withSettings(computer, map[string]any{"model": "model-standard"}))
			e.Apply(t, i, nil).MustBeSilent(t)
			check.None(t, "left", idsOn(t, e, computer))
		})
	}
}

// An update of a session that the service does not show for a long time says so, and succeeds later.
func TestSession_updatedBeforeItIsVisible(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = 50*time.Second, 50*time.Second })
	computer := newComputer(e, "dev")
	_, i := e.Created(t, sessionType, withSettings(computer, map[string]any{"model": "model-light"}))
	id, after := i.ID(), withSettings(computer, map[string]any{"model": "model-standard"})
	out := acctest.NewProcess(t, e, nil).Apply(i, after)
	out.MustFail(t, "", "Cannot update session", "updateSession", "If the session was just created, try again in a few minutes.")
	if i.ID() != id || strings.Contains(out.Text(), "no longer exists") || strings.Contains(out.Text(), "does not exist") {
		t.Errorf("%s: the state holds %s", out, i.State)
	}
	e.Clock.Advance(3 * time.Minute)
	e.MustApply(t, i, after)
	mustSettings(t, i, map[string]any{"model": "model-standard"})
	check.Is(t, "the state", i.ID(), id)
}

// A destroy waits until the service shows a new session, although lists show it even later.
func TestSession_destroyedBeforeItIsVisible(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		delay time.Duration
		left  int
	}{
		"waits":              {8 * time.Second, 0},
		"never becomes free": {50 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = tc.delay, tc.delay+4*time.Second })
			computer := newComputer(e, "dev")
			_, i := e.Created(t, sessionType, valuesOf(computer, nil))
			out := e.Apply(t, i, nil)
			if len(out.Errors)+len(out.Warnings) > 0 || !i.State.IsNull() {
				t.Errorf("%s: the state holds %s", out, i.State)
			}
			e.Clock.Advance(3 * time.Minute)
			check.Is(t, "left", len(idsOn(t, e, computer)), tc.left)
		})
	}
}

// A plan lists the sessions of each computer once. A deleted session's computer, and what no list has yet, is asked for.
func TestSession_plansOfMany(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ sessions, computers, most int }{
		"40 on one computer":        {40, 1, 2},
		"20 on 20 computers":        {20, 20, 20},
		"40 on one that is deleted": {40, 1, 3},
		"40 new ones":               {40, 1, 42}, // No list contains them yet.
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 100 })
			var computers []string
			for n := range tc.computers {
				computers = append(computers, newComputer(e, fmt.Sprint("box-", n)))
			}
			on := func(k int) acctest.Values { return valuesOf(computers[k%len(computers)], nil) }
			made := make([]*acctest.Instance, tc.sessions)
			acctest.Together(tc.sessions, 10, func(k int) { _, made[k] = e.Created(t, sessionType, on(k)) })
			if name != "40 new ones" {
				e.Clock.Advance(time.Hour)
			}
			if name == "40 on one that is deleted" {
				deleted(e, "/api/v0/computers/"+computers[0])
			}
			p := acctest.NewProcess(t, e, nil)
			e.Journal().Reset()
			acctest.Together(tc.sessions, 10, func(k int) {
				if out := p.Plan(made[k], on(k)); out.Action != acctest.ActionNone || len(out.Errors) > 0 {
					t.Error(out)
				}
			})
			if requests := e.Journal().Entries(); len(requests) > tc.most {
				t.Errorf("%d requests: %+v", len(requests), requests)
			}
		})
	}
}

// imported imports a session in a new process.
func imported(t *testing.T, e *acctest.Env, id string) (*acctest.Instance, acctest.Outcome) {
	t.Helper()
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(sessionType)
	return i, p.Import(i, id)
}

// Many sessions whose identities name their computer are read from its listing.
func TestSession_importsOfOneComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	ids := make([]string, 20)
	for n := range ids {
		ids[n] = newSession(e, computer, nil)
	}
	p := acctest.NewProcess(t, e, nil)
	e.Journal().Reset()
	for _, id := range ids {
		p.ImportByIdentity(p.NewInstance(sessionType), acctest.Values{"id": id, "computer_id": computer}).MustSucceed(t)
	}
	e.WantRequests(t, "getSession", 0)
	if n := e.Journal().Count("listSessions"); n > 10 { // The pages of one listing.
		t.Errorf("%d requests list the sessions", n)
	}
}

// What only a create sets is adopted in the first update after an import, beside what is sent. Later, another value replaces.
func TestSession_adoption(t *testing.T) {
	t.Parallel()
	bodies := acctest.Sent{Path: sessionsRoute}
	e := acctest.New(t, bodies.Option)
	computer := newComputer(e, "dev")
	i, out := imported(t, e, newSession(e, computer, nil))
	out.MustSucceed(t)
	with := func(more acctest.Values) acctest.Values {
		config := valuesOf(computer, acctest.Values{"cwd": "/srv", "session_settings": map[string]any{"tool_execution_mode": "script_only", "model": "model-light"}})
		maps.Copy(config, more)
		return config
	}
	e.MustApply(t, i, with(nil)).MustDo(t, acctest.ActionUpdate)
	check.Is(t, "sent", bodies.Take(), []string{`PATCH {"sessionSettings":{"model":"model-light"}}`})
	mustPlan(t, e, i, with(acctest.Values{"cwd": "/other"}), acctest.ActionReplace)
	mustPlan(t, e, i, with(acctest.Values{"system_prompt": "Be thorough."}), acctest.ActionReplace)
}

// A manager can import another owner's session: no list of the manager contains it, and a read by ID may omit the settings.
func TestSession_ofAnotherOwner(t *testing.T) {
	t.Parallel()
	for name, onReads := range map[string]bool{"without settings": false, "with settings": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bodies := acctest.Sent{Path: sessionsRoute}
			e := acctest.New(t, bodies.Option)
			e.SessionSettingsOnReads(onReads)
			owner := e.MemberKey("robin@agentyard.example", emulator.RoleManager)
			computer := newComputer(e, "dev")
			id := newSession(e, computer, map[string]any{"model": "model-light"})
			as := func() *acctest.Process { return acctest.NewProcess(t, e, acctest.Values{"api_key": owner}) }
			p := as()
			i := p.NewInstance(sessionType)
			p.Import(i, id).MustSucceed(t)
			bare, config := valuesOf(computer, nil), withSettings(computer, map[string]any{"model": "model-light"})
			as().Plan(i, bare).MustDo(t, acctest.ActionNone)
			for _, action := range []acctest.Action{acctest.ActionUpdate, acctest.ActionNone} {
				if onReads {
					action = "none"
				}
				as().Apply(i, config).MustDo(t, action)
			}
			mustSettings(t, i, map[string]any{"model": "model-light"})
			as().Apply(i, withSettings(computer, map[string]any{"model": "model-standard"})).MustDo(t, acctest.ActionUpdate)
			if out := as().Apply(i, nil); len(out.Errors) > 0 || len(idsOn(t, e, computer)) > 0 {
				t.Errorf("%s; left: %v", out, idsOn(t, e, computer))
			}
		})
	}
}
