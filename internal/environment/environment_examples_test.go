package environment_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const exampleEnv = "env_01hzy5b9n4q6r8s0t2v4w6x8y0"

func TestAccEnvironment_example(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	acctest.RunExample(t, e, "resources/agentyard_environment/resource.tf")
	if left := envs(e); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

// The examples of an import say what a real one needs: with the ID of an environment that exists they import that.
func TestAccEnvironment_importExamples(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"import-by-string-id.tf", "import-by-identity.tf"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if file == "import-by-identity.tf" {
				acctest.NeedsIdentity(t)
			}
			e := acctest.New(t)
			id := builtEnv(e, nil)
			example := strings.ReplaceAll(acctest.Example(t, "resources/agentyard_environment/"+file), exampleEnv, id)
			runEnv(t, e, resource.TestStep{
				Config:           e.Config(strings.ReplaceAll(envConfig(""), `"test"`, `"app"`) + example),
				ConfigPlanChecks: acctest.ThenEmpty,
			})
			if n := e.Journal().Count("createEnvironment"); n != 1 {
				t.Errorf("%d environments were created", n)
			}
		})
	}
}

func TestAccEnvironment_importCommandExample(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, briefBuilds)
	id := newEnv(e, nil)
	cli := acctest.NewCLI(t, e, strings.ReplaceAll(envConfig(""), `"test"`, `"app"`))
	lines := strings.Split(strings.TrimSpace(acctest.Example(t, "resources/agentyard_environment/import.sh")), "\n")
	command := strings.Fields(strings.ReplaceAll(lines[len(lines)-1], exampleEnv, id))
	cli.MustRun(command[1:]...)
	cli.MustPlanEmpty()
}
