package session_test

import (
	"slices"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
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
		"a flag":       {settings{"compaction_threshold_check_enabled": false}, settings{"compactionThresholdCheckEnabled": true}, settings{"compaction_threshold_check_enabled": true}, `{"compactionThresholdCheckEnabled":false}`},
		"removed tags": {settings{"tags": []any{settings{"name": "a"}}}, settings{"tags": []any{}}, settings{"tags": []any{}}, `{"tags":[{"name":"a"}]}`},
		"tools":        {settings{"restrict_tool_ids": []any{"a", "b"}}, settings{"restrictToolIds": []any{"c", "b"}}, settings{"restrict_tool_ids": []any{"b", "c"}}, `{"restrictToolIds":["a","b"]}`},
		"a branch":     {settings{"worktree": settings{"repo_root": "/a", "branch": "a"}}, settings{"worktree": settings{"repoRoot": "/a", "branch": "b"}}, settings{"worktree": settings{"repo_root": "/a", "branch": "b"}}, `{"worktree":{"repoRoot":"/a","branch":"a"}}`},
		"a time":       {settings{"provider_lock_timestamp": "2026-02-01T00:00:00Z"}, settings{"providerLockTimestamp": "2026-02-02T00:00:00Z"}, settings{"provider_lock_timestamp": "2026-02-02T00:00:00Z"}, `{"providerLockTimestamp":"2026-02-01T00:00:00Z"}`},
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
			mustHaveSent(t, &bodies, `PATCH {"sessionSettings":`+tc.sent+`}`)
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
	if want := []string{"session_settings.autonomy_level", "session_settings.autonomy_mode"}; !slices.Equal(got, want) {
		t.Errorf("the plan shows %v", got)
	}
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
		if got := i.Attribute(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
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
	if ids := idsOn(t, e, other); len(ids) > 0 {
		t.Errorf("left on the other computer: %v", ids)
	}
}
