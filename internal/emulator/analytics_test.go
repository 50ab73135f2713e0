package emulator_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const analytics = "/api/v1/analytics"

// april is a range of days that the clock of start has behind it.
const april = "startDate=2026-04-01&endDate=2026-04-30"

var myCostKeys = []string{
	"headline_daily", "cost_summary", "top_sessions", "by_model", "fsc_by_model_daily", "fsc_by_multiplier_daily", "by_ticket", "by_pr", "my_activity_summary",
	"my_time_spent", "my_intent_breakdown", "my_completed_tickets_daily", "my_completed_tickets", "my_merged_prs_daily", "my_merged_pr_detail",
}

// rows are the data of a response to the manager.
func (v *env) rows(path, query string) []object {
	v.t.Helper()
	return v.rowsAs(v.BootstrapKey(), path, query)
}

func (v *env) rowsAs(key, path, query string) []object {
	v.t.Helper()
	var response struct{ Data []object }
	decode(v.t, v.as(key, 200, "GET", analytics+path+"?"+query, nil), &response)
	return response.Data
}

// total sums a number over rows.
func total(rows []object, field string) float64 {
	var sum float64
	for _, r := range rows {
		sum += r[field].(float64)
	}
	return sum
}

// nested returns a list in a row.
func nested(row object, field string) []object {
	var list []object
	for _, item := range row[field].([]any) {
		list = append(list, item.(object))
	}
	return list
}

// where returns the rows that have a value.
func where(rows []object, field string, value any) []object {
	return slices.DeleteFunc(slices.Clone(rows), func(r object) bool { return r[field] != value })
}

func dates(rows []object) []string {
	var list []string
	for _, r := range rows {
		list = append(list, r["date"].(string))
	}
	return slices.Compact(list)
}

// staff adds members of which the first is removed.
func (v *env) staff() (former string, keys []string) {
	v.t.Helper()
	for _, name := range []string{"gone", "ada", "bo", "cy", "di"} {
		id, key, err := v.AddHuman(emulator.Human{Email: name + "@people.example"})
		check.Must(v.t, err)
		if name == "gone" {
			former = id
			continue
		}
		keys = append(keys, key)
	}
	v.call(204, "DELETE", members+"?email=gone@people.example", nil)
	return former, keys
}

// A day's number is the sum over persons, in every endpoint that has it.
func TestAnalytics_endpointsAgree(t *testing.T) {
	v := startParallel(t)
	former, _ := v.staff()
	users := v.rows("/users", april)
	if len(users) != 30*6 {
		t.Fatalf("%d rows of users", len(users))
	}
	for path, fields := range map[string][]string{
		"/tokens": {"billable_tokens"}, "/tools": {"tool_calls"}, "/activity": {"sessions", "messages", "user_messages"},
		"/productivity":          {"files_created", "files_edited", "git_commits", "git_prs_created"},
		"/tokens?group_by=model": {"billable_tokens"}, "/tools?group_by=tool_name": {"tool_calls"},
	} {
		path, group, _ := strings.Cut(path, "?")
		for _, field := range fields {
			same(t, path+" "+group+" "+field, total(v.rows(path, april+"&"+group), field), total(users, field))
		}
	}
	day := v.rows("/tokens", april)[0]
	same(t, "by_model", total(nested(day, "by_model"), "input_tokens"), day["input_tokens"].(float64))
	same(t, "by_user", total(nested(day, "by_user"), "billable_tokens"), day["billable_tokens"].(float64))
	same(t, "email of a former member", where(nested(day, "by_user"), "user_id", former)[0]["user_email"], nil)
	// What a client has to bear: a server in two spellings, a malformed name.
	tools := v.rows("/tools", april)[0]
	same(t, "spellings of a server", len(where(nested(tools, "mcp_by_server"), "server", "tracker"))+len(where(nested(tools, "mcp_by_server"), "server", "Tracker")), 2)
	same(t, "tools", len(where(nested(tools, "by_tool"), "tool", "fetch_url\n")), 1)
}

// Numbers that were handed out once are what modules are tested against; a later emulator must not change them.
func TestAnalytics_numbersNeverChange(t *testing.T) {
	v := startParallel(t)
	got := v.rows("/users", "startDate=2026-04-01&endDate=2026-04-01")[0]
	delete(got, "user_id")
	want := object{
		"user_email": "manager@agentyard.example", "date": "2026-04-01", "tool_calls": 93.0, "billable_tokens": 1334022.0,
		"primary_model": "model-thinking", "primary_model_tier": "thinking", "files_created": 3.0, "files_edited": 12.0, "git_commits": 3.0,
		"git_prs_created": 0.0, "mcp_calls": 5.0, "skill_calls": 3.0, "slash_commands": 2.0, "hooks": 8.0, "sessions": 2.0, "messages": 185.0,
		"user_messages": 29.0, "assistant_messages": 156.0, "autonomy_ratio": 3.206896551724138, "delegation_level": "auto-low",
		"languages": []any{"Go", "TypeScript", "Python", "HCL"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAnalytics_quietDaysHaveNoRows(t *testing.T) {
	v := startParallel(t)
	all := v.rows("/tokens", "startDate=2026-02-13&endDate=2026-02-16")
	check.Must(t, errors.Join(v.AddQuietDay("2026-02-14"), v.AddQuietDay("2026-02-15")))
	for _, path := range []string{"/tokens", "/tools", "/activity", "/productivity", "/users", "/cost/me/query"} {
		query := "startDate=2026-02-13&endDate=2026-02-16"
		if path == "/cost/me/query" {
			query += "&queryKey=headline_daily"
		}
		same(t, path, dates(v.rows(path, query)), []string{"2026-02-13", "2026-02-16"})
	}
	same(t, "the day after the quiet days", v.rows("/tokens", "startDate=2026-02-16&endDate=2026-02-16")[0], all[3])
	for _, path := range []string{"/tokens?", "/users?", "/cost/me/query?queryKey=cost_summary&"} {
		if a := v.call(200, "GET", analytics+path+"startDate=2026-02-14&endDate=2026-02-15", nil); !strings.Contains(string(a.raw), `"data":[]`) {
			t.Errorf("%s: %s", path, a.raw)
		}
	}
}

// A former member keeps the rows of the days until the removal, without an email, and counts as long as they are recent.
func TestAnalytics_formerMembers(t *testing.T) {
	v := startParallel(t)
	id, _ := v.human(emulator.RoleUser)
	before := where(v.rows("/users", april), "user_id", id)
	v.call(204, "DELETE", members+"?email=user@people.example", nil)
	after := where(v.rows("/users", april), "user_id", id)
	if len(after) != 30 || before[0]["user_email"] != "user@people.example" || after[0]["user_email"] != nil {
		t.Fatalf("before: %v, after: %v", before[0], after[0])
	}
	for i := range before {
		delete(before[i], "user_email")
		delete(after[i], "user_email")
	}
	same(t, "rows before the removal", before, after)
	v.clock.Advance(60 * 24 * time.Hour) // The removal was on May 1st.
	same(t, "days of the former member", dates(where(v.rows("/users", "startDate=2026-04-29&endDate=2026-06-01"), "user_id", id)), []string{"2026-04-29", "2026-04-30", "2026-05-01"})
	for date, want := range map[string][3]float64{
		"2026-05-01": {2, 2, 2}, "2026-05-02": {1, 2, 2}, "2026-05-07": {1, 2, 2}, "2026-05-08": {1, 1, 2}, "2026-05-30": {1, 1, 2}, "2026-05-31": {1, 1, 1},
	} {
		r := v.rows("/activity", "startDate="+date+"&endDate="+date)[0]
		same(t, date, [3]float64{r["daily_active_users"].(float64), r["weekly_active_users"].(float64), r["monthly_active_users"].(float64)}, want)
	}
	// Who was active on quiet days only was not active.
	v.call(204, "POST", "/_emulator/quiet-days", object{"date": "2026-05-01"})
	same(t, "weekly_active_users after a quiet day", v.rows("/activity", "startDate=2026-05-07&endDate=2026-05-07")[0]["weekly_active_users"], 1.0)
}

func TestAnalytics_dataThroughYesterday(t *testing.T) {
	t.Parallel()
	fake := clock.NewFake(time.Date(2026, 5, 1, 23, 59, 59, 0, time.FixedZone("", 3600)).Add(time.Hour)) // The last second of the day in UTC.
	v := start(t, emulator.Options{Clock: fake})
	const today = "startDate=2026-01-14&endDate=2026-05-01"
	for _, path := range []string{"/tokens?", "/tools?", "/activity?", "/productivity?", "/users?"} {
		v.detail(v.call(400, "GET", analytics+path+today, nil), "no data of the endDate 2026-05-01 yet; today is 2026-05-01 in UTC")
		v.call(200, "GET", analytics+path+"startDate=2026-04-30&endDate=2026-04-30", nil)
	}
	fake.Advance(time.Second)
	if got := dates(v.rows("/activity", today)); len(got) != 108 || got[0] != "2026-01-14" || got[107] != "2026-05-01" {
		t.Errorf("%d days: %v", len(got), got)
	}
}

func TestAnalytics_usersPageByUser(t *testing.T) {
	v := startParallel(t)
	former, _ := v.staff()
	for i := range 20 {
		v.join(fmt.Sprintf("x%02d@people.example", i))
	}
	const days = "startDate=2026-04-28&endDate=2026-04-30"
	type page struct {
		Data []object
		Meta struct {
			HasMore    bool    `json:"has_more"`
			NextCursor *string `json:"next_cursor"`
		}
	}
	walk := func(v *env, query string) (rows []object, sizes []int) {
		t.Helper()
		cursor := ""
		for {
			var p page
			decode(t, v.call(200, "GET", analytics+"/users?"+query+cursor, nil), &p)
			rows, sizes = append(rows, p.Data...), append(sizes, len(p.Data))
			if p.Meta.HasMore != (p.Meta.NextCursor != nil) {
				t.Fatalf("%+v", p.Meta)
			}
			if !p.Meta.HasMore {
				return rows, sizes
			}
			same(t, "the cursor", p.Data[len(p.Data)-1]["user_id"], *p.Meta.NextCursor)
			cursor = "&cursor=" + *p.Meta.NextCursor
		}
	}
	whole, sizes := walk(v, days+"&limit=100")
	if !slices.Equal(sizes, []int{26 * 3}) {
		t.Fatalf("one page: %v", sizes)
	}
	for i, r := range whole {
		fields(t, fmt.Sprint("row ", i), r, object{"date": fmt.Sprintf("2026-04-%d", 28+i%3), "user_id": whole[i/3*3]["user_id"]})
	}
	for query, want := range map[string][]int{"": {60, 18}, "&limit=26": {78}, "&limit=25": {75, 3}, "&limit=13": {39, 39}} {
		rows, sizes := walk(v, days+query)
		if !slices.Equal(sizes, want) || !reflect.DeepEqual(rows, whole) {
			t.Errorf("%q: pages of %v, want %v", query, sizes, want)
		}
	}
	// A user without rows takes no place on a page, but is a cursor still.
	v.clock.Advance(72 * time.Hour)
	rows, sizes := walk(v, "startDate=2026-05-02&endDate=2026-05-03&limit=5")
	if !slices.Equal(sizes, []int{10, 10, 10, 10, 10}) || len(where(rows, "user_id", former)) > 0 {
		t.Errorf("after the removal: %v", sizes)
	}
	v.call(200, "GET", analytics+"/users?startDate=2026-05-02&endDate=2026-05-03&cursor="+former, nil)
}

func TestMyCost(t *testing.T) {
	v := startParallel(t)
	keys := map[string]string{"manager@agentyard.example": v.BootstrapKey()}
	_, keys["user@people.example"] = v.human(emulator.RoleUser)
	_, keys["owner@people.example"] = v.human(emulator.RoleOwner)
	for email, key := range keys {
		for _, query := range myCostKeys {
			rows := v.rowsAs(key, "/cost/me/query", "queryKey="+query+"&"+april)
			if isHeadline := query == "headline_daily"; len(rows) != 30 || isHeadline != (len(rows[0]) == 2) {
				t.Errorf("%s: %s: %v", email, query, rows)
			}
			same(t, email+": "+query, total(rows, "fsc"), total(where(v.rows("/users", april), "user_email", email), "billable_tokens"))
		}
	}
}

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
	check.Must(t, v.SetTier(emulator.TierTeam)) // The tier is looked at before the switch, and that before the caller.
	v.detail(v.as(user, 403, "GET", analytics+"/tokens?"+april, nil), "has the tier team; analytics needs the tier enterprise")
}
