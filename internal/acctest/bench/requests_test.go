// Package bench measures what the design promises: requests are counted, and times are compared within one run.
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

// Writing many objects costs little more than one request for each, whatever the parallelism. On a slow machine fewer
// requests share a listing, so there may be another one in each pause.
func TestRequests_ofManyWrites(t *testing.T) {
	t.Parallel()
	const n = 40
	for name, tc := range map[string]struct {
		hcl           func(e *acctest.Env) string
		create, erase int
		// pause is the least time between two listings.
		pause time.Duration
	}{
		"service accounts": {
			hcl: func(*acctest.Env) string {
				return fmt.Sprintf("resource \"agentyard_service_account\" \"x\" {\n  count = %d\n  name = \"a${count.index}\"\n}\n", n)
			},
			// The plan of the destruction lists the computers of every account, to warn about them.
			create: n*105/100 + 10, erase: 2*n*105/100 + 10,
			pause: 2 * time.Second,
		},
		"own machines": {
			hcl: func(*acctest.Env) string {
				return fmt.Sprintf("resource \"agentyard_computer\" \"x\" {\n  count = %d\n  name = \"c${count.index}\"\n  provider_type = \"byom\"\n}\n", n)
			},
			// The plan of the destruction lists the sessions on every computer, to warn about them.
			create: n*105/100 + 10, erase: 2*n*105/100 + 10,
			pause: 2 * time.Second,
		},
		"keys of one account": {
			hcl: func(e *acctest.Env) string {
				account := e.Make("/api/v0/service-accounts", map[string]any{"name": "robots"})
				return fmt.Sprintf("resource \"agentyard_api_key\" \"x\" {\n  count = %d\n  service_account_id = %q\n  name = \"k${count.index}\"\n}\n", n, account.ID)
			},
			create: n*105/100 + 10, erase: n*105/100 + 10,
			pause: 2 * time.Second,
		},
		"a key for each account": {
			hcl: func(*acctest.Env) string {
				return fmt.Sprintf("resource \"agentyard_service_account\" \"x\" {\n  count = %d\n  name = \"a${count.index}\"\n}\n", n) +
					fmt.Sprintf("resource \"agentyard_api_key\" \"x\" {\n  count = %d\n  service_account_id = agentyard_service_account.x[count.index].id\n  name = \"ci\"\n}\n", n)
			},
			// The destruction also reads the keys of every account: in its refresh, and to see whether a destroyed key is dead.
			create: 2*n*105/100 + 10, erase: 5*n*105/100 + 10,
			pause: 2 * time.Second,
		},
		"environments": {
			hcl: func(*acctest.Env) string {
				return fmt.Sprintf("resource \"agentyard_environment\" \"x\" {\n  count = %d\n  name = \"e${count.index}\"\n  wait_for_build = false\n  repositories = [{ url = \"https://git.example/acme/app.git\", script = \"make\" }]\n}\n", n)
			},
			// Each is read after its creation. The destruction meets builds that run: a refusal, a look for its cause, a cancellation and a
			// deletion for each.
			create: 2*n*105/100 + 10, erase: 4*n + 10,
			pause: 250 * time.Millisecond,
		},
		"usage limits": {
			hcl: func(e *acctest.Env) string {
				for i := range n {
					e.MemberKey(fmt.Sprintf("m%d@people.example", i), "")
				}
				return fmt.Sprintf("resource \"agentyard_user_usage_limit\" \"x\" {\n  count = %d\n  email = \"m${count.index}@people.example\"\n  limit = 2000000\n}\n", n)
			},
			create: n + 5, erase: n + 5,
			pause: 2 * time.Second,
		},
		"20 fleets": {
			hcl: func(*acctest.Env) string {
				return "resource \"agentyard_computer_fleet\" \"x\" {\n  count = 20\n  name_prefix = \"f${count.index}x\"\n  quantity = 2\n}\n"
			},
			create: 50, erase: 50,
			pause: 500 * time.Millisecond,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			cli := acctest.NewCLI(t, e, tc.hcl(e))
			run := func(command string, most int) {
				e.Journal().Reset()
				begin := time.Now()
				cli.MustRun(command, "-auto-approve", "-input=false", "-parallelism=10")
				requests := len(e.Journal().Entries())
				most += int(time.Since(begin) / tc.pause)
				t.Logf("%s: %d requests (at most %d)", command, requests, most)
				if requests > most {
					t.Errorf("%s: %d requests, at most %d", command, requests, most)
				}
			}
			run("apply", tc.create)
			run("destroy", tc.erase)
		})
	}
}

// A plan lists what it has many of. Latency does not add requests, because whoever waits shares the answer.
func TestRequests_ofAPlan(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.Latency, o.MaxPageSize = 20*time.Millisecond, 100 })
	cli := acctest.NewCLI(t, e, "resource \"agentyard_computer\" \"c\" {\n  count         = 120\n  name          = \"c-${count.index}\"\n  provider_type = \"byom\"\n}\n")
	cli.MustRun("apply", "-auto-approve", "-input=false", "-parallelism=50")
	e.Journal().Reset()
	cli.MustPlanEmpty()
	if n := len(e.Journal().Entries()); n > 5 {
		t.Errorf("%d requests for one plan, want at most 5", n)
	}
}

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
