package session_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// An unknown value that the service returned is kept and not sent. A configuration cannot contain it.
func TestSession_valuesOfALaterService(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	later := settings{"reasoningEffort": "ultra", "interactionMode": "swarm", "autonomyLevel": "full", "autonomyMode": "auto-full", "specModeReasoningEffort": "ultra", "toolExecutionMode": "sandboxed"}
	var bodies sent
	e := acctest.New(t, bodies.option, rewrite(func(_ string, session map[string]any) {
		edited(session, later)
		if all, ok := session["sessionSettings"].(map[string]any); ok {
			all["worktree"] = settings{"repoRoot": "/srv", "lifecycle": "weekly"}
		}
	}))
	computer := newComputer(e, "dev")
	i := applied(t, e, valuesOf(computer, nil))
	told := settings{
		"reasoning_effort": "ultra", "interaction_mode": "swarm", "autonomy_level": "full", "autonomy_mode": "auto-full", "spec_mode_reasoning_effort": "ultra", "tool_execution_mode": "sandboxed",
		"worktree": settings{"repo_root": "/srv", "lifecycle": "weekly"},
	}
	mustSettings(t, i, told)
	mustPlan(t, e, i, valuesOf(computer, nil), "none")
	delete(told, "autonomy_mode") // Cannot be set.
	bodies.take()
	e.MustApply(t, i, withSettings(computer, settings{"model": "model-light", "worktree": settings{"repo_root": "/srv"}}))
	bodies.must(t, `PATCH {"sessionSettings":{"model":"model-light"}}`)

	for name, v := range told {
		out := acctest.NewProcess(t, e, nil).Plan(i, withSettings(computer, settings{name: v}))
		if len(out.Errors) != 1 || !strings.Contains(out.Errors[0].Attribute.String(), name) || !strings.Contains(out.Text(), "must be one of") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

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
		"an effort":    {settings{"reasoning_effort": "low"}, settings{"reasoningEffort": "max"}, settings{"reasoning_effort": "max"}, `{"reasoningEffort":"low"}`},
		"a mode":       {settings{"interaction_mode": "agi"}, settings{"interactionMode": "auto"}, settings{"interaction_mode": "auto"}, `{"interactionMode":"agi"}`},
		"a flag":       {settings{"compaction_threshold_check_enabled": false}, settings{"compactionThresholdCheckEnabled": true}, settings{"compaction_threshold_check_enabled": true}, `{"compactionThresholdCheckEnabled":false}`},
		"tags":         {settings{"tags": []any{settings{"name": "a"}}}, settings{"tags": []any{settings{"name": "b", "metadata": settings{"n": "1"}}}}, settings{"tags": []any{settings{"name": "b", "metadata": settings{"n": "1"}}}}, `{"tags":[{"name":"a"}]}`},
		"removed tags": {settings{"tags": []any{settings{"name": "a"}}}, settings{"tags": []any{}}, settings{"tags": []any{}}, `{"tags":[{"name":"a"}]}`},
		"added tags":   {settings{"tags": []any{}}, settings{"tags": []any{settings{"name": "a"}}}, settings{"tags": []any{settings{"name": "a"}}}, `{"tags":[]}`},
		"tools":        {settings{"restrict_tool_ids": []any{"a", "b"}}, settings{"restrictToolIds": []any{"c", "b"}}, settings{"restrict_tool_ids": []any{"b", "c"}}, `{"restrictToolIds":["a","b"]}`},
		"a worktree":   {settings{"worktree": settings{"repo_root": "/a"}}, settings{"worktree": settings{"repoRoot": "/b"}}, settings{"worktree": settings{"repo_root": "/b"}}, `{"worktree":{"repoRoot":"/a"}}`},
		"a branch":     {settings{"worktree": settings{"repo_root": "/a", "branch": "a"}}, settings{"worktree": settings{"repoRoot": "/a", "branch": "b"}}, settings{"worktree": settings{"repo_root": "/a", "branch": "b"}}, `{"worktree":{"repoRoot":"/a","branch":"a"}}`},
		"a time":       {settings{"provider_lock_timestamp": "2026-02-01T00:00:00Z"}, settings{"providerLockTimestamp": "2026-02-02T00:00:00Z"}, settings{"provider_lock_timestamp": "2026-02-02T00:00:00Z"}, `{"providerLockTimestamp":"2026-02-01T00:00:00Z"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bodies sent
			e := acctest.New(t, bodies.option)
			one, other := newComputer(e, "one"), newComputer(e, "other")
			configured, bare := applied(t, e, withSettings(one, tc.configured)), applied(t, e, valuesOf(other, nil))
			for _, id := range []string{configured.ID(), bare.ID()} {
				patched(e, id, tc.elsewhere)
			}
			bodies.take()
			mustPlan(t, e, bare, valuesOf(other, nil), "none")
			mustSettings(t, bare, tc.told)
			mustPlan(t, e, configured, withSettings(one, tc.configured), "update")
			mustSettings(t, configured, tc.told)
			e.MustApply(t, configured, withSettings(one, tc.configured))
			bodies.must(t, `PATCH {"sessionSettings":`+tc.sent+`}`)
			mustPlan(t, e, configured, withSettings(one, tc.configured), "none")
		})
	}
}

// A setting that is missing in a response with other settings is unset, which is drift if it is configured.
func TestSession_unsetElsewhere(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	for name, tc := range map[string]struct {
		configured any
		sent       string
	}{
		"model":                              {"model-light", `{"model":"model-light"}`},
		"restrict_tool_ids":                  {[]any{"read"}, `{"restrictToolIds":["read"]}`},
		"tags":                               {[]any{settings{"name": "a"}}, `{"tags":[{"name":"a"}]}`},
		"compaction_threshold_check_enabled": {false, `{"compactionThresholdCheckEnabled":false}`},
		"worktree":                           {settings{"repo_root": "/a"}, `{"worktree":{"repoRoot":"/a"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var isUnset atomic.Bool
			var bodies sent
			e := acctest.New(t, bodies.option, rewrite(func(method string, session map[string]any) {
				if method == http.MethodPatch {
					isUnset.Store(false)
				}
				if isUnset.Load() {
					edited(session, settings{"model": nil, "restrictToolIds": nil, "tags": nil, "compactionThresholdCheckEnabled": nil, "worktree": nil})
				}
			}))
			computer := newComputer(e, "dev")
			config := withSettings(computer, settings{name: tc.configured, "provider_lock": "generic"})
			i := applied(t, e, config)
			isUnset.Store(true)
			mustPlan(t, e, i, config, "update")
			mustSettings(t, i, settings{name: nil, "provider_lock": "generic"})
			bodies.take()
			e.MustApply(t, i, config)
			bodies.must(t, `PATCH {"sessionSettings":`+tc.sent+`}`)
			mustPlan(t, e, i, config, "none")
		})
	}
}

// The plan shows only the settings that change.
func TestAccSession_planShowsWhatChanges(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, atOnce)
	computer := newComputer(e, "dev")
	config := func(level string) string {
		return hclOf(computer, `session_settings = {
    autonomy_level = "`+level+`"
    worktree       = { repo_root = "/srv" }
  }`)
	}
	cli := acctest.NewCLI(t, e, config("low"))
	cli.MustRun(applying...)
	cli.Write("main.tf", config("high"))
	out := cli.MustRun("plan", "-input=false", "-no-color").Output
	_, diff, _ := strings.Cut(out, "will perform the following actions:")
	var changes []string
	for line := range strings.Lines(diff) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "~ ") || strings.HasPrefix(line, "+ ") || strings.HasPrefix(line, "- ") || strings.Contains(line, "known after apply") {
			changes = append(changes, strings.Join(strings.Fields(line), " "))
		}
	}
	if want := []string{`~ resource "agentyard_session" "test" {`, `~ session_settings = {`, `~ autonomy_level = "low" -> "high"`, `+ autonomy_mode = (known after apply)`}; !slices.Equal(changes, want) {
		t.Errorf("the plan shows %q: %s", changes, out)
	}
	cli.MustRun(applying...)
	cli.MustPlanEmpty()
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
	for name, edit := range map[string]func(method string, session map[string]any){
		"in reads": func(method string, session map[string]any) {
			if method == http.MethodGet {
				delete(session, "sessionSettings")
			}
		},
		"in all answers": func(_ string, session map[string]any) { delete(session, "sessionSettings") },
	} {
		for _, onReads := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				e := acctest.New(t, rewrite(edit))
				e.SessionSettingsOnReads(onReads)
				computer := newComputer(e, "dev")
				config := withSettings(computer, all)
				p := acctest.NewProcess(t, e, nil)
				i := p.NewInstance(sessionType)
				p.Apply(i, config).MustSucceed(t)
				mustSettings(t, i, all)
				for range 2 {
					mustPlan(t, e, i, config, "none")
					mustSettings(t, i, all)
					e.Clock.Advance(time.Minute)
				}
				e.MustApply(t, i, withSettings(computer, settings{"model": "model-standard"}))
				mustSettings(t, i, settings{"model": "model-standard", "tags": all["tags"], "worktree": all["worktree"]})
				mustPlan(t, e, i, withSettings(computer, settings{"model": "model-standard"}), "none")
			})
		}
	}
}

// If the service returns a different value than requested, the next plan shows the difference. Nothing is replaced.
func TestSession_answeredOtherwise(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	e := acctest.New(t, rewrite(func(_ string, session map[string]any) {
		edited(session, settings{"autonomyLevel": "low", "autonomyMode": nil, "providerLockTimestamp": nil})
	}))
	computer := newComputer(e, "dev")
	config := withSettings(computer, settings{"autonomy_level": "high", "model": "model-light", "provider_lock_timestamp": "2026-11-24T00:00:00Z"})
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(sessionType)
	if out := p.Apply(i, config); len(out.Errors) > 0 || i.Tainted {
		t.Fatal(out)
	}
	id := i.ID()
	e.Clock.Advance(time.Minute)
	mustPlan(t, e, i, config, "update")
	mustSettings(t, i, settings{"autonomy_level": "low"})
	if out := e.MustApply(t, i, config); i.Tainted || i.ID() != id {
		t.Error(out)
	}
	e.MustApply(t, i, withSettings(computer, settings{"autonomy_level": "low"}))
	mustPlan(t, e, i, withSettings(computer, settings{"autonomy_level": "low"}), "none")
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
