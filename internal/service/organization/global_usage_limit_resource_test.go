package organization_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// A create warns about a limit that was set outside Terraform, unless it is the same.
func TestGlobalUsageLimit_warnsBeforeItReplacesAnother(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := e.NewInstance(t, globalLimitType)
	config := acctest.Values{"limit": 2_000_000}
	said(t, e.Plan(t, i, config))
	globalLimitElsewhere(e, 2_000_000)
	said(t, e.Plan(t, i, config))
	globalLimitElsewhere(e, 5_000_000)
	for _, out := range []acctest.Outcome{e.Plan(t, i, config), e.Apply(t, i, config)} {
		said(t, out, "Limit will be replaced: The organization already has a global limit of 5,000,000 credits. The apply changes it to 2,000,000 credits.")
	}
	// A limit in the state needs no warning.
	said(t, e.Apply(t, i, acctest.Values{"limit": 3_000_000}))
	if got := liveGlobalLimit(e); got != 3_000_000 {
		t.Errorf("the limit is %d", got)
	}
}
