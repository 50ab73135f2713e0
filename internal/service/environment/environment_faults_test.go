package environment_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The first apply sets the default after the build, and the last one in place.
func TestEnvironment_faultMatrixOfTheDefault(t *testing.T) {
	t.Parallel()
	wanted := environmentOf("m", acctest.Values{"make_organization_default": true})
	acctest.Matrix{
		Type: environmentType, Env: acctest.New(t), Live: idsOf,
		Steps: []acctest.Values{wanted, environmentOf("m", nil), wanted},
		Before: func(e *acctest.Env, step int) {
			if step == 2 {
				_ = e.SetDefaultEnvironment("")
			}
		},
		Verify: func(t *testing.T, e *acctest.Env, _ *acctest.Instance) {
			check.Is(t, "builds started besides", e.CarriedOut("createEnvironmentBuild"), 0)
			check.Is(t, "the default is set", onlyEnv(t, e).IsDefault, true)
		},
	}.Run(t)
}

// The second apply finds a failed build and starts another one.
func TestEnvironment_faultMatrixOfRebuilding(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: environmentType, Env: acctest.New(t), Live: idsOf,
		Steps: []acctest.Values{environmentOf("m", nil), environmentOf("m", nil)},
		From:  1,
		Before: func(e *acctest.Env, step int) {
			if step == 1 {
				_ = e.FailBuild(emulator.BuildFailure{Reason: "The disk is full."})
				e.API(http.MethodPost, environmentsRoute+"/"+idsOf(e)[0]+"/builds", nil, nil)
				e.Clock.Advance(time.Minute)
			}
		},
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			// These requests are repeated until a response arrives, and again in the next apply if the last build has ended by then.
			if n := e.CarriedOut("createEnvironmentBuild"); n > 4 {
				t.Errorf("%d builds were started", n)
			}
		},
	}.Run(t)
}

// The destroy finds a running build, which must be canceled first.
func TestEnvironment_faultMatrixOfDeletingWhileItIsBuilt(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: environmentType, Env: acctest.New(t, slowBuilds), Live: idsOf,
		Steps: []acctest.Values{environmentOf("m", nil)},
		From:  1,
		Before: func(e *acctest.Env, step int) {
			if step == 1 {
				e.API(http.MethodPost, environmentsRoute+"/"+idsOf(e)[0]+"/builds", nil, nil)
			}
		},
	}.Run(t)
}

// The service may call an environment failed until a rebuild of it has succeeded. A rebuild that runs is no
// failure: the plan starts no other, and does not wait for it.
func TestEnvironment_failedWhileItIsRebuilt(t *testing.T) {
	t.Parallel()
	var isFailed atomic.Bool
	e := acctest.New(t, slowBuilds, rewrite(func(environment map[string]any) {
		if isFailed.Load() {
			environment["status"] = "failed"
		}
	}))
	_, i := e.Created(t, environmentType, envValues(nil))
	failBuild(t, e, emulator.BuildFailure{})
	rebuilt(t, e, time.Hour)
	rebuilt(t, e, time.Second)
	isFailed.Store(true)
	e.Plan(t, i, envValues(nil)).MustBeSilent(t)
}

// The default beside others is not deleted, so its build is not canceled.
func TestEnvironment_refusedDestructionCancelsNoBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, slowBuilds)
	_, i := e.Created(t, environmentType, envValues(acctest.Values{"scope": "organization", "make_organization_default": true}))
	environmentsReady(e, "other")
	e.API(http.MethodPost, environmentsRoute+"/"+i.ID()+"/builds", nil, nil)
	acctest.NewProcess(t, e, nil).Destroy(i).MustFail(t, "", "409", "make another environment the default first")
	// A single read may lack whether an environment is the default.
	var read map[string]any
	e.API(http.MethodGet, environmentsRoute+"/"+i.ID(), nil, &read)
	delete(read, "isDefault")
	body, err := json.Marshal(read)
	check.Must(t, err)
	e.Faults().Add(emulator.Fault{Operation: "getEnvironment", Kind: emulator.FaultOtherResponse, Times: -1, Body: string(body)})
	acctest.NewProcess(t, e, nil).Destroy(i).MustFail(t, "", "409", "make another environment the default first")
	e.WantRequests(t, "cancelEnvironmentBuild", 0)
}

func TestEnvironment_whyACancellationFailsIsSaid(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, environmentOf("a", acctest.Values{"wait_for_build": false}))
	e.Refuse("cancelEnvironmentBuild", http.StatusForbidden, -1)
	e.Apply(t, i, nil).MustFail(t, "", "cancelEnvironmentBuild", "Manager role", "is running")
	check.Is(t, "the state is lost", i.State.IsNull(), false)
}

// A poll that still shows the build before, as failed or succeeded, is neither the result of an edit nor its end.
func TestEnvironment_outdatedPollAfterALostResponse(t *testing.T) {
	t.Parallel()
	for _, earlier := range []string{"failed", "succeeded"} {
		e := acctest.New(t)
		_, i := e.Created(t, environmentType, envValues(nil))
		if earlier == "failed" {
			failBuild(t, e, emulator.BuildFailure{})
			e.Apply(t, i, envValues(acctest.Values{"setup_script": "a"}))
		}
		old := onlyEnv(t, e)
		e.Faults().Add(emulator.Fault{Operation: "updateEnvironment", Kind: emulator.FaultDropAfterCommit},
			emulator.Fault{Operation: "getEnvironmentBuildStatuses", Kind: emulator.FaultOtherResponse, Body: fmt.Sprintf(
				`{"builds":[{"environmentId":%q,"environmentStatus":%q,"latestBuild":{"id":%q,"status":%q,"truncated":false,"withheld":false}}]}`,
				old.ID, map[string]string{"failed": "failed", "succeeded": "ready"}[earlier], old.LatestBuild.ID, earlier)})
		out := e.Apply(t, i, envValues(acctest.Values{"setup_script": "b"}))
		if out.MustDo(t, acctest.ActionUpdate); i.Attribute("status") != "ready" || i.Attribute("latest_build_id") == old.LatestBuild.ID {
			t.Errorf("after a build that %s: %s", earlier, i.State)
		}
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
		"of a change whose repetition is refused": {
			faults: []emulator.Fault{
				{Operation: "updateEnvironment", Kind: emulator.FaultDropAfterCommit, Times: 1},
				{Operation: "updateEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusForbidden},
			},
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
			for _, fault := range tc.faults {
				fault.Times = cmp.Or(fault.Times, -1)
				e.Faults().Add(fault)
			}
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
			check.Is(t, "builds started", e.CarriedOut("updateEnvironment")+e.CarriedOut("createEnvironmentBuild"), started)
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		})
	}
}

// A service need not name the build that an update starts, and may show the one before for some seconds. That one is not waited for. If the
// update started none, it counts after all.
func TestEnvironment_anUnnamedBuildIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]time.Duration{"at once": 0, "late": 3 * time.Second, "never": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var mu sync.Mutex
			var until time.Time
			before := map[string]map[string]any{}
			e = acctest.New(t, acctest.Rewrite(environmentsRoute, "environments", func(r *http.Request, object map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				if r.Method == http.MethodPatch {
					delete(object, "buildId")
					until = e.Clock.Now().Add(lag)
					return
				}
				if e.Clock.Now().Before(until) {
					clear(object)
					maps.Copy(object, before[r.URL.Path])
				}
				before[r.URL.Path] = maps.Clone(object)
			}))
			_, i := e.Created(t, environmentType, environmentOf("a", nil))
			first := i.Attribute("latest_build_id")
			started := e.Clock.Now()
			e.MustApply(t, i, environmentOf("a", acctest.Values{"setup_script": "make"})).MustDo(t, acctest.ActionUpdate)
			if isNew := i.Attribute("latest_build_id") != first; isNew != (lag < time.Hour) || i.Attribute("status") != "ready" {
				t.Errorf("the state is %s", i.State)
			}
			if waited := e.Clock.Now().Sub(started); waited > time.Minute {
				t.Errorf("waited %v", waited)
			}
		})
	}
}

// The build that the response to a change names is waited for, even if the service shows one for some seconds that the state does not know.
func TestEnvironment_aNamedBuildIsWaitedForUntilItIsShown(t *testing.T) {
	t.Parallel()
	var e *acctest.Env
	var mu sync.Mutex
	var until time.Time
	var earlier map[string]any
	e = acctest.New(t, acctest.Rewrite(environmentsRoute, "builds", func(r *http.Request, object map[string]any) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodPatch:
			until = e.Clock.Now().Add(3 * time.Second)
		case e.Clock.Now().Before(until) && object["latestBuild"] != nil:
			object["latestBuild"] = earlier
		}
	}))
	p, i := e.Created(t, environmentType, environmentOf("a", nil))
	apply := p.Save(i, environmentOf("a", acctest.Values{"setup_script": "make"}))
	rebuilt(t, e, buildTime)
	earlier = map[string]any{"id": latestOf(e), "status": "succeeded"}
	apply().MustDo(t, acctest.ActionUpdate)
	if got := onlyEnv(t, e); i.Attribute("latest_build_id") != got.LatestBuild.ID || got.Status != "ready" || i.Attribute("status") != "ready" {
		t.Errorf("%+v; the state is %s", got, i.State)
	}
}
