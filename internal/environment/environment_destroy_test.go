package environment_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// quickBuilds has builds take a part of a second of the machine's time.
func quickBuilds(o *emulator.Options) { o.BuildPhase = 30 * time.Millisecond }

// meanwhile calls do before each request whose method and path start so, with the number of those before.
func meanwhile(request string, do func(n int)) acctest.Option {
	return func(o *emulator.Options) {
		inner := o.Wrap
		var seen atomic.Int64
		o.Wrap = func(next http.Handler) http.Handler {
			if inner != nil {
				next = inner(next)
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.Method+" "+r.URL.Path, request) {
					do(int(seen.Add(1)) - 1)
				}
				next.ServeHTTP(w, r)
			})
		}
	}
}

func applied(t *testing.T, e *acctest.Env, configs ...acctest.Values) []*acctest.Instance {
	t.Helper()
	var made []*acctest.Instance
	for _, config := range configs {
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(environmentType)
		if out := p.Apply(i, config); len(out.Errors) > 0 {
			t.Fatal(out)
		}
		made = append(made, i)
	}
	return made
}

func mustApply(t *testing.T, e *acctest.Env, i *acctest.Instance, config acctest.Values) acctest.Outcome {
	t.Helper()
	out := acctest.NewProcess(t, e, nil).Apply(i, config)
	if len(out.Errors) > 0 {
		t.Fatal(out)
	}
	return out
}

func noneLeft(t *testing.T, e *acctest.Env, i *acctest.Instance) {
	t.Helper()
	if left := environmentsOf(e); len(left) > 0 || !i.State.IsNull() {
		t.Errorf("left: %+v, the state: %s", left, i.State)
	}
}

func TestEnvironment_destroyedWhileItIsBuilt(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := applied(t, e, environmentOf("a", acctest.Values{"wait_for_build": false}))[0]
	e.Journal().Reset()
	mustApply(t, e, i, nil)
	noneLeft(t, e, i)
	if carriedOut(e, "cancelEnvironmentBuild") != 1 || e.Journal().Count("deleteEnvironment") != 2 {
		t.Errorf("the requests: %+v", e.Journal().Entries())
	}
}

// The build may end between the refusal and the look for its cause, or between the look and the cancellation.
func TestEnvironment_destroyedWhileItsBuildEnds(t *testing.T) {
	t.Parallel()
	for name, operation := range map[string]string{"before the look": "GET /api/v0/environments/env_", "before the cancellation": "POST /api/v0/environments/env_"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var destroying bool
			var e *acctest.Env
			e = acctest.New(t, meanwhile(operation, func(int) {
				if destroying {
					e.Clock.Advance(time.Minute)
				}
			}))
			i := applied(t, e, environmentOf("a", acctest.Values{"wait_for_build": false}))[0]
			destroying = true
			if out := acctest.NewProcess(t, e, nil).Destroy(i); len(out.Errors) > 0 {
				t.Fatal(out)
			}
			noneLeft(t, e, i)
		})
	}
}

func TestEnvironment_whyACancellationFailsIsSaid(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := applied(t, e, environmentOf("a", acctest.Values{"wait_for_build": false}))[0]
	e.Faults().Add(emulator.Fault{Operation: "cancelEnvironmentBuild", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusForbidden, Times: -1})
	out := acctest.NewProcess(t, e, nil).Apply(i, nil)
	if text := out.Text(); len(out.Errors) != 1 || !strings.Contains(text, "cancelEnvironmentBuild") || !strings.Contains(text, "Manager role") || !strings.Contains(text, "is running") || i.State.IsNull() {
		t.Errorf("%s", out)
	}
}

// A conflict may go away by itself, so the deletion is retried for a while, and then the service's text is the error.
func TestEnvironment_aConflictIsRetried(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := applied(t, e, environmentOf("a", nil))[0]
	e.Faults().Add(emulator.Fault{Operation: "deleteEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusConflict, Times: 3})
	mustApply(t, e, i, nil)
	noneLeft(t, e, i)

	i = applied(t, e, environmentOf("a", nil))[0]
	e.Faults().Add(emulator.Fault{Operation: "deleteEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusConflict, Times: -1})
	e.Journal().Reset()
	begin := e.Clock.Now()
	out := acctest.NewProcess(t, e, nil).Apply(i, nil)
	if took := e.Clock.Now().Sub(begin); len(out.Errors) != 1 || !strings.Contains(out.Text(), "answered 409") || i.State.IsNull() || took > 40*time.Second {
		t.Errorf("after %s: %s", took, out)
	}
}

// The last default can be deleted. Any other is kept by the service, and the plan warns of both.
func TestEnvironment_theDefaultIsDeleted(t *testing.T) {
	t.Parallel()
	const warning = "Default Environment Will Be Deleted"
	e := acctest.New(t)
	made := applied(t, e, environmentOf("a", acctest.Values{"make_organization_default": true}), environmentOf("b", nil))
	if out := acctest.NewProcess(t, e, nil).Plan(made[1], nil); len(out.Warnings) > 0 {
		t.Errorf("an environment that is not the default: %s", warnings(out))
	}
	out := acctest.NewProcess(t, e, nil).Apply(made[0], nil)
	if text := out.Text(); len(out.Errors) != 1 || !strings.Contains(text, "is the organization's default") || !strings.Contains(text, "make another environment the default first") || made[0].State.IsNull() {
		t.Errorf("%s", out)
	}
	if text := warnings(out); len(out.Warnings) != 1 || !strings.Contains(text, warning) || !strings.Contains(text, made[0].ID()) {
		t.Errorf("the warnings: %s", text)
	}
	mustApply(t, e, made[1], nil)
	mustApply(t, e, made[0], nil)
	noneLeft(t, e, made[0])
}

// destroyTogether destroys all in one run, as Terraform does it: some at a time, in the order given.
func destroyTogether(t *testing.T, e *acctest.Env, made []*acctest.Instance, parallelism int) []acctest.Outcome {
	t.Helper()
	p := acctest.NewProcess(t, e, nil)
	outs := make([]acctest.Outcome, len(made))
	var running sync.WaitGroup
	slots := make(chan struct{}, parallelism)
	for n, i := range made {
		slots <- struct{}{}
		running.Go(func() {
			outs[n] = p.Destroy(i)
			<-slots
		})
	}
	running.Wait()
	return outs
}

func TestEnvironment_goneWhenItIsDestroyed(t *testing.T) {
	t.Parallel()
	t.Run("before the refresh", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		i := applied(t, e, environmentOf("a", nil))[0]
		e.API(http.MethodDelete, "/api/v0/environments/"+i.ID(), nil, nil)
		mustApply(t, e, i, nil)
		noneLeft(t, e, i)
	})
	t.Run("after the refresh", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		i := applied(t, e, environmentOf("a", nil))[0]
		e.API(http.MethodDelete, "/api/v0/environments/"+i.ID(), nil, nil)
		if out := acctest.NewProcess(t, e, nil).Destroy(i); len(out.Errors) > 0 {
			t.Fatal(out)
		}
		noneLeft(t, e, i)
	})
	for name, isDeleted := range map[string]bool{"deleted elsewhere during the retries": true, "not the default any more": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var made []*acctest.Instance
			e = acctest.New(t, meanwhile("DELETE /api/v0/environments/", func(n int) {
				if n != 2 {
					return
				}
				if err := e.SetDefaultEnvironment(""); err != nil {
					t.Error(err)
				}
				if isDeleted {
					e.API(http.MethodDelete, "/api/v0/environments/"+made[0].ID(), nil, nil)
				}
			}))
			made = applied(t, e, environmentOf("a", acctest.Values{"make_organization_default": true}), environmentOf("b", nil))
			if out := acctest.NewProcess(t, e, nil).Destroy(made[0]); len(out.Errors) > 0 {
				t.Fatal(out)
			}
			if left := environmentsOf(e); len(left) != 1 || left[0].Name != "b" {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

func TestEnvironment_refusedDeletions(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{http.StatusForbidden: "Manager role", http.StatusUnauthorized: "api_key", http.StatusNotFound: "Plan again"} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			i := applied(t, e, environmentOf("a", nil))[0]
			e.Faults().Add(emulator.Fault{Operation: "deleteEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: -1})
			out := acctest.NewProcess(t, e, nil).Apply(i, nil)
			if len(out.Errors) != 1 || i.State.IsNull() {
				t.Fatalf("%s", out)
			}
			if !strings.Contains(out.Text(), want) {
				t.Errorf("the error lacks %q: %s", want, out)
			}
			e.Faults().Clear()
			mustApply(t, e, i, nil)
			noneLeft(t, e, i)
		})
	}
}

// A change of the scope replaces, also where what goes is the organization's default: it is the last one of its scope then.
func TestEnvironment_theDefaultIsReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := applied(t, e, environmentOf("a", acctest.Values{"make_organization_default": true}))[0]
	out := mustApply(t, e, i, environmentOf("a", acctest.Values{"scope": "user"}))
	if !strings.Contains(warnings(out), "Default Environment Will Be Deleted") {
		t.Errorf("the warnings: %s", warnings(out))
	}
	if all := environmentsOf(e); out.Action != "replace" || len(all) != 1 || all[0].Scope != "user" || all[0].ID != i.ID() {
		t.Errorf("%s; the emulator holds %+v", out, all)
	}
}
