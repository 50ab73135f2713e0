package session_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// Every argument, and every part of one, may come from another resource of the same apply: in a create, and in an update.
func TestSession_unknownAtPlan(t *testing.T) {
	t.Parallel()
	type settings = map[string]any
	// of returns values with v in every place.
	texts := func(v any) acctest.Values {
		return acctest.Values{"cwd": v, "system_prompt": v, "session_settings": settings{
			"reasoning_effort": v, "disabled_tool_ids": []any{"b", v}, "tags": []any{settings{"name": "a", "metadata": settings{"a": v}}, settings{"name": v}},
			"worktree": settings{"repo_root": v, "branch": v},
		}}
	}
	whole := func(v any) acctest.Values { return acctest.Values{"session_settings": v} }
	parts := func(tools, tags, tree any) acctest.Values {
		return whole(settings{"enabled_tool_ids": tools, "tags": tags, "worktree": tree})
	}
	const unknown = tftypes.UnknownValue
	for name, tc := range map[string]struct{ before, after acctest.Values }{
		"settings":  {whole(unknown), whole(settings{"model": "m", "tags": []any{settings{"name": "a", "metadata": settings{"b": "c"}}}})},
		"texts":     {texts(unknown), texts("low")},
		"parts":     {parts(unknown, unknown, unknown), parts([]any{"a", "b"}, []any{settings{"name": "a"}}, settings{"repo_root": "/a", "branch": "b"})},
		"no prompt": {acctest.Values{"system_prompt": unknown}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			computer := newComputer(e, "dev")
			before, after := valuesOf(computer, tc.before), valuesOf(computer, tc.after)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(sessionType)
			p.ApplyLater(i, before, after).MustDo(t, acctest.ActionCreate)
			e.Clock.Advance(emulatedLag)
			mustPlan(t, e, i, after, acctest.ActionNone)
			if name == "settings" || name == "parts" {
				e.MustApply(t, i, withSettings(computer, map[string]any{"model": "other", "tags": []any{}}))
				acctest.NewProcess(t, e, nil).ApplyLater(i, before, after).MustDo(t, acctest.ActionUpdate)
				mustPlan(t, e, i, after, acctest.ActionNone)
			}
		})
	}
}
