package emulator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// TestNamedRefusals has each rule in each operation, and TestAccess the role and the switch.
func TestAnalytics_refuses(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ValidationErrorsArray: true})
	a := v.call(400, "GET", analytics+"/tokens?startDate=2026-05-02&endDate=2026-05-01", nil)
	v.detail(a, "2026-05-01 is before the startDate 2026-05-02")
	same(t, "rules", a.header.Get(emulator.RuleHeader), "date-order, date-unavailable")
	if id := a.object(t)["requestId"]; !strings.HasPrefix(fmt.Sprint(id), "req_") {
		t.Errorf("requestId %v", id)
	}
	v.call(400, "GET", analytics+"/cost/me/query?queryKey=headline_daily&startDate=2026-01-30&endDate=2026-04-30", nil)
	v.call(200, "GET", analytics+"/cost/me/query?queryKey=headline_daily&startDate=2026-01-31&endDate=2026-04-30", nil)
	v.call(200, "GET", analytics+"/tokens?startDate=2026-01-14&endDate=2026-04-30", nil)

	_, user := v.human(emulator.RoleUser)
	v.AllowAnalytics(false)
	must(t, v.SetTier(emulator.TierTeam)) // The tier is looked at before the switch, and that before the caller.
	v.detail(v.as(user, 403, "GET", analytics+"/tokens?"+april, nil), "has the tier team; analytics needs the tier enterprise")
}
