package emulator

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
)

// The tiers of an organization. Service accounts and some operations of computers need the team tier; without it they are
// answered 402. Analytics needs the enterprise tier; without it, it is answered 403.
const (
	TierFree       = "free"
	TierTeam       = "team"
	TierEnterprise = "enterprise"
)

// tiers are all of them, from the lowest.
var tiers = []string{TierFree, TierTeam, TierEnterprise}

func checkTier(tier string) error {
	if !slices.Contains(tiers, tier) {
		return fmt.Errorf("the tier %q is not free, team, or enterprise", tier)
	}
	return nil
}

// SetTier changes the organization's tier, from Options.Tier until Reset. It returns an error if there is no such tier.
func (e *Emulator) SetTier(tier string) error {
	if err := checkTier(tier); err != nil {
		return err
	}
	e.program(func(s *switches) { s.tier = tier })
	return nil
}

// tier is the organization's tier now.
func (e *Emulator) tier() string {
	return cmp.Or(e.switched().tier, e.opts.Tier)
}

// needsTeam admits callers of an organization that has at least the team tier.
func needsTeam(r *request) error {
	if r.e.tier() == TierFree {
		return fail(http.StatusPaymentRequired, "The organization has the tier free; this needs at least the tier team.")
	}
	return nil
}
