package session_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// rewrite edits every session in the emulator's responses to the provider, depending on the request's method. The responses
// may violate the contract.
func rewrite(edit func(method string, session map[string]any)) acctest.Option {
	return acctest.Wrap(func(next http.Handler) http.Handler {
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
	})
}

// edited changes settings in responses. Nil removes a setting.
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

// settingsIn returns the settings in a state, without null values.
func settingsIn(t *testing.T, i *acctest.Instance) map[string]any {
	t.Helper()
	var attributes map[string]tftypes.Value
	acctest.Must(t, i.State.As(&attributes))
	found, _ := plain(t, attributes["session_settings"]).(map[string]any)
	return found
}

// plain converts a value to a Go value without nulls. A set or list is a []any.
func plain(t *testing.T, v tftypes.Value) any {
	t.Helper()
	return withoutNulls(acctest.Plain(t, v))
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, one any) bool { return withoutNulls(one) == nil })
	case []any:
		for _, one := range v {
			withoutNulls(one)
		}
	}
	return v
}

// mustSettings checks the settings in a state. Nil is null.
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
	acctest.Must(t, err)
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
		sent  string // Empty if nothing is sent.
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
			out := e.MustApply(t, i, withSettings(computer, tc.after))
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
			e.MustApply(t, i, after)
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

// Values that are known only during the apply are checked then.
func TestAccSession_valuesKnownInTheApply(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	for name, tc := range map[string]struct{ value, more, want string }{
		"an enum": {`"some"`, `session_settings = { reasoning_effort = terraform_data.it.output }`, `reasoning_effort\s+must\s+be\s+one\s+of`},
		"prompts": {`"a"`, "system_prompt = terraform_data.it.output\n  system_prompt_append = terraform_data.it.output", `cannot\s+be\s+specified`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runSessions(t, e, resource.TestStep{Config: e.Config(unknown(map[string]string{"it": tc.value}) + hclOf(computer, tc.more)), ExpectError: regexp.MustCompile(tc.want)})
		})
	}
}
