package environment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Terraform must not crash before it has saved the state of all failed creates; see pacedServer in internal/provider.
func TestAccEnvironment_manyFirstBuildsFail(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.BuildPhase = 100 * time.Millisecond })
	acctest.Must(t, e.FailBuild(emulator.BuildFailure{Times: -1}))
	cli := acctest.NewCLI(t, e, `
resource "agentyard_environment" "x" {
  count        = 10
  name         = "e${count.index}"
  repositories = [{ url = "https://git.example/acme/app.git", script = "make" }]
}
`)
	r := cli.Run("apply", "-auto-approve", "-input=false")
	if r.ExitCode != 1 || strings.Contains(r.Output, "panic") || strings.Count(r.Output, "Error: Environment Failed to Build") != 10 {
		t.Errorf("the apply ended with %d: %s", r.ExitCode, r.Output)
	}
	if states := cli.MustRun("state", "list").Output; strings.Count(states, "agentyard_environment.x[") != 10 {
		t.Errorf("the state holds %s", states)
	}
	acctest.Says(t, cli.MustRun("plan", "-input=false").Output, "10 to add, 0 to change, 10 to destroy")
}
