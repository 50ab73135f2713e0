package environment_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const faultAddress = environmentType + ".test"

// hclOf is a configuration of one environment, with further lines.
func hclOf(name, more string) string {
	return fmt.Sprintf("resource %q \"test\" {\n  name = %q\n  repositories = [{\n    url    = \"https://git.example/acme/app.git\"\n    script = \"make\"\n  }]\n%s\n}\n", environmentType, name, more)
}

func TestAccEnvironment_faultsThroughTheCLI(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{
		"dropped after commit": {Kind: emulator.FaultDropAfterCommit},
		"500 after commit":     {Kind: emulator.FaultStatusAfterCommit, Status: 500},
		"truncated":            {Kind: emulator.FaultTruncatedBody},
		"not JSON":             {Kind: emulator.FaultNonJSON},
		"rate limited":         {Kind: emulator.FaultRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			inject := func(operation string) func() {
				return func() {
					fault.Operation = operation
					e.Faults().Add(fault)
				}
			}
			oneReady := func(*terraform.State) error {
				if all := environmentsOf(e); len(all) != 1 || all[0].Status != "ready" {
					return fmt.Errorf("the emulator holds %+v", all)
				}
				return nil
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				CheckDestroy: func(*terraform.State) error {
					if all := environmentsOf(e); len(all) > 0 {
						return fmt.Errorf("left: %+v", all)
					}
					return nil
				},
				Steps: []resource.TestStep{
					{PreConfig: inject("createEnvironment"), Config: e.Config(hclOf("a", "")), ConfigPlanChecks: acctest.ThenEmpty, Check: oneReady},
					{PreConfig: inject("updateEnvironment"), Config: e.Config(hclOf("a", "  setup_script = \"make tools\"")), Check: oneReady,
						ConfigPlanChecks: resource.ConfigPlanChecks{
							PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(faultAddress, plancheck.ResourceActionUpdate)},
							PostApplyPostRefresh: acctest.ThenEmpty.PostApplyPostRefresh,
						}},
				},
			})
		})
	}
}

func TestAccEnvironment_killedAfterCommitStopsAtWhatItFinds(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t, quickBuilds, acctest.Intercept("createEnvironment", true, func() { <-ready; running.Kill() }))
	cli := acctest.NewCLI(t, e, hclOf("killed", ""))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	if r := running.Wait(); r.ExitCode == 0 {
		t.Fatalf("the apply was not killed: %s", r.Output)
	}
	id := environmentsOf(e)[0].ID
	r := cli.Run("apply", "-auto-approve", "-input=false", "-lock=false")
	text := regexp.MustCompile(`[\s│]+`).ReplaceAllString(r.Output, " ")
	if r.ExitCode == 0 || !strings.Contains(text, "created at") || !strings.Contains(text, "terraform import ADDRESS "+id) {
		t.Fatalf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	cli.MustRun("import", "-lock=false", faultAddress, id)
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false", "-lock=false")
	if n := e.Journal().Count("createEnvironment"); n != 1 || len(environmentsOf(e)) != 0 {
		t.Errorf("%d creations were sent; left: %+v", n, environmentsOf(e))
	}
}

// Killed while an update waits, the next apply goes on.
func TestAccEnvironment_killedDuringTheWaitOfAnUpdate(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready, armed := make(chan struct{}), make(chan struct{})
	e := acctest.NewRealTime(t, quickBuilds, meanwhile("GET /api/v0/environments/build-statuses", func(int) {
		select {
		case <-armed:
			<-ready
			running.Kill()
		default:
		}
	}))
	cli := acctest.NewCLI(t, e, hclOf("killed", ""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", hclOf("killed", "  setup_script = \"make tools\""))
	close(armed)
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	if r := running.Wait(); r.ExitCode == 0 {
		t.Fatalf("the apply was not killed: %s", r.Output)
	}
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	cli.MustPlanEmpty()
	if n := e.Journal().Count("updateEnvironment"); n != 1 {
		t.Errorf("%d changes were sent", n)
	}
	cli.MustRun("destroy", "-auto-approve", "-input=false", "-lock=false")
}

// A replacement of the default: the new one takes its place before the old one goes.
func TestAccEnvironment_theDefaultIsReplacedBeforeItGoes(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickBuilds)
	const life = "\n  make_organization_default = true\n  scope = \"organization\"\n  lifecycle {\n    create_before_destroy = true\n  }"
	cli := acctest.NewCLI(t, e, hclOf("first", life))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	old := environmentsOf(e)[0].ID
	cli.Write("main.tf", hclOf("second", life))
	cli.MustRun("apply", "-auto-approve", "-input=false", "-replace="+faultAddress)
	if all := environmentsOf(e); len(all) != 1 || all[0].ID == old || !all[0].IsDefault {
		t.Errorf("%+v", all)
	}
	cli.MustPlanEmpty()
	// Its own name is in the way of a replacement that keeps it.
	r := cli.Run("apply", "-auto-approve", "-input=false", "-replace="+faultAddress)
	if text := regexp.MustCompile(`[\s│]+`).ReplaceAllString(r.Output, " "); r.ExitCode == 0 || !strings.Contains(text, "exists already") {
		t.Errorf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	cli.MustRun("destroy", "-auto-approve", "-input=false")
}
