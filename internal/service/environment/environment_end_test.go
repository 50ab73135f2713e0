package environment_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironment_timeouts(t *testing.T) {
	t.Parallel()
	for _, updates := range []bool{false, true} {
		t.Run(fmt.Sprintf("update=%v", updates), func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.BuildPhase = time.Hour })
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(environmentType)
			config := envValues(acctest.Values{"timeouts": map[string]any{"create": "5h", "update": "5h"}})
			if updates {
				p.Apply(i, config).MustDo(t, acctest.ActionCreate)
				config["setup_script"] = "make"
			}
			config["timeouts"] = map[string]any{"create": "2m", "update": "3m"}
			before := e.Now()
			allowed, left := 2*time.Minute, "untaint ADDRESS, then apply."
			if updates {
				allowed, left = 3*time.Minute, "The next apply waits for the build"
			}
			p.Apply(i, config).MustFail(t, "", fmt.Sprintf("is still \"queued\" after %s. It continues at the service", allowed), "raise the timeout", left)
			if took := e.Now().Sub(before); took < allowed || took > allowed+time.Minute {
				t.Errorf("it took %v, want %v", took, allowed)
			}
			if i.Tainted == updates || i.Attribute("status") != "building" {
				t.Errorf("tainted: %v, %s", i.Tainted, i.Attribute("status"))
			}
			i.Tainted = false
			config["timeouts"] = map[string]any{"update": "5h"}
			acctest.Says(t, e.Plan(t, i, config).WarningText(), "Earlier build has not ended", i.ID(), "build "+i.Attribute("latest_build_id")+" has not ended, and an earlier apply stopped waiting. An apply that keeps the environment waits for it.")
			e.Journal().Reset()
			e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
			if sent := changesSent(e); sent != "" {
				t.Errorf("the next apply sends %s", sent)
			}
			mustRest(t, e, i, config)
		})
	}
}

// The result of a request is in the state even if the run is interrupted, and the next apply continues from there.
func TestEnvironment_interruptedInFlight(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"createEnvironment", "updateEnvironment", "createEnvironmentBuild", "setDefaultEnvironment"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			var p *acctest.Process
			e := acctest.New(t, acctest.Hold(operation, func(<-chan struct{}) { p.Stop() }))
			config := environmentOf("dev", acctest.Values{"make_organization_default": true})
			i := e.NewInstance(t, environmentType)
			switch operation {
			case "createEnvironmentBuild":
				failBuild(t, e, emulator.BuildFailure{})
				e.Apply(t, i, config)
				i.Tainted = false // As untaint does.
			case "updateEnvironment":
				e.MustApply(t, i, config)
				config["setup_script"] = "make"
			}
			p = acctest.NewProcess(t, e, nil)
			p.Apply(i, config)
			made := onlyEnv(t, e)
			if i.ID() != made.ID || i.Attribute("latest_build_id") != made.LatestBuild.ID || i.Tainted {
				t.Errorf("tainted %v, the state is %s", i.Tainted, i.State)
			}
			e.MustApply(t, i, config)
			if got := onlyEnv(t, e); got.ID != made.ID || got.LatestBuild.ID != made.LatestBuild.ID || !got.IsDefault {
				t.Errorf("%+v, was %+v", got, made)
			}
			mustRest(t, e, i, config)
		})
	}
}

// Without the mark of an interrupted wait, an environment that is being built is no reason for an update.
func TestEnvironment_marksOfUnfinishedWaits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		initial acctest.Values
		then    func(e *acctest.Env, path string, config acctest.Values)
		next    acctest.Action
	}{
		"to be the default": {acctest.Values{"scope": "organization", "make_organization_default": true}, nil, "update"},
		"not waited for":    {nil, func(_ *acctest.Env, _ string, config acctest.Values) { config["wait_for_build"] = false }, "update"},
		"failed":            {nil, func(e *acctest.Env, path string, _ acctest.Values) { e.API(http.MethodPost, path+"/cancel", nil, nil) }, "update"},
		"ready, then edited": {nil, func(e *acctest.Env, _ string, config acctest.Values) {
			e.Clock.Advance(buildTime)
			config["setup_script"] = "make"
		}, "update"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option, arm := atFirstLook()
			e := acctest.New(t, option)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(environmentType)
			config := envValues(tc.initial)
			arm(p.Stop)
			mustWarnOnce(t, p.Apply(i, config), "Interrupted")
			if tc.then != nil {
				tc.then(e, environmentsRoute+"/"+i.ID()+"/builds/"+latestOf(e), config)
			}
			e.Apply(t, i, config).MustDo(t, tc.next)
			if got := onlyEnv(t, e); (config["wait_for_build"] == nil) != (got.Status == "ready") || got.IsDefault != (tc.initial != nil) {
				t.Errorf("the environment is %+v", got)
			}
			// The mark is gone. Without it, a build that was started outside Terraform is no reason for an update.
			e.Clock.Advance(buildTime)
			rebuilt(t, e, 0)
			e.Apply(t, i, config).MustDo(t, acctest.ActionNone)
		})
	}
}

// If the start of a rebuild fails, both last steps are left, and the changes are stored.
func TestEnvironment_aRebuildThatDoesNotStartLeavesItsSteps(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, environmentOf("a", nil))
	failBuild(t, e, emulator.BuildFailure{})
	rebuilt(t, e, buildTime)
	config := environmentOf("b", acctest.Values{"make_organization_default": true})
	refuse(e, "createEnvironmentBuild", http.StatusForbidden, -1)
	e.Apply(t, i, config).MustFail(t, "", "createEnvironmentBuild")
	if got := onlyEnv(t, e); got.IsDefault || got.Name != "b" || i.Attribute("name") != "b" {
		t.Errorf("%+v; the state is %s", got, i.State)
	}
	e.Faults().Clear()
	e.MustApply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if !onlyEnv(t, e).IsDefault {
		t.Error("it is not the default")
	}
	mustRest(t, e, i, config)
}

func TestEnvironment_makeOrganizationDefault(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	keeper := builtEnv(e, map[string]any{"name": "keeper", "scope": "organization"})
	i := e.NewInstance(t, environmentType)
	wanted := acctest.Values{"make_organization_default": true}
	for n, step := range []struct {
		stolen    bool
		values    acctest.Values
		action    acctest.Action
		sent      string
		isDefault bool
	}{
		{false, wanted, "create", "createEnvironment setDefaultEnvironment", true},
		// A default that was changed outside Terraform is not drift, and removing the argument changes no default.
		{true, wanted, "none", "", false},
		{false, acctest.Values{"make_organization_default": false}, "update", "", false},
		{false, wanted, "update", "setDefaultEnvironment", true},
		{false, nil, "update", "", true},
		{true, wanted, "update", "setDefaultEnvironment", true},
		{true, nil, "update", "", false},
		{false, acctest.Values{"make_organization_default": true, "setup_script": "make"}, "update", "updateEnvironment setDefaultEnvironment", true},
	} {
		if step.stolen {
			mustDefault(t, e, keeper)
		}
		e.Journal().Reset()
		config := environmentOf("dev", step.values)
		e.Apply(t, i, config).MustDo(t, step.action)
		if got := changesSent(e); got != step.sent {
			t.Errorf("step %d sent %q", n, got)
		}
		if isDefault(i) != step.isDefault || (liveDefault(e) == i.ID()) != step.isDefault {
			t.Errorf("step %d: the default is %s, and the state is %s", n, liveDefault(e), i.State)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
	// Without a wait, the service makes the environment the default when it creates it.
	unwatched := environmentOf("other", acctest.Values{"make_organization_default": true, "wait_for_build": false})
	e.Journal().Reset()
	_, i = e.Created(t, environmentType, unwatched)
	if sent := changesSent(e); sent != "createEnvironment" || liveDefault(e) != i.ID() {
		t.Errorf("sent %s; the default is %s", sent, liveDefault(e))
	}
	if e.Plan(t, i, unwatched).MustDo(t, acctest.ActionNone); !isDefault(i) {
		t.Errorf("the state is %s", i.State)
	}
}

// Whatever an update changes, it waits for the build that runs, if it waits at all.
func TestEnvironment_anUpdateWaitsForTheBuildThatRuns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, change acctest.Values
		status         string
	}{
		"told to wait":     {acctest.Values{"wait_for_build": false}, acctest.Values{"wait_for_build": true}, "ready"},
		"renamed":          {nil, acctest.Values{"name": "renamed"}, "building"}, // Somebody else's build.
		"told not to wait": {nil, acctest.Values{"wait_for_build": false}, "building"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, slowBuilds)
			_, i := e.Created(t, environmentType, envValues(tc.before))
			e.Clock.Advance(time.Hour)
			rebuilt(t, e, 0)
			e.Journal().Reset()
			e.Apply(t, i, envValues(tc.change)).MustDo(t, acctest.ActionUpdate)
			polls := e.Journal().Count("getEnvironmentBuildStatuses")
			if got := i.Attribute("status"); got != tc.status || e.Journal().Count("createEnvironmentBuild") > 0 || (polls > 0) != (got == "ready") {
				t.Errorf("the status is %q after %d polls", got, polls)
			}
			e.Clock.Advance(time.Hour)
			mustRest(t, e, i, envValues(tc.change))
		})
	}
}

// isDefault returns the attribute in the state.
func isDefault(i *acctest.Instance) (is bool) {
	var attributes map[string]tftypes.Value
	_ = i.State.As(&attributes)
	_ = attributes["is_default"].As(&is)
	return is
}

func TestEnvironment_defaultThatCannotBeSet(t *testing.T) {
	t.Parallel()
	wanted := acctest.Values{"scope": "organization", "make_organization_default": true}
	t.Run("on creation", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		i := e.NewInstance(t, environmentType)
		refuse(e, "setDefaultEnvironment", 403, 1)
		out := e.Apply(t, i, envValues(wanted))
		out.MustDo(t, acctest.ActionCreate)
		mustWarnOnce(t, out, "Environment is not the default", "403", "Manager role", "The next apply tries again.")
		e.Journal().Reset()
		e.Apply(t, i, envValues(wanted)).MustDo(t, acctest.ActionUpdate)
		if got := changesSent(e); got != "setDefaultEnvironment" || !onlyEnv(t, e).IsDefault || i.Tainted {
			t.Errorf("sent %s", got)
		}
		mustRest(t, e, i, envValues(wanted))
	})
	t.Run("on update", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		p, i := e.Created(t, environmentType, envValues(acctest.Values{"scope": "organization"}))
		refuse(e, "setDefaultEnvironment", 409, 1)
		p.Apply(i, envValues(wanted)).MustFail(t, "make_organization_default", "Cannot set default environment", "has no successful build")
		e.Apply(t, i, envValues(wanted)).MustDo(t, acctest.ActionUpdate)
		mustRest(t, e, i, envValues(wanted))
	})
	t.Run("after a failed build", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		i := e.NewInstance(t, environmentType)
		failBuild(t, e, emulator.BuildFailure{})
		e.Apply(t, i, envValues(wanted)).MustFail(t, "", "Environment failed to build")
		e.WantRequests(t, "setDefaultEnvironment", 0)
		i.Tainted = false
		e.Apply(t, i, envValues(wanted)).MustDo(t, acctest.ActionUpdate)
		mustRest(t, e, i, envValues(wanted))
		if !onlyEnv(t, e).IsDefault {
			t.Error("it is not the default")
		}
	})
}

// A default that somebody changed after this environment had become it is not taken back, although an earlier apply failed to set it.
func TestEnvironment_defaultIsNotTakenBack(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := envValues(acctest.Values{"scope": "organization", "make_organization_default": true})
	i := e.NewInstance(t, environmentType)
	refuse(e, "setDefaultEnvironment", 409, 1)
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	mustDefault(t, e, i.ID())
	e.Apply(t, i, config).MustDo(t, acctest.ActionNone)
	mustDefault(t, e, environmentsReady(e, "theirs")[0])
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
}

// A scope that the service chose is known in the plan, which would fail in each apply.
func TestEnvironment_defaultOfTheServicesScope(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, envValues(nil))
	if i.Attribute("scope") != "user" {
		t.Fatalf("the service chose %q", i.Attribute("scope"))
	}
	e.Plan(t, i, envValues(acctest.Values{"make_organization_default": true})).MustFail(t, "make_organization_default", "Invalid scope for a default environment")
}

// The service may call an environment failed until a rebuild of it has succeeded. The rebuild that runs is waited for.
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
	mustBeSilent(t, e.Plan(t, i, envValues(nil)))
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

// A request for a build that was lost before the service acted is not taken for the build that runs.
func TestEnvironmentBuild_lostWhileAnotherRuns(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{true, false} {
		e := acctest.New(t)
		id := newEnv(e, nil) // Its first build runs.
		first := latestOf(e)
		e.Faults().Add(emulator.Fault{Operation: "createEnvironmentBuild", Kind: emulator.FaultDropBeforeCommit})
		i := e.NewInstance(t, "agentyard_environment_build")
		e.Apply(t, i, acctest.Values{"environment_id": id, "wait_for_build": waits}).MustDo(t, acctest.ActionCreate)
		if got := i.Attribute("build_id"); got == "" || got == first || e.CarriedOut("createEnvironmentBuild") != 1 {
			t.Errorf("the build is %q, was %s", got, first)
		}
	}
}

// The default beside others is not deleted, so its build is not canceled.
func TestEnvironment_refusedDestructionCancelsNoBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, slowBuilds)
	_, i := e.Created(t, environmentType, envValues(acctest.Values{"scope": "organization", "make_organization_default": true}))
	environmentsReady(e, "other")
	e.API(http.MethodPost, environmentsRoute+"/"+i.ID()+"/builds", nil, nil)
	acctest.NewProcess(t, e, nil).Destroy(i).MustFail(t, "", "409", "make another environment the default first")
	e.WantRequests(t, "cancelEnvironmentBuild", 0)
}
