package guides

import (
	"net/http"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

type session struct {
	SessionID, Status string
	SessionSettings   struct {
		AutonomyLevel string
		Tags          []struct{ Metadata map[string]string }
		Worktree      struct{ Branch string }
	}
}

func sessions(e *acctest.Env) []session {
	var answer struct{ Sessions []session }
	e.API(http.MethodGet, "/api/v0/sessions?limit=100", nil, &answer)
	return answer.Sessions
}

func agentSessions(g *reader) {
	t, e := g.t, g.e
	g.step()
	g.cli.MustPlanEmpty()
	if all := sessions(e); len(all) != 1 || all[0].Status != "idle" || all[0].SessionSettings.AutonomyLevel != "low" || all[0].SessionSettings.Tags[0].Metadata["ticket"] != "APP-17" {
		t.Fatalf("the sessions are %+v", all)
	}
	task := sessions(e)[0].SessionID

	g.step()
	if all := sessions(e); len(all) != 1 || all[0].SessionID != task || all[0].SessionSettings.AutonomyLevel != "high" {
		t.Errorf("the sessions are %+v", all)
	}

	g.step()
	branches := map[string]bool{}
	for _, s := range sessions(e) {
		branches[s.SessionSettings.Worktree.Branch] = true
	}
	if len(sessions(e)) != 3 || !branches["fix-login"] || !branches["new-menu"] {
		t.Errorf("the sessions are %+v", sessions(e))
	}

	running := emulator.SessionChange{Status: new("running")}
	acctest.Must(t, e.ChangeSession(task, running))
	report := g.step()
	if _, shown, _ := strings.Cut(report, "+ running "); !strings.Contains(shown, task) {
		t.Errorf("the report does not show the session: %s", report)
	}
	if strings.Contains(report, "Plan:") {
		t.Errorf("watching plans a change: %s", report)
	}

	g.cli.Write("tasks.auto.tfvars", "tasks = {}\n")
	g.run("terraform apply")
	if all := sessions(e); len(all) != 1 || all[0].SessionID != task {
		t.Errorf("the sessions are %+v", all)
	}

	acctest.NeedsActions(t)
	g.step()
	if all := sessions(e); all[0].Status != "idle" {
		t.Errorf("the session is %s", all[0].Status)
	}
	g.step()
	if n := e.Journal().Count("interruptSession"); n != 2 || len(sessions(e)) != 1 {
		t.Errorf("%d interruptions, and the sessions are %+v", n, sessions(e))
	}
	g.run("terraform destroy")
	if left := sessions(e); len(left) > 0 {
		t.Errorf("%+v is left", left)
	}
}
