package organization_test

import (
	"maps"
	"net/http"
	"net/url"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
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
		if _, _, err := e.AddHuman(emulator.Human{Email: email}); err != nil {
			t.Fatal(err)
		}
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
	if got := liveLimits(e); !maps.Equal(got, want) {
		t.Errorf("the emulator holds %v, want %v", got, want)
	}
}

// said fails the test unless an outcome has no errors and its warnings contain the parts. Without parts, there must be no
// warnings.
func said(t *testing.T, out acctest.Outcome, parts ...string) {
	t.Helper()
	if len(out.Errors) > 0 || len(parts) == 0 && len(out.Warnings) > 0 {
		t.Errorf("%s", out)
	}
	acctest.Says(t, out.WarningText(), parts...)
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
	// Who has left has no limit. It is set again after they joined again.
	leaves(e, avery)
	config := acctest.Values{"email": avery, "limit": 2_000_000}
	e.Apply(t, i, config).MustFail(t, "email", "no member with this email", "Correct the email address")
	haveJoined(t, e, "Avery@AGENTYARD.example")
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
}
