package session_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestSession_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	type settings = map[string]any
	tags := func(tags ...any) settings { return settings{"tags": tags} }
	for name, tc := range map[string]struct {
		config   acctest.Values
		at, want string
	}{
		"a blank computer":          {acctest.Values{"computer_id": " "}, "computer_id", "Set the ID"},
		"a blank addition":          {valuesOf(computer, acctest.Values{"system_prompt_append": "\t"}), "system_prompt_append", "Write an addition"},
		"a blank prompt":            {valuesOf(computer, acctest.Values{"system_prompt": "  "}), "system_prompt", "Write a prompt"},
		"a tag without a name":      {withSettings(computer, tags(settings{"metadata": settings{"a": "b"}})), "session_settings.tags[0].name", "required"},
		"a worktree without a root": {withSettings(computer, settings{"worktree": settings{"branch": "b"}}), "session_settings.worktree.repo_root", "required"},
		"a worktree of no name":     {withSettings(computer, settings{"worktree": settings{"repo_root": " "}}), "session_settings.worktree.repo_root", "Set the path of the repository"},
		"a life cycle":              {withSettings(computer, settings{"worktree": settings{"repo_root": "/a", "lifecycle": "forever"}}), "session_settings.worktree.lifecycle", "must be \"ephemeral\" or \"persistent\""},
		"a model without a name":    {withSettings(computer, settings{"compaction_model": "custom:"}), "session_settings.compaction_model", "such as custom:my-model"},

		"no setting": {withSettings(computer, settings{"tags": nil}), "session_settings", "check the spelling"},

		"an effort": {withSettings(computer, settings{"reasoning_effort": "some"}), "session_settings.reasoning_effort", `must be "none", "dynamic",`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acctest.NewProcess(t, e, nil)
			p.Apply(p.NewInstance(sessionType), tc.config).MustFail(t, tc.at, tc.want)
		})
	}
	p := acctest.NewProcess(t, e, nil)
	both := p.Plan(p.NewInstance(sessionType), valuesOf(computer, acctest.Values{"system_prompt": "a", "system_prompt_append": "b"}))
	acctest.Says(t, both.Text(), `"system_prompt_append" cannot be specified`)
	t.Cleanup(func() {
		if n := e.Journal().Count("createSession"); n > 0 {
			t.Errorf("%d sessions were made", n)
		}
	})
}

// An error that only the apply can find says what to correct.
func TestSession_refusedByTheService(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var pending struct{ ID string }
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "slow"}, &pending)
	i := e.NewInstance(t, sessionType)
	e.Apply(t, i, valuesOf(pending.ID, nil)).MustFail(t, "", "createSession", "400", "If its status is provisioning, wait until it is active", "agentyard_computer_restart")
	e.AllowSessions(false)
	e.Apply(t, i, valuesOf(newComputer(e, "dev"), nil)).MustFail(t, "", "createSession", "403", "not enabled", "selected organizations")
	if !i.State.IsNull() {
		t.Errorf("the state holds %s", i.State)
	}
}

// The service writes IDs in lower case. A computer ID in a different case is the same computer.
func TestSession_caseOfTheComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	upper := strings.ToUpper(computer)
	i := applied(t, e, valuesOf(upper, nil))
	id := i.ID()
	mustPlan(t, e, i, valuesOf(upper, nil), "none")
	mustPlan(t, e, i, valuesOf(computer, nil), "none")
	e.MustApply(t, i, withSettings(computer, map[string]any{"model": "model-light"}))
	mustPlan(t, e, i, withSettings(upper, map[string]any{"model": "model-light"}), "none")
	if i.ID() != id || i.Attribute("computer_id") != upper || i.Tainted {
		t.Errorf("session %s instead of %s, on %s, tainted %v", i.ID(), id, i.Attribute("computer_id"), i.Tainted)
	}
}
