package guides

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
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

func TestAccGuide_environmentBuilds(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quick)
	guide := acctest.NewGuide(t, "environment-builds")
	fail := func(name string) {
		t.Helper()
		if err := e.FailBuild(emulator.BuildFailure{Name: name, Category: "validation", Reason: "repositories[0].script ended with status 2", Excerpt: "no rule to make target"}); err != nil {
			t.Fatal(err)
		}
	}
	cli := acctest.NewCLI(t, e, guide.Next("terraform"))
	cli.Write("provider.tf", "")
	nightly := guide.Next("shell")
	cli.Follow(nightly)
	cli.MustPlanEmpty()
	if got := defaultName(e); got != "agents" {
		t.Errorf("the default is %q", got)
	}
	again, report := guide.Next("shell"), guide.Next("terraform")

	// The default moves only once the new environment is built.
	cli.Write("next.tf", guide.Next("terraform"))
	cli.Patch("main.tf", guide.Next("diff"))
	fail("agents-next")
	if r := cli.Run("apply", "-auto-approve", "-input=false"); r.ExitCode == 0 || !strings.Contains(r.Output, "validation") || !strings.Contains(r.Output, "no rule to make target") {
		t.Errorf("the apply does not fail as the build did: %s", r.Output)
	}
	if got := defaultName(e); got != "agents" {
		t.Errorf("after a failed build the default is %q", got)
	}
	before := len(listed(e).Environments)
	cli.Follow(again)
	cli.MustPlanEmpty()
	if got := defaultName(e); got != "agents-next" || len(listed(e).Environments) != before {
		t.Errorf("the default is %q of %+v", got, listed(e).Environments)
	}

	// The old environment goes in a later apply, and is not the default any more.
	cli.Write("main.tf", "terraform {\n  required_providers {\n    agentyard = {\n      source = \"agentyard/agentyard\"\n    }\n  }\n}\n"+
		"resource \"agentyard_default_environment\" \"this\" {\n  environment_id = agentyard_environment.next.id\n}\n")
	cli.Follow(nightly)
	cli.MustPlanEmpty()
	if got := defaultName(e); got != "agents-next" || len(listed(e).Environments) != before-1 {
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
	cli.Write("report.tf", report)
	if r := cli.Follow(nightly)[0]; !strings.Contains(r.Output, `"theirs" = "no rule to make target"`) {
		t.Errorf("the report: %s", r.Output)
	}

	rebuild, invoke := guide.Next("terraform"), guide.Next("shell")
	t.Run("actions", func(t *testing.T) {
		acctest.NeedsActions(t)
		cli.Write("rebuild.tf", strings.ReplaceAll(rebuild, ".agents.", ".next."))
		e.Journal().Reset()
		if r := cli.Follow(invoke)[0]; !strings.Contains(r.Output, "succeeded") || e.Journal().Count("createEnvironmentBuild") != 1 {
			t.Errorf("the action: %s", r.Output)
		}
		cli.MustPlanEmpty()
	})
}
