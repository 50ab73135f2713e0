package emulator_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestMyCost(t *testing.T) {
	v := startParallel(t)
	keys := map[string]string{"manager": v.BootstrapKey()}
	_, keys["user"] = v.human(emulator.RoleUser)
	_, keys["owner"] = v.human(emulator.RoleOwner)
	for role, key := range keys {
		days := v.rowsAs(key, "/cost/me/query", "queryKey=headline_daily&"+april)
		if len(days) != 30 || slices.ContainsFunc(days, func(r object) bool { return len(r) != 2 || r["fsc"].(float64) <= 0 }) {
			t.Errorf("%s: headline_daily: %v", role, days)
		}
		fsc := total(days, "fsc")
		for _, query := range []string{"cost_summary", "by_model", "fsc_by_model_daily", "fsc_by_multiplier_daily", "by_ticket", "by_pr"} {
			same(t, role+": "+query, total(v.rowsAs(key, "/cost/me/query", "queryKey="+query+"&"+april), "fsc"), fsc)
		}
		sessions := v.rowsAs(key, "/cost/me/query", "queryKey=my_activity_summary&"+april)[0]["sessions"]
		same(t, role, total(v.rowsAs(key, "/cost/me/query", "queryKey=my_intent_breakdown&"+april), "sessions"), sessions)
		for daily, detail := range map[string][2]string{"my_completed_tickets_daily": {"my_completed_tickets", "completed"}, "my_merged_prs_daily": {"my_merged_pr_detail", "merged"}} {
			if n, want := len(v.rowsAs(key, "/cost/me/query", "queryKey="+detail[0]+"&"+april)), total(v.rowsAs(key, "/cost/me/query", "queryKey="+daily+"&"+april), detail[1]); float64(n) != want {
				t.Errorf("%s: %d rows of %s, want %v", role, n, detail[0], want)
			}
		}
		top := v.rowsAs(key, "/cost/me/query", "queryKey=top_sessions&"+april)
		if len(top) != 10 || !slices.IsSortedFunc(top, func(a, b object) int { return int(b["fsc"].(float64) - a["fsc"].(float64)) }) {
			t.Errorf("%s: top_sessions: %v", role, top)
		}
		for _, query := range myCostKeys {
			if rows := v.rowsAs(key, "/cost/me/query", "queryKey="+query+"&startDate=2026-04-30&endDate=2026-04-30"); len(rows) == 0 {
				t.Errorf("%s: %s has no rows on an active day", role, query)
			}
		}
	}
	if reflect.DeepEqual(v.rowsAs(keys["user"], "/cost/me/query", "queryKey=headline_daily&"+april), v.rowsAs(keys["owner"], "/cost/me/query", "queryKey=headline_daily&"+april)) {
		t.Error("two members have the same credits")
	}
}
