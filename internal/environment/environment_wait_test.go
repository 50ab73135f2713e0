package environment_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// atFirstLook has hit called once, when an apply has looked at its build for the first time after arm was called.
func atFirstLook() (option acctest.Option, arm func(hit func())) {
	var mu sync.Mutex
	var armed func()
	option = func(opts *emulator.Options) {
		inner := opts.Wrap
		opts.Wrap = func(next http.Handler) http.Handler {
			if inner != nil {
				next = inner(next)
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r)
				if !strings.HasSuffix(r.URL.Path, "/build-statuses") {
					return
				}
				mu.Lock()
				hit := armed
				armed = nil
				mu.Unlock()
				if hit != nil {
					hit()
				}
			})
		}
	}
	return option, func(hit func()) {
		mu.Lock()
		defer mu.Unlock()
		armed = hit
	}
}

// warnings are the texts of an outcome's warnings.
func warnings(out acctest.Outcome) string {
	var all []string
	for _, d := range out.Warnings {
		all = append(all, d.Summary+": "+d.Detail)
	}
	return strings.Join(all, "\n")
}

// mustFail fails the test unless there is one error, at an attribute ("" for none), that says every part.
func mustFail(t testing.TB, out acctest.Outcome, at string, parts ...string) {
	t.Helper()
	if len(out.Errors) != 1 {
		t.Fatalf("%d errors: %s", len(out.Errors), out.Text())
	}
	got := ""
	if out.Errors[0].Attribute != nil {
		got = out.Errors[0].Attribute.String()
	}
	if got != at {
		t.Errorf("the error is at %s, want %s", got, at)
	}
	if !containsAll(out.Text(), parts...) {
		t.Errorf("not all of %q in: %s", parts, out.Text())
	}
}

func mustWarn(t testing.TB, out acctest.Outcome, parts ...string) {
	t.Helper()
	if !containsAll(warnings(out), parts...) {
		t.Errorf("not all of %q in: %s", parts, warnings(out))
	}
}

// mustRest fails the test unless the environment is ready and there is nothing to do for a new run.
func mustRest(t testing.TB, e *acctest.Env, i *acctest.Instance, config acctest.Values) {
	t.Helper()
	out := acctest.NewProcess(t, e, nil).Plan(i, config)
	mustDo(t, out, "none")
	if got := onlyEnv(t, e); got.Status != "ready" || got.ID != i.ID() || len(out.Warnings) > 0 {
		t.Errorf("%+v, and the plan warns: %s", got, warnings(out))
	}
}

func TestAccEnvironment_failedFirstBuildIsReplacedOrRebuilt(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, briefBuilds)
	broken := emulator.BuildFailure{Category: "validation", Reason: "repositories[0].script exited with 2.", Excerpt: "make: no rule"}
	failBuild(t, e, broken)
	failBuild(t, e, broken)
	cli := acctest.NewCLI(t, e, envConfig(""))
	apply := func() acctest.Result { return cli.Run("apply", "-auto-approve", "-input=false") }
	says := []string{"Environment Failed to Build", `script = "make"`, "category validation: repositories[0].script exited with 2.", "make: no rule", "the next apply replaces it", "run terraform untaint ADDRESS, then apply"}
	if r := apply(); r.ExitCode == 0 || !containsAll(unwrapped(r.Output), says...) {
		t.Fatal(r.Output)
	}
	first := onlyEnv(t, e).ID
	out := cli.MustRun("plan", "-input=false").Output
	if !containsAll(out, "tainted", "must be replaced") || strings.Contains(out, "Taken") {
		t.Error(out)
	}
	if r := apply(); r.ExitCode == 0 || onlyEnv(t, e).ID == first {
		t.Fatalf("the failed one was not replaced: %s", r.Output)
	}
	second := onlyEnv(t, e)
	cli.MustRun("untaint", envAddress)
	r := apply()
	if got := onlyEnv(t, e); r.ExitCode != 0 || got.ID != second.ID || got.LatestBuild.ID == second.LatestBuild.ID || got.Status != "ready" {
		t.Fatalf("%+v\n%s", got, r.Output)
	}
	cli.MustPlanEmpty()
}

func TestAccEnvironment_failedUpdateIsRebuiltInPlace(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	before, after := e.Config(envConfig("")), e.Config(envConfig("setup_script = \"./configure\""))
	runEnv(t, e,
		resource.TestStep{Config: before},
		resource.TestStep{
			PreConfig: func() {
				failBuild(t, e, emulator.BuildFailure{Category: "timeout", Reason: "setupScript ran for too long."})
			},
			Config:      after,
			ExpectError: regexp.MustCompile(`Environment Failed to Build(.|\n)*setup_script = "./configure"(.|\n)*timeout(.|\n)*Shorten\s+the\s+scripts(.|\n)*keep\s+using\s+the\s+last\s+successful\s+build(.|\n)*next\s+apply\s+rebuilds\s+the\s+environment`),
		},
		resource.TestStep{
			PreConfig: func() { e.Journal().Reset() },
			Config:    after, ConfigPlanChecks: envAction(plancheck.ResourceActionUpdate), ConfigStateChecks: []statecheck.StateCheck{envHas("status", "ready"), envHas("setup_script", "./configure"), envLacks("failure_reason")},
			Check: requested(e, map[string]int{"createEnvironmentBuild": 1}),
		},
		resource.TestStep{
			PreConfig:   func() { failBuild(t, e, emulator.BuildFailure{}) },
			Config:      before,
			ExpectError: regexp.MustCompile(`Environment Failed to Build`),
		},
		// A failed one whose configuration is mended is built by the change, and by nothing else.
		resource.TestStep{
			PreConfig: func() { e.Journal().Reset() },
			Config:    after, ConfigPlanChecks: envAction(plancheck.ResourceActionUpdate), ConfigStateChecks: []statecheck.StateCheck{envHas("status", "ready")},
			Check: requested(e, map[string]int{"updateEnvironment": 1}),
		},
	)
}

// What a rename changes is not what is built, so a failed environment that is renamed is built besides.
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
		"somebody has done": {nil, func(e *acctest.Env, path string) {
			e.API(http.MethodPost, path+"/builds", nil, nil)
			e.Clock.Advance(buildsBy)
		}, "createEnvironmentBuild createEnvironmentBuild", "ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var armed atomic.Bool
			path := ""
			e = acctest.New(t, func(opts *emulator.Options) {
				opts.Wrap = func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if strings.HasSuffix(r.URL.Path, "/builds") && armed.CompareAndSwap(true, false) {
							tc.meanwhile(e, path)
						}
						next.ServeHTTP(w, r)
					})
				}
			})
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			config := envValues(nil)
			mustDo(t, p.Apply(i, config), "create")
			path = envRoute + "/" + i.ID()
			failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full."})
			e.API(http.MethodPost, path+"/builds", nil, nil)
			e.Clock.Advance(buildsBy)
			e.Journal().Reset()
			armed.Store(tc.meanwhile != nil)
			maps.Copy(config, tc.change)
			p = acctest.NewProcess(t, e, nil)
			plan := p.Plan(i, config)
			if told := strings.Contains(warnings(plan), "The disk is full. This apply starts a new build"); told == (tc.change["setup_script"] != nil) {
				t.Errorf("the plan says: %s", warnings(plan))
			}
			mustDo(t, p.Apply(i, config), "update")
			if got := changesSent(e); got != tc.want {
				t.Errorf("sent %s, want %s", got, tc.want)
			}
			if got := i.Attribute("status"); got != tc.status {
				t.Errorf("the status is %q", got)
			}
			e.Clock.Advance(buildsBy)
			mustRest(t, e, i, config)
		})
	}
}

func TestEnvironment_failuresAreShownWhereTheyAre(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("compiling\n", 600) + "error: the end"
	for name, tc := range map[string]struct {
		failure emulator.BuildFailure
		at      string
		says    []string
	}{
		"source-resolution": {emulator.BuildFailure{Category: "source-resolution", Reason: "No access."}, `AttributeName("repositories")`, []string{"code-host integration"}},
		"a repository":      {emulator.BuildFailure{Category: "source-resolution", Reason: "No access to https://git.example/acme/app."}, `AttributeName("repositories").ElementKeyInt(0)`, nil},
		"provider":          {emulator.BuildFailure{Category: "provider"}, "", []string{"choose another source_id"}},
		"timeout":           {emulator.BuildFailure{Category: "timeout"}, "", []string{"Shorten the scripts"}},
		"validation":        {emulator.BuildFailure{Category: "validation", Phase: "validating"}, "", []string{"A script or a check of its result failed. Fix the problem that the reason describes"}},
		"promotion":         {emulator.BuildFailure{Category: "promotion", Phase: "validating"}, "", []string{"could not be activated"}},
		"cleanup":           {emulator.BuildFailure{Category: "cleanup", Phase: "validating"}, "", []string{"The cleanup after the build failed"}},
		"unknown":           {emulator.BuildFailure{}, "", []string{"category unknown", "Fix the problem that the reason describes", "somebody canceled"}},
		"withheld":          {emulator.BuildFailure{Excerpt: "secret", Withheld: true}, "", []string{"withholds the log"}},
		"a log":             {emulator.BuildFailure{Excerpt: "make: no rule"}, "", []string{"The log ends with:\n\n  make: no rule"}},
		"a long log":        {emulator.BuildFailure{Excerpt: many}, "", []string{"agentyard_environment_build_diagnostics shows more", "  compiling\n  error: the end"}},
		"a long line":       {emulator.BuildFailure{Excerpt: strings.Repeat("m", 5000)}, "", []string{"shows more", strings.Repeat("m", 2000)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			failBuild(t, e, tc.failure)
			out := p.Apply(i, envValues(nil))
			mustFail(t, out, tc.at, append(tc.says, onlyEnv(t, e).LatestBuild.ID, "The next apply")[:len(tc.says)+1]...)
			if strings.Contains(out.Text(), "secret") || !i.Tainted || i.Attribute("status") != "failed" || i.Attribute("failure_reason") == "" {
				t.Errorf("tainted %v, %s", i.Tainted, i.State)
			}
			i.Tainted = false // As untaint does.
			mustDo(t, p.Apply(i, envValues(nil)), "update")
			mustRest(t, e, i, envValues(nil))
		})
	}
}

// Where the source is configured, a failure of its provider is shown there.
func TestEnvironment_failureOfTheConfiguredSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(envType)
	config := envValues(acctest.Values{"source_id": "source-base"})
	mustDo(t, p.Apply(i, envValues(nil)), "create")
	failBuild(t, e, emulator.BuildFailure{Category: "provider"})
	config["setup_script"] = "make"
	mustFail(t, p.Apply(i, config), `AttributeName("source_id")`, "failed")
	failBuild(t, e, emulator.BuildFailure{Category: "provider"})
	delete(config, "source_id")
	mustFail(t, p.Apply(i, config), "", "failed")
}

// A category that this provider does not know, and a failure without any detail.
func TestEnvironment_failureInAnotherForm(t *testing.T) {
	t.Parallel()
	const record = `{"id":"ID","name":"dev","scope":"user","repositories":[{"url":"https://git.example/acme/app","script":"make"}],` +
		`"source":{"id":"s","name":"S","supportsRepositories":true,"supportsSetupScripts":true,"provider":{"id":"p","name":"P"}},"createdAt":1,"updatedAt":1,"status":"failed","latestBuild":{"id":"BUILD","truncated":false,"withheld":false%s}}`
	for name, tc := range map[string]struct{ fields, says, mend string }{
		"a new category": {`,"status":"failed","failureCategory":"solar-flare","failureReason":"Bits flipped."`, "category solar-flare: Bits flipped.", "Fix the problem that the reason describes"},
		"nothing":        {"", "failed. The service gave no reason.", "contact the service's support"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option, arm := atFirstLook()
			e := acctest.New(t, option)
			p := acctest.NewProcess(t, e, nil)
			failBuild(t, e, emulator.BuildFailure{})
			arm(func() {
				made := onlyEnv(t, e)
				body := strings.NewReplacer("ID", made.ID, "BUILD", made.LatestBuild.ID).Replace(fmt.Sprintf(record, tc.fields))
				e.Faults().Add(emulator.Fault{Operation: "getEnvironment", Kind: emulator.FaultOtherAnswer, Body: body})
			})
			i := p.NewInstance(envType)
			mustFail(t, p.Apply(i, envValues(nil)), "", tc.says, tc.mend)
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
		// The error of the apply, or the warning where there is none.
		fails string
		warns string
		// The next action with the same configuration, and what it sends.
		next, sends string
	}{
		"an edit":        {hit: edit, warns: "Waited for a Newer Build: ", next: "update", sends: "updateEnvironment"},
		"a failed edit":  {hit: func(d *during) { _ = d.e.FailBuild(emulator.BuildFailure{}); edit(d) }, warns: "Waited for a Newer Build: ", fails: "Environment Failed to Build", next: "update", sends: "updateEnvironment"},
		"two edits":      {hit: func(d *during) { edit(d); d.e.API(http.MethodPatch, d.path, map[string]any{"setupScript": nil}, nil) }, warns: "Waited for a Newer Build: ", next: "none"},
		"a rename":       {hit: func(d *during) { d.e.API(http.MethodPatch, d.path, map[string]any{"name": "theirs"}, nil) }, next: "update", sends: "updateEnvironment"},
		"a cancellation": {hit: func(d *during) { d.e.API(http.MethodPost, d.path+"/builds/"+latestOf(d.e)+"/cancel", nil, nil) }, fails: "The build was cancelled.", next: "update", sends: "createEnvironmentBuild"},
		"cancelled and rebuilt": {hit: func(d *during) {
			d.e.API(http.MethodPost, d.path+"/builds/"+latestOf(d.e)+"/cancel", nil, nil)
			d.e.API(http.MethodPost, d.path+"/builds", nil, nil)
		}, warns: "Waited for a Newer Build: ", next: "none"},
		"cancelled, rebuilt and done": {hit: func(d *during) {
			d.e.API(http.MethodPost, d.path+"/builds/"+latestOf(d.e)+"/cancel", nil, nil)
			d.e.API(http.MethodPost, d.path+"/builds", nil, nil)
			d.e.Clock.Advance(buildsBy)
		}, warns: "Waited for a Newer Build: ", next: "none"},
		"cancelled, rebuilt and failed": {hit: func(d *during) {
			d.e.API(http.MethodPost, d.path+"/builds/"+latestOf(d.e)+"/cancel", nil, nil)
			_ = d.e.FailBuild(emulator.BuildFailure{Reason: "The disk is full."})
			d.e.API(http.MethodPost, d.path+"/builds", nil, nil)
			d.e.Clock.Advance(buildsBy)
		}, fails: "The disk is full.", warns: "Waited for a Newer Build: ", next: "update", sends: "createEnvironmentBuild"},
		"cancelled, rebuilt and edited": {hit: func(d *during) {
			d.e.API(http.MethodPost, d.path+"/builds/"+latestOf(d.e)+"/cancel", nil, nil)
			d.e.API(http.MethodPost, d.path+"/builds", nil, nil)
			edit(d)
		}, warns: "Waited for a Newer Build: ", next: "update", sends: "updateEnvironment"},
		"done and rebuilt": {hit: func(d *during) { d.e.Clock.Advance(buildsBy); d.e.API(http.MethodPost, d.path+"/builds", nil, nil) }, next: "none"},
		"a deletion":       {hit: func(d *during) { d.e.Clock.Advance(buildsBy); d.e.API(http.MethodDelete, d.path, nil, nil) }, fails: "Environment Was Deleted During Its Build", next: "create", sends: "createEnvironment"},
		"an interruption":  {hit: func(d *during) { d.p.Stop() }, warns: "Interrupted Before the Environment Was Built", next: "update"},
		"a refusal": {hit: func(d *during) {
			for _, operation := range []string{"getEnvironmentBuildStatuses", "getEnvironment"} {
				d.e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: 403})
			}
		}, fails: "Cannot wait for the build of environment", warns: "Build Result Unknown", next: "update"},
	} {
		for _, updates := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/update=%v", name, updates), func(t *testing.T) {
				t.Parallel()
				option, arm := atFirstLook()
				d := &during{e: acctest.New(t, option)}
				d.p = acctest.NewProcess(t, d.e, nil)
				i := d.p.NewInstance(envType)
				config := envValues(nil)
				if updates {
					mustDo(t, d.p.Apply(i, envValues(acctest.Values{"setup_script": "before"})), "create")
				}
				var before string
				arm(func() {
					d.path = envRoute + "/" + onlyEnv(t, d.e).ID
					before = latestOf(d.e)
					tc.hit(d)
				})
				out := d.p.Apply(i, config)
				if tc.fails == "" && len(out.Errors) > 0 || !strings.Contains(out.Text(), tc.fails) {
					t.Fatalf("want %q: %s", tc.fails, out.Text())
				}
				if !strings.Contains(warnings(out), tc.warns) || tc.warns == "" && len(out.Warnings) > 0 {
					t.Errorf("want %q: %s", tc.warns, warnings(out))
				}
				told := "Build " + before + " was superseded by build " + latestOf(d.e)
				if strings.Contains(name, "rebuilt") {
					told = "Build " + before + " failed or was canceled, and build " + latestOf(d.e)
				}
				if strings.HasPrefix(tc.warns, "Another") && !strings.Contains(warnings(out), told) {
					t.Errorf("want %q: %s", told, warnings(out))
				}
				if wantTaint := tc.fails != "" && !updates; i.Tainted != wantTaint {
					t.Errorf("tainted: %v", i.Tainted)
				}
				i.Tainted = false
				d.e.Journal().Reset()
				mustDo(t, acctest.NewProcess(t, d.e, nil).Apply(i, config), tc.next)
				if got := changesSent(d.e); got != tc.sends {
					t.Errorf("the next apply sends %q, want %q", got, tc.sends)
				}
				d.e.Clock.Advance(buildsBy)
				mustRest(t, d.e, i, config)
			})
		}
	}
}

func latestOf(e *acctest.Env) string {
	all := envs(e)
	if len(all) != 1 {
		return ""
	}
	return all[0].LatestBuild.ID
}

// changesSent are the requests of the journal that change something.
func changesSent(e *acctest.Env) string {
	var sent []string
	for _, entry := range e.Journal().Entries() {
		if entry.Method != http.MethodGet {
			sent = append(sent, entry.Operation)
		}
	}
	return strings.Join(sent, " ")
}

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
