package analytics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
)

var area = areatest.New[*Client](New)

var february = Days{Start: "2026-02-01", End: "2026-02-28"}

const (
	analyticsRoute = "/api/v1/analytics/"
	februaryQuery  = "endDate=2026-02-28&startDate=2026-02-01"
)

func quantity(n float64) *float64 { return &n }

func word(s string) *string { return &s }

// inJSON shows values as JSON, with pointers resolved.
func inJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	clienttest.Must(t, err)
	return string(text)
}

// parts splits a report into its parts, for rows of any type.
func parts[T any](answer *Report[T], err error) (organization string, rows any, failure error) {
	if err != nil {
		return "", nil, err
	}
	return answer.OrgID, answer.Rows, nil
}

func TestAnalytics_rows(t *testing.T) {
	t.Parallel()
	const meta = `,"meta":{"org_id":"org_1","start_date":"2026-02-01","end_date":"2026-02-28"}`
	for name, tc := range map[string]struct {
		ask         func(*Client) (string, any, error)
		query, rows string
		want        any
	}{
		"tokens": {
			ask:   func(c *Client) (string, any, error) { return parts(c.Tokens(t.Context(), february, "")) },
			query: "tokens?" + februaryQuery,
			rows: `{"date":"2026-02-02","billable_tokens":9007199254740992,"input_tokens":0.125,"output_tokens":3,"cache_read_tokens":4,"cache_write_tokens":0,"new":1,` +
				`"by_model":[{"model_id":"m","model_tier":"standard","billable_tokens":1,"input_tokens":2,"output_tokens":3,"new":1}],` +
				`"by_user":[{"user_id":"u","user_email":null,"billable_tokens":1,"by_model":[{"model_id":"m"}]},{"user_id":"v","user_email":"v@agentyard.example"}]},` +
				`{"date":"2026-02-01","input_tokens":null,"by_model":[]}`,
			want: []TokenRow{
				{Date: "2026-02-01", ByModel: []ModelTokens{}},
				{
					Date: "2026-02-02", BillableTokens: quantity(1 << 53), InputTokens: quantity(0.125), OutputTokens: quantity(3), CacheReadTokens: quantity(4), CacheWriteTokens: quantity(0),
					ByModel: []ModelTokens{{word("m"), word("standard"), quantity(1), quantity(2), quantity(3)}},
					ByUser:  []UserTokens{{UserID: word("u"), BillableTokens: quantity(1), ByModel: []ModelTokens{{ModelID: word("m")}}}, {UserID: word("v"), UserEmail: word("v@agentyard.example")}},
				},
			},
		},
		"tokens by model": {
			ask:   func(c *Client) (string, any, error) { return parts(c.Tokens(t.Context(), february, "model")) },
			query: "tokens?endDate=2026-02-28&group_by=model&startDate=2026-02-01",
			rows:  `{"date":"2026-02-02","group_key":"b"},{"date":"2026-02-02","group_key":"a","input_tokens":1},{"date":"2026-02-01","group_key":"c"}`,
			want: []TokenRow{
				{Date: "2026-02-01", GroupKey: word("c")}, {Date: "2026-02-02", GroupKey: word("a"), InputTokens: quantity(1)}, {Date: "2026-02-02", GroupKey: word("b")},
			},
		},
		"tools": {
			ask:   func(c *Client) (string, any, error) { return parts(c.Tools(t.Context(), february, "")) },
			query: "tools?" + februaryQuery,
			rows: `{"date":"2026-02-02","tool_calls":1,"by_tool":[{"tool":"z","invocations":2},{"tool":"a"}],"mcp_users_with_mcp":3,"mcp_by_server":[{"server":"s","invocations":4}],` +
				`"skills_invocations":5,"skills_by_name":[{"name":"n","count":6}],"slash_commands_invocations":7,"slash_commands_by_name":[{"name":"/n","count":8}],` +
				`"hooks_invocations":9,"hooks_by_event":[{"event":"e","matcher":"m","command":"c","count":10}],"web_users":11,"autonomy_ratio_avg":1.5,"autonomy_ratio_p50":1.25,` +
				`"autonomy_ratio_p90":2.5,"tool_calls_per_session_avg":12.5,"user_turns_per_session_avg":13.5,"tool_autonomy_level_ratio":{"auto_high":0.1,"auto_medium":0.2,"auto_low":0.3,"manual":0.4}}`,
			want: []ToolRow{{
				Date: "2026-02-02", ToolCalls: quantity(1), ByTool: []ToolInvocations{{word("a"), nil}, {word("z"), quantity(2)}}, MCPUsersWithMCP: quantity(3), MCPByServer: []MCPInvocations{{word("s"), quantity(4)}},
				SkillsInvocations: quantity(5), SkillsByName: []NameCount{{word("n"), quantity(6)}}, SlashCommandsInvocations: quantity(7), SlashCommandsByName: []NameCount{{word("/n"), quantity(8)}},
				HooksInvocations: quantity(9), HooksByEvent: []HookCount{{word("e"), word("m"), word("c"), quantity(10)}}, WebUsers: quantity(11), AutonomyRatioAvg: quantity(1.5), AutonomyRatioP50: quantity(1.25),
				AutonomyRatioP90: quantity(2.5), ToolCallsPerSessionAvg: quantity(12.5), UserTurnsPerSessionAvg: quantity(13.5),
				ToolAutonomyLevelRatio: &AutonomyLevels{quantity(0.1), quantity(0.2), quantity(0.3), quantity(0.4)},
			}},
		},
		"tools by name": {
			ask: func(c *Client) (string, any, error) {
				return parts(c.Tools(t.Context(), february, "tool_name"))
			},
			query: "tools?endDate=2026-02-28&group_by=tool_name&startDate=2026-02-01",
			rows:  `{"date":"2026-02-02","group_key":"z","tool_calls":2},{"date":"2026-02-02","group_key":"a","tool_calls":1}`,
			want:  []ToolRow{{Date: "2026-02-02", GroupKey: word("a"), ToolCalls: quantity(1)}, {Date: "2026-02-02", GroupKey: word("z"), ToolCalls: quantity(2)}},
		},
		"activity": {
			ask:   func(c *Client) (string, any, error) { return parts(c.Activity(t.Context(), february, "")) },
			query: "activity?" + februaryQuery,
			rows: `{"date":"2026-02-02","daily_active_users":1,"weekly_active_users":2,"monthly_active_users":3,"daily_active_users_by_client":{"terminal-ui":1,"web":null,"new":0},` +
				`"sessions":4,"messages":5,"user_messages":6}`,
			want: []ActivityRow{{
				Date: "2026-02-02", DailyActiveUsers: quantity(1), WeeklyActiveUsers: quantity(2), MonthlyActiveUsers: quantity(3), Sessions: quantity(4), Messages: quantity(5), UserMessages: quantity(6),
				DailyActiveUsersByClient: map[string]*float64{"terminal-ui": quantity(1), "web": nil, "new": quantity(0)},
			}},
		},
		"activity by client": {
			ask: func(c *Client) (string, any, error) {
				return parts(c.Activity(t.Context(), february, "client"))
			},
			query: "activity?endDate=2026-02-28&group_by=client&startDate=2026-02-01",
			rows:  `{"date":"2026-02-02","group_key":"web","daily_active_users":1},{"date":"2026-02-02","group_key":"terminal-ui","daily_active_users":2}`,
			want:  []ActivityRow{{Date: "2026-02-02", GroupKey: word("terminal-ui"), DailyActiveUsers: quantity(2)}, {Date: "2026-02-02", GroupKey: word("web"), DailyActiveUsers: quantity(1)}},
		},
		"productivity": {
			ask:   func(c *Client) (string, any, error) { return parts(c.Productivity(t.Context(), february)) },
			query: "productivity?" + februaryQuery,
			rows: `{"date":"2026-02-03"},{"date":"2026-02-02","files_created":1,"files_edited":2,"by_extension":[{"extension":".go","count":3}],"by_language":[{"language":"Go","count":4}],` +
				`"git_commits":5,"git_prs_created":6}`,
			want: []ProductivityRow{
				{
					Date: "2026-02-02", FilesCreated: quantity(1), FilesEdited: quantity(2), ByExtension: []ExtensionCount{{word(".go"), quantity(3)}}, ByLanguage: []LanguageCount{{word("Go"), quantity(4)}},
					GitCommits: quantity(5), GitPRsCreated: quantity(6),
				},
				{Date: "2026-02-03"},
			},
		},
		"users": {
			ask:   func(c *Client) (string, any, error) { return parts(c.Users(t.Context(), february, nil, 0)) },
			query: "users?endDate=2026-02-28&limit=100&startDate=2026-02-01",
			rows: `{"user_id":"b","user_email":null,"date":"2026-02-02","tool_calls":1,"billable_tokens":2,"primary_model":"m","primary_model_tier":"thinking","files_created":3,"files_edited":4,` +
				`"git_commits":5,"git_prs_created":6,"mcp_calls":7,"skill_calls":8,"slash_commands":9,"hooks":10,"sessions":11,"messages":12,"user_messages":13,"assistant_messages":14,` +
				`"autonomy_ratio":1.5,"delegation_level":"auto-low","languages":["Go","SQL"]},{"user_id":"a","date":"2026-02-02","user_email":"a@agentyard.example","languages":[]},{"user_id":"b","date":"2026-02-01"}`,
			want: []UserRow{
				{UserID: "b", Date: "2026-02-01"},
				{UserID: "a", Date: "2026-02-02", UserEmail: word("a@agentyard.example"), Languages: []string{}},
				{
					UserID: "b", Date: "2026-02-02", ToolCalls: quantity(1), BillableTokens: quantity(2), PrimaryModel: word("m"), PrimaryModelTier: word("thinking"), FilesCreated: quantity(3), FilesEdited: quantity(4),
					GitCommits: quantity(5), GitPRsCreated: quantity(6), MCPCalls: quantity(7), SkillCalls: quantity(8), SlashCommands: quantity(9), Hooks: quantity(10), Sessions: quantity(11), Messages: quantity(12),
					UserMessages: quantity(13), AssistantMessages: quantity(14), AutonomyRatio: quantity(1.5), DelegationLevel: word("auto-low"), Languages: []string{"Go", "SQL"},
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, func(string) string { return `200 {"data":[` + tc.rows + `]` + meta + `}` })
			organization, rows, err := tc.ask(c)
			clienttest.Must(t, err)
			if organization != "org_1" || !reflect.DeepEqual(rows, tc.want) {
				t.Errorf("got of %q\n%s\nwant\n%s", organization, inJSON(t, rows), inJSON(t, tc.want))
			}
			rec.Want(t, "GET "+analyticsRoute+tc.query)
		})
	}
}

// Fields of the envelope may be missing, but rows that are not a list are an error.
func TestAnalytics_envelopes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"data":[{"date":"2026-02-01"}],"meta":{"org_id":"o","has_more":false}}`: "o 1",
		`{"data":[],"meta":{"org_id":"o"}}`:                                       "o 0",
		`{"data":null,"meta":null}`:                                               " 0",
		`{"data":[{"date":"2026-02-01"}]}`:                                        " 1",
		`{"data":[{"date":"2026-02-01"}],"meta":{"org_id":null},"new":{}}`:        " 1",
		` [{"date":"2026-02-01"},{"date":"2026-02-02"}]`:                          " 2",
		`{"rows":[]}`:                        "the field data is missing",
		`{"data":{}}`:                        "unexpected response",
		`{"data":[],"meta":"x"}`:             "unexpected response",
		`{"data":[{"date":"2026-02-01"},1]}`: "unexpected response",
		`{"data":[{"date":"2026-02-01"},{"git_commits":1}]}`: "its row 2 has no date",
		`{"data":[null]}`: "its row 1 has no date",
		`{"data":[{"date":"2026-02-01","git_commits":"many"}]}`:                  "unexpected response",
		`{"data":[],"meta":{"has_more":true}}`:                                   "has no cursor",
		`{"data":[],"meta":{"start_date":"2026-02-01","end_date":"2026-02-28"}}`: " 0",
		`{"data":[],"meta":{"start_date":null,"end_date":null}}`:                 " 0",
		`{"data":[],"meta":{"start_date":"2026-02-02","end_date":"2026-02-28"}}`: "it covers other days than requested: 2026-02-02 to 2026-02-28",
		`{"data":[],"meta":{"end_date":"2026-03-01"}}`:                           "it covers other days than requested",
		`{"data":[{"date":"2026-02-28"},{"date":"2026-02-01"}]}`:                 " 2",
		`{"data":[{"date":"2026-01-31"}]}`:                                       "its row 1 is outside the requested days: 2026-01-31",
		`[{"date":"2026-02-01"},{"date":"2026-03-01"}]`:                          "its row 2 is outside the requested days: 2026-03-01",
		`"data"`: "wrong type",
	} {
		c, _, _ := area.ServeShort(t, func(string) string { return "200 " + body })
		got, err := c.Productivity(t.Context(), february)
		text := fmt.Sprint(err)
		if err == nil {
			text = fmt.Sprint(got.OrgID, " ", len(got.Rows))
		}
		if !strings.Contains(text, want) || err == nil && got.Rows == nil {
			t.Errorf("%s: got %q, want %q", body, text, want)
		}
	}
}

func TestAnalytics_refusal(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, func(string) string {
		return `403 {"title":"Forbidden","detail":"Analytics is not enabled for the organization.","status":403,"requestId":"req_1"}`
	})
	_, err := c.Tools(t.Context(), february, "")
	if want := "getToolAnalytics (GET /api/v1/analytics/tools) returned 403: Analytics is not enabled for the organization (request req_1)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	// Errors are not cached: access may have been granted since.
	_, _ = c.Tools(t.Context(), february, "")
	rec.WantCount(t, "GET", 2)
}

func TestUserAnalytics_pages(t *testing.T) {
	t.Parallel()
	const users = "GET " + analyticsRoute + "users?"
	first := func(limit string) string {
		return users + "endDate=2026-02-28&limit=" + limit + "&startDate=2026-02-01"
	}
	next := func(cursor, limit string) string {
		return users + "cursor=" + cursor + "&endDate=2026-02-28&limit=" + limit + "&startDate=2026-02-01"
	}
	rows := func(users string) string {
		var all []string
		for _, user := range users {
			for _, day := range []string{"2026-02-01", "2026-02-02"} {
				all = append(all, fmt.Sprintf(`{"user_id":%q,"date":%q}`, string(user), day))
			}
		}
		return `200 {"data":[` + strings.Join(all, ",") + `],"meta":{"org_id":"o"`
	}
	const all = "1a 1b 1c 1d 1e 2a 2b 2c 2d 2e "
	for name, tc := range map[string]struct {
		most   int
		limit  string
		second string
		want   string
		asks   int
	}{
		"all":                {0, "100", "", all, 3},
		"more than all":      {200, "100", "", all, 3},
		"as many":            {10, "10", "", all, 3},
		"half of them":       {6, "6", "", "1b 1d 1e 2b 2d 2e ", 2},
		"part of a page":     {5, "5", "", "1b 1d 1e 2d 2e ", 2},
		"one page":           {4, "4", "", "1d 1e 2d 2e ", 1},
		"one":                {1, "1", "", "1e ", 1},
		"repeated cursor":    {0, "100", rows("b") + `,"has_more":true,"next_cursor":"d"}}`, "cursor leads back", 2},
		"overlapping page":   {0, "100", rows("db") + `,"has_more":true,"next_cursor":"b"}}`, all, 3},
		"other organization": {0, "100", `200 {"data":[],"meta":{"org_id":"p","has_more":false}}`, "it belongs to organization p, and an earlier page to o", 2},
		"no organization":    {0, "100", `200 {"data":[],"meta":{"has_more":false}}`, "1d 1e 2d 2e ", 2},
		"same rows":          {0, "100", rows("ed") + `,"has_more":true,"next_cursor":"b"}}`, "cursor leads back", 2},
		"no cursor":          {0, "100", rows("b") + `,"has_more":true,"next_cursor":null}}`, "has no cursor", 2},
		"broken half-way":    {0, "100", `400 {"title":"Bad Request","detail":"cursor is no user.","requestId":"req_9"}`, "returned 400: cursor is no user (request req_9)", 2},
		"ends without meta":  {0, "100", `200 {"data":[{"user_id":"b","date":"2026-02-01"}]}`, "1b 1d 1e 2d 2e ", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := tc.second
			if second == "" {
				second = rows("b") + `,"has_more":true,"next_cursor":"b"}}`
			}
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
				first(tc.limit):     rows("ed") + `,"has_more":true,"next_cursor":"d"}}`,
				next("d", tc.limit): second,
				next("b", tc.limit): rows("ca") + `,"has_more":false,"next_cursor":null}}`,
			}))
			got, err := c.Users(t.Context(), february, nil, tc.most)
			text := fmt.Sprint(err)
			if err == nil {
				text = ""
				for _, row := range got.Rows {
					text += row.Date[9:] + row.UserID + " "
				}
				if got.OrgID != "o" {
					t.Errorf("the organization is %q", got.OrgID)
				}
			}
			if err == nil && text != tc.want || !strings.Contains(text, tc.want) {
				t.Errorf("got %q, want %q", text, tc.want)
			}
			rec.WantCount(t, "GET", tc.asks)
		})
	}
}

// An operation without pages that repeats its response forever ends with an error.
func TestMyCost_sameForEver(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		clienttest.Say(w, fmt.Sprintf(`200 {"data":[{"x":1}],"meta":{"has_more":true,"next_cursor":"%d"}}`, n))
	})
	if _, err := c.MyCost(t.Context(), "by_pr", february); err == nil || !strings.Contains(err.Error(), "cursor leads back") || rec.Count("GET") != 2 {
		t.Errorf("got %v after %d requests", err, rec.Count("GET"))
	}
}

// Users are selected before the rows are counted, so the pages are read until there are enough rows of these users.
func TestUserAnalytics_emails(t *testing.T) {
	t.Parallel()
	rows := func(user, email string) string {
		return fmt.Sprintf(`{"user_id":%[1]q,"user_email":%[2]s,"date":"2026-02-01"},{"user_id":%[1]q,"user_email":%[2]s,"date":"2026-02-02"}`, user, email)
	}
	const users, query = "GET " + analyticsRoute + "users?", "limit=100&startDate=2026-02-01"
	for name, tc := range map[string]struct {
		emails []string
		most   int
		want   string
		pages  int
	}{
		"one":             {[]string{"c@people.example"}, 0, "1c 2c ", 2},
		"two":             {[]string{"C@people.example", "a@People.example"}, 0, "1a 1c 2a 2c ", 2},
		"nobody":          {[]string{"x@people.example"}, 0, "", 2},
		"enough":          {[]string{"a@people.example"}, 2, "1a 2a ", 1},
		"enough at last":  {[]string{"c@people.example"}, 1, "1c ", 2},
		"more than exist": {[]string{"c@people.example"}, 3, "1c 2c ", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
				users + "endDate=2026-02-28&" + query:          `200 {"data":[` + rows("a", `"a@people.example"`) + "," + rows("b", "null") + `],"meta":{"has_more":true,"next_cursor":"b"}}`,
				users + "cursor=b&endDate=2026-02-28&" + query: `200 {"data":[` + rows("c", `"c@people.example"`) + `],"meta":{"has_more":false,"next_cursor":null}}`,
			}))
			got, err := c.Users(t.Context(), february, tc.emails, tc.most)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, row := range got.Rows {
				text += row.Date[9:] + row.UserID + " "
			}
			if text != tc.want || rec.Count("GET") != tc.pages {
				t.Errorf("got %q with %d requests, want %q with %d", text, rec.Count("GET"), tc.want, tc.pages)
			}
		})
	}
}

// A page that may not be the last one is not taken for it.
func TestUserAnalytics_envelopes(t *testing.T) {
	t.Parallel()
	const one, two = `{"user_id":"a","date":"2026-02-01"},{"user_id":"a","date":"2026-02-02"}`, `{"user_id":"a","date":"2026-02-01"},{"user_id":"b","date":"2026-02-01"}`
	for body, want := range map[string]string{
		`{"data":[` + one + `]}`:                             "2",
		`{"data":[` + one + `],"meta":null}`:                 "2",
		`{"data":[` + two + `],"meta":{"has_more":false}}`:   "2",
		`{"data":[` + two + `],"meta":{"next_cursor":null}}`: "2",
		`[` + one + `]`:                                                   "2",
		`{"data":[` + two + `]}`:                                          "does not report whether there are more pages",
		`{"data":[` + two + `],"meta":null}`:                              "does not report whether there are more pages",
		`{"data":[` + two + `],"meta":{"org_id":"o"}}`:                    "does not report whether there are more pages",
		`{"data":[` + two + `],"meta":{"has_more":null}}`:                 "does not report whether there are more pages",
		`[` + two + `]`:                                                   "does not report whether there are more pages",
		`{"data":null,"meta":{"has_more":false,"next_cursor":null}}`:      "its data is null",
		`{"data":[` + one + `],"meta":{"has_more":true,"next_cursor":7}}`: "unexpected response",
	} {
		c, _, _ := area.ServeShort(t, func(string) string { return "200 " + body })
		got, err := c.Users(t.Context(), february, nil, 2)
		text := fmt.Sprint(err)
		if err == nil {
			text = fmt.Sprint(len(got.Rows))
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: got %q, want %q", body, text, want)
		}
	}
}

func TestMyCost(t *testing.T) {
	t.Parallel()
	const top = `{"rank":1,"title":"<x>","fsc":12345678901234567890},{"date":7}`
	for name, tc := range map[string]struct{ key, body, want string }{
		"days":                {CostHeadlineDaily, `{"data":[{"date":"2026-02-02","fsc":0.1,"new":1},{"date":"2026-02-01","fsc":null}],"meta":{"org_id":"o"}}`, `o [{"date":"2026-02-01","fsc":null},{"date":"2026-02-02","fsc":0.1,"new":1}] [{"date":"2026-02-01","fsc":null},{"date":"2026-02-02","fsc":0.1}]`},
		"no days":             {CostHeadlineDaily, `{"data":[]}`, ` [] []`},
		"another query":       {"top_sessions", `{"data":[` + top + `],"meta":{"org_id":"o"}}`, `o [` + top + `] null`},
		"another, empty":      {"by_pr", `{"data":[]}`, ` [] null`},
		"a day without date":  {CostHeadlineDaily, `{"data":[{"date":"2026-02-02"},{"fsc":1}]}`, "its row 2 has no date"},
		"a day before":        {CostHeadlineDaily, `{"data":[{"date":"2026-02-02"},{"date":"2026-01-31"}]}`, "its row 2 is outside the requested days: 2026-01-31"},
		"a day after":         {CostHeadlineDaily, `{"data":[{"date":"2026-03-01"}]}`, "its row 1 is outside the requested days"},
		"other days":          {CostHeadlineDaily, `{"data":[],"meta":{"start_date":"2026-01-01"}}`, "it covers other days than requested"},
		"another, other days": {"by_pr", `{"data":[],"meta":{"end_date":"2026-01-01"}}`, "it covers other days than requested"},
		"another, open rows":  {"by_pr", `{"data":[{"date":"2026-01-01"}]}`, ` [{"date":"2026-01-01"}] null`},
		"no credits":          {CostHeadlineDaily, `{"data":[{"date":"2026-02-02","fsc":"many"}]}`, "unexpected response"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, func(string) string { return "200 " + tc.body })
			got, err := c.MyCost(t.Context(), tc.key, february)
			text := fmt.Sprint(err)
			if err == nil {
				raw := make([]string, len(got.Rows))
				for i, row := range got.Rows {
					raw[i] = string(row)
				}
				text = fmt.Sprintf("%s [%s] %s", got.OrgID, strings.Join(raw, ","), inJSON(t, got.Days))
			}
			if err == nil && text != tc.want || !strings.Contains(text, tc.want) {
				t.Errorf("got %q, want %q", text, tc.want)
			}
			rec.Want(t, "GET "+analyticsRoute+"cost/me/query?endDate=2026-02-28&queryKey="+tc.key+"&startDate=2026-02-01")
		})
	}
	if keys := CostQueryKeys(); len(keys) != 15 {
		t.Errorf("%d queries", len(keys))
	}
}
