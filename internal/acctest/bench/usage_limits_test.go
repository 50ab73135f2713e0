package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// usageLimits is a configuration with a limit for each of some users.
func usageLimits(users, limit int) string {
	return fmt.Sprintf("locals {\n  limits = { for i in range(%d) : \"m${i}@people.example\" => %d }\n}\n", users, limit) +
		"resource \"agentyard_user_usage_limit\" \"x\" {\n  for_each = local.limits\n  email    = each.key\n  limit    = each.value\n}\n"
}

// withMembers is an emulator with the users of usageLimits, and more.
func withMembers(t testing.TB, members int, options ...acctest.Option) *acctest.Env {
	t.Helper()
	e := acctest.NewRealTime(t, options...)
	for i := range members {
		if _, _, err := e.AddHuman(emulator.Human{Email: fmt.Sprintf("m%d@people.example", i)}); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// limitRun is how many requests a run took, and how long.
type limitRun struct {
	requests int
	took     time.Duration
}

// limitRuns plans and applies limits for some of the members.
func limitRuns(t testing.TB, members, users, parallelism int, options ...acctest.Option) (unchanged, created, updated, destroyed limitRun) {
	t.Helper()
	e := withMembers(t, members, options...)
	cli := acctest.NewCLI(t, e, usageLimits(users, 2_000_000))
	counted := func(command ...string) limitRun {
		e.Journal().Reset()
		start := time.Now()
		r := cli.MustRun(append(command, "-input=false", fmt.Sprint("-parallelism=", parallelism))...)
		run := limitRun{len(e.Journal().Entries()), time.Since(start)}
		t.Logf("%s with a parallelism of %d: %d requests, %v, %v of processor time", command[0], parallelism, run.requests, run.took.Round(time.Millisecond), r.CPU.Round(time.Millisecond))
		return run
	}
	created = counted("apply", "-auto-approve")
	unchanged = counted("plan", "-detailed-exitcode")
	cli.Write("main.tf", usageLimits(users, 3_000_000))
	updated = counted("apply", "-auto-approve")
	destroyed = counted("destroy", "-auto-approve")
	return unchanged, created, updated, destroyed
}

// Each single limit is one request, and all of a run share what they read.
func TestRequests_ofUsageLimits(t *testing.T) {
	t.Parallel()
	const users = 20
	unchanged, created, updated, destroyed := limitRuns(t, users, users, 10)
	if unchanged.requests > 3 {
		t.Errorf("a plan took %d requests", unchanged.requests)
	}
	for name, run := range map[string]limitRun{"creation": created, "update": updated, "destruction": destroyed} {
		if run.requests > users+5 {
			t.Errorf("the %s took %d requests", name, run.requests)
		}
	}
}

func TestRequests_dataSourcesOfUsageLimitsShareOne(t *testing.T) {
	t.Parallel()
	e := withMembers(t, 3, func(o *emulator.Options) { o.MaxPageSize = 0 })
	cli := acctest.NewCLI(t, e, "data \"agentyard_usage_limits\" \"a\" {}\ndata \"agentyard_usage_limits\" \"b\" {}\n")
	cli.MustRun("plan", "-input=false")
	// One for the limits, and one for all four members.
	if n := len(e.Journal().Entries()); n != 2 {
		t.Errorf("%d requests were sent", n)
	}
}

// BenchmarkUsageLimits counts the requests of many limits, also where requests are slow or few, and of a few limits in a
// large organization.
func BenchmarkUsageLimits(b *testing.B) {
	for _, bc := range []struct {
		name                        string
		members, users, parallelism int
		option                      acctest.Option
	}{
		{"default parallelism", objects, objects, 10, func(*emulator.Options) {}},
		{"parallelism of 100", objects, objects, 100, func(*emulator.Options) {}},
		{"latency", objects, objects, 10, func(o *emulator.Options) { o.Latency = 200 * time.Millisecond }},
		{"rate limit", objects, objects, 10, func(o *emulator.Options) { o.RequestsPerSecond = 3 }},
		{"large organization", 10 * objects, 20, 10, func(*emulator.Options) {}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			for range b.N {
				unchanged, created, updated, destroyed := limitRuns(b, bc.members, bc.users, bc.parallelism, bc.option)
				b.ReportMetric(float64(unchanged.requests), "requests/plan")
				b.ReportMetric(float64(created.requests), "requests/create")
				b.ReportMetric(float64(updated.requests), "requests/update")
				b.ReportMetric(float64(destroyed.requests), "requests/destroy")
			}
		})
	}
}
