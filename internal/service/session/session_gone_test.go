package session_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// deleted deletes a session or a computer outside Terraform.
func deleted(e *acctest.Env, path string) { e.API(http.MethodDelete, path, nil, nil) }

func TestSession_deletedDuringAnApply(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{"the plan": "GET " + sessionsRoute, "the change": "PATCH " + sessionsRoute, "the destruction": "DELETE " + sessionsRoute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var i *acctest.Instance
			armed := false
			e = acctest.New(t, acctest.Meanwhile(request, func(int) {
				if armed {
					armed = false
					deleted(e, sessionsRoute+"/"+i.ID())
				}
			}))
			computer := newComputer(e, "dev")
			i = applied(t, e, valuesOf(computer, nil))
			armed = true
			config := withSettings(computer, map[string]any{"model": "model-light"})
			if name == "the destruction" {
				config = nil
			}
			out := acctest.NewProcess(t, e, nil).Apply(i, config)
			if name == "the change" {
				if len(out.Errors) != 1 || !strings.Contains(out.Text(), "updateSession") {
					t.Errorf("%s", out)
				}
			} else if len(out.Errors) > 0 {
				t.Errorf("%s", out)
			}
			e.MustApply(t, i, config)
			if n := len(idsOn(t, e, computer)); config != nil && n != 1 || config == nil && n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		})
	}
}

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
		for _, others := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, others %t", name, others), func(t *testing.T) {
				t.Parallel()
				e := acctest.New(t)
				if others {
					newSession(e, newComputer(e, "other"), nil)
				}
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
}

// A session may be removed from its computer outside Terraform. The state keeps its known values.
func TestSession_withoutAComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	config := valuesOf(computer, nil)
	i := applied(t, e, config)
	id, nowhere := i.ID(), ""
	changed(t, e, id, emulator.SessionChange{ComputerID: &nowhere})
	mustPlan(t, e, i, config, "none")
	if out := acctest.NewProcess(t, e, nil).Apply(i, nil); len(out.Errors) > 0 || len(out.Warnings) > 0 {
		t.Errorf("%s", out)
	}
	if left := idsOn(t, e, ""); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A new session can be updated, read, and destroyed immediately, although it does not appear in any response yet. A plan
// does not wait.
func TestSession_young(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	config := withSettings(computer, map[string]any{"model": "model-light"})
	other := withSettings(computer, map[string]any{"model": "model-standard"})
	for name, run := range map[string]func(i *acctest.Instance) acctest.Outcome{
		"destroyed":                   func(i *acctest.Instance) acctest.Outcome { return acctest.NewProcess(t, e, nil).Apply(i, nil) },
		"destroyed without a refresh": func(i *acctest.Instance) acctest.Outcome { return acctest.NewProcess(t, e, nil).Destroy(i) },
		"planned":                     func(i *acctest.Instance) acctest.Outcome { return acctest.NewProcess(t, e, nil).Plan(i, config) },
		"changed":                     func(i *acctest.Instance) acctest.Outcome { return acctest.NewProcess(t, e, nil).Apply(i, other) },
	} {
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(sessionType)
		p.Apply(i, config).MustSucceed(t)
		id := i.ID()
		begin := e.Clock.Now()
		if out := run(i); len(out.Errors) > 0 || len(out.Warnings) > 0 {
			t.Errorf("%s: %s", name, out)
		}
		if took := e.Clock.Now().Sub(begin); took > 2500*time.Millisecond || name == "planned" && took > 0 {
			t.Errorf("%s: it took %s", name, took)
		}
		if i.State.IsNull() == (name == "planned" || name == "changed") || !i.State.IsNull() && i.ID() != id {
			t.Errorf("%s: the state holds %s", name, i.State)
		}
		if !i.State.IsNull() {
			e.MustApply(t, i, nil)
		}
		if left := idsOn(t, e, computer); len(left) > 0 {
			t.Fatalf("%s: left: %v", name, left)
		}
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
		"waits":         {8 * time.Second, 0},
		"waits in vain": {50 * time.Second, 1},
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
