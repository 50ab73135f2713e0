package session_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const interruptType = "agentyard_session_interrupt"

// isRunning lets an agent work in a session.
func isRunning(t *testing.T, e *acctest.Env, id string) {
	t.Helper()
	changed(t, e, id, emulator.SessionChange{Status: new("running")})
}

func statusOf(e *acctest.Env, id string) string {
	var shown struct{ Status string }
	e.API(http.MethodGet, sessionsRoute+"/"+id, nil, &shown)
	return shown.Status
}

// mustInterrupt invokes the action and returns its message.
func mustInterrupt(t *testing.T, e *acctest.Env, id string) string {
	t.Helper()
	progress, out := acctest.NewProcess(t, e, nil).Invoke(interruptType, acctest.Values{"session_id": id})
	if len(out.Errors)+len(out.Warnings) > 0 || len(progress) != 1 {
		t.Fatalf("%s %s%q", out.Text(), out.WarningText(), progress)
	}
	return progress[0]
}

// The action can be repeated, and sends a single request, so that nothing delays the interrupt.
func TestSessionInterrupt(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := makeTalk(e, newComputer(e, "dev"), nil)
	for _, status := range []string{"running", "pending", "idle"} {
		changed(t, e, s.ID, emulator.SessionChange{Status: new(status)})
		e.Journal().Reset()
		check.Is(t, status+": told", mustInterrupt(t, e, s.ID), "Session "+s.ID+" is idle")
		if n := len(e.Journal().Entries()); n != 1 || e.Journal().Count("interruptSession") != 1 {
			t.Errorf("%s: %d requests were sent", status, n)
		}
		check.Is(t, status+": the session", statusOf(e, s.ID), "idle")
	}
}

func TestSessionInterrupt_notStoppedYet(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"running", "winding-down"} {
		e := acctest.New(t)
		s := makeTalk(e, newComputer(e, "dev"), nil)
		e.Faults().Add(emulator.Fault{Operation: "interruptSession", Kind: emulator.FaultOtherResponse, Body: `{"status":"` + status + `","new":1}`})
		if got, want := mustInterrupt(t, e, s.ID), "Session "+s.ID+" is "+status+": the service accepted the interruption, but the agent has not stopped yet"; !strings.HasPrefix(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

// A session that was just created gets a 404 at first.
func TestSessionInterrupt_youngSession(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	check.Says(t, mustInterrupt(t, e, newYoungSession(e, newComputer(e, "dev"), nil)), "is idle")
}

func TestSessionInterrupt_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := makeTalk(e, newComputer(e, "dev"), nil)
	isRunning(t, e, s.ID)
	invoke := func(settings acctest.Values, id string) acctest.Outcome {
		_, out := acctest.NewProcess(t, e, settings).Invoke(interruptType, acctest.Values{"session_id": id})
		return out
	}
	invoke(nil, "5ab8c2f0-6f0e-4b5a-9d66-2f7f3c1e9a10").MustFail(t, "session_id", "Cannot interrupt session", "interruptSession", "404", "Nothing was interrupted. Check session_id. If the session was just created, try again in a few minutes.")
	invoke(nil, " ").MustFail(t, "session_id", "session_id must not be blank. Set the ID of a session")
	invoke(acctest.Values{"api_key": somebody(t, e, emulator.RoleUser)}, s.ID).MustFail(t, "", "403", "belongs to another member", "the API key of the session's owner, or of a member with the Manager role")
	e.Faults().Add(emulator.Fault{Operation: "interruptSession", Kind: emulator.FaultOtherResponse, Body: "{}"})
	invoke(nil, s.ID).MustFail(t, "", "Cannot interrupt session", "interruptSession", "the field status is missing")
	isRunning(t, e, s.ID)
	if got := mustInterrupt(t, e, s.ID); !strings.Contains(got, "is idle") || statusOf(e, s.ID) != "idle" {
		t.Errorf("told %q", got)
	}
	// A manager can interrupt any user's agent.
	isRunning(t, e, s.ID)
	if out := invoke(acctest.Values{"api_key": somebody(t, e, emulator.RoleManager)}, s.ID); len(out.Errors) > 0 || statusOf(e, s.ID) != "idle" {
		t.Error(out.Text())
	}
}
