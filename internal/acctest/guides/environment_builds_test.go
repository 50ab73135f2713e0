package guides

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

type environments struct {
	Environments         []struct{ ID, Name, Status string }
	DefaultEnvironmentID string
}

func listed(e *acctest.Env) (all environments) {
	e.API(http.MethodGet, "/api/v0/environments", nil, &all)
	return all
}

// defaultName is the name of the organization's default environment.
func defaultName(e *acctest.Env) string {
	all := listed(e)
	for _, environment := range all.Environments {
		if environment.ID == all.DefaultEnvironmentID {
			return environment.Name
		}
	}
	return ""
}

func failed(e *acctest.Env, name string) bool {
	for _, environment := range listed(e).Environments {
		if environment.Name == name {
			return environment.Status == "failed"
		}
	}
	return false
}

func environmentBuilds(g *reader) {
	t, e := g.t, g.e
	g.programs = append(g.programs, emulatorBinary(t))
	fail := func(name string) {
		t.Helper()
		check.Must(t, e.FailBuild(emulator.BuildFailure{Name: name, Category: "validation", Reason: "repositories[0].script ended with status 2", Excerpt: "no rule to make target"}))
	}
	g.step()
	g.cli.MustPlanEmpty()
	check.Is(t, "the default", defaultName(e), "agents")

	// The default moves only once the new environment is built.
	fail("agents-next")
	check.Says(t, g.refused(), "validation", "no rule to make target")
	check.Is(t, "the default after a failed build", defaultName(e), "agents")
	before := len(listed(e).Environments) + 1 // And the one that is retried.
	g.run("terraform untaint agentyard_environment.next\nterraform apply")
	g.expect(g.refused(), "validation", "make: exit 2")
	g.step()
	g.cli.MustPlanEmpty()
	if got := defaultName(e); got != "agents-next" || len(listed(e).Environments) != before {
		t.Errorf("the default is %q of %+v", got, listed(e).Environments)
	}

	// Somebody else's failure is in the report.
	fail("theirs")
	e.API(http.MethodPost, "/api/v0/environments", map[string]any{
		"name": "theirs", "scope": "organization", "repositories": []map[string]any{{"url": "https://git.example/acme/x.git", "script": "true"}},
	}, nil)
	// Each look takes longer than a phase of a quick build.
	for looks := 0; !failed(e, "theirs"); looks++ {
		if looks == 1000 {
			t.Fatal("the build does not end")
		}
	}
	check.Says(t, g.step(), `"theirs" = "no rule to make target"`)

	// The old environment goes in a later apply, and is not the default any more.
	g.cli.Write("main.tf", environmentBlock.ReplaceAllString(g.read("main.tf"), ""))
	g.run("terraform apply")
	g.cli.MustPlanEmpty()
	if got := defaultName(e); got != "agents-next" || len(listed(e).Environments) != before {
		t.Errorf("the default is %q of %+v", got, listed(e).Environments)
	}

	acctest.NeedsActions(t)
	e.Journal().Reset()
	if out := g.step(".agents.", ".next."); !strings.Contains(out, "succeeded") || e.Journal().Count("createEnvironmentBuild") != 1 {
		t.Errorf("the action: %s", out)
	}
	g.cli.MustPlanEmpty()
}

var environmentBlock = regexp.MustCompile(`(?ms)^resource "agentyard_environment".*?^\}\n`)
