package emulator_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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
		must(v.t, err)
		if name == "gone" {
			former = id
			continue
		}
		keys = append(keys, key)
	}
	v.call(204, "DELETE", members+"?email=gone@people.example", nil)
	return former, keys
}

func TestAnalytics_endpointsAgree(t *testing.T) {
	v := startParallel(t)
	former, keys := v.staff()
	tokens, users := v.rows("/tokens", april), v.rows("/users", april)
	tools, activity, productivity := v.rows("/tools", april), v.rows("/activity", april), v.rows("/productivity", april)
	perModel, perTool, perClient := v.rows("/tokens", april+"&group_by=model"), v.rows("/tools", april+"&group_by=tool_name"), v.rows("/activity", april+"&group_by=client")
	if len(tokens) != 30 || len(users) != 30*6 || total(tokens, "billable_tokens") == 0 {
		t.Fatalf("%d days of tokens, %d rows of users", len(tokens), len(users))
	}
	mine := map[string][]object{}
	for _, key := range append(keys, v.BootstrapKey()) {
		for _, r := range v.rowsAs(key, "/cost/me/query", "queryKey=headline_daily&"+april) {
			date := r["date"].(string)
			mine[date] = append(mine[date], r)
		}
	}
	for i, day := range tokens {
		date := day["date"]
		theirs := where(users, "date", date)
		equal := func(what string, got, want float64) {
			t.Helper()
			if got != want || math.IsNaN(got) {
				t.Errorf("%s: %s: %v, want %v", date, what, got, want)
			}
		}
		equal("days", float64(len(where(tools, "date", date))+len(where(activity, "date", date))+len(where(productivity, "date", date))), 3)

		equal("tokens of users", total(theirs, "billable_tokens"), day["billable_tokens"].(float64))
		equal("by_user", total(nested(day, "by_user"), "billable_tokens"), day["billable_tokens"].(float64))
		equal("everybody's own", total(mine[date.(string)], "fsc"), day["billable_tokens"].(float64)-total(where(theirs, "user_id", former), "billable_tokens"))
		for _, field := range []string{"billable_tokens", "input_tokens", "output_tokens"} {
			equal("by_model "+field, total(nested(day, "by_model"), field), day[field].(float64))
			equal("grouped "+field, total(where(perModel, "date", date), field), day[field].(float64))
		}
		for _, u := range nested(day, "by_user") {
			equal("by_model of a user", total(nested(u, "by_model"), "billable_tokens"), u["billable_tokens"].(float64))
			own := where(theirs, "user_id", u["user_id"])[0]
			equal("a user", own["billable_tokens"].(float64), u["billable_tokens"].(float64))
			same(t, date, []any{u["user_email"] == nil, own["user_email"]}, []any{u["user_id"] == former, u["user_email"]})
			if models := nested(u, "by_model"); own["primary_model"] != models[0]["model_id"] || own["primary_model_tier"] != models[0]["model_tier"] {
				t.Errorf("%s: primary model %v of %v", date, own["primary_model"], models)
			}
		}

		tool, act, prod := tools[i], activity[i], productivity[i]
		equal("tool_calls", total(theirs, "tool_calls"), tool["tool_calls"].(float64))
		equal("by_tool", total(nested(tool, "by_tool"), "invocations"), tool["tool_calls"].(float64))
		equal("grouped tools", total(where(perTool, "date", date), "tool_calls"), tool["tool_calls"].(float64))
		equal("mcp_by_server", total(nested(tool, "mcp_by_server"), "invocations"), total(theirs, "mcp_calls"))
		equal("mcp_users_with_mcp", tool["mcp_users_with_mcp"].(float64), float64(len(theirs)-len(where(theirs, "mcp_calls", 0.0))))
		for list, fields := range map[string][2]string{
			"skills_by_name": {"skills_invocations", "skill_calls"}, "slash_commands_by_name": {"slash_commands_invocations", "slash_commands"},
			"hooks_by_event": {"hooks_invocations", "hooks"},
		} {
			equal(list, total(nested(tool, list), "count"), tool[fields[0]].(float64))
			equal(fields[0], tool[fields[0]].(float64), total(theirs, fields[1]))
		}
		equal("autonomy_ratio_avg", tool["autonomy_ratio_avg"].(float64), total(theirs, "tool_calls")/total(theirs, "user_messages"))
		ratios := []float64{}
		for _, u := range theirs {
			ratios = append(ratios, u["autonomy_ratio"].(float64))
		}
		slices.Sort(ratios)
		equal("autonomy_ratio_p50", tool["autonomy_ratio_p50"].(float64), ratios[2]) // Of six.
		equal("autonomy_ratio_p90", tool["autonomy_ratio_p90"].(float64), ratios[5])
		equal("tool_calls_per_session_avg", tool["tool_calls_per_session_avg"].(float64), total(theirs, "tool_calls")/total(theirs, "sessions"))
		equal("user_turns_per_session_avg", tool["user_turns_per_session_avg"].(float64), total(theirs, "user_messages")/total(theirs, "sessions"))
		levels := tool["tool_autonomy_level_ratio"].(object)
		equal("levels", math.Round(1e9*total([]object{levels}, "auto_high")+1e9*total([]object{levels}, "auto_medium")+1e9*total([]object{levels}, "auto_low")+1e9*total([]object{levels}, "manual")), 1e9)
		equal("auto_high", levels["auto_high"].(float64), total(where(theirs, "delegation_level", "auto-high"), "tool_calls")/tool["tool_calls"].(float64))

		equal("daily_active_users", act["daily_active_users"].(float64), float64(len(theirs)))
		equal("weekly_active_users", act["weekly_active_users"].(float64), 6)
		equal("monthly_active_users", act["monthly_active_users"].(float64), 6)
		for client, n := range act["daily_active_users_by_client"].(object) {
			grouped := where(where(perClient, "date", date), "group_key", client)
			if n.(float64) == 0 {
				equal("nobody on "+client, float64(len(grouped)), 0)
			} else {
				equal(client, grouped[0]["daily_active_users"].(float64), n.(float64))
			}
		}
		equal("web_users", tool["web_users"].(float64), act["daily_active_users_by_client"].(object)["web"].(float64))
		for _, field := range []string{"sessions", "messages", "user_messages"} {
			equal(field, act[field].(float64), total(theirs, field))
		}
		for _, u := range theirs {
			equal("messages of a user", u["messages"].(float64), u["user_messages"].(float64)+u["assistant_messages"].(float64))
		}

		for _, field := range []string{"files_created", "files_edited", "git_commits", "git_prs_created"} {
			equal(field, prod[field].(float64), total(theirs, field))
		}
		for _, list := range []string{"by_extension", "by_language"} {
			equal(list, total(nested(prod, list), "count"), prod["files_created"].(float64)+prod["files_edited"].(float64))
		}
		for _, language := range nested(prod, "by_language") {
			if !slices.ContainsFunc(theirs, func(u object) bool { return slices.Contains(u["languages"].([]any), language["language"]) }) {
				t.Errorf("%s: nobody uses %v", date, language["language"])
			}
		}
	}
	// What a client has to bear: a server in two spellings, a malformed name.
	spellings := nested(tools[0], "mcp_by_server")
	same(t, "spellings of a server", []any{len(where(spellings, "server", "tracker")), len(where(spellings, "server", "Tracker"))}, []any{1, 1})
	same(t, "tools", len(where(nested(tools[0], "by_tool"), "tool", "fetch_url\n")), 1)
}

// Only the IDs of users are random, and the order of members is not that of their arrival.
func TestAnalytics_sameMembersSameNumbers(t *testing.T) {
	t.Parallel()
	var responses []string
	for _, names := range [][]string{{"ada", "bo", "cy"}, {"cy", "ada", "Bo"}} {
		v := start(t, emulator.Options{})
		var text strings.Builder
		keys := []string{v.BootstrapKey()}
		ids := map[string]string{}
		for _, name := range names {
			id, key, err := v.AddHuman(emulator.Human{Email: name + "@people.example"})
			must(t, err)
			ids[id] = "ID of " + strings.ToLower(name)
			if name == "ada" {
				keys = append(keys, key)
			}
		}
		for _, path := range []string{"/tokens?", "/tokens?group_by=model&", "/tools?", "/tools?group_by=tool_name&", "/activity?", "/activity?group_by=client&", "/productivity?", "/users?"} {
			text.Write(v.call(200, "GET", analytics+path+april, nil).raw)
		}
		for _, key := range myCostKeys {
			for _, who := range keys {
				text.Write(v.as(who, 200, "GET", analytics+"/cost/me/query?queryKey="+key+"&"+april, nil).raw)
			}
		}
		same := strings.ReplaceAll(text.String(), "Bo@people", "bo@people")
		for id, name := range ids {
			same = strings.ReplaceAll(same, id, name)
		}
		manager := v.rows("/users", april)
		same = strings.ReplaceAll(same, where(manager, "user_email", "manager@agentyard.example")[0]["user_id"].(string), "ID of manager")
		responses = append(responses, same)
	}
	same(t, "answers of two emulators with the same members", responses[0], responses[1])
	for _, want := range []string{`"org_id":"org_01KEVMTN00AGENTYARDEXAMP1E"`, `"start_date":"2026-04-01"`, `"end_date":"2026-04-30"`} {
		if !strings.Contains(responses[0], want) {
			t.Errorf("the answers lack %s", want)
		}
	}
}

// Numbers that were handed out once are what modules are tested against; a later emulator must not change them.
func TestAnalytics_numbersNeverChange(t *testing.T) {
	v := startParallel(t)
	got := v.rows("/users", "startDate=2026-04-01&endDate=2026-04-01")[0]
	delete(got, "user_id")
	want := object{
		"user_email": "manager@agentyard.example", "date": "2026-04-01", "tool_calls": 127.0, "billable_tokens": 95067.0,
		"primary_model": "model-mini", "primary_model_tier": "standard", "files_created": 4.0, "files_edited": 16.0, "git_commits": 4.0,
		"git_prs_created": 1.0, "mcp_calls": 7.0, "skill_calls": 1.0, "slash_commands": 2.0, "hooks": 9.0, "sessions": 4.0, "messages": 89.0,
		"user_messages": 31.0, "assistant_messages": 58.0, "autonomy_ratio": 4.096774193548387, "delegation_level": "auto-medium",
		"languages": []any{"Go", "TypeScript", "Python", "HCL"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAnalytics_quietDaysHaveNoRows(t *testing.T) {
	v := startParallel(t)
	all := v.rows("/tokens", "startDate=2026-02-13&endDate=2026-02-16")
	v.call(204, "POST", "/_emulator/quiet-days", object{"date": "2026-02-14"})
	must(t, v.AddQuietDay("2026-02-15"))
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
	for _, wrong := range []string{"", "2026-02-30", "14.2.2026"} {
		v.detail(v.call(400, "POST", "/_emulator/quiet-days", object{"date": wrong}), "must be a date")
	}
	v.call(400, "POST", "/_emulator/quiet-days", object{"day": "2026-02-14"})

	v.call(204, "POST", "/_emulator/reset", nil)
	same(t, "after the reset", dates(v.rows("/tokens", "startDate=2026-02-13&endDate=2026-02-16")), dates(all))
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

	small := start(t, emulator.Options{MaxPageSize: 2})
	small.staff()
	if _, sizes := walk(small, days+"&limit=100"); !slices.Equal(sizes, []int{6, 6, 6}) {
		t.Errorf("with small pages: %v", sizes)
	}
}

func TestAnalytics_shuffledLists(t *testing.T) {
	t.Parallel()
	plain, v := start(t, emulator.Options{}), start(t, emulator.Options{ShuffleLists: true})
	plain.staff()
	v.staff()
	order := func(v *env, path, query, list, field string) (days []string, joined string) {
		rows := v.rows(path, query)
		var text []string
		for _, r := range rows {
			if list == "" {
				text = append(text, fmt.Sprint(r["date"], r[field]))
				continue
			}
			for _, item := range nested(r, list) {
				text = append(text, fmt.Sprint(r["date"], item[field]))
			}
		}
		return dates(rows), strings.Join(text, " ")
	}
	for _, c := range [][4]string{
		{"/tokens", april, "by_user", "billable_tokens"}, {"/tokens", april, "by_model", "model_id"}, {"/tokens", april + "&group_by=model", "", "group_key"},
		{"/tools", april, "by_tool", "tool"}, {"/tools", april, "mcp_by_server", "server"}, {"/tools", april, "skills_by_name", "name"},
		{"/tools", april, "slash_commands_by_name", "name"}, {"/tools", april, "hooks_by_event", "event"}, {"/productivity", april, "by_extension", "extension"},
		{"/productivity", april, "by_language", "language"}, {"/activity", april + "&group_by=client", "", "group_key"},
	} {
		days, ordered := order(plain, c[0], c[1], c[2], c[3])
		shuffledDays, shuffled := order(v, c[0], c[1], c[2], c[3])
		sorted := func(text string) []string { return slices.Sorted(slices.Values(strings.Fields(text))) }
		if ordered == shuffled || !slices.Equal(sorted(ordered), sorted(shuffled)) || !slices.Equal(days, shuffledDays) || !slices.IsSorted(days) {
			t.Errorf("%v: days %v; %s", c, shuffledDays, shuffled)
		}
	}
	if got := dates(where(v.rows("/users", april), "user_email", "ada@people.example")); len(got) != 30 || !slices.IsSorted(got) {
		t.Errorf("/users: %v", got)
	}
}

// Days are part of what the emulator holds; a switch is not.
func TestAnalytics_quietDaysSurviveARestart(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{DataFile: dataFile(t)})
	v.call(204, "POST", "/_emulator/analytics/off", nil)
	v.call(204, "POST", "/_emulator/quiet-days", object{"date": "2026-04-30"})
	same(t, "days", len(v.restart().rows("/tokens", april)), 29)
	team := start(t, emulator.Options{Tier: emulator.TierTeam})
	team.call(403, "GET", analytics+"/tokens?"+april, nil)
}

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
