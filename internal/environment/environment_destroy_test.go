package environment_test

import (
	"fmt"
	"net/http"
	"regexp"
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

// A refusal whose cause nothing shows, such as one that only another version of the service has, ends after a few attempts.
func TestEnvironment_aRefusalWithoutACauseIsNotWaitedOut(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := applied(t, e, environmentOf("a", nil))[0]
	e.Faults().Add(emulator.Fault{Operation: "deleteEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusConflict, Times: -1})
	out := acctest.NewProcess(t, e, nil).Apply(i, nil)
	if n := e.Journal().Count("deleteEnvironment"); len(out.Errors) != 1 || !strings.Contains(out.Text(), "answered 409") || n != 3 {
		t.Errorf("%d attempts: %s", n, out)
	}
}

func TestEnvironment_theDefaultAlone(t *testing.T) {
	t.Parallel()
	t.Run("the last one goes", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		i := applied(t, e, environmentOf("a", acctest.Values{"make_organization_default": true}))[0]
		mustApply(t, e, i, nil)
		noneLeft(t, e, i)
	})
	for name, tc := range map[string]struct {
		timeouts any
		most     time.Duration
	}{
		"a sibling stays":                {nil, 35 * time.Second},
		"a sibling stays, for less time": {map[string]any{"delete": "5s"}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			config := environmentOf("a", acctest.Values{"make_organization_default": true})
			if tc.timeouts != nil {
				config["timeouts"] = tc.timeouts
			}
			i := applied(t, e, config, environmentOf("b", nil))[0]
			begin := e.Clock.Now()
			out := acctest.NewProcess(t, e, nil).Apply(i, nil)
			if text := out.Text(); len(out.Errors) != 1 || !strings.Contains(text, "create_before_destroy") || i.State.IsNull() {
				t.Errorf("%s", out)
			}
			if took := e.Clock.Now().Sub(begin); took > tc.most {
				t.Errorf("it took %s", took)
			}
			// Somebody does as the error says.
			e.API(http.MethodPut, "/api/v0/environments/default", map[string]any{"environmentId": applied(t, e, environmentOf("c", nil))[0].ID()}, nil)
			mustApply(t, e, i, nil)
		})
	}
}

// What is not deleted after all keeps the build that runs.
func TestEnvironment_theDefaultThatStaysIsBuiltOn(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := applied(t, e, environmentOf("a", acctest.Values{"make_organization_default": true}), environmentOf("b", nil))
	mustApply(t, e, made[0], environmentOf("a", acctest.Values{"make_organization_default": true, "wait_for_build": false, "setup_script": "make tools"}))
	out := acctest.NewProcess(t, e, nil).Apply(made[0], nil)
	if len(out.Errors) != 1 || made[0].State.IsNull() {
		t.Errorf("%s", out)
	}
	if n := e.Journal().Count("cancelEnvironmentBuild"); n != 0 {
		t.Errorf("%d builds were cancelled", n)
	}
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

func TestEnvironment_theDefaultAndItsSiblingsGoTogether(t *testing.T) {
	t.Parallel()
	for _, position := range []int{0, 6, 12} {
		t.Run(fmt.Sprint("the default is number ", position), func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, quickBuilds)
			var configs []acctest.Values
			for n := range 13 {
				configs = append(configs, environmentOf(fmt.Sprint("e", n), acctest.Values{"make_organization_default": n == position, "wait_for_build": false}))
			}
			made := applied(t, e, configs...)
			for n, out := range destroyTogether(t, e, made, 4) {
				if len(out.Errors) > 0 {
					t.Errorf("number %d: %s", n, out)
				}
			}
			if left := environmentsOf(e); len(left) > 0 {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

// One at a time, the default that is first has to give way, and says how to go on.
func TestEnvironment_theDefaultIsDestroyedBeforeItsSiblings(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := applied(t, e, environmentOf("a", acctest.Values{"make_organization_default": true}), environmentOf("b", nil), environmentOf("c", nil))
	outs := destroyTogether(t, e, made, 1)
	if text := outs[0].Text(); len(outs[0].Errors) != 1 || !strings.Contains(text, "destroy again") || !strings.Contains(text, "-parallelism") {
		t.Errorf("the default: %s", outs[0])
	}
	if len(outs[1].Errors)+len(outs[2].Errors) > 0 {
		t.Errorf("its siblings: %v", outs[1:])
	}
	mustApply(t, e, made[0], nil)
	noneLeft(t, e, made[0])
}

// A build that does not end is another reason than the default, and asks for something else.
func TestEnvironment_aBuildThatDoesNotEndKeepsIt(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := environmentOf("a", acctest.Values{"wait_for_build": false, "timeouts": map[string]any{"delete": "5s"}})
	i := applied(t, e, config)[0]
	e.Faults().Add(emulator.Fault{Operation: "deleteEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusConflict, Times: -1})
	e.Faults().Add(emulator.Fault{Operation: "cancelEnvironmentBuild", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusConflict, Times: -1})
	out := acctest.NewProcess(t, e, nil).Apply(i, nil)
	if text := out.Text(); len(out.Errors) != 1 || !strings.Contains(text, "until that has ended") || strings.Contains(text, "default") {
		t.Errorf("%s", out)
	}
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
	for name, isDeleted := range map[string]bool{"deleted elsewhere during the wait for siblings": true, "not the default any more": false} {
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
	if all := environmentsOf(e); out.Action != "replace" || len(all) != 1 || all[0].Scope != "user" || all[0].ID != i.ID() {
		t.Errorf("%s; the emulator holds %+v", out, all)
	}
}

// Terraform destroys what is removed before it updates what referred to it. These are the ways round that for the default.
func TestAccEnvironment_theDefaultIsSwapped(t *testing.T) {
	t.Parallel()
	const first, before, each = "\n  lifecycle {\n    create_before_destroy = true\n  }", "apply -auto-approve -input=false", `
resource "agentyard_environment" "each" {
  for_each     = toset([%[1]q])
  name         = each.key
  scope        = "organization"
  repositories = [{ url = "https://git.example/acme/app.git", script = "make" }]
  lifecycle {
    create_before_destroy = true
  }
}

resource "agentyard_default_environment" "this" {
  environment_id = agentyard_environment.each[%[1]q].id
}
`
	one := func(name, more string) string {
		return strings.ReplaceAll(hclOf(name, "  scope = \"organization\"\n  timeouts {\n    delete = \"1s\"\n  }"+more), `"test"`, `"`+name+`"`) +
			"\nresource \"agentyard_default_environment\" \"this\" {\n  environment_id = agentyard_environment." + name + ".id\n}\n"
	}
	for name, tc := range map[string]struct {
		configs []string // All but the last one are applied as they are.
		refused bool     // Whether an apply of the last one fails.
		applies []string
	}{
		"targeted":        {[]string{one("old", ""), one("next", "")}, true, []string{before + " -target=agentyard_default_environment.this", before}},
		"prepared":        {[]string{one("old", ""), one("old", first), one("next", "")}, false, []string{before}},
		"always prepared": {[]string{fmt.Sprintf(each, "old"), fmt.Sprintf(each, "next")}, false, []string{before}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, quickBuilds)
			// The last environment may go with the default, so there is a third one.
			e.API(http.MethodPost, "/api/v0/environments", environmentOf("other", nil), nil)
			last := len(tc.configs) - 1
			cli := acctest.NewCLI(t, e, "")
			for _, config := range tc.configs[:last] {
				cli.Write("main.tf", config)
				cli.MustRun(strings.Fields(before)...)
			}
			cli.Write("main.tf", tc.configs[last])
			if tc.refused {
				r := cli.Run(strings.Fields(before)...)
				if text := regexp.MustCompile(`[\s│]+`).ReplaceAllString(r.Output, " "); r.ExitCode == 0 || !strings.Contains(text, "apply with -target on that resource, then without") {
					t.Errorf("exit code %d\n%s", r.ExitCode, r.Output)
				}
			}
			for _, apply := range tc.applies {
				cli.MustRun(strings.Fields(apply)...)
			}
			cli.MustPlanEmpty()
			// The newest one is the first.
			if all := environmentsOf(e); len(all) != 2 || all[0].Name != "next" || !all[0].IsDefault {
				t.Errorf("left: %+v", all)
			}
		})
	}
}
