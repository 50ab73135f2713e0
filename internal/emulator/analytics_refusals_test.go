package emulator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAnalytics_refusesQueries(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ValidationErrorsArray: true})
	all := []string{"/tokens?", "/tools?", "/activity?", "/productivity?", "/users?", "/cost/me/query?queryKey=headline_daily&"}
	for _, c := range []struct {
		paths             []string
		query, rule, want string
	}{
		{all, "startDate=2026-04-02&endDate=2026-04-01", "date-order", "2026-04-01 is before the startDate 2026-04-02"},
		{all, "startDate=2026-01-13&endDate=2026-01-14", "date-history", "before 2026-01-14"},
		{all, "startDate=2026-04-02&endDate=2026-05-02", "date-unavailable", "through yesterday"},
		{all, "startDate=2026-05-02&endDate=2026-05-01", "date-order, date-unavailable", "before the startDate"},
		{all[5:], "startDate=2026-01-30&endDate=2026-04-30", "date-range", "from 2026-01-30 to 2026-04-30 are more than 90"},
		{all[4:5], april + "&cursor=user_none", "cursor-unknown", "not the ID of a user"},
	} {
		for _, path := range c.paths {
			a := v.call(400, "GET", analytics+path+c.query, nil)
			v.detail(a, c.want)
			same(t, path+c.query+": rule", a.header.Get(emulator.RuleHeader), c.rule)
			if id := a.object(t)["requestId"]; !strings.HasPrefix(fmt.Sprint(id), "req_") {
				t.Errorf("%s%s: requestId %v", path, c.query, id)
			}
		}
	}
	v.call(200, "GET", analytics+"/cost/me/query?queryKey=headline_daily&startDate=2026-01-31&endDate=2026-04-30", nil)
	v.call(200, "GET", analytics+"/tokens?startDate=2026-01-14&endDate=2026-04-30", nil)
}

func TestAnalytics_refusesCallers(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	// It does not matter that the query is wrong: the caller is looked at first, and before the caller the tier and the switch.
	refused := func(key, want string) {
		t.Helper()
		for _, query := range []string{april, "startDate=never", "x=1"} {
			a := v.as(key, 403, "GET", analytics+"/tokens?"+query, nil)
			v.detail(a, want)
			if id := a.object(t)["requestId"]; !strings.HasPrefix(fmt.Sprint(id), "req_") {
				t.Errorf("requestId %v", id)
			}
		}
	}
	refused(user, "Manager role or higher")
	v.call(204, "POST", "/_emulator/analytics/off", nil)
	refused(user, "Analytics is not enabled for the organization.")
	v.call(204, "POST", "/_emulator/tier", object{"tier": "team"})
	refused(user, "has the tier team; analytics needs the tier enterprise")
	must(t, v.SetTier(emulator.TierEnterprise))
	v.call(403, "GET", analytics+"/tokens?"+april, nil)
	v.call(204, "POST", "/_emulator/analytics/on", nil)
	v.call(200, "GET", analytics+"/tokens?"+april, nil)
	v.AllowAnalytics(false)
	v.call(403, "GET", analytics+"/tokens?"+april, nil)
	v.call(204, "POST", "/_emulator/reset", nil)
	v.call(200, "GET", analytics+"/tokens?"+april, nil)
}
