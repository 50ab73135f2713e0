package environment_test

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// When the default is replaced, the new environment becomes the default before the old one is deleted.
func TestAccEnvironment_theDefaultIsReplacedBeforeItGoes(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickBuilds)
	const life = "  make_organization_default = true\n  scope = \"organization\"\n  lifecycle {\n    create_before_destroy = true\n  }"
	cli := acctest.NewCLI(t, e, envConfig("name = \"first\"\n"+life))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	old := environmentsOf(e)[0].ID
	cli.Write("main.tf", envConfig("name = \"second\"\n"+life))
	cli.MustRun("apply", "-auto-approve", "-input=false", "-replace="+environmentAddress)
	if all := environmentsOf(e); len(all) != 1 || all[0].ID == old || !all[0].IsDefault {
		t.Errorf("%+v", all)
	}
	cli.MustPlanEmpty()
	// A replacement with the same name fails because the old environment still has that name.
	r := cli.Run("apply", "-auto-approve", "-input=false", "-replace="+environmentAddress)
	if text := acctest.OneLine(r.Output); r.ExitCode == 0 || !strings.Contains(text, "already exists") {
		t.Errorf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	cli.MustRun("destroy", "-auto-approve", "-input=false")
}
