package session_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The resource sends once and does not wait. A change of an argument or a trigger sends another message; a destroy sends nothing.
func TestSessionMessageResource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := makeTalk(e, newComputer(e, "dev"), nil)
	script(t, e, s.ID, emulator.SessionAnswer{After: time.Hour})
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(messageType)
	sent := func(want int, config acctest.Values) {
		t.Helper()
		begin := e.Clock.Now()
		if out := p.Apply(i, config); len(out.Errors)+len(out.Warnings) > 0 {
			t.Fatalf("%s %s", out.Text(), out.WarningText())
		}
		if n := e.Journal().Count("sendSessionMessage"); n != want || e.Clock.Now() != begin {
			t.Errorf("%d messages were sent in %s, want %d", n, e.Clock.Now().Sub(begin), want)
		}
	}
	config := message(s.ID, "Fix it")
	sent(1, config)
	sent(1, config)
	if got := mustBeSent(t, e, s.ID, "Fix it"); i.ID() != got.ID || i.Attribute("sent_at") != acctest.Start.Add(emulatedLag).Format(time.RFC3339) {
		t.Errorf("the state has %s of %s, want %s", i.ID(), i.Attribute("sent_at"), got.ID)
	}
	config["triggers"] = map[string]any{"night": "2"}
	sent(2, config)
	config["text"] = "Fix it again"
	sent(3, config)
	e.Journal().Reset()
	if out := p.Destroy(i); len(out.Errors) > 0 || len(e.Journal().Entries()) > 0 {
		t.Errorf("%s, after %d requests", out.Text(), len(e.Journal().Entries()))
	}
	if n := len(saidIn(e, s.ID, "user")); n != 3 {
		t.Errorf("the session has %d messages", n)
	}
}

// After a lost response, the resource finds its message. It stores nothing if the message was not sent, so that the next apply sends it.
func TestSessionMessageResource_lost(t *testing.T) {
	t.Parallel()
	for kind, isSent := range map[emulator.FaultKind]bool{emulator.FaultDropAfterCommit: true, emulator.FaultTruncatedBody: true, emulator.FaultDropBeforeCommit: false} {
		e := acctest.New(t)
		s := makeTalk(e, newComputer(e, "dev"), nil)
		e.Faults().Add(emulator.Fault{Operation: "sendSessionMessage", Kind: kind})
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(messageType)
		out := p.Apply(i, message(s.ID, "Fix it"))
		if !isSent {
			out.MustFail(t, "", "Message May Not Have Been Sent", "If the message is missing there, send it again.")
			e.Clock.Advance(time.Minute)
			out = p.Apply(i, message(s.ID, "Fix it"))
		}
		if len(out.Errors) > 0 || i.ID() != mustBeSent(t, e, s.ID, "Fix it").ID {
			t.Errorf("%s: %s", kind, out.Text())
		}
	}
}

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
