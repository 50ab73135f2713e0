package session_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

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

// Each form of import finds the session with its settings, even if it does not appear in responses for 2 seconds, and plans
// no change. The computer in an identity only helps to find the session: the service's value is used.
func TestSession_imported(t *testing.T) {
	t.Parallel()
	for _, settingsOnReads := range []bool{false, true} {
		for name, create := range map[string]func(e *acctest.Env, computer string, settings map[string]any) string{"old": newSession, "young": newYoungSession} {
			t.Run(fmt.Sprint(name, ", settings in reads: ", settingsOnReads), func(t *testing.T) {
				t.Parallel()
				bodies := acctest.Sent{Path: sessionsRoute}
				e := acctest.New(t, bodies.Option, func(o *emulator.Options) { o.SessionListDelay = 2 * time.Second })
				e.SessionSettingsOnReads(settingsOnReads)
				computer, other := newComputer(e, "dev"), newComputer(e, "other")
				config := withSettings(computer, map[string]any{"model": "model-light", "enabled_tool_ids": []any{"read", "write"}, "tags": []any{map[string]any{"name": "a"}}})
				for _, named := range []any{"no identity", nil, computer, other, uuid.NewString()} {
					id := create(e, computer, map[string]any{"model": "model-light", "enabledToolIds": []any{"write", "read"}, "tags": []any{map[string]any{"name": "a"}}})
					p := acctest.NewProcess(t, e, nil)
					i := p.NewInstance(sessionType)
					var out acctest.Outcome
					if named == "no identity" {
						out = p.Import(i, id)
					} else {
						out = p.ImportByIdentity(i, acctest.Values{"id": id, "computer_id": named})
					}
					out.MustSucceed(t)
					mustPlan(t, e, i, config, acctest.ActionNone)
				}
				mustHaveSent(t, &bodies)
			})
		}
	}
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

// A user who is neither the owner nor a manager gets an error that says whose API key is needed. The state is kept.
func TestSession_withTheKeyOfSomebodyElse(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := valuesOf(newComputer(e, "dev"), nil)
	i := applied(t, e, config)
	p := acctest.NewProcess(t, e, acctest.Values{"api_key": e.MemberKey("sam@agentyard.example", "")})
	const advice = "API key of the session's owner"
	p.Plan(i, config).MustFail(t, "", "403", advice)
	p.Destroy(i).MustFail(t, "", "403", advice)
	mustPlan(t, e, i, config, acctest.ActionNone)
}
