package environment_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A look that still shows the build before is an old one, whatever that build came to. The service is asked for the own
// build then, and only then.
func TestEnvironment_staleLooks(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"succeeded": `{"builds":[{"environmentId":"ID","environmentStatus":"ready","latestBuild":{"id":"BEFORE","status":"succeeded","truncated":false,"withheld":false}}]}`,
		"failed":    `{"builds":[{"environmentId":"ID","environmentStatus":"failed","latestBuild":{"id":"BEFORE","status":"failed","truncated":false,"withheld":false}}]}`,
		"none":      `{"builds":[]}`,
		"no build":  `{"builds":[{"environmentId":"ID","environmentStatus":"ready","latestBuild":null}]}`,
		"no ID":     `{"builds":[{"environmentId":"ID","environmentStatus":"failed","latestBuild":{"id":"","status":"failed"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			mustDo(t, p.Apply(i, envValues(nil)), "create")
			body := strings.NewReplacer("ID", i.ID(), "BEFORE", latestOf(e)).Replace(body)
			e.Faults().Add(emulator.Fault{Operation: "getEnvironmentBuildStatuses", Kind: emulator.FaultOtherAnswer, Body: body})
			e.Journal().Reset()
			config := envValues(acctest.Values{"setup_script": "make"})
			out := p.Apply(i, config)
			mustDo(t, out, "update")
			want := 1
			if name == "none" {
				want = 0
			}
			if asked := e.Journal().Count("getBuildDiagnostics"); asked != want || len(out.Warnings) > 0 {
				t.Errorf("asked %d times for the own build, want %d; %s", asked, want, warnings(out))
			}
			mustRest(t, e, i, config)
		})
	}
}

// An old look beside an own build that has failed is no sign of another build, and neither is one that shows none.
func TestEnvironment_staleLooksAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"before":   `{"builds":[{"environmentId":"ID","environmentStatus":"ready","latestBuild":{"id":"BEFORE","status":"succeeded","truncated":false,"withheld":false}}]}`,
		"no build": `{"builds":[{"environmentId":"ID","environmentStatus":"ready","latestBuild":null}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option, arm := atFirstLook()
			e := acctest.New(t, option)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			mustDo(t, p.Apply(i, envValues(nil)), "create")
			body := strings.NewReplacer("ID", i.ID(), "BEFORE", latestOf(e)).Replace(body)
			failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full."})
			arm(func() {
				e.Faults().Add(emulator.Fault{Operation: "getEnvironmentBuildStatuses", Kind: emulator.FaultOtherAnswer, Body: body})
				e.Clock.Advance(buildsBy)
			})
			out := p.Apply(i, envValues(acctest.Values{"setup_script": "make"}))
			mustFail(t, out, "", "Environment Failed to Build", "The disk is full.", latestOf(e))
			if len(out.Warnings) > 0 {
				t.Error(warnings(out))
			}
		})
	}
}

// The own build has failed, and another one is started before the environment is read back: the next apply waits for that one.
func TestEnvironment_builtAgainRightAfterTheEnd(t *testing.T) {
	t.Parallel()
	for operation, says := range map[string]string{"createEnvironment": "To wait for that build instead, run terraform untaint ADDRESS, then apply.", "updateEnvironment": "the next apply waits for it."} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			option, arm := atFirstLook()
			e = acctest.New(t, option, acctest.Hold(operation, func(<-chan struct{}) { e.Clock.Advance(buildsBy) }))
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			if operation == "updateEnvironment" {
				mustDo(t, p.Apply(i, envValues(acctest.Values{"setup_script": "before"})), "create")
			}
			failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full."})
			var own string
			arm(func() {
				own = latestOf(e)
				e.API(http.MethodPost, envRoute+"/"+onlyEnv(t, e).ID+"/builds", nil, nil)
			})
			mustFail(t, p.Apply(i, envValues(nil)), "", "Build "+own+" of", "returns a reason only for the latest build", latestOf(e), says)
			i.Tainted = false
			e.Journal().Reset()
			mustDo(t, acctest.NewProcess(t, e, nil).Apply(i, envValues(nil)), "update")
			if sent := changesSent(e); sent != "" || i.Attribute("status") != "ready" {
				t.Errorf("the next apply sends %q, and the status is %q", sent, i.Attribute("status"))
			}
			mustRest(t, e, i, envValues(nil))
		})
	}
}

func TestEnvironment_timeouts(t *testing.T) {
	t.Parallel()
	for _, updates := range []bool{false, true} {
		t.Run(fmt.Sprintf("update=%v", updates), func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.BuildPhase = time.Hour })
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			config := envValues(acctest.Values{"timeouts": map[string]any{"create": "5h", "update": "5h"}})
			if updates {
				mustDo(t, p.Apply(i, config), "create")
				config["setup_script"] = "make"
			}
			config["timeouts"] = map[string]any{"create": "2m", "update": "3m"}
			before := e.Now()
			verb, allowed, left := "created", 2*time.Minute, "untaint ADDRESS, then apply. To allow more time, raise create"
			if updates {
				verb, allowed, left = "updated", 3*time.Minute, "The next apply waits for the build. To allow more time, raise update"
			}
			mustFail(t, p.Apply(i, config), "", "was "+verb, fmt.Sprintf("is still \"queued\" after %s", allowed), "The build continues at the service.", left)
			if took := e.Now().Sub(before); took < allowed || took > allowed+time.Minute {
				t.Errorf("it took %v, want %v", took, allowed)
			}
			if i.Tainted == updates || i.Attribute("status") != "building" {
				t.Errorf("tainted: %v, %s", i.Tainted, i.Attribute("status"))
			}
			i.Tainted = false
			config["timeouts"] = map[string]any{"update": "5h"}
			mustWarn(t, acctest.NewProcess(t, e, nil).Plan(i, config), "Apply Waits for an Earlier Build", i.ID(), "build "+i.Attribute("latest_build_id")+" had not ended when an earlier apply stopped waiting. This apply waits for it.")
			e.Journal().Reset()
			mustDo(t, acctest.NewProcess(t, e, nil).Apply(i, config), "update")
			if sent := changesSent(e); sent != "" {
				t.Errorf("the next apply sends %s", sent)
			}
			mustRest(t, e, i, config)
		})
	}
}

func TestAccEnvironment_interruptedThenContinued(t *testing.T) {
	t.Parallel()
	option, arm := atFirstLook()
	ahead := clock.NewAhead(clock.System, 0)
	e := acctest.NewRealTime(t, option, func(o *emulator.Options) { o.Clock, o.BuildPhase = ahead, time.Hour })
	cli := acctest.NewCLI(t, e, envConfig(""))
	const created, updated = "was created and is kept in the state", "was updated and is kept in the state"
	for n, step := range []struct {
		config, text string
		// stored is the status in the state. What could not be read back stays as it was, and does not matter.
		stored string
	}{{"", created, "building"}, {"setup_script = \"make\"", updated, "building"}, {"setup_script = \"true\"", updated, "ready"}} {
		running := make(chan *acctest.Running, 1)
		arm(func() {
			if step.stored == "ready" {
				e.Faults().Add(emulator.Fault{Operation: "getEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: 403})
			}
			(<-running).Interrupt()
		})
		cli.Write("main.tf", envConfig(step.config))
		run := cli.Start("apply", "-auto-approve", "-input=false")
		running <- run
		r := run.Wait()
		if !containsAll(unwrapped(r.Output), "Interrupted Before the Environment Was Built", step.text, "The next apply waits for it") {
			t.Fatal(r.Output)
		}
		made := onlyEnv(t, e)
		state := cli.MustRun("state", "show", envAddress).Output
		if !strings.Contains(state, made.ID) || strings.Contains(state, made.LatestBuild.ID) != (step.stored == "building") || strings.Contains(state, "tainted") || !strings.Contains(unwrapped(state), ` status = "`+step.stored+`"`) {
			t.Errorf("the state: %s", state)
		}
		// The mark alone tells that there is a build to wait for.
		arm(func() { ahead.Advance(4 * time.Hour) })
		cli.MustRun("apply", "-auto-approve", "-input=false", "-refresh=false")
		if got := onlyEnv(t, e); got.ID != made.ID || got.LatestBuild.ID != made.LatestBuild.ID || got.Status != "ready" {
			t.Errorf("step %d: %+v, was %+v", n, got, made)
		}
		cli.MustPlanEmpty()
	}
}

// Whether the answer to a request has come or not, what it did is in the state, and the next apply goes on from there.
func TestAccEnvironment_interruptedInFlight(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"createEnvironment", "updateEnvironment", "createEnvironmentBuild", "setDefaultEnvironment"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			running := make(chan *acctest.Running, 1)
			e := acctest.NewRealTime(t, acctest.InterruptInFlight(operation, running), briefBuilds)
			config := "scope = \"organization\"\nmake_organization_default = true\n"
			cli := acctest.NewCLI(t, e, envConfig(config))
			if strings.HasSuffix(operation, "Build") {
				failBuild(t, e, emulator.BuildFailure{})
				cli.Run("apply", "-auto-approve", "-input=false")
				cli.MustRun("untaint", envAddress)
			} else if operation == "updateEnvironment" {
				cli.MustRun("apply", "-auto-approve", "-input=false")
				config += "setup_script = \"make\"\n"
				cli.Write("main.tf", envConfig(config))
			}
			run := cli.Start("apply", "-auto-approve", "-input=false")
			running <- run
			run.Wait()
			made := onlyEnv(t, e)
			if state := cli.MustRun("state", "show", envAddress).Output; !strings.Contains(state, made.ID) || !strings.Contains(state, made.LatestBuild.ID) || strings.Contains(state, "tainted") {
				t.Errorf("the state: %s", state)
			}
			cli.MustRun("apply", "-auto-approve", "-input=false")
			if got := onlyEnv(t, e); got.ID != made.ID || got.LatestBuild.ID != made.LatestBuild.ID || got.Status != "ready" || !got.IsDefault {
				t.Errorf("%+v, was %+v", got, made)
			}
			cli.MustPlanEmpty()
		})
	}
}

// Without the mark of an interrupted wait, an environment that is being built is nobody's to wait for.
func TestEnvironment_marksOfUnfinishedWaits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		then func(e *acctest.Env, path string, config acctest.Values)
		next string
	}{
		"still building": {nil, "update"},
		"ready":          {func(e *acctest.Env, _ string, _ acctest.Values) { e.Clock.Advance(buildsBy) }, "none"},
		"not waited for": {func(_ *acctest.Env, _ string, config acctest.Values) { config["wait_for_build"] = false }, "update"},
		"failed":         {func(e *acctest.Env, path string, _ acctest.Values) { e.API(http.MethodPost, path+"/cancel", nil, nil) }, "update"},
		"renamed":        {func(_ *acctest.Env, _ string, config acctest.Values) { config["name"] = "renamed" }, "update"},
		"ready, then edited": {func(e *acctest.Env, _ string, config acctest.Values) {
			e.Clock.Advance(buildsBy)
			config["setup_script"] = "make"
		}, "update"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option, arm := atFirstLook()
			e := acctest.New(t, option)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			config := envValues(nil)
			arm(p.Stop)
			mustWarn(t, p.Apply(i, config), "Interrupted")
			if tc.then != nil {
				tc.then(e, envRoute+"/"+i.ID()+"/builds/"+latestOf(e), config)
			}
			p = acctest.NewProcess(t, e, nil)
			mustDo(t, p.Apply(i, config), tc.next)
			waits := config["wait_for_build"] == nil
			if got := onlyEnv(t, e).Status; waits != (got == "ready") {
				t.Errorf("the environment is %s", got)
			}
			// The mark is gone: what somebody else builds is not waited for.
			e.Clock.Advance(buildsBy)
			e.API(http.MethodPost, envRoute+"/"+i.ID()+"/builds", nil, nil)
			mustDo(t, acctest.NewProcess(t, e, nil).Apply(i, config), "none")
		})
	}
}

func TestAccEnvironment_makeOrganizationDefault(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	keeper := builtEnv(e, map[string]any{"name": "keeper", "scope": "organization"})
	steal := func() { e.API(http.MethodPut, envRoute+"/default", map[string]any{"environmentId": keeper}, nil) }
	step := func(more string, before func(), action plancheck.ResourceActionType, isDefault bool, sent map[string]int) resource.TestStep {
		return resource.TestStep{
			PreConfig: func() {
				if before != nil {
					before()
				}
				e.Journal().Reset()
			},
			Config: e.Config(envConfig("scope = \"organization\"\n" + more)), ConfigPlanChecks: envAction(action),
			ConfigStateChecks: []statecheck.StateCheck{envDefault(isDefault)}, Check: requested(e, sent),
		}
	}
	const wanted, update, noop = "make_organization_default = true\n", plancheck.ResourceActionUpdate, plancheck.ResourceActionNoop
	put := map[string]int{"setDefaultEnvironment": 1}
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, Steps: []resource.TestStep{
		step(wanted, nil, plancheck.ResourceActionCreate, true, map[string]int{"createEnvironment": 1, "setDefaultEnvironment": 1}),
		// Another default is nobody's difference, and neither is not wanting it any more.
		step(wanted, steal, noop, false, nil),
		step("make_organization_default = false\n", nil, update, false, nil),
		step(wanted, nil, update, true, put),
		step("", nil, update, true, nil),
		step(wanted, steal, update, true, put),
		step("", steal, update, false, nil),
		step(wanted+"setup_script = \"make\"\n", nil, update, true, map[string]int{"updateEnvironment": 1, "setDefaultEnvironment": 1}),
		{PreConfig: steal, Config: e.Config("")},
		step(wanted+"wait_for_build = false\n", nil, plancheck.ResourceActionCreate, true, map[string]int{"createEnvironment": 1}),
		{PreConfig: func() { e.Clock.Advance(buildsBy); steal() }, Config: e.Config("")},
	}})
}

func TestEnvironment_defaultThatCannotBeSet(t *testing.T) {
	t.Parallel()
	wanted := acctest.Values{"scope": "organization", "make_organization_default": true}
	refuse := func(e *acctest.Env, status int) {
		e.Faults().Add(emulator.Fault{Operation: "setDefaultEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: status})
	}
	t.Run("on creation", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(envType)
		refuse(e, 403)
		out := p.Apply(i, envValues(wanted))
		mustDo(t, out, "create")
		mustWarn(t, out, "Environment Is Not the Default", "was created, but could not be made the organization's default", "403", "Manager role", "The next apply tries again.")
		if i.Tainted || onlyEnv(t, e).IsDefault {
			t.Errorf("tainted: %v", i.Tainted)
		}
		e.Journal().Reset()
		mustDo(t, acctest.NewProcess(t, e, nil).Apply(i, envValues(wanted)), "update")
		if got := changesSent(e); got != "setDefaultEnvironment" || !onlyEnv(t, e).IsDefault {
			t.Errorf("sent %s", got)
		}
		mustRest(t, e, i, envValues(wanted))
	})
	t.Run("set by somebody else meanwhile", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(envType)
		refuse(e, 403)
		mustDo(t, p.Apply(i, envValues(wanted)), "create")
		e.API(http.MethodPut, envRoute+"/default", map[string]any{"environmentId": i.ID()}, nil)
		mustRest(t, e, i, envValues(wanted))
		other := builtEnv(e, map[string]any{"name": "other", "scope": "organization"})
		e.API(http.MethodPut, envRoute+"/default", map[string]any{"environmentId": other}, nil)
		mustDo(t, acctest.NewProcess(t, e, nil).Plan(i, envValues(wanted)), "none")
	})
	for status, says := range map[int]string{400: `scope "organization"`, 403: "Manager role", 409: "has no successful build yet"} {
		t.Run(fmt.Sprintf("on update/%d", status), func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			mustDo(t, p.Apply(i, envValues(acctest.Values{"scope": "organization"})), "create")
			refuse(e, status)
			mustFail(t, p.Apply(i, envValues(wanted)), `AttributeName("make_organization_default")`, "Cannot set default environment", says)
			mustDo(t, acctest.NewProcess(t, e, nil).Apply(i, envValues(wanted)), "update")
			mustRest(t, e, i, envValues(wanted))
		})
	}
	t.Run("after a failed build", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(envType)
		failBuild(t, e, emulator.BuildFailure{})
		mustFail(t, p.Apply(i, envValues(wanted)), "", "Environment Failed to Build")
		if n := e.Journal().Count("setDefaultEnvironment"); n != 0 || onlyEnv(t, e).IsDefault {
			t.Errorf("%d", n)
		}
		i.Tainted = false
		mustDo(t, acctest.NewProcess(t, e, nil).Apply(i, envValues(wanted)), "update")
		mustRest(t, e, i, envValues(wanted))
		if !onlyEnv(t, e).IsDefault {
			t.Error("it is not the default")
		}
	})
}
