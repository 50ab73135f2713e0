// Package bench measures what the design promises: requests are counted, and times are compared within one run.
package bench

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	objects = 1000
	// rounds is odd, so that there is one in the middle.
	rounds = 5
)

// cost is what runs of a CLI took.
type cost struct{ wall, cpu time.Duration }

// measure has each run take its turn in every round, so that what else the machine does meets all of them alike, and
// returns the medians.
func measure(runs map[string]func() acctest.Result) map[string]cost {
	wall, cpu := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range rounds {
		for _, name := range slices.Sorted(maps.Keys(runs)) {
			start := time.Now()
			result := runs[name]()
			wall[name], cpu[name] = append(wall[name], time.Since(start)), append(cpu[name], result.CPU)
		}
	}
	costs := map[string]cost{}
	for name := range runs {
		costs[name] = cost{wall: median(wall[name]), cpu: median(cpu[name])}
	}
	return costs
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
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

// applied is a CLI whose configuration has been applied.
func applied(b *testing.B, cli *acctest.CLI) *acctest.CLI {
	b.Helper()
	cli.MustRun("apply", "-auto-approve", "-input=false", "-parallelism=50")
	return cli
}

// BenchmarkPlan plans 1,000 unchanged computers, without and with latency, and compares: with a provider of the same computers that reads nothing (idle), and of a resource with
// three attributes (empty), both served as any provider is; and with 1,000 of Terraform's own objects (terraform_data).
func BenchmarkPlan(b *testing.B) {
	env := func(data string, latency time.Duration) *acctest.Env {
		return acctest.NewRealTime(b, func(o *emulator.Options) { o.DataFile, o.Latency, o.MaxPageSize = data, latency, 100 })
	}
	computers := fmt.Sprintf("resource \"agentyard_computer\" \"c\" {\n  count         = %d\n  name          = \"c-${count.index}\"\n  provider_type = \"byom\"\n}\n", objects)
	empties := fmt.Sprintf("resource \"agentyard_empty\" \"e\" {\n  count = %d\n  name  = \"e-${count.index}\"\n}\n", objects)
	builtIns := fmt.Sprintf("resource \"terraform_data\" \"d\" {\n  count = %d\n  input = count.index\n}\n", objects)

	// The same computers are in two emulators, of which one is slow.
	data, slowData := filepath.Join(b.TempDir(), "emulator.db"), filepath.Join(b.TempDir(), "emulator.db")
	made := env(data, 0)
	state := read(b, filepath.Join(applied(b, acctest.NewCLI(b, made, computers)).Dir, "terraform.tfstate"))
	if err := made.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(slowData, read(b, data), 0o600); err != nil {
		b.Fatal(err)
	}
	quick, slow := env(data, 0), env(slowData, 50*time.Millisecond)

	withState := func(c *acctest.CLI) *acctest.CLI {
		c.Write("terraform.tfstate", string(state))
		return c
	}
	binary := built(b, "./comparison")
	comparison := func(kind, hcl string) *acctest.CLI {
		c := acctest.NewCLI(b, quick, hcl)
		c.UseProvider(binary)
		c.Setenv("AGENTYARD_COMPARISON", kind)
		return c
	}
	cli, slowed := withState(acctest.NewCLI(b, quick, computers)), withState(acctest.NewCLI(b, slow, computers))
	idle := withState(comparison("idle", computers))
	empty, builtIn := applied(b, comparison("empty", empties)), applied(b, acctest.NewCLI(b, quick, builtIns))

	for range b.N {
		var requests, slowRequests int
		counted := func(e *acctest.Env, c *acctest.CLI, into *int) func() acctest.Result {
			return func() acctest.Result {
				e.Journal().Reset()
				defer func() { *into = len(e.Journal().Entries()) }()
				return c.MustPlanEmpty()
			}
		}
		costs := measure(map[string]func() acctest.Result{
			"computers": counted(quick, cli, &requests), "slowed": counted(slow, slowed, &slowRequests),
			"idle": idle.MustPlanEmpty, "empty": empty.MustPlanEmpty, "terraform_data": builtIn.MustPlanEmpty,
		})

		own := costs["computers"]
		b.ReportMetric(float64(requests), "requests/plan")
		b.ReportMetric(float64(slowRequests), "requests/plan-50ms")
		b.ReportMetric(own.wall.Seconds(), "s/plan")
		b.ReportMetric(own.cpu.Seconds(), "cpu-s/plan")
		b.ReportMetric(costs["slowed"].wall.Seconds()/own.wall.Seconds(), "x/50ms-to-0ms")
		for _, name := range []string{"idle", "empty", "terraform_data"} {
			b.ReportMetric(own.wall.Seconds()/costs[name].wall.Seconds(), "x/"+name)
			b.ReportMetric(own.cpu.Seconds()/costs[name].cpu.Seconds(), "x-cpu/"+name)
		}
		if requests > 5 || slowRequests > 5 {
			b.Errorf("%d and %d requests for one plan, want at most 5", requests, slowRequests)
		}
		if costs["slowed"].wall > own.wall*5/4 {
			b.Errorf("a plan with 50ms of latency took %v, without %v", costs["slowed"].wall, own.wall)
		}
	}
}

func read(b *testing.B, name string) []byte {
	b.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return content
}

// BenchmarkSchema measures the provider's start up to its schemas, against the CLI's own start.
func BenchmarkSchema(b *testing.B) {
	e := acctest.NewRealTime(b)
	with := acctest.NewCLI(b, e, "data \"agentyard_computer_providers\" \"p\" {}\n")
	for range b.N {
		costs := measure(map[string]func() acctest.Result{
			"schema":  func() acctest.Result { return with.MustRun("providers", "schema", "-json") },
			"version": func() acctest.Result { return with.MustRun("version") },
		})
		schemas, start := costs["schema"].wall, costs["version"].wall
		b.ReportMetric(schemas.Seconds(), "s/schema")
		b.ReportMetric((schemas - start).Seconds(), "s/schema-minus-version")
	}
}

// BenchmarkBinary reports the size of the provider as a release builds it.
func BenchmarkBinary(b *testing.B) {
	for range b.N {
		info, err := os.Stat(built(b, "../../.."))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	}
}
