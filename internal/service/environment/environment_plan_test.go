package environment_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// planShows returns the top-level attributes that a plan shows as changed.
func planShows(t *testing.T, cli *acctest.CLI) []string {
	t.Helper()
	out := cli.MustRun("plan", "-input=false").Output
	_, actions, found := strings.Cut(out, " will perform the following actions:\n")
	shown, _, ended := strings.Cut(actions, "\nPlan: ")
	if !found || !ended {
		t.Fatalf("no actions in\n%s", out)
	}
	var marked []string
	for _, line := range strings.Split(shown, "\n") {
		if attribute := attributeChange.FindStringSubmatch(line); attribute != nil {
			marked = append(marked, attribute[1])
		}
	}
	slices.Sort(marked)
	return marked
}

var attributeChange = regexp.MustCompile(`^ {6}[-+~] (\w+)`)

func TestAccEnvironment_plansShowWhatChanges(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickBuilds)
	const before = "setup_script = \"make\"\nscope = \"organization\"\n"
	cli := acctest.NewCLI(t, e, envConfig(before))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	built := []string{"active_repositories", "active_source", "failure_reason", "last_successful_build_at", "latest_build", "latest_build_id", "status"}
	for name, tc := range map[string]struct {
		config string
		want   []string
	}{
		"a rename":              {before + "name = \"after\"\n", []string{"name"}},
		"the default":           {before + "make_organization_default = true\n", []string{"is_default", "make_organization_default"}},
		"a script":              {strings.Replace(before, "make", "true", 1), append([]string{"setup_script"}, built...)},
		"a repository's script": {before + envRepos("app", "true"), append([]string{"repositories"}, built...)},
	} {
		cli.Write("main.tf", envConfig(tc.config))
		slices.Sort(tc.want)
		if got := planShows(t, cli); !slices.Equal(got, tc.want) {
			t.Errorf("%s: the plan shows %v, want %v", name, got, tc.want)
		}
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
	// The service decides about a source that is not configured.
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(environmentType)
	p.Import(i, builtEnv(e, map[string]any{"sourceId": "source-repositories"})).MustSucceed(t)
	if out := p.Apply(i, envValues(acctest.Values{"setup_script": "make"})); !containsAll(out.Text(), "updateEnvironment", "does not support setup scripts") {
		t.Error(out)
	}
}

// An existing environment stays unchanged when its source is no longer offered. Before a destroy, Terraform also plans the
// configuration.
func TestEnvironment_sourceThatBecameUnavailable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values acctest.Values
		other  map[string]any // What was changed outside Terraform.
	}{
		"unchanged":                      {acctest.Values{"source_id": "source-base"}, nil},
		"another script":                 {acctest.Values{"source_id": "source-base"}, map[string]any{"setupScript": "make"}},
		"another source, not configured": {nil, map[string]any{"sourceId": "source-bare", "repositories": []any{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			config := envValues(tc.values)
			_, i := e.Created(t, environmentType, config)
			if tc.other != nil {
				patchEnv(t, e, tc.other)
			}
			acctest.Must(t, e.SetSourceProvider("provider-a", false))
			p := acctest.NewProcess(t, e, nil)
			if out := p.Plan(i, config); len(out.Errors) > 0 {
				t.Error(out)
			}
			if tc.other == nil {
				config["name"] = "renamed"
				p.Apply(i, config).MustDo(t, acctest.ActionUpdate)
			}
			e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
		})
	}
}

// The service decides, and its error is shown at the attribute.
func TestEnvironment_sourcesThatCannotBeListed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	refuse(e, "getEnvironmentSourceOptions", http.StatusForbidden, -1)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(environmentType)
	p.Apply(i, envValues(acctest.Values{"source_id": "source-base"})).MustDo(t, acctest.ActionCreate)
	p.Apply(i, envValues(acctest.Values{"source_id": "source-none"})).MustFail(t, "source_id", "404")
}

// If the service chooses the scope, an environment with the same name in any scope is a conflict.
func TestEnvironment_nameInAnotherScope(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	builtEnv(e, map[string]any{"scope": "organization"})
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(environmentType)
	if out := p.Apply(i, envValues(nil)); len(out.Errors) != 1 || !strings.Contains(out.Text(), "already exists") {
		t.Errorf("%+v", out)
	}
	p.Apply(i, envValues(acctest.Values{"scope": "user"})).MustDo(t, acctest.ActionCreate)
	if out := p.Apply(p.NewInstance(environmentType), envValues(acctest.Values{"scope": "user"})); len(out.Errors) != 1 {
		t.Errorf("%+v", out)
	}
}

// The documents do not tie the default to a scope, so only a contradiction is an error.
func TestEnvironment_defaultWithoutAScope(t *testing.T) {
	t.Parallel()
	p := acctest.NewProcess(t, acctest.New(t), nil)
	config := environmentOf("dev", acctest.Values{"make_organization_default": true})
	delete(config, "scope")
	i := p.NewInstance(environmentType)
	if out := p.Apply(i, config); len(out.Errors) > 0 || i.Attribute("scope") != "organization" || !isDefault(i) {
		t.Errorf("without a scope: %s", out)
	}
	p.Plan(i, config).MustDo(t, acctest.ActionNone)
	config["scope"] = "team"
	out := p.Plan(p.NewInstance(environmentType), config)
	out.MustFail(t, "scope")
	if len(out.Errors) != 1 {
		t.Errorf("an invalid scope: %s", out)
	}
}
