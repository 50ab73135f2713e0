package session_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A killed run loses only the request in flight: the next apply sends the message again. Terraform has stored what ran before; OpenTofu has not.
func TestAccSessionMessageResource_killed(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.SessionDelay, o.MessageDelay, o.MaxPageSize = time.Millisecond, -1, 100 },
		acctest.Intercept("sendSessionMessage", true, func() { <-ready; running.Kill() }))
	s := makeTalk(e, newComputer(e, "dev"), nil)
	cli := acctest.NewCLI(t, e, e.Config(`
resource "agentyard_session_interrupt" "before" {
  session_id = "`+s.ID+`"
}

resource "agentyard_session_message" "test" {
  session_id = "`+s.ID+`"
  text       = "Fix it"
  depends_on = [agentyard_session_interrupt.before]
}
`))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	running.Wait()
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	if said := saidIn(e, s.ID, "user"); len(said) != 2 {
		t.Errorf("the session has %v, want the message twice", said)
	}
	if n := e.Journal().Count("interruptSession"); n != 1 && !acctest.IsOpenTofu() {
		t.Errorf("the session was interrupted %d times", n)
	}
	cli.MustPlanEmpty()
}
