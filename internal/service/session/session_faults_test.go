package session_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// breakSessions runs the fault matrix of a session on a computer, and checks that at most this number of sessions is
// created, without orphans.
func breakSessions(t *testing.T, most int, configs func(computer string) []acctest.Values) {
	t.Helper()
	live := func(e *acctest.Env) (ids []string) {
		all, err := e.Sessions()
		acctest.Must(t, err)
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		return ids
	}
	acctest.Matrix{
		Type:     sessionType,
		Setup:    func(e *acctest.Env) []acctest.Values { return configs(newComputer(e, "dev")) },
		Nameless: true,
		Live:     live,
		Verify: func(t *testing.T, e *acctest.Env, _ *acctest.Instance) {
			orphans := len(live(e)) - 1
			if made := e.CarriedOut("createSession") - orphans; made > most {
				t.Errorf("%d creations were carried out", made)
			}
		},
	}.Run(t)
}

func TestSession_faultMatrix(t *testing.T) {
	t.Parallel()
	breakSessions(t, 1, func(computer string) []acctest.Values {
		return []acctest.Values{
			valuesOf(computer, nil),
			withSettings(computer, map[string]any{"model": "model-light", "tags": []any{map[string]any{"name": "a", "metadata": map[string]any{"b": "c"}}}, "enabled_tool_ids": []any{"read", "write"}}),
		}
	})
}

// All arguments, including those that responses omit, and a replacement at the end.
func TestSession_faultMatrixOfAllThatIsSent(t *testing.T) {
	t.Parallel()
	breakSessions(t, 2, func(computer string) []acctest.Values {
		all := func(cwd string) acctest.Values {
			return valuesOf(computer, acctest.Values{
				"cwd": cwd, "system_prompt_append": "Be brief.",
				"session_settings": map[string]any{
					"interaction_mode": "agi", "autonomy_level": "low", "tool_execution_mode": "script_only", "allow_subagents_in_scripts": true,
					"disabled_tool_ids": []any{"read", "write"}, "restrict_tool_ids": []any{}, "worktree": map[string]any{"repo_root": "/srv", "branch": "main"},
				},
			})
		}
		return []acctest.Values{all("/srv"), all("/other")}
	})
}
