package environment_test

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
			for _, fault := range tc.faults {
				fault.Times = -1
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
			if n := e.CarriedOut("updateEnvironment") + e.CarriedOut("createEnvironmentBuild"); n != started {
				t.Errorf("%d more builds were started", n-started)
			}
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
