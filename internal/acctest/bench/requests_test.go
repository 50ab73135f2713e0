// Package bench measures what the design promises: requests are counted, and times are compared within one run.
package bench

import (
	"fmt"
	"net/http"
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
				var account struct{ ID string }
				e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robots"}, &account)
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
