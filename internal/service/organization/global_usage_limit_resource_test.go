package organization_test

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// A create warns about a limit that was set outside Terraform, unless it is the same.
func TestGlobalUsageLimit_warnsBeforeItReplacesAnother(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
	i := process().NewInstance(globalLimitType)
	config := acctest.Values{"limit": 2_000_000}
	quiet := func(out acctest.Outcome) {
		t.Helper()
		if len(out.Errors) > 0 || len(out.Warnings) > 0 {
			t.Errorf("%s", out)
		}
	}
	quiet(process().Plan(i, config))
	globalLimitElsewhere(e, 2_000_000)
	quiet(process().Plan(i, config))
	globalLimitElsewhere(e, 5_000_000)
	for _, out := range []acctest.Outcome{process().Plan(i, config), process().Apply(i, config)} {
		said(t, out, "Limit Will Be Replaced: The organization already has a global limit of 5000000 credits. The apply changes it to 2000000 credits.")
	}
	// A limit in the state needs no warning.
	quiet(process().Apply(i, acctest.Values{"limit": 3_000_000}))
	if got := liveGlobalLimit(e); got != 3_000_000 {
		t.Errorf("the limit is %d", got)
	}
}

// A plan of an unchanged limit needs one request, and a change needs one more.
func TestGlobalUsageLimit_requests(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := acctest.NewProcess(t, e, nil).NewInstance(globalLimitType)
	for n, step := range []struct {
		limit int
		want  string
	}{
		{2_000_000, "getGlobalUsageLimit setGlobalUsageLimit"},
		{2_000_000, "getGlobalUsageLimit"},
		{3_000_000, "getGlobalUsageLimit setGlobalUsageLimit"},
	} {
		e.Journal().Reset()
		acctest.NewProcess(t, e, nil).Apply(i, acctest.Values{"limit": step.limit}).MustSucceed(t)
		var sent []string
		for _, entry := range e.Journal().Entries() {
			sent = append(sent, entry.Operation)
		}
		if got := strings.Join(sent, " "); got != step.want {
			t.Errorf("step %d: %s, want %s", n, got, step.want)
		}
	}
}
