package environment_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironment_failedFirstBuildIsReplacedOrRebuilt(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i, config := e.NewInstance(t, environmentType), envValues(nil)
	broken := emulator.BuildFailure{Category: "validation", Reason: "repositories[0].script exited with 2.", Excerpt: "make: no rule"}
	failBuild(t, e, broken)
	failBuild(t, e, broken)
	e.Apply(t, i, config).MustFail(t, "", "Environment failed to build",
		"category validation: repositories[0].script exited with 2.", "make: no rule", "the next apply replaces it", "run terraform untaint ADDRESS, then apply")
	first := i.ID()
	out := e.Apply(t, i, config)
	if out.MustFail(t, ""); out.Action != acctest.ActionReplace || !i.Tainted || i.ID() == first || i.ID() != onlyEnv(t, e).ID {
		t.Fatalf("the failed one was not replaced: %s", out)
	}
	second := onlyEnv(t, e)
	i.Tainted = false // As untaint does.
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	if got := onlyEnv(t, e); got.ID != second.ID || got.LatestBuild.ID == second.LatestBuild.ID {
		t.Errorf("%+v", got)
	}
	mustRest(t, e, i, config)
}

func TestEnvironment_failedUpdateIsRebuiltInPlace(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	before, after := envValues(nil), envValues(acctest.Values{"setup_script": "./configure"})
	_, i := e.Created(t, environmentType, before)
	failBuild(t, e, emulator.BuildFailure{Category: "timeout", Reason: "setupScript ran for too long."})
	e.Apply(t, i, after).MustFail(t, "", "Environment failed to build", "category timeout", "Shorten the scripts",
		"The next apply rebuilds it.")
	e.Journal().Reset()
	e.Apply(t, i, after).MustDo(t, acctest.ActionUpdate)
	if sent := changesSent(e); sent != "createEnvironmentBuild" || i.Attribute("setup_script") != "./configure" || i.Attribute("failure_reason") != "" {
		t.Errorf("sent %s; the state is %s", sent, i.State)
	}
	mustRest(t, e, i, after)
}

// A poll that calls the environment ready and names no build does not end the wait for the one that runs, nor prolong it.
func TestEnvironment_aPollWithoutABuildIsNoResult(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		times int
		fails string
	}{"once": {1, ""}, "always": {-1, "no latestBuild.id"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option, arm := atFirstLook()
			e := acctest.New(t, option)
			arm(func() {
				e.Faults().Add(emulator.Fault{Operation: "getEnvironmentBuildStatuses", Kind: emulator.FaultOtherResponse, Times: tc.times,
					Body: fmt.Sprintf(`{"builds":[{"environmentId":%q,"environmentStatus":"ready"}]}`, onlyEnv(t, e).ID)})
			})
			i := e.NewInstance(t, environmentType)
			started := e.Clock.Now()
			out := e.Apply(t, i, envValues(acctest.Values{"timeouts": map[string]any{"create": "2m"}}))
			if took := e.Clock.Now().Sub(started); (len(out.Errors) > 0) != (tc.fails != "") || took > 3*time.Minute {
				t.Errorf("after %v: %s", took, out)
			}
			acctest.Says(t, out.Text(), tc.fails)
		})
	}
}

// A rename does not build, so a failed environment that is renamed is also rebuilt.
func TestEnvironment_foundFailed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change    acctest.Values
		meanwhile func(e *acctest.Env, path string)
		want      string // The requests that change something.
		status    string
	}{
		"nothing changed": {nil, nil, "createEnvironmentBuild", "ready"},
		"renamed":         {acctest.Values{"name": "renamed"}, nil, "updateEnvironment createEnvironmentBuild", "ready"},
		"changed":         {acctest.Values{"setup_script": "make"}, nil, "updateEnvironment", "ready"},
		"without waiting": {acctest.Values{"wait_for_build": false}, nil, "createEnvironmentBuild", "building"},
		"somebody builds": {nil, func(e *acctest.Env, path string) { e.API(http.MethodPost, path+"/builds", nil, nil) }, "createEnvironmentBuild createEnvironmentBuild", "ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var armed atomic.Bool
			path := ""
			e = acctest.New(t, acctest.Meanwhile("POST "+environmentsRoute+"/", func(int) {
				if armed.CompareAndSwap(true, false) {
					tc.meanwhile(e, path)
				}
			}))
			config := envValues(nil)
			_, i := e.Created(t, environmentType, config)
			path = environmentsRoute + "/" + i.ID()
			failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full."})
			e.API(http.MethodPost, path+"/builds", nil, nil)
			e.Clock.Advance(buildTime)
			e.Journal().Reset()
			armed.Store(tc.meanwhile != nil)
			maps.Copy(config, tc.change)
			p := acctest.NewProcess(t, e, nil)
			plan := p.Plan(i, config)
			if told := strings.Contains(plan.WarningText(), "The disk is full. An apply that keeps the environment starts a new build"); told == (tc.change["setup_script"] != nil) {
				t.Errorf("the plan says: %s", plan.WarningText())
			}
			p.Apply(i, config).MustDo(t, acctest.ActionUpdate)
			if got := changesSent(e); got != tc.want {
				t.Errorf("sent %s, want %s", got, tc.want)
			}
			if got := i.Attribute("status"); got != tc.status {
				t.Errorf("the status is %q", got)
			}
			e.Clock.Advance(buildTime)
			mustRest(t, e, i, config)
		})
	}
}

func TestEnvironment_whatHappensDuringTheWait(t *testing.T) {
	t.Parallel()
	type during struct {
		e    *acctest.Env
		p    *acctest.Process
		path string
	}
	edit := func(d *during) {
		d.e.API(http.MethodPatch, d.path, map[string]any{"setupScript": "theirs"}, nil)
	}
	for name, tc := range map[string]struct {
		hit func(*during)
		// The error of the apply, or the warning if there is none.
		fails string
		warns string
		// The next action with the same configuration, and the requests that it sends.
		next  acctest.Action
		sends string
	}{
		"an edit": {hit: edit, next: "update", sends: "updateEnvironment"},
		"cancelled, rebuilt and failed": {hit: func(d *during) {
			d.e.API(http.MethodPost, d.path+"/builds/"+latestOf(d.e)+"/cancel", nil, nil)
			_ = d.e.FailBuild(emulator.BuildFailure{Reason: "The disk is full."})
			d.e.API(http.MethodPost, d.path+"/builds", nil, nil)
			d.e.Clock.Advance(buildTime)
		}, fails: "The disk is full.", next: "update", sends: "createEnvironmentBuild"},
		"done and rebuilt": {hit: func(d *during) { d.e.Clock.Advance(buildTime); d.e.API(http.MethodPost, d.path+"/builds", nil, nil) }, next: "none"},
		"a deletion":       {hit: func(d *during) { d.e.Clock.Advance(buildTime); d.e.API(http.MethodDelete, d.path, nil, nil) }, fails: "Cannot wait for the build of environment", warns: "Build result unknown", next: "create", sends: "createEnvironment"},
		"an interruption":  {hit: func(d *during) { d.p.Stop() }, warns: "Interrupted before the environment was built", next: "update"},
		"a refusal": {hit: func(d *during) {
			for _, operation := range []string{"getEnvironmentBuildStatuses", "getEnvironment"} {
				d.e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: 403})
			}
		}, fails: "Cannot wait for the build of environment", warns: "Build result unknown", next: "update"},
		"a revoked key": {hit: func(d *during) {
			d.e.Faults().Add(emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusUnauthorized, Times: -1})
		}, fails: "api_key", warns: "is unknown. The ", next: "update"},
	} {
		for _, updates := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/update=%v", name, updates), func(t *testing.T) {
				t.Parallel()
				option, arm := atFirstLook()
				d := &during{e: acctest.New(t, option)}
				d.p = acctest.NewProcess(t, d.e, nil)
				i := d.p.NewInstance(environmentType)
				config := envValues(nil)
				if updates {
					d.p.Apply(i, envValues(acctest.Values{"setup_script": "before"})).MustDo(t, acctest.ActionCreate)
				}
				arm(func() {
					d.path = environmentsRoute + "/" + onlyEnv(t, d.e).ID
					tc.hit(d)
				})
				out := d.p.Apply(i, config)
				d.e.Faults().Clear()
				if tc.fails == "" && len(out.Errors) > 0 || !strings.Contains(out.Text(), tc.fails) {
					t.Fatalf("want %q: %s", tc.fails, out.Text())
				}
				if !strings.Contains(out.WarningText(), tc.warns) || tc.warns == "" && len(out.Warnings) > 0 {
					t.Errorf("want %q: %s", tc.warns, out.WarningText())
				}
				if wantTaint := tc.fails != "" && !updates; i.Tainted != wantTaint {
					t.Errorf("tainted: %v", i.Tainted)
				}
				i.Tainted = false
				d.e.Journal().Reset()
				acctest.NewProcess(t, d.e, nil).Apply(i, config).MustDo(t, tc.next)
				if got := changesSent(d.e); got != tc.sends {
					t.Errorf("the next apply sends %q, want %q", got, tc.sends)
				}
				d.e.Clock.Advance(buildTime)
				mustRest(t, d.e, i, config)
			})
		}
	}
}
