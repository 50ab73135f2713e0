package organization_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const userLimitsType = "agentyard_user_usage_limits"

// limitsOf returns a configuration with these limits.
func limitsOf(by map[string]any) acctest.Values { return acctest.Values{"limits": by} }

// allInState returns the limits in a state, as "address=limit".
func allInState(t *testing.T, i *acctest.Instance) (found []string) {
	t.Helper()
	state, _ := acctest.Plain(t, i.State).(map[string]any)
	by, _ := state["limits"].(map[string]any)
	for email, limit := range by {
		found = append(found, fmt.Sprintf("%s=%.0f", email, limit))
	}
	slices.Sort(found)
	return found
}

// mustBe checks the limits in the state and in the emulator.
func mustBe(t *testing.T, e *acctest.Env, i *acctest.Instance, want ...string) {
	t.Helper()
	if state, live := allInState(t, i), atService(e); !slices.Equal(state, want) || !slices.Equal(live, want) {
		t.Errorf("the state has %v, the emulator %v, want %v", state, live, want)
	}
}

func TestUserUsageLimits_life(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake, casey)
	i := e.NewInstance(t, userLimitsType)
	apply := func(by map[string]any, action string, puts int) {
		t.Helper()
		e.Journal().Reset()
		out := e.Apply(t, i, limitsOf(by))
		if out.MustSucceed(t); string(out.Action) != action {
			t.Errorf("the plan is %s, want %s", out.Action, action)
		}
		e.WantRequests(t, "setUserUsageLimits", puts)
	}
	const create, update, none = string(acctest.ActionCreate), string(acctest.ActionUpdate), string(acctest.ActionNone)
	two := map[string]any{avery: 2_000_000, blake: 3_000_000}
	apply(two, create, 1)
	apply(two, none, 0)
	mustBe(t, e, i, avery+"=2000000", blake+"=3000000")
	apply(map[string]any{avery: 2_000_000, blake: 4_000_000, casey: 1_000_000}, update, 1)
	mustBe(t, e, i, avery+"=2000000", blake+"=4000000", casey+"=1000000")
	apply(map[string]any{avery: 2_000_000}, update, 1)
	mustBe(t, e, i, avery+"=2000000")
	// Case alone is no change, and next to a change needs no request.
	apply(map[string]any{"AVERY@agentyard.example": 2_000_000}, none, 0)
	apply(map[string]any{"AVERY@agentyard.example": 2_000_000, blake: 1_000_000}, update, 1)
	check.Is(t, "the state", fmt.Sprint(allInState(t, i)), "[AVERY@agentyard.example=2000000 blake@agentyard.example=1000000]")
	apply(map[string]any{"AVERY@agentyard.example": 2_000_000, blake: 1_000_000}, none, 0)

	// Drift: added, changed, and removed elsewhere.
	limitElsewhere(e, casey, 9_000_000)
	apply(map[string]any{avery: 2_000_000, blake: 1_000_000}, update, 1)
	mustBe(t, e, i, avery+"=2000000", blake+"=1000000")
	limitElsewhere(e, avery, 9_000_000)
	limitElsewhere(e, blake, nil)
	apply(map[string]any{avery: 2_000_000, blake: 1_000_000}, update, 1)
	mustBe(t, e, i, avery+"=2000000", blake+"=1000000")

	apply(map[string]any{}, update, 1)
	mustBe(t, e, i)
	apply(map[string]any{}, none, 0)
	apply(two, update, 1)
	e.Apply(t, i, nil).MustSucceed(t)
	mustBe(t, e, i)
}

// A creation warns once about the limits that it changes or removes.
func TestUserUsageLimits_warnsBeforeItReplacesOthers(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake, casey)
	for email, limit := range map[string]int{avery: 2_000_000, blake: 3_000_000, casey: 4_000_000} {
		limitElsewhere(e, email, limit)
	}
	i := e.NewInstance(t, userLimitsType)
	config := limitsOf(map[string]any{"AVERY@agentyard.example": 2_000_000, blake: 5_000_000})
	for range 2 {
		out := e.Plan(t, i, config)
		said(t, out, "Limits will be replaced: The apply changes existing limits, in credits: blake@agentyard.example (3,000,000 to 5,000,000), casey@agentyard.example (4,000,000 to none).")
		check.Is(t, "warnings", len(out.Warnings), 1)
	}
	unknown := limitsOf(map[string]any{avery: tftypes.UnknownValue, blake: 3_000_000, casey: 4_000_000})
	said(t, e.Plan(t, i, unknown))
	said(t, e.Apply(t, i, config), "Limits will be replaced")
	said(t, e.Apply(t, i, limitsOf(map[string]any{avery: 2_000_000})))
	mustBe(t, e, i, avery+"=2000000")
}

func TestUserUsageLimits_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	refused := func(limits map[string]any, at, want string) {
		t.Helper()
		e.MustNotCreate(t, userLimitsType, limitsOf(limits), at, want)
	}
	refused(map[string]any{avery: 999_999}, `limits["avery@agentyard.example"]`, "at least 1,000,000, not 999,999")
	refused(map[string]any{"avery": 1_000_000}, `limits["avery"]`, "must be an email address")
	refused(map[string]any{avery: 1_000_000, "Avery@agentyard.example": 1_000_000}, `limits["avery@agentyard.example"]`, `same address as "Avery@agentyard.example"`)
	e.WantRequests(t, "setUserUsageLimits", 0)
}

// A failed creation is in no state: a tainted resource would be replaced, which removes all limits for a moment.
func TestUserUsageLimits_refusedAtCreation(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	i := e.NewInstance(t, userLimitsType)
	config := limitsOf(map[string]any{avery: 2_000_000, blake: 2_000_000, casey: 2_000_000})
	out := e.Apply(t, i, config)
	for _, email := range []string{blake, casey} {
		out.MustInclude(t, fmt.Sprintf("limits[%q]", email), "was refused for "+email)
	}
	if len(out.Errors) != 2 || i.Tainted || !i.State.IsNull() || fmt.Sprint(atService(e)) != "[avery@agentyard.example=2000000]" {
		t.Errorf("the state is %s, the emulator has %v: %s", i.State, atService(e), out)
	}
	check.Says(t, out.WarningText(), "Limits not in the state: The service has changed 1 limit", "apply again")
	haveJoined(t, e, blake, casey)
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	mustBe(t, e, i, avery+"=2000000", blake+"=2000000", casey+"=2000000")
}

// A service that refuses a whole request because of one member does not name the member, so the error does.
func TestUserUsageLimits_refusedAsAWhole(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake, casey)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(userLimitsType)
	e.Faults().Add(emulator.Fault{Operation: "setUserUsageLimits", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusBadRequest, Times: 2}) // All, and then the first one.
	out := p.Apply(i, limitsOf(map[string]any{avery: 2_000_000, blake: 2_000_000, casey: 2_000_000}))
	out.MustFail(t, fmt.Sprintf("limits[%q]", avery), "The limit of "+avery+": setUserUsageLimits", "400")
	if len(out.Errors) != 1 || fmt.Sprint(atService(e)) != "[blake@agentyard.example=2000000 casey@agentyard.example=2000000]" {
		t.Errorf("%v: %s", atService(e), out.Text())
	}
}

// The apply keeps a limit that it has just set for another resource, so it does not warn that the limit will be removed.
func TestUserUsageLimits_besideOneOfTheSameApply(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake)
	p := acctest.NewProcess(t, e, nil)
	p.Apply(p.NewInstance("agentyard_user_usage_limit"), acctest.Values{"email": blake, "limit": 3_000_000}).MustSucceed(t)
	config := limitsOf(map[string]any{avery: 2_000_000})
	check.None(t, "warnings during the apply", p.Plan(p.NewInstance(userLimitsType), config).Warnings)
	out := e.Plan(t, e.NewInstance(t, userLimitsType), config)
	check.Says(t, out.WarningText(), "Limits will be replaced", blake+" (3,000,000 to none)")
}

// A failed update keeps what was set, and the next apply does the rest.
func TestUserUsageLimits_refusedAtUpdate(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, casey)
	i := e.NewInstance(t, userLimitsType)
	e.Apply(t, i, limitsOf(map[string]any{avery: 2_000_000, casey: 2_000_000})).MustSucceed(t)
	config := limitsOf(map[string]any{avery: 3_000_000, blake: 3_000_000})
	e.Apply(t, i, config).MustFail(t, `limits["blake@agentyard.example"]`, "Cannot update user usage limits", "was refused for "+blake, "Correct the email address")
	mustBe(t, e, i, avery+"=3000000")
	haveJoined(t, e, blake)
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	mustBe(t, e, i, avery+"=3000000", blake+"=3000000")
	leaves(e, blake)
	acctest.NewProcess(t, e, nil).Destroy(i).MustSucceed(t)
	mustBe(t, e, i)
}

// manyMembers joins members, and returns a limit for each.
func manyMembers(t *testing.T, e *acctest.Env, n, limit int) map[string]any {
	t.Helper()
	by := map[string]any{}
	for k := range n {
		email := fmt.Sprintf("m%05d@people.example", k)
		e.MemberKey(email, "")
		by[email] = limit
	}
	return by
}

// An interrupted run sends no more requests. An update keeps what was set, and the next apply does only the rest.
func TestUserUsageLimits_interrupted(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"create", "update"} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			var armed atomic.Pointer[acctest.Process]
			e := acctest.New(t, acctest.Wrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					next.ServeHTTP(w, r)
					if stopped := armed.Load(); r.Method == http.MethodPut && stopped != nil {
						armed.Store(nil)
						stopped.Stop()
					}
				})
			}))
			by := manyMembers(t, e, 250, 2_000_000)
			i := e.NewInstance(t, userLimitsType)
			if change == "update" {
				e.Apply(t, i, limitsOf(map[string]any{})).MustSucceed(t)
			}
			e.Journal().Reset()
			p := acctest.NewProcess(t, e, nil)
			armed.Store(p)
			out := p.Apply(i, limitsOf(by))
			out.MustFail(t, "", "setUserUsageLimits", "run was interrupted", "m00100@people.example")
			e.WantRequests(t, "setUserUsageLimits", 1)
			if n := len(allInState(t, i)); i.Tainted || len(atService(e)) != 100 || n != map[string]int{"create": 0, "update": 100}[change] {
				t.Errorf("the state has %d limits, the emulator %d", n, len(atService(e)))
			}
			e.Apply(t, i, limitsOf(by)).MustSucceed(t)
			e.WantRequests(t, "setUserUsageLimits", map[string]int{"create": 4, "update": 3}[change])
			if len(atService(e)) != 250 || !slices.Equal(allInState(t, i), atService(e)) {
				t.Errorf("the state has %d limits, the emulator %d", len(allInState(t, i)), len(atService(e)))
			}
		})
	}
}
