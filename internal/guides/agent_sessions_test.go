package guides

import (
	"net/http"
	"strings"
	"testing"
	"time"

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

func TestAccGuide_agentSessions(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quick, func(o *emulator.Options) {
		o.MaxPageSize, o.SessionDelay, o.SessionListDelay = 0, time.Millisecond, time.Millisecond
	})
	guide := acctest.NewGuide(t, "agent-sessions")
	cli := acctest.NewCLI(t, e, guide.Next("terraform"))
	cli.Write("provider.tf", "")
	apply := guide.Next("shell")
	cli.Follow(apply)
	cli.MustPlanEmpty()
	if all := sessions(e); len(all) != 1 || all[0].Status != "idle" || all[0].SessionSettings.AutonomyLevel != "low" || all[0].SessionSettings.Tags[0].Metadata["ticket"] != "APP-17" {
		t.Fatalf("the sessions are %+v", all)
	}
	task := sessions(e)[0].SessionID

	cli.Patch("main.tf", guide.Next("diff"))
	cli.Follow(apply)
	if all := sessions(e); len(all) != 1 || all[0].SessionID != task || all[0].SessionSettings.AutonomyLevel != "high" {
		t.Errorf("the sessions are %+v", all)
	}

	cli.Write("tasks.tf", guide.Next("terraform"))
	cli.Write("tasks.tfvars", guide.Next("hcl"))
	cli.Follow(guide.Next("shell"))
	branches := map[string]bool{}
	for _, s := range sessions(e) {
		branches[s.SessionSettings.Worktree.Branch] = true
	}
	if len(sessions(e)) != 3 || !branches["fix-login"] || !branches["new-menu"] {
		t.Errorf("the sessions are %+v", sessions(e))
	}
	cli.Follow(apply) // Without tasks.
	if all := sessions(e); len(all) != 1 || all[0].SessionID != task {
		t.Errorf("the sessions are %+v", all)
	}

	cli.Write("report.tf", guide.Next("terraform"))
	running := emulator.SessionChange{Status: new("running")}
	if err := e.ChangeSession(task, running); err != nil {
		t.Fatal(err)
	}
	report := cli.Follow(guide.Next("shell"))[0].Output
	if _, shown, _ := strings.Cut(report, "+ running "); !strings.Contains(shown, task) {
		t.Errorf("the report does not show the session: %s", report)
	}

	interrupt, command := guide.Next("terraform"), guide.Next("shell")
	acctest.NeedsActions(t)
	cli.Write("interrupt.tf", interrupt)
	cli.Follow(command)
	if all := sessions(e); all[0].Status != "idle" {
		t.Errorf("the session is %s", all[0].Status)
	}
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	if left := sessions(e); len(left) > 0 {
		t.Errorf("%+v is left", left)
	}
}
