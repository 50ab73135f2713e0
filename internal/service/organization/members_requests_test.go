package organization_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A large organization needs one request for each hundred members, sent one at a time, however many objects of the
// configuration read them.
func TestAccMembers_tenThousand_slow(t *testing.T) {
	acctest.Slow(t)
	t.Parallel()
	const n = 10_000
	var open, widest atomic.Int64
	wholePages := func(o *emulator.Options) { o.MaxPageSize = 100 }
	e := acctest.New(t, wholePages, acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			now := open.Add(1)
			for most := widest.Load(); now > most && !widest.CompareAndSwap(most, now); most = widest.Load() {
			}
			next.ServeHTTP(w, r)
			open.Add(-1)
		})
	}))
	joinMany(t, e, n-1) // The manager is also a member.
	cli := acctest.NewCLI(t, e, fmt.Sprintf(`
data "agentyard_members" "x" {}
data "agentyard_member" "x" {
  for_each = toset([for k in range(20) : "m${k * 500}@acme.example"])
  email    = each.key
}
output "found" {
  value = "${length(data.agentyard_members.x.members)} and ${length(data.agentyard_member.x)}, up to ${data.agentyard_members.x.members[%d].email}"
}
`, n-1))
	e.Journal().Reset()
	r := cli.MustRun("plan", "-input=false", "-parallelism=30")
	if want := fmt.Sprintf("%d and 20, up to m%d@acme.example", n, n-2); !strings.Contains(r.Output, want) {
		t.Errorf("want %s: %s", want, r.Output)
	}
	if got := e.Journal().Count("listMembers"); got != n/100 || len(e.Journal().Entries()) != got || widest.Load() != 1 {
		t.Errorf("%d requests, %d at once, and %d for members", len(e.Journal().Entries()), widest.Load(), got)
	}
	t.Logf("%d requests and %s of processor time for %d members", len(e.Journal().Entries()), r.CPU, n)
}
