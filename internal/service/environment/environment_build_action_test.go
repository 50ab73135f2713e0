package environment_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// edit changes an environment's setup script, which starts a build.
func edit(e *acctest.Env, environment string) {
	e.API(http.MethodPatch, environmentsRoute+"/"+environment, map[string]any{"setupScript": "after " + latestBuild(e, environment).ID}, nil)
}

func cancelBuild(e *acctest.Env, environment string) {
	e.API(http.MethodPost, "/api/v0/environments/"+environment+"/builds/"+latestBuild(e, environment).ID+"/cancel", nil, nil)
}

// invokeBuild invokes a build action by the end of its type name.
func invokeBuild(t *testing.T, e *acctest.Env, action string, config acctest.Values) ([]string, acctest.Outcome) {
	t.Helper()
	return acctest.NewProcess(t, e, nil).Invoke("agentyard_environment_"+action, config)
}

func mustInvokeBuild(t *testing.T, e *acctest.Env, action string, config acctest.Values) []string {
	t.Helper()
	progress, out := invokeBuild(t, e, action, config)
	out.MustBeSilent(t)
	return progress
}

func TestEnvironmentBuild_waitsAndReportsEachStatusOnce(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.BuildPhase = 20 * time.Second })
	id := environmentsReady(e, "a")[0]
	first := latestBuild(e, id)
	begin := e.Clock.Now()
	progress := mustInvokeBuild(t, e, "build", acctest.Values{"environment_id": id})
	built := latestBuild(e, id)
	about := fmt.Sprintf("Build %s of environment \"a\" (%s)", built.ID, id)
	want := []string{"Starting a build of environment \"a\" (" + id + ")", about + ": queued", about + ": building", about + ": validating", about + ": succeeded"}
	check.Is(t, "progress", progress, want)
	if took := e.Clock.Now().Sub(begin); built.ID == first.ID || built.Trigger != "manual" || took < time.Minute || took > 70*time.Second {
		t.Errorf("after %s the latest build is %+v", took, built)
	}
	progress = mustInvokeBuild(t, e, "build", acctest.Values{"environment_id": id, "wait_for_build": false})
	running := latestBuild(e, id)
	if got := progress[len(progress)-1]; got != fmt.Sprintf("Build %s of environment \"a\" (%s) was started and continues in the background", running.ID, id) || running.Status != "queued" {
		t.Errorf("%s; the build is %+v", got, running)
	}
}

// The service also starts builds by itself, and refuses another one meanwhile.
func TestEnvironmentBuild_waitsForTheBuildThatRuns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fails   bool
		waits   any
		status  string
		invoke  string
		refused string
	}{
		"succeeds":          {status: "succeeded"},
		"fails":             {fails: true, status: "succeeded"},
		"in the background": {waits: false, status: "queued"},
		"takes too long":    {invoke: "10m", refused: "Timed out waiting for the build", status: "building"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, slowBuilds)
			id := newEnv(e, map[string]any{"name": "a", "scope": "organization"})
			e.Clock.Advance(time.Hour)
			if tc.fails {
				failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full."})
			}
			rebuilt(t, e, 0)
			running := latestBuild(e, id)
			config := acctest.Values{"environment_id": id, "wait_for_build": tc.waits, "timeouts": map[string]any{"invoke": "90m"}}
			if tc.invoke != "" {
				config["timeouts"] = map[string]any{"invoke": tc.invoke}
			}
			_, out := invokeBuild(t, e, "build", config)
			if tc.refused != "" {
				out.MustFail(t, "environment_id", tc.refused)
			} else {
				out.MustBeSilent(t)
			}
			if built := latestBuild(e, id); (built.ID == running.ID) != (tc.refused != "") || built.Status != tc.status {
				t.Errorf("it was %+v, and is %+v", running, built)
			}
		})
	}
}

// If no build runs, the service refuses for another reason, and waiting does not help.
func TestEnvironmentBuild_refusedWithoutABuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := environmentsReady(e, "a")[0]
	e.Refuse("createEnvironmentBuild", http.StatusConflict, -1)
	e.MustNotInvoke(t, nil, "agentyard_environment_build", acctest.Values{"environment_id": id}, "environment_id", "Cannot build environment", "409")
	if n := e.Journal().Count("createEnvironmentBuild"); n != 5 { // The running build may be shown late.
		t.Errorf("%d requests", n)
	}
}

func TestEnvironmentBuild_fails(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := environmentsReady(e, "a")[0]
	failBuild(t, e, emulator.BuildFailure{Category: "validation", Phase: "validating", Reason: "the check did not pass", Excerpt: "compiling\nno rule to make target"})
	progress, out := invokeBuild(t, e, "build", acctest.Values{"environment_id": id})
	out.MustFail(t, "environment_id", "Environment failed to build", "Build "+latestBuild(e, id).ID+` of environment "a"`,
		"category validation: the check did not pass.", "This is an excerpt of the log.", "no rule to make target", "Fix the problem that the reason and the log show")
	if got := progress[len(progress)-1]; !strings.HasSuffix(got, ": failed") {
		t.Errorf("the last progress is %q", got)
	}
}

func TestEnvironmentBuild_whatOthersDoMeanwhile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		others func(e *acctest.Env, id string)
		fails  []string
	}{
		"superseded by one that fails": {func(e *acctest.Env, id string) {
			_ = e.FailBuild(emulator.BuildFailure{Reason: "the edit is bad"})
			edit(e, id)
		}, []string{"the edit is bad."}},
		"cancelled and started again": {func(e *acctest.Env, id string) {
			cancelBuild(e, id)
			e.API(http.MethodPost, "/api/v0/environments/"+id+"/builds", nil, nil)
		}, nil},
	} {
		var id string
		var e *acctest.Env
		e = acctest.New(t, acctest.Hold("getEnvironmentBuildStatuses", func(<-chan struct{}) { tc.others(e, id) }), func(o *emulator.Options) { o.BuildPhase = 20 * time.Second })
		id = environmentsReady(e, "a")[0]
		progress, out := invokeBuild(t, e, "build", acctest.Values{"environment_id": id})
		newest := latestBuild(e, id)
		if tc.fails != nil {
			out.MustFail(t, "environment_id", append(tc.fails, "Build "+newest.ID)...)
			continue
		}
		out.MustBeSilent(t)
		if got := progress[len(progress)-1]; !strings.Contains(got, newest.ID) || !strings.HasSuffix(got, ": succeeded") {
			t.Errorf("%s: the last progress is %q", name, got)
		}
	}
}

func TestEnvironmentBuild_interrupted(t *testing.T) {
	t.Parallel()
	var process *acctest.Process
	e := acctest.New(t, acctest.Hold("getEnvironmentBuildStatuses", func(<-chan struct{}) { process.Stop() }))
	id := environmentsReady(e, "a")[0]
	process = acctest.NewProcess(t, e, nil)
	_, out := process.Invoke("agentyard_environment_build", acctest.Values{"environment_id": id})
	out.MustFail(t, "environment_id", "Interrupted before the environment was built", id, "continues at the service", "agentyard_environment_build_cancel")
}

func TestEnvironmentBuild_withTheKeyOfAUser(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"environment_id": environmentsReady(e, "a")[0]}
	user := acctest.Values{"api_key": e.MemberKey("user@people.example", emulator.RoleUser)}
	for _, action := range []string{"build", "build_cancel"} {
		edit(e, config["environment_id"].(string))
		e.MustNotInvoke(t, user, "agentyard_environment_"+action, config, "", "403", "member with the Manager role or higher")
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
		_, i := e.Created(t, "agentyard_environment_build", acctest.Values{"environment_id": id, "wait_for_build": waits})
		if got := i.Attribute("build_id"); got == "" || got == first || e.CarriedOut("createEnvironmentBuild") != 1 {
			t.Errorf("the build is %q, was %s", got, first)
		}
	}
}

func TestEnvironmentBuildCancel_latestOrGiven(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := newEnv(e, map[string]any{"name": "a", "scope": "organization"})
	for _, given := range []bool{false, true} {
		edit(e, id)
		running := latestBuild(e, id)
		config := acctest.Values{"environment_id": id}
		if given {
			config["build_id"] = running.ID
		}
		progress := mustInvokeBuild(t, e, "build_cancel", config)
		if want := fmt.Sprintf("Build %s of environment \"a\" (%s) was canceled", running.ID, id); len(progress) != 1 || progress[0] != want {
			t.Errorf("progress %q, want %q", progress, want)
		}
		if got := latestBuild(e, id); got.ID != running.ID || got.Status != "failed" {
			t.Errorf("the latest build is %+v, was %+v", got, running)
		}
	}
}

// If no build is running, there is nothing to cancel. A given build that is not running is an error.
func TestEnvironmentBuildCancel_notRunning(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "succeeded", "failed", "superseded")
	for _, id := range ids[1:] {
		edit(e, id)
	}
	superseded := latestBuild(e, ids[2]).ID
	edit(e, ids[2])
	cancelBuild(e, ids[1])
	letBuild(e)
	for k, build := range []string{latestBuild(e, ids[0]).ID, latestBuild(e, ids[1]).ID, superseded} {
		progress := mustInvokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": ids[k]})
		if want := "is not running: nothing was canceled"; !strings.HasSuffix(progress[0], want) {
			t.Errorf("progress %q, want %q", progress, want)
		}
		_, out := invokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": ids[k], "build_id": build})
		out.MustFail(t, "build_id", "Cannot cancel build", "409", "The build is not running any more. To cancel the build that runs now, omit build_id and run again.")
	}
}

// The latest build may end between the read and the request. Then there is nothing to cancel.
func TestEnvironmentBuildCancel_hasJustEnded(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := newEnv(e, map[string]any{"name": "a", "scope": "organization"})
	e.Refuse("cancelEnvironmentBuild", http.StatusConflict, 1)
	progress := mustInvokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": id})
	check.Says(t, strings.Join(progress, " "), "is not running: nothing was canceled")
}

// A build whose start was lost, and which reads show late, is waited for: no other one is started.
func TestEnvironmentBuild_isLostAndShownLate(t *testing.T) {
	t.Parallel()
	var e *acctest.Env
	var earlier []byte
	e = acctest.New(t, acctest.Meanwhile("POST "+environmentsRoute+"/", func(int) {
		e.Faults().Add(emulator.Fault{Operation: "getEnvironment", Kind: emulator.FaultOtherResponse, Body: string(earlier)})
	}))
	id := environmentsReady(e, "a")[0]
	_, earlier = e.Try(http.MethodGet, environmentsRoute+"/"+id, nil)
	e.Faults().Add(emulator.Fault{Operation: "createEnvironmentBuild", Kind: emulator.FaultDropAfterCommit})
	mustInvokeBuild(t, e, "build", acctest.Values{"environment_id": id})
	check.Is(t, "builds that were started", e.CarriedOut("createEnvironmentBuild"), 1)
}

func TestEnvironmentBuildCancel_unknownBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := environmentsReady(e, "a")[0]
	unknown := acctest.Values{"environment_id": id, "build_id": "bld_unknown"}
	e.MustNotInvoke(t, nil, "agentyard_environment_build_cancel", unknown, "build_id", "Cannot cancel build", "404", "no build with this ID", "omit it")
}
