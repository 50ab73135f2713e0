package organization_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	userLimitsRoute  = "/api/v0/organization/usage/limits/users"
	globalLimitRoute = "/api/v0/organization/usage/limits/global"

	avery = "avery@agentyard.example"
	blake = "blake@agentyard.example"
	casey = "casey@agentyard.example"
)

// limitEnv returns an emulator with members in its organization.
func limitEnv(t *testing.T, members ...string) *acctest.Env {
	t.Helper()
	e := acctest.New(t)
	haveJoined(t, e, members...)
	return e
}

func haveJoined(t *testing.T, e *acctest.Env, emails ...string) {
	t.Helper()
	for _, email := range emails {
		e.MemberKey(email, "")
	}
}

// leaves removes a member outside Terraform.
func leaves(e *acctest.Env, email string) {
	e.API(http.MethodDelete, "/api/v0/organization/users?email="+url.QueryEscape(email), nil, nil)
}

// limitElsewhere sets a user's limit outside Terraform. Nil removes it.
func limitElsewhere(e *acctest.Env, email string, limit any) {
	e.API(http.MethodPut, userLimitsRoute, map[string]any{"users": []any{map[string]any{"email": email, "limit": limit}}}, nil)
}

// globalLimitElsewhere is limitElsewhere for the global limit.
func globalLimitElsewhere(e *acctest.Env, limit any) {
	e.API(http.MethodPut, globalLimitRoute, map[string]any{"limit": limit}, nil)
}

// limits contains the users' limits by address.
type limits map[string]int64

// liveLimits returns the users' limits in the emulator.
func liveLimits(e *acctest.Env) limits {
	var answer struct {
		UserLimits []struct {
			Email string
			Limit *int64
		}
	}
	e.API(http.MethodGet, userLimitsRoute, nil, &answer)
	found := limits{}
	for _, u := range answer.UserLimits {
		if u.Limit != nil {
			found[u.Email] = *u.Limit
		}
	}
	return found
}

// liveGlobalLimit returns the global limit in the emulator, or 0 if there is none.
func liveGlobalLimit(e *acctest.Env) int64 {
	var answer struct{ Limit int64 }
	e.API(http.MethodGet, globalLimitRoute, nil, &answer)
	return answer.Limit
}

// mustHold fails the test unless the emulator has exactly these limits.
func mustHold(t *testing.T, e *acctest.Env, want limits) {
	t.Helper()
	check.Is(t, "the emulator holds", liveLimits(e), want)
}

// said fails the test unless an outcome has no errors and its warnings contain the parts. Without parts, there must be no
// warnings.
func said(t *testing.T, out acctest.Outcome, parts ...string) {
	t.Helper()
	if len(out.Errors) > 0 || len(parts) == 0 && len(out.Warnings) > 0 {
		t.Errorf("%s", out)
	}
	check.Says(t, out.WarningText(), parts...)
}

// A different case of the address is no change, also in a response, and an import takes any case. Another address is another user.
func TestUserUsageLimit_setChangedAndReplaced(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake)
	i := e.NewInstance(t, userLimitType)
	for n, step := range []struct {
		email, inState string
		limit          int64
		action         acctest.Action
		want           limits
	}{
		{avery, avery, 1_000_000, "create", limits{avery: 1_000_000}},
		{avery, avery, 9_007_199_254_740_991, "update", limits{avery: 9_007_199_254_740_991}},
		{"Avery@Agentyard.Example", avery, 9_007_199_254_740_991, "none", limits{avery: 9_007_199_254_740_991}},
		{"AVERY@AGENTYARD.EXAMPLE", avery, 2_000_000, "update", limits{avery: 2_000_000}},
		{"Blake@Agentyard.Example", "Blake@Agentyard.Example", 2_000_000, "replace", limits{blake: 2_000_000}},
		{avery, avery, 2_000_000, "replace", limits{avery: 2_000_000}},
	} {
		config := acctest.Values{"email": step.email, "limit": step.limit}
		e.Apply(t, i, config).MustDo(t, step.action)
		if mustHold(t, e, step.want); i.ID() != step.inState || i.Attribute("email") != step.inState {
			t.Errorf("step %d: %s", n, i.State)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
	imported := e.NewInstance(t, userLimitType)
	acctest.NewProcess(t, e, nil).Import(imported, "AVERY@Agentyard.example").MustSucceed(t)
	e.Plan(t, imported, acctest.Values{"email": avery, "limit": 2_000_000}).MustDo(t, acctest.ActionNone)
}

const (
	userLimitType   = "agentyard_user_usage_limit"
	globalLimitType = "agentyard_global_usage_limit"
)

// atService returns the users' limits in the emulator, as "address=limit".
func atService(e *acctest.Env) []string {
	var held []string
	for email, limit := range liveLimits(e) {
		held = append(held, fmt.Sprintf("%s=%d", email, limit))
	}
	slices.Sort(held)
	return held
}

func TestUsageLimits_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	const least = "at least 1,000,000, not 999,999"
	e.MustNotCreate(t, userLimitType, acctest.Values{"email": avery, "limit": 999_999}, "limit", least)
	e.MustNotCreate(t, userLimitType, acctest.Values{"email": "avery", "limit": 1_000_000}, "email", "email must be an email address")
	e.MustNotCreate(t, globalLimitType, acctest.Values{"limit": 999_999}, "limit", least)
	e.WantRequests(t, "setUserUsageLimits", 0)
	e.WantRequests(t, "setGlobalUsageLimit", 0)
}

func TestUserUsageLimit_refusedAtItsAttribute(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	check.Must(t, e.Invite("invited@agentyard.example", ""))
	to := func(email string, limit any) acctest.Values { return acctest.Values{"email": email, "limit": limit} }
	e.MustNotCreate(t, userLimitType, to("nobody@agentyard.example", 2_000_000), "email",
		"setUserUsageLimits", "Cannot create user usage limit", "nobody@agentyard.example", "no member", "was not changed", "Correct the email address")
	e.MustNotCreate(t, userLimitType, to("invited@agentyard.example", 2_000_000), "email", "setUserUsageLimits", "invitation", "pending", "accepts the invitation")
	e.MustNotCreate(t, userLimitType, to(avery, int64(9_007_199_254_740_992)), "limit", "Number out of range")
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
	check.Is(t, "the limit", liveGlobalLimit(e), int64(3_000_000))
}

// Users are ordered by address without case, including those without a limit of their own. Each has the limit that applies to
// them: their own, the global one, or none.
func TestUsageLimitsDataSource(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, blake, "Avery@agentyard.example")
	limitElsewhere(e, "AVERY@agentyard.example", 5_000_000)
	read := func(global any) {
		t.Helper()
		got := e.MustRead(t, nil, "agentyard_usage_limits", nil)
		effective := got["effective_limits"].([]any)
		slices.SortFunc(effective, func(a, b any) int { // All members are of the same age.
			return strings.Compare(a.(map[string]any)["email"].(string), b.(map[string]any)["email"].(string))
		})
		check.Is(t, "the limits", got, map[string]any{
			"global_limit": global,
			"user_limits": []any{
				map[string]any{"email": "Avery@agentyard.example", "limit": 5e6}, map[string]any{"email": blake, "limit": nil}, map[string]any{"email": bootstrap, "limit": nil},
			},
			"effective_limits": []any{
				map[string]any{"email": "Avery@agentyard.example", "limit": 5e6, "is_default": false},
				map[string]any{"email": blake, "limit": global, "is_default": true}, map[string]any{"email": bootstrap, "limit": global, "is_default": true},
			},
		})
	}
	read(nil)
	globalLimitElsewhere(e, 9_007_199_254_740_991)
	read(float64(9_007_199_254_740_991))
}
