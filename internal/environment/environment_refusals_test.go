package environment_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAccEnvironment_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for name, tc := range map[string]struct{ attributes, want string }{
		"empty name":      {`name = ""`, `name\s+must\s+not\s+be\s+empty`},
		"no URL":          {envRepos("app", "make") + "name = \"n\"\nsetup_script = \"\"", `setup_script\s+must\s+not\s+be\s+blank`},
		"not a URL":       {`repositories = [{ url = "acme/app", script = "make" }]`, `repositories\[0\]\.url\s+must\s+be\s+an\s+absolute\s+URI`},
		"no script":       {`repositories = [{ url = "https://git.example/acme/app" }]`, `attribute\s+"script"\s+is\s+required`},
		"scope":           {`scope = "team"`, `scope\s+value\s+must\s+be\s+one\s+of`},
		"empty source":    {`source_id = ""`, `source_id\s+must\s+not\s+be\s+empty`},
		"timeout":         {"timeouts {\n  update = \"soon\"\n}", `update = "soon"(.|\n)*Valid\s+time\s+units`},
		"default of none": {"make_organization_default = true", `make_organization_default = true(.|\n)*Set\s+scope\s+to\s+"organization"`},
		"default of user": {"scope = \"user\"\nmake_organization_default = true", `make_organization_default = true(.|\n)*Set\s+scope\s+to\s+"organization"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: e.Config(envConfig(tc.attributes)), PlanOnly: true, ExpectError: regexp.MustCompile(tc.want)}},
			})
			if requests := e.Journal().Entries(); len(requests) > 0 {
				t.Errorf("the service was asked: %+v", requests)
			}
		})
	}
}

func TestAccEnvironment_refusalsOfACreation(t *testing.T) {
	t.Parallel()
	status := func(status int) func(*acctest.Env) {
		return func(e *acctest.Env) {
			e.Faults().Add(emulator.Fault{Operation: "createEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: status})
		}
	}
	for name, tc := range map[string]struct {
		attributes string
		before     func(*acctest.Env)
		want       string
	}{
		"long name":       {fmt.Sprintf("name = %q", strings.Repeat("n", 129)), nil, `name = (.|\n)*createEnvironment(.|\n)*at\s+most\s+128\s+characters(.|\n)*Correct\s+the\s+value\s+of`},
		"the same twice":  {envRepos("app", "make", "app", "true"), nil, `createEnvironment(.|\n)*repeats\s+that\s+of\s+repositories\[0\]`},
		"long script":     {envRepos("app", strings.Repeat("m", 65537)), nil, `createEnvironment(.|\n)*at\s+most\s+65536\s+bytes`},
		"long set-up":     {fmt.Sprintf("setup_script = %q", strings.Repeat("m", 65537)), nil, `setup_script = (.|\n)*at\s+most\s+65536\s+bytes`},
		"name taken":      {"", func(e *acctest.Env) { newEnv(e, nil) }, `name\s+= "dev"(.|\n)*exists\s+already(.|\n)*2026-03-01T12:00:00Z(.|\n)*terraform\s+import\s+ADDRESS`},
		"no source":       {"", func(e *acctest.Env) { _ = e.SetSourceProvider("provider-a", false) }, `createEnvironment(.|\n)*409(.|\n)*No\s+source`},
		"401":             {"", status(401), `createEnvironment(.|\n)*401(.|\n)*AGENTYARD_API_KEY`},
		"402":             {"", status(402), `createEnvironment(.|\n)*402(.|\n)*plan\s+does\s+not\s+include`},
		"403":             {"", status(403), `createEnvironment(.|\n)*403(.|\n)*requires\s+its\s+owner's\s+key`},
		"403 of a scope":  {`scope = "organization"`, status(403), `createEnvironment(.|\n)*403(.|\n)*Manager\s+role(.|\n)*or\s+set\s+scope\s+to\s+"user"\.`},
		"404":             {"source_id = \"source-base\"", status(404), `source_id\s+= "source-base"(.|\n)*createEnvironment(.|\n)*404`},
		"405":             {"", func(e *acctest.Env) { e.AllowEnvironments(false) }, `createEnvironment(.|\n)*405(.|\n)*is\s+disabled\s+for\s+the\s+organization`},
		"409 of a source": {"source_id = \"source-base\"", status(409), `in\s+resource\s+"agentyard_environment"\s+"test":(.|\n)*createEnvironment(.|\n)*409`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			if tc.before != nil {
				tc.before(e)
			}
			before := len(envs(e))
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: e.Config(envConfig(tc.attributes)), ExpectError: regexp.MustCompile(tc.want)}},
			})
			if after := len(envs(e)); after != before {
				t.Errorf("%d environments, were %d", after, before)
			}
		})
	}
}

func TestAccEnvironment_refusalsOfAnUpdate(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	builtEnv(e, map[string]any{"name": "taken"})
	refused := func(more string, status int, want string) resource.TestStep {
		return resource.TestStep{
			PreConfig: func() {
				if status != 0 {
					e.Faults().Add(emulator.Fault{Operation: "updateEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: status})
				}
			},
			Config: e.Config(envConfig(more)), ExpectError: regexp.MustCompile(want),
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{
			{Config: e.Config(envConfig(""))},
			refused(`name = "taken"`, 0, `name\s+= "taken"(.|\n)*updateEnvironment(.|\n)*409(.|\n)*Choose\s+another`),
			refused(fmt.Sprintf("name = %q", strings.Repeat("n", 129)), 0, `name = (.|\n)*at\s+most\s+128\s+characters`),
			refused(envRepos("app", "make", "app", "make"), 0, `updateEnvironment(.|\n)*repeats\s+that\s+of`),
			refused(`setup_script = "x"`, 402, `updateEnvironment(.|\n)*402(.|\n)*plan\s+does\s+not\s+include`),
			refused(`setup_script = "x"`, 403, `updateEnvironment(.|\n)*403(.|\n)*its\s+owner's\s+key`),
			refused(`setup_script = "x"`, 404, `updateEnvironment(.|\n)*404(.|\n)*Plan\s+again`),
			refused(`source_id = "source-repositories"`, 409, `source_id\s+= (.|\n)*updateEnvironment(.|\n)*409`),
			// Nothing of it is in the state.
			{Config: e.Config(envConfig("")), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		},
	})
}

// What an element of the list is refused for is shown at the element; older CLIs print only the resource.
func TestEnvironment_refusedElements(t *testing.T) {
	t.Parallel()
	repository := func(name, script string) map[string]any {
		return map[string]any{"url": "https://git.example/acme/" + name, "script": script}
	}
	for at, repositories := range map[string][]any{
		`AttributeName("repositories").ElementKeyInt(1).AttributeName("url")`:    {repository("app", "make"), repository("app", "true")},
		`AttributeName("repositories").ElementKeyInt(1).AttributeName("script")`: {repository("app", "make"), repository("tools", strings.Repeat("m", 65537))},
		`AttributeName("repositories")`: func() (many []any) {
			for n := range 51 {
				many = append(many, repository(fmt.Sprintf("app-%d", n), "make"))
			}
			return many
		}(),
	} {
		e := acctest.New(t)
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance(envType)
		mustFail(t, p.Apply(i, envValues(acctest.Values{"repositories": repositories})), at, "createEnvironment", "Correct the value of")
		mustDo(t, p.Apply(i, envValues(nil)), "create")
		mustFail(t, p.Apply(i, envValues(acctest.Values{"repositories": repositories})), at, "updateEnvironment", "Correct the value of")
		mustRest(t, e, i, envValues(nil))
	}
}
