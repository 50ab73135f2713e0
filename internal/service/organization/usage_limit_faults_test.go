package organization_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const (
	userLimitType   = "agentyard_user_usage_limit"
	globalLimitType = "agentyard_global_usage_limit"
)

// people are the members whose limits these tests set.
var people = []string{"ada@people.example", "bob@people.example", "cleo@people.example"}

// atService returns the users' limits in the emulator, as "address=limit".
func atService(e *acctest.Env) []string {
	var held []string
	for email, limit := range liveLimits(e) {
		held = append(held, fmt.Sprintf("%s=%d", email, limit))
	}
	slices.Sort(held)
	return held
}

// globalAtService returns the emulator's global limit in the same format.
func globalAtService(e *acctest.Env) []string {
	if limit := liveGlobalLimit(e); limit > 0 {
		return []string{fmt.Sprintf("organization=%d", limit)}
	}
	return nil
}

// inState returns the limit in a state in the same format.
func inState(i *acctest.Instance) []string {
	var attributes map[string]tftypes.Value
	var limit big.Float
	if i.State.IsNull() || i.State.As(&attributes) != nil || attributes["limit"].As(&limit) != nil {
		return nil
	}
	n, _ := limit.Int64()
	return []string{fmt.Sprintf("%s=%d", i.ID(), n)}
}

func TestUsageLimits_faultMatrixOfAUser(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: userLimitType,
		Setup: func(e *acctest.Env) []acctest.Values {
			haveJoined(t, e, people...)
			return []acctest.Values{
				{"email": people[0], "limit": 2_000_000},
				{"email": people[0], "limit": 3_000_000},
				{"email": people[1], "limit": 3_000_000},
			}
		},
		Live: atService,
		IDs:  inState,
	}.Run(t)
}

func TestUsageLimits_faultMatrixOfEverybody(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: globalLimitType,
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{{"limit": 2_000_000}, {"limit": 3_000_000}}
		},
		Live: globalAtService,
		IDs:  inState,
	}.Run(t)
}
