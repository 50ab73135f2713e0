package session_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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

// A create-only argument is adopted from the configuration after an import, without a request, and forces replacement later.
func TestSession_adoption(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]acctest.Values{
		"a directory":      {"cwd": "/srv"},
		"an addition":      {"system_prompt_append": "Be brief."},
		"a mode":           {"session_settings": map[string]any{"tool_execution_mode": "script_only"}},
		"all, and a model": {"cwd": "/srv", "system_prompt": "Be brief.", "session_settings": map[string]any{"tool_execution_mode": "script_only", "allow_subagents_in_scripts": true, "model": "model-light"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bodies := acctest.Sent{Path: sessionsRoute}
			e := acctest.New(t, bodies.Option)
			computer := newComputer(e, "dev")
			id := newSession(e, computer, map[string]any{"worktree": map[string]any{"repoRoot": "/srv"}})
			i, out := imported(t, e, id)
			out.MustSucceed(t)
			bare, wanted := valuesOf(computer, nil), valuesOf(computer, config)
			mustPlan(t, e, i, bare, "none")
			if out := e.MustApply(t, i, wanted); out.Action != acctest.ActionUpdate || i.ID() != id {
				t.Errorf("%s", out)
			}
			if name == "all, and a model" {
				mustHaveSent(t, &bodies, `PATCH {"sessionSettings":{"model":"model-light"}}`)
			}
			mustHaveSent(t, &bodies)
			mustPlan(t, e, i, wanted, "none")
			if config["cwd"] != nil {
				wanted["cwd"] = "/other"
				mustPlan(t, e, i, wanted, "replace")
			}
			// An adopted value is kept. Later values are not adopted.
			late := valuesOf(computer, config)
			switch {
			case config["system_prompt"] == nil && config["system_prompt_append"] == nil:
				late["system_prompt"] = "Be thorough."
			default:
				late["cwd"] = "/late"
			}
			mustPlan(t, e, i, late, "replace")
		})
	}
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
