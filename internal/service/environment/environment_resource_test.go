package environment_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironment_plansShowWhatChanges(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	before := acctest.Values{"setup_script": "make", "scope": "organization"}
	_, i := e.Created(t, environmentType, envValues(before))
	built := func(more ...string) []string {
		return slices.Sorted(slices.Values(append(more, "last_successful_build_at", "latest_build", "latest_build_id", "status")))
	}
	for name, tc := range map[string]struct {
		change acctest.Values
		want   []string
	}{
		"a rename":              {acctest.Values{"name": "after"}, []string{"name"}},
		"the default":           {acctest.Values{"make_organization_default": true}, []string{"is_default", "make_organization_default"}},
		"a script":              {acctest.Values{"setup_script": "true"}, built("setup_script")},
		"a source":              {acctest.Values{"source_id": "source-repositories", "setup_script": nil}, built("active_source", "setup_script", "source", "source_id")},
		"a repository":          {acctest.Values{"repositories": repositories("app", "make", "api", "")}, built("active_repositories", "repositories", "repositories[1]")},
		"a repository's script": {acctest.Values{"repositories": repositories("app", "true")}, built("active_repositories[0].script", "repositories[0].script")},
		"a script, without a wait": {
			acctest.Values{"setup_script": "true", "wait_for_build": false, "repositories": repositories("api", "")},
			[]string{"latest_build", "latest_build_id", "repositories[0].script", "repositories[0].url", "setup_script", "status", "wait_for_build"},
		},
	} {
		config := envValues(before)
		maps.Copy(config, tc.change)
		check.Is(t, name+": the plan shows", acctest.NewProcess(t, e, nil).Changes(i, config), tc.want)
	}
}

// What the plan decides about the active repositories holds in the apply, in whatever order the service returns them, also if the build fails.
func TestEnvironment_activeRepositoriesStayKnown(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"succeeds": false, "fails": true} {
		e := acctest.New(t)
		_, i := e.Created(t, environmentType, envValues(acctest.Values{"repositories": repositories("app", "make", "api", "")}))
		if fails {
			failBuild(t, e, emulator.BuildFailure{Category: "validation", Reason: "exit 1"})
		}
		config := envValues(acctest.Values{"repositories": repositories("api", "true", "app", "make")})
		p := acctest.NewProcess(t, e, nil)
		out := p.Apply(i, config) // The harness compares the result with the plan.
		if unknown := out.Unknown(t); slices.Contains(unknown, "active_repositories") || !slices.Contains(unknown, "active_repositories.script") || len(out.Errors) > 0 != fails {
			t.Errorf("%s: unknown are %v; %s", name, unknown, out)
		}
		if fails {
			out = p.Plan(i, config)
			check.Says(t, out.WarningText(), "failed: exit 1")
			e.MustApply(t, i, config)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
}

func TestEnvironment_sourcesAreCheckedInThePlan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values acctest.Values
		at     string
		want   []string
	}{
		"unavailable":     {acctest.Values{"source_id": "source-other"}, "source_id", []string{"Available sources: source-bare, source-base, ", "currently unavailable: Provider B"}},
		"no repositories": {acctest.Values{"source_id": "source-bare"}, "repositories", []string{`"Bare image" (source-bare) does not support repositories`}},
		"no scripts":      {acctest.Values{"source_id": "source-repositories", "setup_script": "make"}, "setup_script", []string{`"Repositories without scripts" (source-repositories) does not support setup scripts`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			e.Plan(t, e.NewInstance(t, environmentType), envValues(tc.values)).MustFail(t, tc.at, tc.want...)
			p, i := e.Created(t, environmentType, envValues(nil))
			p.Plan(i, envValues(tc.values)).MustFail(t, tc.at, tc.want...)
		})
	}
	// The sources are asked for once. The service decides about a source that is not configured.
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	for range 2 {
		p.Plan(p.NewInstance(environmentType), envValues(acctest.Values{"source_id": "source-base"})).MustDo(t, acctest.ActionCreate)
	}
	e.WantRequests(t, "getEnvironmentSourceOptions", 1)
	i := p.NewInstance(environmentType)
	p.Import(i, builtEnv(e, map[string]any{"sourceId": "source-repositories"})).MustSucceed(t)
	check.Says(t, p.Apply(i, envValues(acctest.Values{"setup_script": "make"})).Text(), "updateEnvironment", "does not support setup scripts")
}

// An existing environment stays unchanged when its source is no longer offered. Before a destroy, Terraform also plans the
// configuration.
func TestEnvironment_sourceThatBecameUnavailable(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]map[string]any{"unchanged": nil, "another script": {"setupScript": "make"}} { // Changed outside Terraform.
		e := acctest.New(t)
		config := envValues(acctest.Values{"source_id": "source-base"})
		_, i := e.Created(t, environmentType, config)
		if other != nil {
			patchEnv(t, e, other)
		}
		check.Must(t, e.SetSourceProvider("provider-a", false))
		if out := e.Plan(t, i, config); len(out.Errors) > 0 {
			t.Errorf("%s: %s", name, out)
		}
		e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	}
}

func TestEnvironment_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	refused := func(values acctest.Values, at, want string) {
		t.Helper()
		e.MustNotCreate(t, environmentType, envValues(values), at, want)
	}
	refused(acctest.Values{"repositories": []any{map[string]any{"url": "acme/app", "script": "make"}}}, "repositories[0].url", "repositories[0].url must be an absolute URI")
	refused(acctest.Values{"scope": "team"}, "scope", `scope must be "user" or "organization", not "team"`)
	refused(acctest.Values{"make_organization_default": true, "scope": "user"}, "make_organization_default", `set scope to "organization"`)
	check.None(t, "requests", e.Journal().Entries())
}

func TestEnvironment_refusalsOfACreation(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("m", 65537)
	sourced := acctest.Values{"source_id": "source-base"}
	for name, tc := range map[string]struct {
		values acctest.Values
		before func(*acctest.Env)
		status int
		at     string
		want   []string
	}{
		"long name":      {values: acctest.Values{"name": strings.Repeat("n", 129)}, want: []string{"at most 128 characters", "Correct the value that the message names."}},
		"long set-up":    {values: acctest.Values{"setup_script": long}, want: []string{"at most 65536 bytes"}},
		"no source":      {before: func(e *acctest.Env) { _ = e.SetSourceProvider("provider-a", false) }, want: []string{"createEnvironment", "409", "No source"}},
		"403 of a scope": {values: acctest.Values{"scope": "organization"}, status: 403, want: []string{"Manager role", `scope "user" requires its owner's key, and any member can create one.`}},
		"404":            {values: sourced, status: 404, at: "source_id"},
		"405":            {before: func(e *acctest.Env) { e.AllowEnvironments(false) }, want: []string{"createEnvironment", "405", "whether it allows new environments"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			if tc.before != nil {
				tc.before(e)
			}
			if tc.status != 0 {
				e.Refuse("createEnvironment", tc.status, 1)
				tc.want = append(tc.want, "createEnvironment", fmt.Sprint(tc.status))
			}
			before := len(environmentsOf(e))
			i := e.NewInstance(t, environmentType)
			e.Apply(t, i, envValues(tc.values)).MustFail(t, tc.at, tc.want...)
			if after := len(environmentsOf(e)); after != before || !i.State.IsNull() {
				t.Errorf("%d environments, were %d; the state is %s", after, before, i.State)
			}
		})
	}
}

func TestEnvironment_refusalsOfAnUpdate(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, envValues(nil))
	script := acctest.Values{"setup_script": "x"}
	for _, tc := range []struct {
		values acctest.Values
		status int
		at     string
		want   []string
	}{
		{acctest.Values{"name": strings.Repeat("n", 129)}, 0, "", []string{"at most 128 characters"}},
		{script, 403, "", []string{"updateEnvironment", "403", "its owner's key"}},
		{acctest.Values{"source_id": "source-repositories"}, 409, "", []string{"updateEnvironment", "409"}},
		{acctest.Values{"name": "b", "source_id": "source-repositories"}, 409, "", []string{"updateEnvironment", "409"}}, // The name may be free.
		{acctest.Values{"source_id": "source-repositories"}, 404, "source_id", []string{"updateEnvironment", "404"}},
	} {
		if tc.status != 0 {
			e.Refuse("updateEnvironment", tc.status, -1)
		}
		e.Apply(t, i, envValues(tc.values)).MustFail(t, tc.at, tc.want...)
		e.Faults().Clear()
	}
	e.Plan(t, i, envValues(nil)).MustDo(t, acctest.ActionNone) // The state contains none of the rejected changes.
}

// Another rename or deletion of the same apply frees the name a moment later.
func TestEnvironment_renameWaitsForTheName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"name": "a", "repositories": []any{}}
	p, i := e.Created(t, environmentType, config)
	e.Refuse("updateEnvironment", 409, 5)
	config["name"] = "b"
	p.Apply(i, config).MustDo(t, acctest.ActionUpdate)
	check.Is(t, "the environment's name", environmentsOf(e)[0].Name, "b")
}

// normalizes removes trailing line breaks from texts, and ".git" from URLs.
func normalizes(environment map[string]any) {
	if script, ok := environment["setupScript"].(string); ok {
		environment["setupScript"] = strings.TrimSpace(script)
	}
	listed, _ := environment["repositories"].([]any)
	for _, one := range listed {
		repository := one.(map[string]any)
		repository["url"], repository["script"] = strings.TrimSuffix(repository["url"].(string), ".git"), strings.TrimSpace(repository["script"].(string))
	}
}

// An equivalent value is not a change, and the configured spelling is kept.
func TestEnvironment_aServiceThatNormalizes(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, rewrite(normalizes))
	config := environmentOf("a", acctest.Values{"setup_script": "make tools\n", "repositories": []any{map[string]any{"url": "https://git.example/acme/app.git", "script": "make\n"}}})
	_, i := e.Created(t, environmentType, config)
	e.MustApply(t, i, config).MustDo(t, acctest.ActionNone)
	check.Is(t, "the setup script", i.Attribute("setup_script"), "make tools\n")
	// A different spelling of the same value is not a change either.
	config["setup_script"] = "make tools"
	e.MustApply(t, i, config).MustDo(t, acctest.ActionNone)
	config["name"], config["setup_script"] = "b", "make more\n"
	if out := e.MustApply(t, i, config); out.Action != acctest.ActionUpdate || i.Attribute("setup_script") != "make more\n" {
		t.Errorf("a change: %s; the state holds %q", out, i.Attribute("setup_script"))
	}

	imported := e.NewInstance(t, environmentType)
	acctest.NewProcess(t, e, nil).Import(imported, i.ID()).MustSucceed(t)
	e.MustApply(t, imported, config).MustDo(t, acctest.ActionNone)
}

// A source may support neither repositories nor scripts, and the default environment that the service creates has none.
func TestEnvironment_withoutRepositories(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	bare := acctest.Values{"source_id": "source-bare", "repositories": []any{}}
	_, i := e.Created(t, environmentType, environmentOf("a", bare))
	e.MustApply(t, i, environmentOf("a", bare)).MustDo(t, acctest.ActionNone)
	e.Plan(t, i, environmentOf("a", acctest.Values{"source_id": "source-bare"})).MustFail(t, "repositories", "does not support repositories", "[]")
}

// rewrite changes every environment in the responses to the provider.
func rewrite(edit func(environment map[string]any)) acctest.Option {
	return acctest.Rewrite(environmentsRoute, "environments", func(_ *http.Request, environment map[string]any) { edit(environment) })
}

// A scope that the service does not return is adopted after an import, and forces replacement at any other time.
func TestEnvironment_scopeThatTheServiceDoesNotTell(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, rewrite(func(environment map[string]any) { delete(environment, "scope") }))
	id := builtEnv(e, map[string]any{"scope": "organization"})
	i := e.NewInstance(t, environmentType)
	acctest.NewProcess(t, e, nil).Import(i, id).MustSucceed(t)
	for _, step := range []struct {
		scope  string
		action acctest.Action
	}{{"organization", "update"}, {"user", "replace"}} {
		e.Apply(t, i, envValues(acctest.Values{"scope": step.scope})).MustDo(t, step.action)
		if i.Attribute("scope") != step.scope || (i.ID() == id) != (step.action == "update") {
			t.Errorf("%s: the state is %s", step.scope, i.State)
		}
		mustRest(t, e, i, envValues(acctest.Values{"scope": step.scope}))
	}
}

// A listing does not tell why a build failed, so an environment whose latest build failed is read alone, although it stays ready. The next apply rebuilds it.
func TestEnvironment_readyWithAFailedBuild(t *testing.T) {
	t.Parallel()
	var tells atomic.Bool
	e := acctest.New(t, acctest.Rewrite(environmentsRoute, "environments", func(r *http.Request, environment map[string]any) {
		if environment["status"] != "failed" {
			return
		}
		environment["status"] = "ready"
		if isListed := r.URL.Path == environmentsRoute; isListed || !tells.Load() {
			delete(environment, "failureReason")
			build := environment["latestBuild"].(map[string]any)
			environment["latestBuild"] = map[string]any{"id": build["id"], "status": build["status"], "truncated": false, "withheld": false}
		}
	}))
	_, a := e.Created(t, environmentType, environmentOf("a", nil))
	_, b := e.Created(t, environmentType, environmentOf("b", nil))
	failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full.", Excerpt: "no space left"})
	e.API(http.MethodPost, environmentsRoute+"/"+a.ID()+"/builds", nil, nil)
	letBuild(e)
	for _, told := range []bool{false, true} {
		tells.Store(told)
		p := acctest.NewProcess(t, e, nil)
		// After two reads, there is a listing. The shortcut is compared with the framework whenever it answers.
		for range 2 {
			p.Apply(b, environmentOf("b", nil)).MustSucceed(t)
		}
		p.Plan(a, environmentOf("a", nil)).MustDo(t, acctest.ActionUpdate)
		check.Is(t, "the reason is shown", a.Attribute("failure_reason") == "The disk is full.", told)
	}
	e.Apply(t, a, environmentOf("a", nil)).MustDo(t, acctest.ActionUpdate)
	e.Plan(t, a, environmentOf("a", nil)).MustDo(t, acctest.ActionNone)
}

// The service returns repositories in any order, which changes neither the plan nor the results.
func TestEnvironment_repositoriesInAnyOrder(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	pairs := []string{"f", "1", "b", "2", "d", "3", "a", "4", "e", "5", "c", "6"}
	config, reversed := envValues(acctest.Values{"repositories": repositories(pairs...)}), repositories(pairs...)
	slices.Reverse(reversed)
	_, i := e.Created(t, environmentType, config)
	imported := e.NewInstance(t, environmentType)
	acctest.NewProcess(t, e, nil).Import(imported, i.ID()).MustSucceed(t)
	results := map[string]bool{}
	for _, order := range []any{repositories(pairs...), reversed} {
		e.Plan(t, i, envValues(acctest.Values{"repositories": order})).MustDo(t, acctest.ActionNone)
		e.Plan(t, imported, envValues(acctest.Values{"repositories": order})).MustDo(t, acctest.ActionNone)
		read := e.MustRead(t, nil, environmentType, acctest.Values{"id": i.ID()})
		results[fmt.Sprint(read["repositories"], read["active_repositories"], read["latest_build"])] = true
	}
	check.Is(t, "orders of the data source", len(results), 1)
	e.Apply(t, i, envValues(acctest.Values{"repositories": reversed[1:]})).MustDo(t, acctest.ActionUpdate)
	mustRest(t, e, i, envValues(acctest.Values{"repositories": reversed[1:]}))
}

// An update waits for a running build only if it turns wait_for_build on: a rename does not wait for somebody else's.
func TestEnvironment_anUpdateWaitsForTheBuildThatRuns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, change acctest.Values
		status         string
	}{
		"told to wait":     {acctest.Values{"wait_for_build": false}, acctest.Values{"wait_for_build": true}, "ready"},
		"made the default": {acctest.Values{"scope": "organization"}, acctest.Values{"scope": "organization", "make_organization_default": true}, "ready"},
		"renamed":          {nil, acctest.Values{"name": "renamed"}, "building"},
		"told not to wait": {nil, acctest.Values{"wait_for_build": false}, "building"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, slowBuilds)
			_, i := e.Created(t, environmentType, envValues(tc.before))
			e.Clock.Advance(time.Hour)
			rebuilt(t, e, 0)
			e.Journal().Reset()
			e.Apply(t, i, envValues(tc.change)).MustDo(t, acctest.ActionUpdate)
			polls := e.Journal().Count("getEnvironmentBuildStatuses")
			if got := i.Attribute("status"); got != tc.status || e.Journal().Count("createEnvironmentBuild") > 0 || (polls > 0) != (got == "ready") {
				t.Errorf("the status is %q after %d polls", got, polls)
			}
			e.Clock.Advance(time.Hour)
			mustRest(t, e, i, envValues(tc.change))
		})
	}
}
