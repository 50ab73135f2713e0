package environment_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
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
		if got := acctest.NewProcess(t, e, nil).Changes(i, config); !slices.Equal(got, tc.want) {
			t.Errorf("%s: the plan shows %v, want %v", name, got, tc.want)
		}
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
			acctest.Says(t, out.WarningText(), "failed: exit 1")
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
		"unknown":         {acctest.Values{"source_id": "source-none"}, "source_id", []string{`Source "source-none" is not available`, "source-base", "agentyard_environment_source_options"}},
		"unavailable":     {acctest.Values{"source_id": "source-other"}, "source_id", []string{"currently unavailable: Provider B"}},
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
	acctest.Says(t, p.Apply(i, envValues(acctest.Values{"setup_script": "make"})).Text(), "updateEnvironment", "does not support setup scripts")
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
		acctest.Must(t, e.SetSourceProvider("provider-a", false))
		if out := e.Plan(t, i, config); len(out.Errors) > 0 {
			t.Errorf("%s: %s", name, out)
		}
		e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	}
}

// The documents do not tie the default to a scope, so only a contradiction is an error.
func TestEnvironment_defaultWithoutAScope(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := environmentOf("dev", acctest.Values{"make_organization_default": true})
	delete(config, "scope")
	if _, i := e.Created(t, environmentType, config); i.Attribute("scope") != "organization" || !isDefault(i) {
		t.Errorf("the state is %s", i.State)
	}
}
