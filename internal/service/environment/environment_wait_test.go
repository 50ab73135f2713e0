package environment_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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
			check.Says(t, out.Text(), tc.fails)
		})
	}
}

// If neither the creation nor a poll names a build, the environment's own status decides.
func TestEnvironment_noBuildIsNamed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t,
		acctest.Rewrite(environmentsRoute, "environments", func(_ *http.Request, object map[string]any) { delete(object, "buildId") }),
		acctest.Rewrite(environmentsRoute, "builds", func(_ *http.Request, object map[string]any) { delete(object, "latestBuild") }),
	)
	i := e.NewInstance(t, environmentType)
	out := e.Apply(t, i, envValues(acctest.Values{"timeouts": map[string]any{"create": "2h"}}))
	if len(out.Errors) > 0 || i.Tainted || i.Attribute("status") != "ready" {
		t.Errorf("tainted %v: %s", i.Tainted, out)
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
			if told := strings.Contains(plan.WarningText(), "The disk is full. Unless this apply replaces the environment, it starts a new build"); told == (tc.change["setup_script"] != nil) {
				t.Errorf("the plan says: %s", plan.WarningText())
			}
			p.Apply(i, config).MustDo(t, acctest.ActionUpdate)
			check.Is(t, "sent", changesSent(e), tc.want)
			check.Is(t, "the status", i.Attribute("status"), tc.status)
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
				check.Is(t, "the next apply sends", changesSent(d.e), tc.sends)
				d.e.Clock.Advance(buildTime)
				mustRest(t, d.e, i, config)
			})
		}
	}
}

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
			allowed, left := 2*time.Minute, "untaint ADDRESS, then apply, which waits for the build or rebuilds the environment."
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
			check.Says(t, e.Plan(t, i, config).WarningText(), "Earlier build has not ended", i.ID(), "Build "+i.Attribute("latest_build_id"), " has not ended, and an earlier apply may have started it. Unless this apply replaces the environment, it waits for the build.")
			e.Journal().Reset()
			e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
			check.Is(t, "the next apply sends", changesSent(e), "")
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
	e := acctest.New(t, rewrite(func(environment map[string]any) { delete(environment, "isDefault") }))
	_, i := e.Created(t, environmentType, environmentOf("a", nil))
	failBuild(t, e, emulator.BuildFailure{})
	rebuilt(t, e, buildTime)
	config := environmentOf("b", acctest.Values{"make_organization_default": true})
	e.Refuse("createEnvironmentBuild", http.StatusForbidden, -1)
	e.Apply(t, i, config).MustFail(t, "", "createEnvironmentBuild")
	if got := onlyEnv(t, e); got.IsDefault || got.Name != "b" || i.Attribute("name") != "b" {
		t.Errorf("%+v; the state is %s", got, i.State)
	}
	e.Refuse("listEnvironments", http.StatusForbidden, -1)
	e.Plan(t, i, config).MustDo(t, acctest.ActionUpdate) // No read shows whether it is the default.
	e.Faults().Clear()
	e.MustApply(t, i, config).MustDo(t, acctest.ActionUpdate)
	check.Is(t, "it is the default", onlyEnv(t, e).IsDefault, true)
	mustRest(t, e, i, config)
}

// If the environment cannot be read after a rebuild, the state has the new build, so the next apply without a refresh starts no other.
func TestEnvironment_aRebuildThatIsNotReadBackIsOver(t *testing.T) {
	t.Parallel()
	for waits, want := range map[bool]string{true: "ready", false: "building"} {
		var e *acctest.Env
		e = acctest.New(t, acctest.Meanwhile("POST "+environmentsRoute+"/", func(int) { e.Refuse("getEnvironment", http.StatusForbidden, 1) }))
		config := envValues(acctest.Values{"wait_for_build": waits})
		_, i := e.Created(t, environmentType, config)
		failBuild(t, e, emulator.BuildFailure{})
		id := onlyEnv(t, e).ID
		check.Must(t, e.StartBuild(id))
		e.Clock.Advance(buildTime)
		check.Says(t, e.MustApply(t, i, config).WarningText(), "Environment not read back")
		if i.Attribute("status") != want || i.Attribute("latest_build_id") != latestOf(e) || strings.Contains(i.State.String(), `"failed"`) {
			t.Errorf("the state is %s", i.State)
		}
	}
}

// A read that still shows the build before a rebuild is not stored, so the next apply without a refresh starts no other.
func TestEnvironment_aReadThatLagsBehindARebuild(t *testing.T) {
	t.Parallel()
	for waits, want := range map[bool]string{true: "ready", false: "building"} {
		var e *acctest.Env
		var earlier []byte
		e = acctest.New(t, acctest.Meanwhile("POST "+environmentsRoute+"/", func(int) {
			e.Faults().Add(emulator.Fault{Operation: "getEnvironment", Kind: emulator.FaultOtherResponse, Body: string(earlier)})
		}))
		config := envValues(acctest.Values{"wait_for_build": waits})
		_, i := e.Created(t, environmentType, config)
		failBuild(t, e, emulator.BuildFailure{})
		check.Must(t, e.StartBuild(onlyEnv(t, e).ID))
		e.Clock.Advance(buildTime)
		_, earlier = e.Try(http.MethodGet, environmentsRoute+"/"+i.ID(), nil)
		e.MustApply(t, i, config).MustDo(t, acctest.ActionUpdate)
		got := fmt.Sprint(i.Attribute("status"), " ", i.Attribute("latest_build_id"), " ", i.Attribute("failure_reason"))
		if want = want + " " + latestOf(e) + " "; got != want {
			t.Errorf("the state has %s, want %s", got, want)
		}
	}
}

// The same holds after a change whose build the service did not name, but which the wait saw.
func TestEnvironment_aReadThatLagsBehindAnUnnamedBuild(t *testing.T) {
	t.Parallel()
	var e *acctest.Env
	var earlier []byte
	e = acctest.New(t, acctest.Rewrite(environmentsRoute, "environments", func(r *http.Request, object map[string]any) {
		if r.Method == http.MethodPatch {
			delete(object, "buildId")
			e.Faults().Add(emulator.Fault{Operation: "getEnvironment", Kind: emulator.FaultOtherResponse, Body: string(earlier)})
		}
	}))
	_, i := e.Created(t, environmentType, envValues(nil))
	_, earlier = e.Try(http.MethodGet, environmentsRoute+"/"+i.ID(), nil)
	e.MustApply(t, i, envValues(acctest.Values{"setup_script": "make"})).MustDo(t, acctest.ActionUpdate)
	check.Is(t, "the build in the state", i.Attribute("latest_build_id"), latestOf(e))
	check.Is(t, "the status in the state", i.Attribute("status"), "ready")
}

// The mark of an interrupted wait stays while a read still shows the build before the one to wait for, even if something else is applied.
func TestEnvironment_aReadThatLagsBehindAnInterruptedWait(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]acctest.Values{
		"nothing":        nil,
		"a rename":       {"name": "renamed"},
		"a default":      {"make_organization_default": true},
		"a lost request": {"name": "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option, arm := atFirstLook()
			e := acctest.New(t, option, slowBuilds)
			p, i := e.Created(t, environmentType, environmentOf("a", nil))
			var before, now map[string]any
			e.API(http.MethodGet, environmentsRoute+"/"+i.ID(), nil, &before)
			config := environmentOf("a", acctest.Values{"setup_script": "make"})
			arm(p.Stop)
			mustWarnOnce(t, p.Apply(i, config), "Interrupted")
			e.API(http.MethodGet, environmentsRoute+"/"+i.ID(), nil, &now)
			now["latestBuild"], now["status"] = before["latestBuild"], before["status"]
			lagging, err := json.Marshal(now)
			check.Must(t, err)
			e.Faults().Add(emulator.Fault{Operation: "getEnvironment", Kind: emulator.FaultOtherResponse, Body: string(lagging), Times: -1})
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
			if maps.Copy(config, meanwhile); config["name"] == "lost" {
				e.Faults().Add(emulator.Fault{Operation: "updateEnvironment", Kind: emulator.FaultDropAfterCommit, Times: -1})
			}
			check.Is(t, "the apply failed", len(e.Apply(t, i, config).Errors) > 0, config["name"] == "lost")
			e.Faults().Clear()
			e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
			if got := onlyEnv(t, e); got.Status != "ready" {
				t.Errorf("the environment is %+v", got)
			}
		})
	}
}

// A change of a failed environment may start no build. Then the failed build counts after all, and the next apply starts one.
func TestEnvironment_aChangeThatBuildsNothing(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		build := ""
		var changes atomic.Bool
		e := acctest.New(t, acctest.Wrap(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPatch || !changes.Load() {
					next.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"id":%q%s}`, path.Base(r.URL.Path), build)
			})
		}))
		_, i := e.Created(t, environmentType, envValues(nil))
		failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full."})
		rebuilt(t, e, buildTime)
		if named {
			build = fmt.Sprintf(`,"buildId":%q`, latestOf(e))
		}
		changes.Store(true)
		started := e.Clock.Now()
		config := envValues(acctest.Values{"setup_script": "make"})
		e.Apply(t, i, config).MustFail(t, "", "Environment failed to build", "The disk is full.", "The next apply rebuilds it.")
		if waited := e.Clock.Now().Sub(started); waited > time.Minute {
			t.Errorf("waited %v", waited)
		}
		changes.Store(false)
		e.MustApply(t, i, config)
		mustRest(t, e, i, config)
	}
}
