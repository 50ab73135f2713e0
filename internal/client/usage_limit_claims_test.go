package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func TestLimitClaims(t *testing.T) {
	t.Parallel()
	var claims limitClaims
	take := func(email string, limit int64) func(bool) {
		t.Helper()
		release, err := claims.take(email, limit)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	refuses := func(email string, first, second int64) {
		t.Helper()
		var conflict *LimitConflictError
		if _, err := claims.take(email, second); !errors.As(err, &conflict) || *conflict != (LimitConflictError{Email: email, First: first, Second: second}) {
			t.Errorf("got %v", err)
		}
	}
	keeps := func(email string, want bool) {
		t.Helper()
		if got, err := claims.keeps(t.Context(), email); err != nil || got != want {
			t.Errorf("%s is kept: %t, %v", email, got, err)
		}
	}

	fails := func(email string) {
		t.Helper()
		want := "the new limit of " + email + ", which was to take its place, was not set; the limit stays as it is"
		if got, err := claims.keeps(t.Context(), email); got || err == nil || err.Error() != want {
			t.Errorf("%s is kept: %t, %v", email, got, err)
		}
	}

	keeps("a@x", false)
	first, second := take("a@x", 1), take("A@X", 1)
	refuses("a@X", 1, 2)
	other := take("b@x", 2)
	first(false)
	refuses("a@x", 1, 2) // The second one may still set it.
	second(false)
	fails("a@x")
	fails("A@x")
	take("a@x", 1)(false)
	fails("a@x")

	// Once one has failed, another value is none too many.
	first, second = take("a@x", 3), take("a@x", 3)
	first(true)
	keeps("A@x", true) // Whatever becomes of the second one.
	second(false)
	keeps("A@x", true)
	refuses("a@x", 3, 4)
	take("a@x", 3)(false) // It stands as it was set before.
	refuses("a@x", 3, 4)
	keeps("a@x", true)

	failed := take("d@x", 1)
	failed(false)
	take("d@x", 1)(true) // The same one after all.
	keeps("d@x", true)

	other(true)
	keeps("B@x", true)
	keeps("c@x", false)
}

func TestLimitClaims_ofMany(t *testing.T) {
	t.Parallel()
	var claims limitClaims
	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			release, err := claims.take("a@x", 1)
			if err != nil {
				t.Error(err)
				return
			}
			release(n%2 == 0)
		})
		all.Go(func() {
			_, err := claims.keeps(t.Context(), "A@x")
			if err != nil && !strings.Contains(err.Error(), "was not set") { // All before it may have failed.
				t.Error(err)
			}
		})
	}
	all.Wait()
	if kept, err := claims.keeps(t.Context(), "a@x"); err != nil || !kept {
		t.Errorf("got %t, %v", kept, err)
	}
}

func TestGlobalUsageLimit_isSetOnce(t *testing.T) {
	t.Parallel()
	put := `403 {"detail":"no"}`
	c, rec, _ := serveShort(t, func(string) string { return put })
	if _, err := c.SetGlobalUsageLimit(t.Context(), 2*million); StatusOf(err) != http.StatusForbidden {
		t.Errorf("got %v", err)
	}
	if err := c.RemoveGlobalUsageLimit(t.Context()); err == nil || err.Error() != "the new global limit, which was to take its place, was not set; the limit stays as it is" {
		t.Errorf("got %v", err)
	}
	put = `200 {"limit":1000000}`
	for range 2 {
		if _, err := c.SetGlobalUsageLimit(t.Context(), million); err != nil {
			t.Error(err)
		}
	}
	var conflict *LimitConflictError
	if _, err := c.SetGlobalUsageLimit(t.Context(), 2*million); !errors.As(err, &conflict) || *conflict != (LimitConflictError{First: million, Second: 2 * million}) ||
		err.Error() != "the global limit was not set to 2000000, because another resource of this run sets it to 1000000" {
		t.Errorf("got %v", err)
	}
	if err := c.RemoveGlobalUsageLimit(t.Context()); err != nil {
		t.Error(err)
	}
	rec.want(t, putGlobal, putGlobal, putGlobal)
}

// A limit that was to be replaced stays where its replacement was refused.
func TestRemoveUserUsageLimit_whereTheNewOneWasRefused(t *testing.T) {
	t.Parallel()
	put := `200 {"updated":[],"errors":[{"email":"a@x","error":"no"}]}`
	c, rec, _ := serveShort(t, func(string) string { return put })
	if _, err := c.SetUserUsageLimit(t.Context(), "a@x", 2*million); !isA(err, is[*EntryError]) {
		t.Errorf("got %v", err)
	}
	if err := c.RemoveUserUsageLimit(t.Context(), "A@x"); err == nil || err.Error() != "the new limit of A@x, which was to take its place, was not set; the limit stays as it is" {
		t.Errorf("got %v", err)
	}
	put = updated("a@x 1000000")
	if _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); err != nil {
		t.Error(err)
	}
	if err := c.RemoveUserUsageLimit(t.Context(), "A@x"); err != nil {
		t.Error(err)
	}
	rec.want(t, putLimits, putLimits)
}

// Changes of the global limit wait for one another, and for no longer than their run.
func TestGlobalUsageLimit_changesTakeTurns(t *testing.T) {
	t.Parallel()
	c, rec, _ := serveShort(t, answers(map[string]string{putGlobal: `200 {"limit":1000000}`}))
	for name, start := range ending(t) {
		release, err := c.globalLimitTurns.lock(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := start()
		end()
		const waiting = "waiting until another change of the global limit is done: "
		if _, err := c.SetGlobalUsageLimit(ctx, million); !errors.Is(err, ctx.Err()) || err.Error() != waiting+ctx.Err().Error() {
			t.Errorf("%s: got %v", name, err)
		}
		if err := c.RemoveGlobalUsageLimit(ctx); !errors.Is(err, ctx.Err()) || err.Error() != waiting+ctx.Err().Error() {
			t.Errorf("%s: got %v", name, err)
		}
		release()
	}
	rec.want(t)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := c.SetGlobalUsageLimit(t.Context(), million); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if rec.count(http.MethodPut) != 10 {
		t.Errorf("asked %v", rec.calls())
	}
}

func TestPlanUserUsageLimit(t *testing.T) {
	t.Parallel()
	c, rec, _ := serveShort(t, answers(nil))
	one, two := int64(1), int64(2)
	for n, tc := range []struct {
		email    string
		limit    *int64
		first    *int64
		isSecond bool
	}{
		{"a@x", &one, nil, false},
		{"b@x", nil, nil, false},
		{"A@X", &two, &one, true},
		{"a@x", &one, &one, true},
		{"B@x", &two, nil, true},
		{"b@x", &two, nil, true}, // The first one is still not known.
	} {
		if first, isSecond := c.PlanUserUsageLimit(tc.email, tc.limit); isSecond != tc.isSecond || !sameLimit(first, tc.first) {
			t.Errorf("%d: got %s, %t", n, shownLimit(first), isSecond)
		}
	}
	if c.HoldsUserUsageLimit("a@x") {
		t.Error("a plan holds a limit")
	}
	c.HoldUserUsageLimit("A@x")
	if !c.HoldsUserUsageLimit("a@X") || c.HoldsUserUsageLimit("b@x") {
		t.Error("another limit is held")
	}
	rec.want(t)
}

// foreseen is what plans learn of the user's and the global limits.
func foreseen(t *testing.T, c *Client) (users, global string, errs []error) {
	t.Helper()
	users = "nothing"
	limits, usersErr := c.ForeseeUsageLimits(t.Context())
	if limits != nil {
		users = shownLimits(limits)
	}
	limit, globalErr := c.ForeseeGlobalUsageLimit(t.Context())
	return users, shownLimit(limit), []error{usersErr, globalErr}
}

func TestForeseeUsageLimits(t *testing.T) {
	t.Parallel()
	c, rec, clk := serveShort(t, answers(map[string]string{
		getLimits: limited("a@x 1"), getGlobal: `200 {"limit":5}`, putLimits: updated("a@x 1000000"), putGlobal: `200 {"limit":null}`,
	}))
	for range 2 {
		if users, global, errs := foreseen(t, c); users != "none a@x=1" || global != "5" || errors.Join(errs...) != nil {
			t.Errorf("got %s, %s, %v", users, global, errs)
		}
	}
	rec.want(t, getLimits, getGlobal)
	// What has been written plans do not list again: each kind by itself.
	if _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); err != nil {
		t.Fatal(err)
	}
	clk.Advance(sharedLifetime)
	if users, global, errs := foreseen(t, c); users != "nothing" || global != "5" || errors.Join(errs...) != nil {
		t.Errorf("got %s, %s, %v", users, global, errs)
	}
	if err := c.RemoveGlobalUsageLimit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if users, global, errs := foreseen(t, c); users != "nothing" || global != "none" || errors.Join(errs...) != nil {
		t.Errorf("got %s, %s, %v", users, global, errs)
	}
	rec.want(t, getLimits, getGlobal, putLimits, getGlobal, putGlobal)
}

// Whatever becomes of a write, and whichever it is, plans list no more once it has begun.
func TestForeseeUsageLimits_onceAWriteHasBegun(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*Client) []error{
		"set": func(c *Client) []error {
			_, err := c.SetUserUsageLimit(t.Context(), "a@x", million)
			_, globalErr := c.SetGlobalUsageLimit(t.Context(), million)
			return []error{err, globalErr}
		},
		"remove": func(c *Client) []error {
			return []error{c.RemoveUserUsageLimit(t.Context(), "a@x"), c.RemoveGlobalUsageLimit(t.Context())}
		},
	} {
		c, rec, _ := serveShort(t, answers(map[string]string{putLimits: `403 {"detail":"no"}`, putGlobal: `403 {"detail":"no"}`}))
		for _, err := range write(c) {
			if StatusOf(err) != http.StatusForbidden {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if users, global, errs := foreseen(t, c); users != "nothing" || global != "none" || errors.Join(errs...) != nil {
			t.Errorf("%s: got %s, %s, %v", name, users, global, errs)
		}
		rec.want(t, putLimits, putGlobal)
	}
}

func TestForeseeUsageLimits_unknownSettings(t *testing.T) {
	t.Parallel()
	c := Unconfigured("base_url", clock.NewFake(testStart))
	if users, global, errs := foreseen(t, c); users != "nothing" || global != "none" || errors.Join(errs...) != nil {
		t.Errorf("got %s, %s, %v", users, global, errs)
	}
	// The first word about the setting is left to a read.
	var missing *UnconfiguredError
	if _, err := c.UserUsageLimit(t.Context(), "a@x"); !errors.As(err, &missing) || !missing.First {
		t.Errorf("got %v", err)
	}
}

// A plan that takes one of two resources with a limit out of the state leaves it to the other; the last one ends it.
func TestLeaveUsageLimit(t *testing.T) {
	t.Parallel()
	for steps, want := range map[string]string{
		"leave":                                "false",
		"leave leave":                          "false false",
		"hold leave":                           "false",
		"hold leave hold":                      "false",
		"hold hold leave":                      "true",
		"hold hold leave leave":                "true false",
		"hold leave hold leave":                "false false",
		"hold hold hold leave leave leave":     "true true false",
		"holdOther holdOther leave":            "false",
		"hold leaveOther hold leave":           "false true",
		"holdOther hold leave leaveOther":      "false false",
		"hold holdOther hold leaveOther leave": "false true",
	} {
		c, rec, _ := serveShort(t, answers(nil))
		var got, global []string
		for _, step := range strings.Fields(steps) {
			switch step {
			case "hold":
				c.HoldUserUsageLimit("a@x")
				c.HoldGlobalUsageLimit()
			case "holdOther":
				c.HoldUserUsageLimit("b@x")
			case "leave":
				stays := fmt.Sprint(c.LeaveUserUsageLimit("A@X"))
				got = append(got, stays)
				global = append(global, fmt.Sprint(c.LeaveGlobalUsageLimit()))
			case "leaveOther":
				got = append(got, fmt.Sprint(c.LeaveUserUsageLimit("b@x")))
			}
		}
		if strings.Join(got, " ") != want || !strings.Contains(steps, "Other") && strings.Join(global, " ") != want {
			t.Errorf("%s: got %v, %v", steps, got, global)
		}
		if !c.HoldsUserUsageLimit("a@x") || c.HoldsUserUsageLimit("c@x") || !c.HoldsGlobalUsageLimit() {
			t.Errorf("%s: another limit is held", steps)
		}
		rec.want(t)
	}
}
