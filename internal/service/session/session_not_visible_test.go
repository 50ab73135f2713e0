package session_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// deleted deletes a session or a computer outside Terraform.
func deleted(e *acctest.Env, path string) { e.API(http.MethodDelete, path, nil, nil) }

// When its computer is deleted, a managed computer's session is archived, and a registered computer's session stays
// unchanged. Both can still be read and destroyed.
func TestSession_itsComputerIsDeleted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		computer   func(e *acctest.Env, name string) string
		isArchived bool
	}{
		"managed":    {newManagedComputer, true},
		"registered": {newComputer, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			newSession(e, newComputer(e, "other"), nil)
			computer := tc.computer(e, "box")
			config := withSettings(computer, map[string]any{"model": "model-light"})
			i := applied(t, e, config)
			id := i.ID()
			deleted(e, "/api/v0/computers/"+computer)
			e.Clock.Advance(time.Hour)
			for range 2 {
				mustPlan(t, e, i, config, "none")
			}
			if i.ID() != id {
				t.Fatalf("the state holds %q", i.ID())
			}
			if _, archived := settingsIn(t, i)["archived_at"]; archived != tc.isArchived {
				t.Errorf("the settings are %v", settingsIn(t, i))
			}
			again, out := imported(t, e, id)
			if len(out.Errors) > 0 || settingsIn(t, again)["model"] != "model-light" {
				t.Errorf("%s: %v", out, settingsIn(t, again))
			}
			if out := acctest.NewProcess(t, e, nil).Apply(i, withSettings(computer, map[string]any{"model": "model-standard"})); len(out.Errors) > 0 {
				t.Errorf("%s", out)
			}
			if out := acctest.NewProcess(t, e, nil).Apply(i, nil); len(out.Errors) > 0 || len(out.Warnings) > 0 {
				t.Errorf("%s", out)
			}
			if left := idsOn(t, e, computer); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// An update of a session that the service does not show for a long time says so, and succeeds later.
func TestSession_updatedBeforeItIsVisible(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = 50*time.Second, 50*time.Second })
	computer := newComputer(e, "dev")
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(sessionType)
	p.Apply(i, withSettings(computer, map[string]any{"model": "model-light"})).MustSucceed(t)
	id, after := i.ID(), withSettings(computer, map[string]any{"model": "model-standard"})
	out := acctest.NewProcess(t, e, nil).Apply(i, after)
	out.MustFail(t, "", "Cannot update session", "updateSession", "If the session was just created, try again in a few minutes.")
	if i.ID() != id || strings.Contains(out.Text(), "no longer exists") || strings.Contains(out.Text(), "does not exist") {
		t.Errorf("%s: the state holds %s", out, i.State)
	}
	e.Clock.Advance(3 * time.Minute)
	e.MustApply(t, i, after)
	mustSettings(t, i, map[string]any{"model": "model-standard"})
	if i.ID() != id {
		t.Errorf("the state holds %s, want %s", i.ID(), id)
	}
}

// A destroy waits until the service shows a new session, although lists show it even later.
func TestSession_destroyedBeforeItIsVisible(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		delay time.Duration
		left  int
	}{
		"waits":              {8 * time.Second, 0},
		"never becomes free": {50 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = tc.delay, tc.delay+4*time.Second })
			computer := newComputer(e, "dev")
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(sessionType)
			p.Apply(i, valuesOf(computer, nil)).MustSucceed(t)
			out := e.Apply(t, i, nil)
			if len(out.Errors)+len(out.Warnings) > 0 || !i.State.IsNull() {
				t.Errorf("%s: the state holds %s", out, i.State)
			}
			e.Clock.Advance(3 * time.Minute)
			if left := idsOn(t, e, computer); len(left) != tc.left {
				t.Errorf("left: %v", left)
			}
		})
	}
}
