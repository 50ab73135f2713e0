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

// Every part of a setting may come from another resource of the same apply: in a create, and in an update.
func TestSession_unknownPartsOfSettings(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	parts := func(text, tools, tags, tree any) acctest.Values {
		return valuesOf(computer, acctest.Values{"session_settings": settings{
			"enabled_tool_ids": tools, "tags": tags, "worktree": tree, "reasoning_effort": text, "disabled_tool_ids": []any{"d", text},
		}})
	}
	const unknown = tftypes.UnknownValue
	of := func(v any) (tags, tree any) {
		return []any{settings{"name": "a", "metadata": settings{"a": v}}, settings{"name": v}}, settings{"repo_root": v, "branch": v}
	}
	tags, tree := of("low")
	known := parts("low", []any{"a", "b"}, tags, tree)
	tagsOfUnknown, treeOfUnknown := of(unknown)
	for _, before := range []acctest.Values{parts(unknown, unknown, unknown, unknown), parts(unknown, []any{"a", "b"}, tagsOfUnknown, treeOfUnknown)} {
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(sessionType)
		p.ApplyLater(i, before, known).MustDo(t, acctest.ActionCreate)
		e.Clock.Advance(emulatedLag)
		mustPlan(t, e, i, known, acctest.ActionNone)
		e.MustApply(t, i, withSettings(computer, settings{"model": "other", "tags": []any{}}))
		acctest.NewProcess(t, e, nil).ApplyLater(i, before, known)
		mustPlan(t, e, i, known, acctest.ActionNone)
	}
}
