// Package bench measures what the design promises: requests are counted, and times are compared within one run.
package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const objects = 1000

// median runs f three times and returns the middle duration.
func median(f func()) time.Duration {
	var took [3]time.Duration
	for i := range took {
		start := time.Now()
		f()
		took[i] = time.Since(start)
	}
	a, b, c := took[0], took[1], took[2]
	return max(min(a, b), min(max(a, b), c))
}

// BenchmarkPlan plans 1,000 unchanged computers without and with latency, and 1,000 of Terraform's own objects beside it.
func BenchmarkPlan(b *testing.B) {
	data := filepath.Join(b.TempDir(), "emulator.db")
	env := func(latency time.Duration) *acctest.Env {
		return acctest.NewRealTime(b, func(o *emulator.Options) { o.DataFile, o.Latency, o.MaxPageSize = data, latency, 100 })
	}
	hcl := fmt.Sprintf("resource \"agentyard_computer\" \"c\" {\n  count         = %d\n  name          = \"c-${count.index}\"\n  provider_type = \"byom\"\n}\n", objects)

	quick := env(0)
	cli := acctest.NewCLI(b, quick, hcl)
	cli.MustRun("apply", "-auto-approve", "-input=false", "-parallelism=50")
	builtIn := acctest.NewCLI(b, quick, fmt.Sprintf("resource \"terraform_data\" \"d\" {\n  count = %d\n  input = count.index\n}\n", objects))
	builtIn.MustRun("apply", "-auto-approve", "-input=false")

	for range b.N {
		quick.Journal().Reset()
		atOnce := median(cli.MustPlanEmpty)
		requests := len(quick.Journal().Entries()) / 3
		base := median(builtIn.MustPlanEmpty)

		if err := quick.Close(); err != nil {
			b.Fatal(err)
		}
		slow := env(50 * time.Millisecond)
		cli.Setenv("AGENTYARD_BASE_URL", slow.URL())
		slowed := median(cli.MustPlanEmpty)
		slowRequests := len(slow.Journal().Entries()) / 3

		b.ReportMetric(float64(requests), "requests/plan")
		b.ReportMetric(float64(slowRequests), "requests/plan-50ms")
		b.ReportMetric(atOnce.Seconds(), "s/plan")
		b.ReportMetric(slowed.Seconds()/atOnce.Seconds(), "x/50ms-to-0ms")
		b.ReportMetric(atOnce.Seconds()/base.Seconds(), "x/terraform_data")
		if requests > 5 || slowRequests > 5 {
			b.Errorf("%d and %d requests for one plan, want at most 5", requests, slowRequests)
		}
		if slowed > atOnce*5/4 {
			b.Errorf("a plan with 50ms of latency took %v, without %v", slowed, atOnce)
		}
	}
}

// BenchmarkSchema measures the provider's start up to its schemas, against the CLI's own start.
func BenchmarkSchema(b *testing.B) {
	e := acctest.NewRealTime(b)
	with := acctest.NewCLI(b, e, "data \"agentyard_computer_providers\" \"p\" {}\n")
	for range b.N {
		schemas := median(func() { with.MustRun("providers", "schema", "-json") })
		start := median(func() { with.MustRun("version") })
		b.ReportMetric(schemas.Seconds(), "s/schema")
		b.ReportMetric((schemas - start).Seconds(), "s/schema-minus-version")
	}
}

// BenchmarkBinary reports the size of the provider as a release builds it.
func BenchmarkBinary(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "provider")
	for range b.N {
		if out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "../..").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		info, err := os.Stat(binary)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	}
}
