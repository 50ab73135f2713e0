package wiki_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const exampleRun = "wiki_01hzy5b9n4q6r8s0t2v4w6x8y0"

func TestAccWikiRun_example(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	acctest.RunExample(t, e, "resources/agentyard_wiki_run/resource.tf")
	if left := wikiRunsOf(t, e); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestAccWikiRun_dataSourceExamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"agentyard_wiki_run", "agentyard_wiki_runs", "agentyard_wiki_run_history"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			id := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
			acctest.RunExample(t, e, "data-sources/"+name+"/data-source.tf", exampleRun, id)
		})
	}
}

func TestAccWikiRunList_example(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	addRun(t, e, emulator.WikiRun{RepoURL: acmeWeb})
	hcl := acctest.Example(t, "list-resources/agentyard_wiki_run/list-resource.tfquery.hcl")
	runData(t, e, resource.TestStep{Query: true, Config: e.Config(hcl), QueryResultChecks: []querycheck.QueryResultCheck{
		querycheck.ExpectLength("agentyard_wiki_run.newest", 2), querycheck.ExpectLength("agentyard_wiki_run.of_api", 2),
	}})
}

// The examples of an import say what a real one needs: with the ID of a run that exists they import that.
func TestAccWikiRun_importExamples(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"import-by-string-id.tf", "import-by-identity.tf"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if file == "import-by-identity.tf" {
				acctest.NeedsIdentity(t)
			}
			e := acctest.New(t)
			id := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
			example := strings.ReplaceAll(acctest.Example(t, "resources/agentyard_wiki_run/"+file), exampleRun, id)
			runSteps(t, e, resource.TestStep{Config: e.Config(strings.ReplaceAll(ofAPI(), `"test"`, `"api"`) + example), ConfigPlanChecks: acctest.ThenEmpty})
			if n := e.Journal().Count("createWikiRun"); n != 0 {
				t.Errorf("%d runs were created", n)
			}
		})
	}
}

func TestAccWikiRun_importCommandExample(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	id := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	cli := acctest.NewCLI(t, e, strings.ReplaceAll(ofAPI(), `"test"`, `"api"`))
	lines := strings.Split(strings.TrimSpace(acctest.Example(t, "resources/agentyard_wiki_run/import.sh")), "\n")
	command := strings.Fields(strings.ReplaceAll(lines[len(lines)-1], exampleRun, id))
	cli.MustRun(command[1:]...)
	cli.MustPlanEmpty()
}
