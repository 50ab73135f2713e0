package session_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// rewrite edits every session in the emulator's answers to the provider, by the method of the request. Such answers need not
// be what the contract allows.
func rewrite(edit func(method string, session map[string]any)) acctest.Option {
	return func(o *emulator.Options) {
		inner := o.Wrap
		o.Wrap = func(next http.Handler) http.Handler {
			if inner != nil {
				next = inner(next)
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, sessionsRoute) || !strings.HasPrefix(r.UserAgent(), "terraform-provider-agentyard/") {
					next.ServeHTTP(w, r)
					return
				}
				answer := httptest.NewRecorder()
				next.ServeHTTP(answer, r)
				for name, values := range answer.Header() {
					if name != "Content-Length" {
						w.Header()[name] = values
					}
				}
				w.Header().Set(emulator.FaultHeader, "rewritten")
				w.WriteHeader(answer.Code)
				var body map[string]any
				if answer.Code >= 300 || json.Unmarshal(answer.Body.Bytes(), &body) != nil {
					_, _ = w.Write(answer.Body.Bytes())
					return
				}
				listed, _ := body["sessions"].([]any)
				for _, one := range append(slices.Clone(listed), body) {
					if session, ok := one.(map[string]any); ok && session["sessionId"] != nil {
						edit(r.Method, session)
					}
				}
				_ = json.NewEncoder(w).Encode(body)
			})
		}
	}
}

// edited changes settings in answers; nil takes one away.
func edited(session map[string]any, settings map[string]any) {
	all, ok := session["sessionSettings"].(map[string]any)
	if !ok {
		return
	}
	for name, v := range settings {
		all[name] = v
		if v == nil {
			delete(all, name)
		}
	}
}

// settingsIn are the settings in a state; what is null is left out.
func settingsIn(t *testing.T, i *acctest.Instance) map[string]any {
	t.Helper()
	var attributes map[string]tftypes.Value
	if err := i.State.As(&attributes); err != nil {
		t.Fatal(err)
	}
	found, _ := plain(t, attributes["session_settings"]).(map[string]any)
	return found
}

// plain turns a value into a Go value without nulls. A set or list of anything is a []any.
func plain(t *testing.T, v tftypes.Value) any {
	t.Helper()
	switch {
	case !v.IsKnown():
		t.Errorf("a value in the state is unknown")
		return nil
	case v.IsNull():
		return nil
	case v.Type().Is(tftypes.String):
		var s string
		must(t, v.As(&s))
		return s
	case v.Type().Is(tftypes.Bool):
		var b bool
		must(t, v.As(&b))
		return b
	case v.Type().Is(tftypes.Object{}) || v.Type().Is(tftypes.Map{}):
		var entries map[string]tftypes.Value
		must(t, v.As(&entries))
		found := map[string]any{}
		for name, entry := range entries {
			if one := plain(t, entry); one != nil {
				found[name] = one
			}
		}
		return found
	}
	var elements []tftypes.Value
	must(t, v.As(&elements))
	found := []any{}
	for _, element := range elements {
		found = append(found, plain(t, element))
	}
	return found
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustSettings demands settings of a state; nil stands for null.
func mustSettings(t *testing.T, i *acctest.Instance, want map[string]any) {
	t.Helper()
	found := settingsIn(t, i)
	for name, v := range want {
		if got, wanted := encoded(t, found[name]), encoded(t, v); got != wanted {
			t.Errorf("%s is %s in the state, want %s", name, got, wanted)
		}
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

func TestSession_onlyWhatDiffersIsSent(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	before := settings{
		"model": "model-light", "interaction_mode": "agi", "archived_at": "2026-02-03T00:00:00Z", "allow_subagents_in_scripts": true, "compaction_threshold_check_enabled": true,
		"tags": []any{settings{"name": "a", "metadata": settings{"b": "c", "d": "e"}}, settings{"name": "f"}}, "enabled_tool_ids": []any{"write", "read"},
		"worktree": settings{"repo_root": "/srv", "lifecycle": "ephemeral"},
	}
	for name, tc := range map[string]struct {
		after settings
		sent  string // Nothing if it is empty.
	}{
		"a text":                       {settings{"model": "model-standard"}, `{"model":"model-standard"}`},
		"a flag":                       {settings{"compaction_threshold_check_enabled": false}, `{"compactionThresholdCheckEnabled":false}`},
		"a flag for the first time":    {settings{"compaction_model": "current-model"}, `{"compactionModel":"current-model"}`},
		"the new spelling of a mode":   {settings{"interaction_mode": "mission"}, ``},
		"the same time":                {settings{"archived_at": "2026-02-03T01:00:00+01:00"}, ``},
		"another time":                 {settings{"archived_at": "2026-02-03T01:00:00Z"}, `{"archivedAt":"2026-02-03T01:00:00Z"}`},
		"no tags":                      {settings{"tags": []any{}}, `{"tags":[]}`},
		"a tag more":                   {settings{"tags": []any{settings{"name": "a", "metadata": settings{"b": "c", "d": "e"}}, settings{"name": "f"}, settings{"name": "g"}}}, `{"tags":[{"name":"a","metadata":{"b":"c","d":"e"}},{"name":"f"},{"name":"g"}]}`},
		"other metadata":               {settings{"tags": []any{settings{"name": "a", "metadata": settings{"b": "x"}}, settings{"name": "f"}}}, `{"tags":[{"name":"a","metadata":{"b":"x"}},{"name":"f"}]}`},
		"the same tags otherwise":      {settings{"tags": []any{settings{"name": "f", "metadata": settings{}}, settings{"name": "a", "metadata": settings{"b": "c", "d": "e"}}}}, ``},
		"the same tools":               {settings{"enabled_tool_ids": []any{"read", "write"}}, ``},
		"a tool less":                  {settings{"enabled_tool_ids": []any{"write"}}, `{"enabledToolIds":["write"]}`},
		"no tools":                     {settings{"enabled_tool_ids": []any{}}, `{"enabledToolIds":[]}`},
		"no tools for the first time":  {settings{"disabled_tool_ids": []any{}}, `{"disabledToolIds":[]}`},
		"a part of the worktree":       {settings{"worktree": settings{"repo_root": "/srv"}}, ``},
		"another part of the worktree": {settings{"worktree": settings{"repo_root": "/srv", "lifecycle": "persistent"}}, `{"worktree":{"repoRoot":"/srv","lifecycle":"persistent"}}`},
		"another worktree":             {settings{"worktree": settings{"repo_root": "/other", "lifecycle": "persistent"}}, `{"worktree":{"repoRoot":"/other","lifecycle":"persistent"}}`},
		"two at once":                  {settings{"model": "model-standard", "setup_profile_id": "p"}, `{"model":"model-standard","setupProfileId":"p"}`},
		"nothing at all":               {settings{}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bodies sent
			e := acctest.New(t, bodies.option)
			computer := newComputer(e, "dev")
			i := applied(t, e, withSettings(computer, before))
			id := i.ID()
			bodies.take()
			out := mustApply(t, e, i, withSettings(computer, tc.after))
			if tc.sent == "" {
				bodies.must(t)
			} else {
				bodies.must(t, `PATCH {"sessionSettings":`+tc.sent+`}`)
			}
			if i.ID() != id || len(out.Warnings) > 0 {
				t.Errorf("%s", out)
			}
			worktree, _ := tc.after["worktree"].(settings)
			if want := maps.Clone(tc.after); worktree != nil && worktree["lifecycle"] == nil {
				kept := maps.Clone(worktree)
				kept["lifecycle"] = "ephemeral"
				want["worktree"] = kept
				mustSettings(t, i, want)
			} else {
				mustSettings(t, i, want)
			}
			mustPlan(t, e, i, withSettings(computer, tc.after), "none")
		})
	}
}

// What the service told of a worktree is not sent for another one, and that it was removed is sent by nobody who did not
// configure it.
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
		"another branch at the same path": {settings{"repo_root": "/a", "branch": "b", "path": "/w/a"}, `{"repoRoot":"/a","branch":"b","path":"/w/a"}`,
			settings{"repo_root": "/a", "branch": "b", "path": "/w/a"}},
		"another lifecycle": {settings{"repo_root": "/a", "lifecycle": "persistent"}, `{"repoRoot":"/a","branch":"a","lifecycle":"persistent","path":"/w/a","parentWorktreePath":"/w"}`,
			settings{"repo_root": "/a", "branch": "a", "lifecycle": "persistent", "path": "/w/a", "parent_worktree_path": "/w"}},
		"another lifecycle of a removed one": {settings{"repo_root": "/a", "lifecycle": "persistent", "removed_at": gone},
			`{"repoRoot":"/a","branch":"a","lifecycle":"persistent","path":"/w/a","parentWorktreePath":"/w","removedAt":"2026-02-03T00:00:00Z"}`,
			settings{"repo_root": "/a", "branch": "a", "lifecycle": "persistent", "path": "/w/a", "parent_worktree_path": "/w", "removed_at": gone}},
		"the same": {settings{"repo_root": "/a"}, ``, settings{"repo_root": "/a", "branch": "a", "lifecycle": "ephemeral", "path": "/w/a", "parent_worktree_path": "/w", "removed_at": gone}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bodies sent
			e := acctest.New(t, bodies.option)
			computer := newComputer(e, "dev")
			i := applied(t, e, withSettings(computer, settings{"worktree": settings{"repo_root": "/a"}}))
			patched(e, i.ID(), settings{"worktree": told})
			bodies.take()
			after := withSettings(computer, settings{"worktree": tc.after})
			mustApply(t, e, i, after)
			if tc.sent == "" {
				bodies.must(t)
			} else {
				bodies.must(t, `PATCH {"sessionSettings":{"worktree":`+tc.sent+`}}`)
			}
			for range 2 {
				mustSettings(t, i, settings{"worktree": tc.want})
				mustPlan(t, e, i, after, "none")
			}
		})
	}
}

// The deprecated mode and what it stands for follow each other.
func TestSession_deprecatedMode(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	var bodies sent
	e := acctest.New(t, bodies.option)
	computer := newComputer(e, "dev")
	var i *acctest.Instance
	for n, step := range []struct {
		elsewhere   settings
		config      settings
		sent        string
		mode, level string
		deprecated  any
	}{
		{config: settings{"autonomy_mode": "auto-low"}, mode: "auto", level: "low", deprecated: "auto-low"},
		{config: settings{"autonomy_mode": "auto-high"}, sent: `{"autonomyMode":"auto-high"}`, mode: "auto", level: "high", deprecated: "auto-high"},
		{config: settings{"autonomy_mode": "spec"}, sent: `{"autonomyMode":"spec"}`, mode: "spec", level: "high", deprecated: "spec"},
		{config: settings{"autonomy_mode": "normal", "interaction_mode": "auto"}, sent: `{"autonomyMode":"normal","interactionMode":"auto"}`, mode: "auto", level: "off", deprecated: "normal"},
		// Somebody else changes what it stands for, and it is set again.
		{elsewhere: settings{"autonomyLevel": "medium"}, config: settings{"autonomy_mode": "normal"}, sent: `{"autonomyMode":"normal"}`, mode: "auto", level: "off", deprecated: "normal"},
		{elsewhere: settings{"interactionMode": "spec"}, config: settings{"autonomy_mode": "normal"}, sent: `{"autonomyMode":"normal"}`, mode: "auto", level: "off", deprecated: "normal"},
		{elsewhere: settings{"autonomyMode": "auto-high"}, config: settings{"autonomy_mode": "normal"}, sent: `{"autonomyMode":"normal"}`, mode: "auto", level: "off", deprecated: "normal"},
		// The new settings take its place, one after the other and at once.
		{config: settings{"autonomy_level": "high"}, sent: `{"autonomyLevel":"high"}`, mode: "auto", level: "high"},
		{config: settings{"autonomy_mode": "auto-medium", "autonomy_level": "medium"}, sent: `{"autonomyMode":"auto-medium","autonomyLevel":"medium"}`, mode: "auto", level: "medium", deprecated: "auto-medium"},
		{config: settings{"interaction_mode": "mission", "autonomy_level": "low"}, sent: `{"interactionMode":"mission","autonomyLevel":"low"}`, mode: "mission", level: "low"},
	} {
		if n == 0 {
			i = applied(t, e, withSettings(computer, step.config))
			bodies.take()
		} else {
			if step.elsewhere != nil {
				patched(e, i.ID(), step.elsewhere)
			}
			mustApply(t, e, i, withSettings(computer, step.config))
			bodies.must(t, `PATCH {"sessionSettings":`+step.sent+`}`)
		}
		mustPlan(t, e, i, withSettings(computer, step.config), "none")
		mustSettings(t, i, settings{"interaction_mode": step.mode, "autonomy_level": step.level, "autonomy_mode": step.deprecated})
		if t.Failed() {
			t.Fatalf("at step %d", n)
		}
	}
}

func TestAccSession_deprecatedModeWarns(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	cli := acctest.NewCLI(t, e, hclOf(newComputer(e, "dev"), `session_settings = { autonomy_mode = "auto-low" }`))
	out := unframed(cli.MustRun("plan", "-input=false").Output)
	for _, part := range []string{"Deprecated", "Use interaction_mode and autonomy_level instead", `"auto-low" is "auto" with "low"`} {
		if !strings.Contains(out, part) {
			t.Errorf("the warning lacks %q: %s", part, out)
		}
	}
	// A configuration without it has no warning, also where a whole session is an output.
	cli.Write("main.tf", hclOf(newComputer(e, "other"), "")+"output \"session\" {\n  value = "+sessionAddress+"\n}\n")
	if out := cli.MustRun("plan", "-input=false").Output; strings.Contains(out, "eprecated") {
		t.Errorf("a plan without autonomy_mode warns: %s", out)
	}
}

// What is known only in the apply is refused there.
func TestAccSession_contradictionKnownInTheApply(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	for name, tc := range map[string]struct{ value, more, want string }{
		"modes":   {`"spec"`, `session_settings = { autonomy_mode = "auto-low", interaction_mode = terraform_data.it.output }`, `Contradicting\s+Modes(.|\n)*remove\s+it`},
		"an enum": {`"some"`, `session_settings = { reasoning_effort = terraform_data.it.output }`, `reasoning_effort\s+must\s+be\s+one\s+of`},
		"prompts": {`"a"`, "system_prompt = terraform_data.it.output\n  system_prompt_append = terraform_data.it.output", `cannot\s+be\s+specified`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runSessions(t, e, resource.TestStep{Config: e.Config(unknown(map[string]string{"it": tc.value}) + hclOf(computer, tc.more)), ExpectError: regexp.MustCompile(tc.want)})
		})
	}
}

// A value that the service told is kept, also where a configuration repeats it; nobody may set it elsewhere.
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
	mustPlan(t, e, i, withSettings(computer, told), "none")

	bodies.take()
	told["model"] = "model-light"
	mustApply(t, e, i, withSettings(computer, told))
	bodies.must(t, `PATCH {"sessionSettings":{"model":"model-light"}}`)

	other := applied(t, e, valuesOf(newComputer(e, "other"), nil))
	unheard := settings{"reasoning_effort": "hyper", "worktree": settings{"repo_root": "/srv", "lifecycle": "daily"}}
	for name, v := range unheard {
		out := acctest.NewProcess(t, e, nil).Plan(other, withSettings(other.Attribute("computer_id"), settings{name: v}))
		if len(out.Errors) != 1 || !strings.Contains(out.Errors[0].Attribute.String(), name) || !strings.Contains(out.Text(), "must be one of") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// What somebody else changes is a difference where it is configured, and is taken over where it is not.
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
			mustApply(t, e, configured, withSettings(one, tc.configured))
			bodies.must(t, `PATCH {"sessionSettings":`+tc.sent+`}`)
			mustPlan(t, e, configured, withSettings(one, tc.configured), "none")
		})
	}
}

// A setting that answers leave out beside others is unset: that is a difference where it is configured.
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
			mustApply(t, e, i, config)
			bodies.must(t, `PATCH {"sessionSettings":`+tc.sent+`}`)
			mustPlan(t, e, i, config, "none")
		})
	}
}

// The plan shows the setting that changes, and nothing of those beside it.
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
	if want := []string{`~ resource "agentyard_session" "test" {`, `~ session_settings = {`, `~ autonomy_level = "low" -> "high"`}; !slices.Equal(changes, want) {
		t.Errorf("the plan shows %q: %s", changes, out)
	}
	cli.MustRun(applying...)
	cli.MustPlanEmpty()
}

// What is no longer configured keeps its value, and so does what nobody ever configured beside it.
func TestAccSession_worktreeBesideTagsOfBefore(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, atOnce)
	computer := newComputer(e, "dev")
	cli := acctest.NewCLI(t, e, hclOf(computer, `session_settings = {
    tags     = [{ name = "a", metadata = { b = "c" } }, { name = "d" }]
    worktree = { repo_root = "/srv" }
  }`))
	cli.MustRun(applying...)
	cli.MustPlanEmpty()
	cli.Write("main.tf", hclOf(computer, `session_settings = { worktree = { repo_root = "/srv" } }`))
	cli.MustPlanEmpty()
	cli.MustRun(applying...)
	cli.MustPlanEmpty()
}

// What the agent does is no change of the configuration's.
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
	// A change of settings leaves all that to the next refresh.
	after := withSettings(computer, map[string]any{"model": "model-standard"})
	mustApply(t, e, i, after)
	e.Clock.Advance(time.Minute)
	mustPlan(t, e, i, after, "none")
	for name, want := range map[string]string{"title": title, "status": status, "parent_session_id": parent, "completed_at": "2026-03-01T13:00:00Z"} {
		if got := i.Attribute(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// A session that somebody archived is as it was; the state tells when.
func TestSession_archivedElsewhere(t *testing.T) {
	t.Parallel()
	const at, other = "2026-02-03T00:00:00Z", "2026-02-04T00:00:00Z"
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	bare, kept := valuesOf(computer, nil), withSettings(computer, map[string]any{"archived_at": at})
	i := applied(t, e, bare)
	archived := at
	changed(t, e, i.ID(), emulator.SessionChange{ArchivedAt: &archived})
	mustPlan(t, e, i, bare, "none")
	mustSettings(t, i, map[string]any{"archived_at": at})
	mustPlan(t, e, i, kept, "none")
	archived = other
	changed(t, e, i.ID(), emulator.SessionChange{ArchivedAt: &archived})
	mustPlan(t, e, i, kept, "update")
	mustApply(t, e, i, kept)
	mustSettings(t, i, map[string]any{"archived_at": at})
	mustPlan(t, e, i, bare, "none")
	mustApply(t, e, i, nil)
	if left := idsOn(t, e, computer); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Where answers have no settings at all, those in the state stay.
func TestSession_answersWithoutSettings(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	all := settings{
		"model": "model-light", "tags": []any{settings{"name": "a", "metadata": settings{"b": "c"}}}, "enabled_tool_ids": []any{"read"}, "disabled_tool_ids": []any{},
		"worktree": settings{"repo_root": "/a", "branch": "b"}, "compaction_threshold_check_enabled": false, "autonomy_mode": "auto-low",
	}
	for name, edit := range map[string]func(method string, session map[string]any){
		"as it is": func(string, map[string]any) {},
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
				if out := p.Apply(i, config); len(out.Errors) > 0 {
					t.Fatal(out)
				}
				mustSettings(t, i, all)
				for range 2 {
					mustPlan(t, e, i, config, "none")
					mustSettings(t, i, all)
					e.Clock.Advance(time.Minute)
				}
				mustApply(t, e, i, withSettings(computer, settings{"model": "model-standard"}))
				mustSettings(t, i, settings{"model": "model-standard", "tags": all["tags"], "worktree": all["worktree"]})
				mustPlan(t, e, i, withSettings(computer, settings{"model": "model-standard"}), "none")
			})
		}
	}
}

// What was asked for and answered otherwise is a warning, and a difference in the next plan. Nothing is replaced for it.
func TestSession_answeredOtherwise(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	const summary = "Session Settings Differ"
	e := acctest.New(t, rewrite(func(_ string, session map[string]any) {
		edited(session, settings{"autonomyLevel": "low", "autonomyMode": nil})
	}))
	computer := newComputer(e, "dev")
	config := withSettings(computer, settings{"autonomy_level": "high"})
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(sessionType)
	if out := p.Apply(i, config); len(out.Errors) > 0 || i.Tainted || !strings.Contains(warningsOf(out), summary) || !strings.Contains(warningsOf(out), i.ID()) {
		t.Fatal(out)
	}
	id := i.ID()
	e.Clock.Advance(time.Minute)
	mustPlan(t, e, i, config, "update")
	mustSettings(t, i, settings{"autonomy_level": "low"})
	if out := mustApply(t, e, i, config); i.Tainted || i.ID() != id || !strings.Contains(warningsOf(out), summary) {
		t.Error(out)
	}
	// What is asked for as the service has it is no matter of a warning.
	if out := mustApply(t, e, i, withSettings(computer, settings{"autonomy_level": "low"})); len(out.Warnings) > 0 {
		t.Error(out)
	}
	mustPlan(t, e, i, withSettings(computer, settings{"autonomy_level": "low"}), "none")
}
