package provider_test

import (
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// The plan includes changes that the proposed state hides and that only a refresh finds.
func TestAccServer_plansChanges(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	hcl := func(arguments string) string {
		return "resource \"agentyard_computer\" \"x\" {\n  name = \"x\"\n  provider_type = \"byom\"\n" + arguments + "}\n"
	}
	cli := acctest.NewCLI(t, e, hcl("  wait_for_active = false\n"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()

	plan := func(want string, args ...string) {
		t.Helper()
		r := cli.MustRun(append([]string{"plan", "-input=false"}, args...)...)
		acctest.Says(t, r.Output, want)
	}
	cli.Write("main.tf", hcl(""))
	plan("= false -> true")
	plan("= false -> true", "-refresh=false")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
	plan("No changes", "-refresh=false")
	plan("replaced, as requested", "-replace=agentyard_computer.x")
	plan("1 to destroy", "-destroy")

	var found struct{ Computers []struct{ ID string } }
	e.API(http.MethodGet, "/api/v0/computers", nil, &found)
	if len(found.Computers) != 1 {
		t.Fatalf("there are %+v", found)
	}
	e.API(http.MethodPatch, "/api/v0/computers/"+found.Computers[0].ID, map[string]any{"name": "y"}, nil)
	plan(`"y" -> "x"`)
	plan("No changes", "-refresh=false")
	plan(`"x" -> "y"`, "-refresh-only")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
}
