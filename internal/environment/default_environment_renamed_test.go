package environment_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// lateChanges has the service take its time to set a default, so that whoever may read it meanwhile does.
func lateChanges(opts *emulator.Options) {
	opts.Wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && r.URL.Path == environmentsRoute+"/default" {
				time.Sleep(100 * time.Millisecond)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// What a renaming without a moved block and a replacement before the destruction have in common: one instance comes and
// another one goes, in any order. The default is what the new one holds, in every order.
func TestDefaultEnvironment_oneComesAndAnotherOneGoes(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]func(come, leave func()){
		"it comes first": func(come, leave func()) { come(); leave() },
		"it goes first":  func(come, leave func()) { leave(); come() },
		"both at once": func(come, leave func()) {
			var both sync.WaitGroup
			both.Go(come)
			both.Go(leave)
			both.Wait()
		},
	} {
		for next, configured := range map[string]bool{"the same": true, "another": true, "none": false} {
			t.Run(name+", which names "+next, func(t *testing.T) {
				t.Parallel()
				e := acctest.New(t, lateChanges)
				ids := environmentsReady(e, "base", "a", "b")
				mustDefault(t, e, ids[0])
				first := acctest.NewProcess(t, e, nil)
				old := first.NewInstance("agentyard_default_environment")
				if out := first.Apply(old, acctest.Values{"environment_id": ids[1]}); len(out.Errors) > 0 {
					t.Fatal(out)
				}
				config := acctest.Values{}
				if configured {
					config["environment_id"] = map[string]string{"the same": ids[1], "another": ids[2]}[next]
				}
				second := acctest.NewProcess(t, e, nil)
				fresh := second.NewInstance("agentyard_default_environment")
				var made, gone acctest.Outcome
				order(func() { made = second.Apply(fresh, config) }, func() { gone = second.Destroy(old) })
				if len(made.Errors) > 0 || len(gone.Errors) > 0 || len(gone.Warnings) > 0 || !old.State.IsNull() {
					t.Errorf("made: %s; gone: %s, %s", made.Text(), gone.Text(), warned(gone))
				}
				if previous := fresh.Attribute("previous_environment_id"); configured && previous != "" && previous == fresh.Attribute("environment_id") {
					t.Errorf("the environment itself is to be the default again: %s", previous)
				}
				holds, want := fresh.Attribute("environment_id"), config["environment_id"]
				if got := liveDefault(e); got != holds || configured && got != want {
					t.Errorf("the default is %s, the state holds %s, wanted is %v", got, holds, want)
				}
			})
		}
	}
}

// The same through the CLI, which chooses the order.
func TestAccDefaultEnvironment_renamedAndReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	ids := environmentsReady(e, "base", "a")
	mustDefault(t, e, ids[0])
	config := defaultConfig(ids[1])
	cli := acctest.NewCLI(t, e, config)
	cli.MustRun("apply", "-auto-approve", "-input=false")
	holds := func(then string, args ...string) {
		t.Helper()
		args = append([]string{"apply", "-auto-approve", "-input=false"}, args...)
		if out := cli.MustRun(args...); liveDefault(e) != ids[1] {
			t.Errorf("%s: the default is %s, want %s: %s", then, liveDefault(e), ids[1], out.Output)
		}
		cli.MustPlanEmpty()
	}
	beforeDestroy := strings.Replace(config, "\n}\n", "\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n", 1)
	cli.Write("main.tf", beforeDestroy)
	holds("replaced", "-replace="+defaultAddress)
	for _, name := range []string{"renamed", "again"} {
		cli.Write("main.tf", strings.Replace(beforeDestroy, `"test"`, `"`+name+`"`, 1))
		holds(name)
	}
	if state := cli.MustRun("state", "list").Output; !slices.Equal(strings.Fields(state), []string{"agentyard_default_environment.again"}) {
		t.Errorf("the state holds %s", state)
	}
}

// States of earlier versions may name the environment itself as the previous one, which says nothing of what was before.
func TestDefaultEnvironment_thePreviousOneIsItself(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a")
	mustDefault(t, e, ids[0])
	process := acctest.NewProcess(t, e, nil)
	i := process.NewInstance("agentyard_default_environment")
	if out := process.Apply(i, acctest.Values{"environment_id": ids[1]}); len(out.Errors) > 0 {
		t.Fatal(out)
	}
	var attributes map[string]tftypes.Value
	if err := i.State.As(&attributes); err != nil {
		t.Fatal(err)
	}
	attributes["previous_environment_id"] = attributes["environment_id"]
	i.State = tftypes.NewValue(i.State.Type(), attributes)
	defaultSaid(t, acctest.NewProcess(t, e, nil).Apply(i, nil), "What was the default before is not known, or there was none", `"a" (`, "stays")
	if got := liveDefault(e); got != ids[1] {
		t.Errorf("the default is %s", got)
	}
}
