package session_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// rewrite edits every session in the emulator's responses to the provider, depending on the request's method.
func rewrite(edit func(method string, session map[string]any)) acctest.Option {
	return acctest.Rewrite(sessionsRoute, "sessions", func(r *http.Request, session map[string]any) { edit(r.Method, session) })
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
	return acctest.WithoutNulls(acctest.Plain(t, v))
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
		"the new spelling of a mode":   {settings{"interaction_mode": "mission"}, ``},
		"the same time":                {settings{"archived_at": "2026-02-03T01:00:00+01:00"}, ``},
		"the same tags otherwise":      {settings{"tags": []any{settings{"name": "f", "metadata": settings{}}, settings{"name": "a", "metadata": settings{"b": "c", "d": "e"}}}}, ``},
		"a part of the worktree":       {settings{"worktree": settings{"repo_root": "/srv"}}, ``},
		"another part of the worktree": {settings{"worktree": settings{"repo_root": "/srv", "lifecycle": "persistent"}}, `{"worktree":{"repoRoot":"/srv","lifecycle":"persistent"}}`},
		"nothing at all":               {settings{}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bodies := acctest.Sent{Path: sessionsRoute}
			e := acctest.New(t, bodies.Option)
			computer := newComputer(e, "dev")
			i := applied(t, e, withSettings(computer, before))
			id := i.ID()
			bodies.Take()
			out := e.MustApply(t, i, withSettings(computer, tc.after))
			if tc.sent == "" {
				mustHaveSent(t, &bodies)
			} else {
				mustHaveSent(t, &bodies, `PATCH {"sessionSettings":`+tc.sent+`}`)
			}
			if i.ID() != id || len(out.Warnings) > 0 {
				t.Errorf("%s", out)
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
			if tc.sent == "" {
				mustHaveSent(t, &bodies)
			} else {
				mustHaveSent(t, &bodies, `PATCH {"sessionSettings":{"worktree":`+tc.sent+`}}`)
			}
			for range 2 {
				mustSettings(t, i, settings{"worktree": tc.want})
				mustPlan(t, e, i, after, "none")
			}
		})
	}
}
