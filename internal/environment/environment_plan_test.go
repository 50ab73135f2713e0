package environment_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// briefBuilds ends builds before anybody looks at them, for tests in real time.
func briefBuilds(o *emulator.Options) { o.BuildPhase = time.Millisecond }

// planShows are the attributes that a plan shows to change. What they hold is not among them.
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
	e := acctest.NewRealTime(t, briefBuilds)
	const before = "setup_script = \"make\"\nscope = \"organization\"\n"
	cli := acctest.NewCLI(t, e, envConfig(before))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	built := []string{"last_successful_build_at", "latest_build", "latest_build_id", "status"}
	for name, tc := range map[string]struct {
		config string
		want   []string
	}{
		"a rename":              {before + "name = \"after\"\n", []string{"name"}},
		"waiting":               {before + "wait_for_build = false\n", []string{"wait_for_build"}},
		"the default":           {before + "make_organization_default = true\n", []string{"is_default", "make_organization_default"}},
		"a script":              {strings.Replace(before, "make", "true", 1), append([]string{"setup_script"}, built...)},
		"no script":             {"scope = \"organization\"\n", append([]string{"setup_script"}, built...)},
		"a repository's script": {before + envRepos("app", "true"), append([]string{"active_repositories", "repositories"}, built...)},
		"without waiting":       {before + "wait_for_build = false\n" + envRepos("app", "true"), []string{"latest_build", "latest_build_id", "repositories", "status", "wait_for_build"}},
	} {
		cli.Write("main.tf", envConfig(tc.config))
		slices.Sort(tc.want)
		if got := planShows(t, cli); !slices.Equal(got, tc.want) {
			t.Errorf("%s: the plan shows %v, want %v", name, got, tc.want)
		}
	}
}

func TestAccEnvironment_sourcesAreCheckedInThePlan(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for name, tc := range map[string]struct{ attributes, want string }{
		"unknown":         {`source_id = "source-none"`, `source_id\s+= "source-none"(.|\n)*Source\s+"source-none"\s+is\s+not\s+available(.|\n)*source-base(.|\n)*agentyard_environment_source_options`},
		"unavailable":     {`source_id = "source-other"`, `source_id\s+= "source-other"(.|\n)*currently\s+unavailable:\s+Provider\s+B`},
		"no repositories": {`source_id = "source-bare"`, `repositories\s+= \[(.|\n)*"Bare\s+image"\s+\(source-bare\)\s+does\s+not\s+support\s+repositories`},
		"no scripts":      {"source_id = \"source-repositories\"\nsetup_script = \"make\"", `setup_script\s+= "make"(.|\n)*"Repositories\s+without\s+scripts"\s+\(source-repositories\)\s+does\s+not\s+support\s+setup\s+scripts`},
	} {
		for _, first := range []string{"", envConfig("")} {
			t.Run(name+fmt.Sprint(first != ""), func(t *testing.T) {
				t.Parallel()
				e := acctest.New(t)
				steps := []resource.TestStep{{Config: e.Config(first)}, {Config: e.Config(envConfig(tc.attributes)), PlanOnly: true, ExpectError: regexp.MustCompile(tc.want)}}
				if first == "" {
					steps = steps[1:]
				}
				resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, Steps: steps})
				if sent := e.Journal().Count("createEnvironment") + e.Journal().Count("updateEnvironment"); sent != len(steps)-1 {
					t.Errorf("%d requests that change something", sent)
				}
			})
		}
	}
	// The service decides about a source that nobody configured.
	builtEnv(e, map[string]any{"sourceId": "source-repositories"})
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, Steps: []resource.TestStep{
		{Config: e.Config(envConfig("")), ResourceName: envAddress, ImportState: true, ImportStateId: onlyEnv(t, e).ID, ImportStatePersist: true},
		{Config: e.Config(envConfig("setup_script = \"make\"")), ExpectError: regexp.MustCompile(`updateEnvironment(.|\n)*does\s+not\s+support\s+setup\s+scripts`)},
	}})
}

// What exists stays as it is when its source is not offered any more.
func TestEnvironment_sourceThatBecameUnavailable(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(envType)
	config := envValues(acctest.Values{"source_id": "source-base"})
	mustDo(t, p.Apply(i, config), "create")
	if err := e.SetSourceProvider("provider-a", false); err != nil {
		t.Fatal(err)
	}
	p = acctest.NewProcess(t, e, nil)
	if out := p.Plan(i, config); len(out.Errors) > 0 {
		t.Error(out)
	}
	config["name"] = "renamed"
	mustDo(t, p.Apply(i, config), "update")
}

// Somebody else may choose a source that does not support what is configured, or the configured one may become unavailable.
// A destroy plans the configuration too.
func TestAccEnvironment_sourcesBlockNoDestroy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		attributes string
		other      map[string]any
	}{
		"unchanged":                      {`source_id = "source-base"`, nil},
		"another script":                 {`source_id = "source-base"`, map[string]any{"setupScript": "make"}},
		"another source, not configured": {"", map[string]any{"sourceId": "source-bare", "repositories": []any{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, briefBuilds)
			cli := acctest.NewCLI(t, e, envConfig(tc.attributes))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			if tc.other != nil {
				patchEnv(t, e, tc.other)
			}
			if err := e.SetSourceProvider("provider-a", false); err != nil {
				t.Fatal(err)
			}
			cli.MustRun("plan", "-input=false")
			cli.MustRun("destroy", "-auto-approve", "-input=false")
		})
	}
}

func TestEnvironment_sourcesThatCannotBeListed(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{
		"refused":  {Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusForbidden, Times: -1},
		"no list":  {Kind: emulator.FaultOtherAnswer, Body: `[]`, Times: -1},
		"no lists": {Kind: emulator.FaultOtherAnswer, Body: `{}`, Times: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			fault.Operation = "getEnvironmentSourceOptions"
			e.Faults().Add(fault)
			p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
			i := p.NewInstance(envType)
			mustDo(t, p.Apply(i, envValues(acctest.Values{"source_id": "source-base"})), "create")
			// The service decides, and its refusal is shown at the attribute.
			out := p.Apply(i, envValues(acctest.Values{"source_id": "source-none"}))
			if len(out.Errors) != 1 || out.Errors[0].Attribute.String() != `AttributeName("source_id")` || !strings.Contains(out.Text(), "404") {
				t.Errorf("%+v", out)
			}
			if n := e.Journal().Count("getEnvironmentSourceOptions"); n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestAccEnvironment_thePlanOfACreationProvesSomething(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, briefBuilds)
	id := newEnv(e, map[string]any{"scope": "organization"})
	cli := acctest.NewCLI(t, e, envConfig("scope = \"organization\""))
	if r := cli.Run("apply", "-auto-approve", "-input=false"); r.ExitCode == 0 || !containsAll(unwrapped(r.Output), id, "exists already", "terraform import ADDRESS "+id) {
		t.Errorf("apply: %s", r.Output)
	}
	if n := e.Journal().Count("createEnvironment"); n != 1 {
		t.Errorf("%d creations", n)
	}

	// Twenty new environments cost one listing, and one request for the sources that they name.
	var hcl strings.Builder
	for n := range 20 {
		fmt.Fprintf(&hcl, "resource \"agentyard_environment\" \"e%d\" {\n  name = \"e%d\"\n  source_id = \"source-base\"\n%s}\n", n, n, envRepos("app", "make"))
	}
	e.Journal().Reset()
	cli.Write("main.tf", hcl.String())
	if out := cli.MustRun("plan", "-input=false").Output; !strings.Contains(out, "20 to add") {
		t.Error(out)
	}
	if requests := e.Journal().Entries(); len(requests) != 2 {
		t.Errorf("the plan of twenty new environments asked %+v", requests)
	}
}

// Where the scope is left to the service, an environment of any scope with the same name is a conflict.
func TestEnvironment_nameInAnotherScope(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	builtEnv(e, map[string]any{"scope": "organization"})
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(envType)
	if out := p.Apply(i, envValues(nil)); len(out.Errors) != 1 || !strings.Contains(out.Text(), "To keep both, choose another name.") {
		t.Errorf("%+v", out)
	}
	mustDo(t, p.Apply(i, envValues(acctest.Values{"scope": "user"})), "create")
	if out := p.Apply(p.NewInstance(envType), envValues(acctest.Values{"scope": "user"})); len(out.Errors) != 1 {
		t.Errorf("%+v", out)
	}
}

// A plan says why it builds, each environment once, and many of them in one warning.
func TestAccEnvironment_plansSayWhyTheyBuildAgain(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, briefBuilds)
	cli := acctest.NewCLI(t, e, envConfig(""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	failBuild(t, e, emulator.BuildFailure{Category: "timeout", Reason: "The build took too long."})
	e.API(http.MethodPost, envRoute+"/"+onlyEnv(t, e).ID+"/builds", nil, nil)
	for onlyEnv(t, e).Status != "failed" {
		time.Sleep(time.Millisecond)
	}
	build := onlyEnv(t, e).LatestBuild.ID
	out := unwrapped(cli.MustRun("plan", "-input=false", "-out=saved").Output)
	if !containsAll(out, `Apply Rebuilds Failed Environments`, build, "failed: The build took too long. This apply starts a new build.", "~ resource", "1 to change") {
		t.Error(out)
	}
	// The refresh alone shows it, and builds nothing.
	if out := unwrapped(cli.MustRun("plan", "-input=false", "-refresh-only").Output); !strings.Contains(out, "The build took too long.") || strings.Contains(out, "Rebuilds") {
		t.Error(out)
	}
	// Somebody has mended it since the plan was made: applied all the same, it is built once more.
	e.API(http.MethodPost, envRoute+"/"+onlyEnv(t, e).ID+"/builds", nil, nil)
	for onlyEnv(t, e).Status != "ready" {
		time.Sleep(time.Millisecond)
	}
	cli.MustRun("apply", "-input=false", "saved")
	if got := onlyEnv(t, e); got.Status != "ready" || got.LatestBuild.Trigger != "manual" {
		t.Errorf("%+v", got)
	}
	cli.MustPlanEmpty()
	if r := cli.Run("apply", "-input=false", "saved"); r.ExitCode == 0 || !strings.Contains(r.Output, "stale") {
		t.Errorf("a stale plan: %s", r.Output)
	}
}

var wrappedText = regexp.MustCompile(`[\s│╷╵]+`)

// unwrapped is the output of a CLI without frames and line breaks.
func unwrapped(output string) string { return wrappedText.ReplaceAllString(output, " ") }

func containsAll(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// What a plan does about what an earlier apply has left is said.
func TestEnvironment_unfinishedWorkIsTold(t *testing.T) {
	t.Parallel()
	wanted := envValues(acctest.Values{"scope": "organization", "make_organization_default": true})
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(envType)
	e.Faults().Add(emulator.Fault{Operation: "setDefaultEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: 403, Times: 1})
	mustDo(t, p.Apply(i, wanted), "create")
	mustWarn(t, acctest.NewProcess(t, e, nil).Plan(i, wanted), "Apply Sets the Default Environment", "an earlier apply could not make it the organization's default. This apply tries again.", i.ID())
}
