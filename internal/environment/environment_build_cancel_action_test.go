package environment_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
	for k, tc := range []struct {
		build, latest string
		said          []string
	}{
		{latestBuild(e, ids[0]).ID, "succeeded", []string{`has status "succeeded"`}},
		{latestBuild(e, ids[1]).ID, "failed", []string{`has status "failed"`}},
		{superseded, "succeeded", []string{"has status \"superseded\"", "omit build_id"}},
	} {
		progress := mustInvokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": ids[k]})
		if want := "is the latest and has status \"" + tc.latest + "\": nothing was canceled"; !strings.HasSuffix(progress[0], want) {
			t.Errorf("progress %q, want %q", progress, want)
		}
		_, out := invokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": ids[k], "build_id": tc.build})
		out.MustFail(t, "build_id", append(tc.said, "Build Is Not Running", "Build "+tc.build+" of environment")...)
	}
	e.WantRequests(t, "cancelEnvironmentBuild", 1)
}

func TestEnvironmentBuildCancel_unknownBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := environmentsReady(e, "a")[0]
	_, out := invokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": id, "build_id": "bld_unknown"})
	out.MustFail(t, "build_id", "Cannot cancel build", "404", "no build with this ID", "omit it")
	_, out = invokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": id, "build_id": ""})
	out.MustFail(t, "build_id", "build_id must not be empty")
}

// The build may end or be superseded between the read and the cancel request.
func TestEnvironmentBuildCancel_quickerThanTheRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		given bool
		// before runs before the cancel request arrives.
		before func(e *acctest.Env, id string)
		said   string
		fails  bool
	}{
		"it succeeds":                           {false, func(e *acctest.Env, _ string) { letBuild(e) }, "has status \"succeeded\": nothing was canceled", false},
		"a given one succeeds":                  {true, func(e *acctest.Env, _ string) { letBuild(e) }, `has status "succeeded"`, true},
		"it is cancelled":                       {false, cancelBuild, "is no longer running", false},
		"a given one is cancelled":              {true, cancelBuild, "is no longer running", false},
		"it has status \"superseded\"":          {false, func(e *acctest.Env, id string) { edit(e, id) }, "was canceled", false},
		"a given one has status \"superseded\"": {true, func(e *acctest.Env, id string) { edit(e, id) }, `has status "superseded"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var id string
			operation := "getEnvironment"
			if tc.given {
				operation = "getBuildDiagnostics"
			}
			armed := false
			e = acctest.New(t, acctest.Hold(operation, func(<-chan struct{}) { armed = true; tc.before(e, id) }))
			id = newEnv(e, map[string]any{"name": "a", "scope": "organization"})
			config := acctest.Values{"environment_id": id}
			if tc.given {
				config["build_id"] = latestBuild(e, id).ID
			}
			progress, out := invokeBuild(t, e, "build_cancel", config)
			if tc.fails {
				out.MustFail(t, "build_id", tc.said)
			} else if len(out.Errors) > 0 || !strings.Contains(progress[len(progress)-1], tc.said) {
				t.Errorf("%s, %q", out, progress)
			}
			if latest := latestBuild(e, id); !armed || !tc.given && latest.Status != "failed" && latest.Status != "succeeded" {
				t.Errorf("the latest build is %+v", latest)
			}
		})
	}
}

// A cancel request is retried after a lost response, and a rejected retry is not an error.
func TestEnvironmentBuildCancel_faults(t *testing.T) {
	t.Parallel()
	for _, given := range []bool{false, true} {
		for _, operation := range []string{"cancelEnvironmentBuild", "getEnvironment", "getBuildDiagnostics"} {
			for _, times := range []int{1, -1} {
				for _, fault := range []emulator.Fault{
					{Kind: emulator.FaultDropBeforeCommit}, {Kind: emulator.FaultDropAfterCommit}, {Kind: emulator.FaultTruncatedBody}, {Kind: emulator.FaultNonJSON}, {Kind: emulator.FaultRateLimited},
					{Kind: emulator.FaultStatusBeforeCommit, Status: 500}, {Kind: emulator.FaultStatusAfterCommit, Status: 503},
				} {
					t.Run(fmt.Sprint(operation, " ", fault.Kind, " ", fault.Status, " ", times, " ", given), func(t *testing.T) {
						t.Parallel()
						// Retries take time, and the build must not end during them.
						e := acctest.New(t, func(o *emulator.Options) { o.BuildPhase = time.Hour })
						id := newEnv(e, map[string]any{"name": "a", "scope": "organization"})
						config := acctest.Values{"environment_id": id}
						if given {
							config["build_id"] = latestBuild(e, id).ID
						}
						fault.Operation, fault.Times = operation, times
						e.Faults().Add(fault)
						_, out := invokeBuild(t, e, "build_cancel", config)
						e.Faults().Clear()
						switch {
						case len(out.Errors) == 0 && latestBuild(e, id).Status != "failed":
							t.Errorf("it succeeded, and the latest build is %+v", latestBuild(e, id))
						case len(out.Errors) > 0 && (times == 1 || !strings.Contains(out.Text(), operation)):
							t.Errorf("the error: %s", out.Text())
						}
						mustInvokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": id})
						if got := latestBuild(e, id); got.Status != "failed" {
							t.Errorf("the latest build is %+v", got)
						}
					})
				}
			}
		}
	}
}
