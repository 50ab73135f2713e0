package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// kinds are the rows of the table for each number of objects, beginning with the comparison. Most is the largest number: an
// apply of 5,000 environments or sessions would take longer than all others.
var kinds = []struct {
	name string
	most int
	hcl  string
}{
	{"empty", 5000, "resource \"agentyard_empty\" \"x\" {\n  count = %d\n  name  = \"e-${count.index}\"\n}\n"},
	{"terraform_data", 5000, "resource \"terraform_data\" \"x\" {\n  count = %d\n  input = count.index\n}\n"},
	{"agentyard_computer", 5000, "resource \"agentyard_computer\" \"x\" {\n  count         = %d\n  name          = \"c-${count.index}\"\n  provider_type = \"byom\"\n}\n"},
	{"agentyard_computer_fleet", 5000, "resource \"agentyard_computer_fleet\" \"x\" {\n  quantity    = %d\n  name_prefix = \"f\"\n}\n"},
	{"agentyard_environment", 1000, "resource \"agentyard_environment\" \"x\" {\n  count        = %d\n  name         = \"e-${count.index}\"\n" +
		"  repositories = [{ url = \"https://git.example/acme/app.git\", script = \"make\" }]\n}\n"},
	{"agentyard_api_key", 5000, "resource \"agentyard_service_account\" \"x\" {\n  name = \"robots\"\n}\n" +
		"resource \"agentyard_api_key\" \"x\" {\n  count              = %d\n  service_account_id = agentyard_service_account.x.id\n  name               = \"k-${count.index}\"\n}\n"},
	{"agentyard_session", 1000, "resource \"agentyard_computer\" \"x\" {\n  name          = \"host\"\n  provider_type = \"byom\"\n}\n" +
		"resource \"agentyard_session\" \"x\" {\n  count       = %d\n  computer_id = agentyard_computer.x.id\n  cwd         = \"/srv\"\n}\n"},
}

// BenchmarkSizes prints a table of the processor time of an apply and of a plan, and of the memory of the plan, for states of
// several sizes. It compares them with a provider of a resource with three attributes (empty) and with Terraform's own objects
// (terraform_data). Other processes on the machine affect processor time less than the duration.
func BenchmarkSizes(b *testing.B) {
	comparison := built(b, "./comparison")
	for range b.N {
		fmt.Println("\n| objects | of | apply | plan | times empty | memory |\n|---:|---|---:|---:|---:|---:|")
		for _, n := range []int{100, 1000, 5000} {
			var empty time.Duration
			for _, kind := range kinds {
				if n > kind.most {
					continue
				}
				e := acctest.NewRealTime(b, func(o *emulator.Options) {
					o.MaxPageSize, o.Provisioning.Step, o.BuildPhase = 100, time.Millisecond, time.Millisecond
					o.SessionDelay, o.SessionListDelay = time.Millisecond, time.Millisecond
				})
				cli := acctest.NewCLI(b, e, fmt.Sprintf(kind.hcl, n))
				if kind.name == "empty" {
					cli.UseProvider(comparison)
					cli.Setenv("AGENTYARD_COMPARISON", "empty")
				}
				apply, plan := cli.MustRun("apply", "-auto-approve", "-input=false"), cli.MustPlanEmpty()
				if kind.name == "empty" {
					empty = plan.CPU
				}
				fmt.Printf("| %d | `%s` | %.1f s | %.1f s | %.1f | %d MB |\n", n, kind.name, apply.CPU.Seconds(), plan.CPU.Seconds(), plan.CPU.Seconds()/empty.Seconds(), plan.Memory>>20)
			}
		}
	}
}
