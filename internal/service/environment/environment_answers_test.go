package environment_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
	if got := i.Attribute("setup_script"); got != "make tools\n" {
		t.Errorf("the state holds %q", got)
	}
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

// A listing does not tell why a build failed, so an environment whose latest build failed is read alone, although it stays ready.
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
		p.Apply(a, environmentOf("a", nil)).MustSucceed(t)
		if got := a.Attribute("failure_reason"); (got == "The disk is full.") != told {
			t.Errorf("told %v, and the reason is %q", told, got)
		}
	}
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
	if len(results) != 1 {
		t.Errorf("the data source has several orders: %v", results)
	}
	e.Apply(t, i, envValues(acctest.Values{"repositories": reversed[1:]})).MustDo(t, acctest.ActionUpdate)
	mustRest(t, e, i, envValues(acctest.Values{"repositories": reversed[1:]}))
}
