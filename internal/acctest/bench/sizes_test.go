package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// kinds are the rows of the table, beginning with the comparison. Most is the largest number: an apply of 3,000 environments or
// sessions would take longer than all others.
var kinds = []struct {
	name string
	most int
	hcl  string
}{
	{"empty", 3000, "resource \"agentyard_empty\" \"x\" {\n  count = %d\n  name  = \"e-${count.index}\"\n}\n"},
	{"terraform_data", 3000, "resource \"terraform_data\" \"x\" {\n  count = %d\n  input = count.index\n}\n"},
	{"agentyard_computer", 3000, "resource \"agentyard_computer\" \"x\" {\n  count         = %d\n  name          = \"c-${count.index}\"\n  provider_type = \"byom\"\n}\n"},
	{"agentyard_computer_fleet", 3000, "resource \"agentyard_computer_fleet\" \"x\" {\n  quantity    = %d\n  name_prefix = \"f\"\n}\n"},
	{"agentyard_environment", 1000, "resource \"agentyard_environment\" \"x\" {\n  count        = %d\n  name         = \"e-${count.index}\"\n" +
		"  repositories = [{ url = \"https://git.example/acme/app.git\", script = \"make\" }]\n}\n"},
	{"agentyard_api_key", 3000, "resource \"agentyard_service_account\" \"x\" {\n  name = \"robots\"\n}\n" +
		"resource \"agentyard_api_key\" \"x\" {\n  count              = %d\n  service_account_id = agentyard_service_account.x.id\n  name               = \"k-${count.index}\"\n}\n"},
	{"agentyard_session", 1000, "resource \"agentyard_computer\" \"x\" {\n  name          = \"host\"\n  provider_type = \"byom\"\n}\n" +
		"resource \"agentyard_session\" \"x\" {\n  count       = %d\n  computer_id = agentyard_computer.x.id\n  cwd         = \"/srv\"\n}\n"},
}

// sizes are the numbers of objects in the table of BenchmarkSizes.
var sizes = []int{100, 1000, 3000}

// sized is a plan of unchanged objects.
type sized struct{ create, plan, floor acctest.Result }

// BenchmarkSizes prints a table with a row for each resource: the processor time of plans of several sizes, what the largest common size
// costs compared with a provider of a resource with three attributes (empty) and with one that has the same schema and does nothing
// (echo), its memory, and the processor time of its creation. Other processes on the machine affect processor time less than the duration.
func BenchmarkSizes(b *testing.B) {
	comparison := built(b, "./comparison")
	for range b.N {
		var empty acctest.Result
		fmt.Println("\n| of | plan of 100 | of 1,000 | of 3,000 | times empty | times echo | memory | create 1,000 |\n|---|---:|---:|---:|---:|---:|---:|---:|")
		for _, kind := range kinds {
			by := map[int]sized{}
			for _, n := range sizes {
				if n <= kind.most {
					by[n] = measureSize(b, comparison, kind.name, fmt.Sprintf(kind.hcl, n))
				}
			}
			at := by[1000]
			if kind.name == "empty" {
				empty = at.plan
			}
			times := func(than acctest.Result) string {
				if than.CPU == 0 {
					return ""
				}
				return fmt.Sprintf("%.2f", at.plan.CPU.Seconds()/than.CPU.Seconds())
			}
			row := "| `" + kind.name + "` |"
			for _, n := range sizes {
				row += fmt.Sprintf(" %.1f s |", by[n].plan.CPU.Seconds())
			}
			fmt.Printf("%s %s | %s | %d MB | %.1f s |\n", row, times(empty), times(at.floor), at.plan.Memory>>20, at.create.CPU.Seconds())
		}
	}
}

// built builds a main package as a provider.
func built(b *testing.B, pkg string) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "terraform-provider-agentyard")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, pkg).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return binary
}

// measureSize creates the objects of a configuration and plans them again, also with a provider that does nothing if they are of this one.
func measureSize(b *testing.B, comparison, kind, hcl string) sized {
	b.Helper()
	e := acctest.NewRealTime(b, func(o *emulator.Options) {
		o.MaxPageSize, o.Provisioning.Step, o.BuildPhase = 100, time.Millisecond, time.Millisecond
		o.SessionDelay, o.SessionListDelay = time.Millisecond, time.Millisecond
	})
	cli := acctest.NewCLI(b, e, hcl)
	if kind == "empty" {
		cli.UseProvider(comparison)
		cli.Setenv("AGENTYARD_COMPARISON", "empty")
	}
	s := sized{create: cli.MustRun("apply", "-auto-approve", "-input=false"), plan: cli.MustPlanEmpty()}
	if strings.HasPrefix(kind, "agentyard_") {
		cli.UseProvider(comparison)
		cli.Setenv("AGENTYARD_COMPARISON", "echo")
		s.floor = cli.MustPlanEmpty()
	}
	return s
}
