package organization_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
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

func TestUsageLimits_invalidConfiguration(t *testing.T) {
	t.Parallel()
	const least, noAddress = "at least 1,000,000, not 999,999", "email must be an email address"
	for name, tc := range map[string]struct {
		typeName string
		config   acctest.Values
		at, want string
	}{
		"user below the minimum":   {userLimitType, acctest.Values{"email": avery, "limit": 999_999}, "limit", least},
		"no address":               {userLimitType, acctest.Values{"email": "avery", "limit": 1_000_000}, "email", noAddress},
		"global below the minimum": {globalLimitType, acctest.Values{"limit": 999_999}, "limit", least},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := limitEnv(t, avery)
			p := acctest.NewProcess(t, e, nil)
			p.Apply(p.NewInstance(tc.typeName), tc.config).MustFail(t, tc.at, tc.want)
			if n := e.Journal().Count("setUserUsageLimits") + e.Journal().Count("setGlobalUsageLimit"); n > 0 {
				t.Errorf("%d requests to set limits", n)
			}
		})
	}
}

func TestUserUsageLimit_refusedAtItsAttribute(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	acctest.Must(t, e.Invite("invited@agentyard.example", ""))
	for name, tc := range map[string]struct {
		config acctest.Values
		at     string
		want   []string
	}{
		"nobody":    {acctest.Values{"email": "nobody@agentyard.example", "limit": 2_000_000}, "email", []string{"setUserUsageLimits", "Cannot create user usage limit", "nobody@agentyard.example", "no member", "was not changed", "Correct the email address"}},
		"invited":   {acctest.Values{"email": "invited@agentyard.example", "limit": 2_000_000}, "email", []string{"setUserUsageLimits", "invitation", "pending", "accepts the invitation"}},
		"too large": {acctest.Values{"email": avery, "limit": int64(9_007_199_254_740_992)}, "limit", []string{"Number out of range"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acctest.NewProcess(t, e, nil)
			p.Apply(p.NewInstance(userLimitType), tc.config).MustFail(t, tc.at, tc.want...)
		})
	}
}

// Every object of the organization needs the API key of a manager, and says so.
func TestOrganization_isForManagers(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	_, user := join(t, e, emulator.Human{Email: "user@agentyard.example"})
	account, _ := e.ServiceAccountKey()
	const manager = "This requires the API key of a member with the Manager role"
	for _, key := range []string{user, account} {
		p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
		for typeName, config := range map[string]acctest.Values{
			userLimitType: {"email": avery, "limit": 2_000_000}, globalLimitType: {"limit": 2_000_000}, invitationType: {"email": avery},
		} {
			p.Plan(p.NewInstance(typeName), config).MustFail(t, "", "Cannot plan", strings.ReplaceAll(strings.TrimPrefix(typeName, "agentyard_"), "_", " "), manager)
		}
		_, out := p.Invoke("agentyard_member_remove", acctest.Values{"email": avery})
		out.MustFail(t, "", "Cannot remove member", manager)
		for name, object := range map[string]string{"usage_limits": "read usage limits", "members": "list members", "enterprise_control_history": "read enterprise control history", "enterprise_controls": "read enterprise controls"} {
			_, out := p.ReadData("agentyard_"+name, nil)
			out.MustFail(t, "", "Cannot "+object, manager)
		}
		_, out = p.ReadData("agentyard_member", acctest.Values{"email": avery})
		out.MustFail(t, "", "Cannot read member", manager)
	}
}

// An apply is not green if the answer denies what it set. The next apply sets it.
func TestUsageLimits_deniedByTheAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		typeName, operation, answer string
		config                      acctest.Values
		at, want                    string
	}{
		"user":   {userLimitType, "setUserUsageLimits", `{"updated":[],"errors":[]}`, acctest.Values{"email": avery, "limit": 2_000_000}, "email", "neither in updated nor in errors"},
		"users":  {userLimitsType, "setUserUsageLimits", `{"updated":[{"email":"` + avery + `","limit":5}],"errors":[]}`, acctest.Values{"limits": map[string]any{avery: 2_000_000}}, `limits["` + avery + `"]`, "limit 5 instead of 2000000"},
		"global": {globalLimitType, "setGlobalUsageLimit", `{"limit":null}`, acctest.Values{"limit": 2_000_000}, "limit", "limit is null instead of 2000000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := limitEnv(t, avery)
			e.Faults().Add(emulator.Fault{Operation: tc.operation, Kind: emulator.FaultOtherServer, Body: tc.answer})
			i := e.NewInstance(t, tc.typeName)
			e.Apply(t, i, tc.config).MustFail(t, tc.at, tc.want, "Look up the current value")
			e.Apply(t, i, tc.config).MustDo(t, acctest.ActionCreate)
			e.Plan(t, i, tc.config).MustDo(t, acctest.ActionNone)
		})
	}
}
