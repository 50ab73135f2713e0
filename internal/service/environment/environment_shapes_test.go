package environment_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
