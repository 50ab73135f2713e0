package environment_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func breaks(e *acctest.Env, faults ...emulator.Fault) {
	for _, fault := range faults {
		if fault.Times == 0 {
			fault.Times = -1
		}
		e.Faults().Add(fault)
	}
}

// After a lost response, a build may be running: the next apply waits for it, and does not report its start as a success.
func TestEnvironment_aBuildWhoseStartWasLostIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, e *acctest.Env)
		faults  []emulator.Fault
		changes acctest.Values
	}{
		"of a change": {
			faults:  []emulator.Fault{{Operation: "updateEnvironment", Kind: emulator.FaultDropAfterCommit}},
			changes: acctest.Values{"setup_script": "make tools"},
		},
		"of a rebuild": {
			prepare: func(t *testing.T, e *acctest.Env) {
				failBuild(t, e, emulator.BuildFailure{})
				rebuilt(t, e, time.Hour)
			},
			faults: []emulator.Fault{
				{Operation: "createEnvironmentBuild", Kind: emulator.FaultDropAfterCommit},
				{Operation: "getEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: 1},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, slowBuilds)
			_, i := e.Created(t, environmentType, environmentOf("a", nil))
			if tc.prepare != nil {
				tc.prepare(t, e)
			}
			breaks(e, tc.faults...)
			config := environmentOf("a", tc.changes)
			if out := e.Apply(t, i, config); len(out.Errors) == 0 {
				t.Fatalf("%s", out)
			}
			e.Faults().Clear()
			started := e.CarriedOut("updateEnvironment") + e.CarriedOut("createEnvironmentBuild")
			out := e.MustApply(t, i, config)
			if out.Action != acctest.ActionUpdate || i.Attribute("status") != "ready" {
				t.Errorf("%s; the status is %q", out, i.Attribute("status"))
			}
			if n := e.CarriedOut("updateEnvironment") + e.CarriedOut("createEnvironmentBuild"); n != started {
				t.Errorf("%d more builds were started", n-started)
			}
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		})
	}
}

func TestEnvironment_twoProcessesMakeTheSame(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickBuilds)
	outs, made := make([]acctest.Outcome, 2), make([]*acctest.Instance, 2)
	acctest.Together(2, 2, func(k int) {
		p := acctest.NewProcess(t, e, nil)
		made[k] = p.NewInstance(environmentType)
		outs[k] = p.Apply(made[k], environmentOf("a", nil))
	})
	all := environmentsOf(e)
	if len(all) != 1 {
		t.Fatalf("the emulator holds %+v", all)
	}
	failed := 0
	for k, out := range outs {
		if len(out.Errors) > 0 {
			failed++
			if !strings.Contains(out.Text(), "terraform import ADDRESS "+all[0].ID) || !made[k].State.IsNull() {
				t.Errorf("%s", out)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d of 2 failed: %v", failed, outs)
	}
}

// The response to a create contains only IDs. An existing environment must not be mistaken for the new one, and an unknown
// ID is an error.
func TestEnvironment_theAnswerNamesAnotherOne(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"one that was there before": "", "none at all": "env_nowhere"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			if other := builtEnv(e, map[string]any{"name": "other"}); id == "" {
				id = other
			}
			e.Faults().Add(emulator.Fault{Operation: "createEnvironment", Kind: emulator.FaultOtherResponse, Status: http.StatusCreated, Body: fmt.Sprintf(`{"id":%q,"buildId":"bld_x"}`, id)})
			i := e.NewInstance(t, environmentType)
			out := e.Apply(t, i, environmentOf("a", nil))
			if len(out.Errors) != 1 || !strings.Contains(out.Text(), id) {
				t.Fatalf("%s", out)
			}
			out = e.Apply(t, i, environmentOf("a", nil))
			for _, left := range environmentsOf(e) {
				if left.Name == "a" && !strings.Contains(out.Text(), "terraform import ADDRESS "+left.ID) {
					t.Errorf("the next apply does not name %s: %s", left.ID, out)
				}
			}
			if all := environmentsOf(e); len(all) != 2 || !i.State.IsNull() {
				t.Errorf("the emulator holds %+v, the state %s", all, i.State)
			}
		})
	}
}

// An environment becomes the default after its build, which the apply waits for.
func TestEnvironment_theDefaultWaitsForABuildThatRuns(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, slowBuilds)
	i := e.NewInstance(t, environmentType)
	acctest.NewProcess(t, e, nil).Import(i, newEnv(e, map[string]any{"name": "a", "scope": "organization"})).MustSucceed(t)
	e.MustApply(t, i, environmentOf("a", acctest.Values{"make_organization_default": true}))
	if all := environmentsOf(e); !all[0].IsDefault || i.Attribute("status") != "ready" {
		t.Errorf("%+v, the status is %q", all, i.Attribute("status"))
	}
}

// The build that the plan wanted may be started outside Terraform, and may have ended when the apply reads why it could not
// start one.
func TestEnvironment_somebodyElseRebuilds(t *testing.T) {
	t.Parallel()
	var e *acctest.Env
	isPlanned := false
	e = acctest.New(t, acctest.Meanwhile("POST "+environmentsRoute+"/env_", func(int) {
		if isPlanned {
			isPlanned = false
			rebuilt(t, e, 0)
		}
	}), acctest.Meanwhile("GET "+environmentsRoute+"/env_", func(n int) {
		if n == 2 {
			e.Clock.Advance(time.Hour)
		}
	}))
	_, i := e.Created(t, environmentType, environmentOf("a", nil)) // Reads it once.
	failBuild(t, e, emulator.BuildFailure{})
	rebuilt(t, e, time.Hour)
	isPlanned = true
	if out := e.MustApply(t, i, environmentOf("a", nil)); out.Action != acctest.ActionUpdate || i.Attribute("status") != "ready" {
		t.Errorf("%s; the status is %q", out, i.Attribute("status"))
	}
	if n := e.CarriedOut("createEnvironmentBuild"); n != 2 {
		t.Errorf("%d builds were started: %+v", n, e.Journal().Entries())
	}
}
