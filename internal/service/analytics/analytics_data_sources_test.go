package analytics_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const analyticsRoute = "/api/v1/analytics/"

// source is an analytics data source and what it reads.
type source struct {
	name, path, operation string
	// query is required by the API in addition to the days.
	query string
	// groupBy is the supported dimension. Empty if there is none.
	groupBy string
}

var sources = []source{
	{name: "tokens", path: "tokens", operation: "getTokenAnalytics", groupBy: "model"},
	{name: "tools", path: "tools", operation: "getToolAnalytics", groupBy: "tool_name"},
	{name: "activity", path: "activity", operation: "getActivityAnalytics", groupBy: "client"},
	{name: "productivity", path: "productivity", operation: "getProductivityAnalytics"},
	{name: "users", path: "users", operation: "getUserAnalytics"},
	{name: "my_cost", path: "cost/me/query", operation: "queryMyCost", query: "&queryKey=headline_daily"},
}

// answer returns the API's response for some days, with an additional query such as "&limit=1".
func (s source) answer(e *acctest.Env, start, end, more string) (rows []any, organization string) {
	var answer struct {
		Data []any `json:"data"`
		Meta struct {
			OrgID string `json:"org_id"`
		} `json:"meta"`
	}
	e.API(http.MethodGet, analyticsRoute+s.path+"?startDate="+start+"&endDate="+end+s.query+more, nil, &answer)
	return answer.Data, answer.Meta.OrgID
}

// inOrder sorts the API's rows, and the lists in them, as the data source does.
func inOrder(rows []any, key string) []any {
	for _, row := range rows {
		settle(row)
	}
	slices.SortStableFunc(rows, func(a, b any) int {
		x, y := a.(map[string]any), b.(map[string]any)
		return strings.Compare(fmt.Sprint(x["date"], " ", x[key]), fmt.Sprint(y["date"], " ", y[key]))
	})
	return rows
}

// settle sorts the lists in a row by the names of their items.
func settle(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, field := range v {
			settle(field)
		}
	case []any:
		slices.SortStableFunc(v, func(a, b any) int { return strings.Compare(named(a), named(b)) })
		for _, item := range v {
			settle(item)
		}
	}
}

// named returns the name of a list item.
func named(item any) string {
	fields, ok := item.(map[string]any)
	if !ok {
		return fmt.Sprint(item)
	}
	text := ""
	for _, name := range []string{"model_id", "user_id", "tool", "server", "name", "event", "matcher", "command", "extension", "language"} {
		if field, ok := fields[name]; ok {
			text += fmt.Sprint(field, "\x00")
		}
	}
	return text
}

// values returns a configuration with these arguments.
func (s source) values(more acctest.Values) acctest.Values {
	config := maps.Clone(more)
	if config == nil {
		config = acctest.Values{}
	}
	if s.name == "my_cost" && config["query_key"] == nil {
		config["query_key"] = "headline_daily"
	}
	return config
}

func between(start, end string) acctest.Values {
	return acctest.Values{"start_date": start, "end_date": end}
}

// mustRead reads data in a new process, and fails the test unless it has these attributes. What is null may be missing.
func (s source) mustRead(t *testing.T, e *acctest.Env, settings, config acctest.Values, want map[string]any) {
	t.Helper()
	read := acctest.WithoutNulls(e.MustRead(t, settings, "agentyard_analytics_"+s.name, s.values(config))).(map[string]any)
	acctest.MustHave(t, read, acctest.WithoutNulls(want).(map[string]any))
}

// mustFail reads data in a process with these settings, and fails the test unless the read fails.
func (s source) mustFail(t *testing.T, e *acctest.Env, settings, config acctest.Values, at string, want ...string) {
	t.Helper()
	e.MustNotRead(t, settings, "agentyard_analytics_"+s.name, s.values(config), at, want...)
}

// people adds members, so that there are several pages.
func people(t *testing.T, e *acctest.Env) {
	t.Helper()
	for _, name := range []string{"zoe", "max", "ann", "kim"} {
		_, _, err := e.AddHuman(emulator.Human{Email: name + "@people.example"})
		check.Must(t, err)
	}
}

// forEach runs a test for every analytics data source.
func forEach(t *testing.T, test func(t *testing.T, s source)) {
	t.Helper()
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// The service does not define the order of rows, and of lists within a row. The data source does. Identical queries share a request.
func TestAnalytics_everyField(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 100 })
		people(t, e)
		days := between("2026-02-26", "2026-02-28")
		rows, organization := s.answer(e, "2026-02-26", "2026-02-28", "")
		if len(rows) < 3 || organization == "" {
			t.Fatalf("the API answers %d rows of %q", len(rows), organization)
		}
		s.mustRead(t, e, nil, days, map[string]any{
			"start_date": "2026-02-26", "end_date": "2026-02-28", "org_id": organization, "data": inOrder(rows, "user_id"),
		})
		e.Journal().Reset()
		p := acctest.NewProcess(t, e, nil)
		for range 2 {
			_, out := p.ReadData("agentyard_analytics_"+s.name, s.values(days))
			out.MustSucceed(t)
		}
		e.WantRequests(t, s.operation, 1)
		if s.groupBy == "" {
			return
		}
		rows, _ = s.answer(e, "2026-02-26", "2026-02-28", "&group_by="+s.groupBy)
		if len(rows) < 6 {
			t.Fatalf("the API answers %d grouped rows", len(rows))
		}
		days["group_by"] = s.groupBy
		s.mustRead(t, e, nil, days, map[string]any{"group_by": s.groupBy, "org_id": organization, "data": inOrder(rows, "group_key")})
		days["group_by"] = "team"
		s.mustFail(t, e, nil, days, "group_by", fmt.Sprintf("group_by must be %q, not", s.groupBy))
	})
}

// The service refuses for three reasons, which a status does not tell apart. Each member can read the own cost.
func TestAnalytics_access(t *testing.T) {
	t.Parallel()
	e, s, days := acctest.New(t), sources[5], between("2026-02-27", "2026-02-28")
	robot, _ := e.ServiceAccountKey()
	s.mustFail(t, e, acctest.Values{"api_key": robot}, days, "", "Cannot read analytics of ", s.operation, "returned 403",
		"Three things are required: the Enterprise tier, Analytics enabled for the organization, and the API key of a member.")
	s.mustRead(t, e, acctest.Values{"api_key": e.MemberKey("dev@people.example", emulator.RoleUser)}, days, nil)
}

func TestAnalytics_ranges(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t) // It is noon on 2026-03-01.
		e.Clock.Advance(60 * 24 * time.Hour)
		for _, tc := range []struct {
			days       acctest.Values
			start, end string
		}{
			{acctest.Values{"last_days": 1}, "2026-04-29", "2026-04-29"},
			{acctest.Values{"last_days": 90}, "2026-01-30", "2026-04-29"},
			{acctest.Values{"last_days": 48, "end_date": "2026-03-02"}, "2026-01-14", "2026-03-02"},
			{acctest.Values{"start_date": "2026-04-28"}, "2026-04-28", "2026-04-29"},
		} {
			s.mustRead(t, e, nil, tc.days, map[string]any{"start_date": tc.start, "end_date": tc.end})
		}
		for _, tc := range []struct {
			days     acctest.Values
			at, want string
		}{
			{acctest.Values{"last_days": 0}, "last_days", "must be at least 1"},
			{acctest.Values{"last_days": 49, "end_date": "2026-03-02"}, "last_days", "The first day must be 2026-01-14 or later"},
			{acctest.Values{"last_days": 1<<53 - 1}, "last_days", "Invalid date range"},
			{acctest.Values{"start_date": "2026-04-30"}, "start_date", "cannot return the days from 2026-04-30 to 2026-04-29"},
			{between("2026-01-13", "2026-02-28"), "start_date", "Invalid date range: The service cannot return the days from 2026-01-13 to 2026-02-28. The first day must be 2026-01-14 or later, and not after the last day."},
			{between("2026-02-30", "2026-02-28"), "start_date", `Invalid date: start_date must be a date in the format YYYY-MM-DD, such as 2026-02-28, not "2026-02-30"`},
			{between("2026-02-01", "28.02.26"), "end_date", "Invalid date: end_date must be a date"},
			{between("2026-04-29", "2026-04-30"), "end_date", "returned 400: There is no data of the endDate 2026-04-30 yet"},
			{nil, "", "Not exactly one argument"},
		} {
			s.mustFail(t, e, nil, tc.days, tc.at, tc.want)
		}
		_, both := acctest.NewProcess(t, e, nil).ReadData("agentyard_analytics_"+s.name, s.values(acctest.Values{"last_days": 1, "start_date": "2026-02-01"}))
		both.MustInclude(t, "start_date", "Not exactly one argument")
		// Only the cost of a member has a limit, which the service judges.
		for _, days := range []acctest.Values{{"last_days": 91}, {"start_date": "2026-01-29"}} {
			if s.name == "my_cost" {
				s.mustFail(t, e, nil, days, "end_date", "returned 400", "are more than 90")
			} else {
				s.mustRead(t, e, nil, days, nil)
			}
		}
		for days, isWrong := range map[string]bool{
			`"start_date":"2026-02-02","end_date":"2026-02-28"`: true, `"start_date":"2026-02-01","end_date":"2026-02-27"`: true,
			`"start_date":"2026-02-01T00:00:00Z","end_date":"2026-02-28T00:00:00Z"`: false, `"org_id":"o"`: false,
		} {
			e.Faults().Add(emulator.Fault{Operation: s.operation, Kind: emulator.FaultOtherResponse, Body: `{"data":[],"meta":{"has_more":false,` + days + `}}`})
			if isWrong {
				s.mustFail(t, e, nil, between("2026-02-01", "2026-02-28"), "start_date", "Other days in the response", "Read fewer days")
			} else {
				s.mustRead(t, e, nil, between("2026-02-01", "2026-02-28"), nil)
			}
		}
	})
}

// The next day begins at midnight in UTC.
func TestAnalytics_rangeAtMidnight(t *testing.T) {
	t.Parallel()
	e, s := acctest.New(t), sources[0]
	e.Clock.Advance(12*time.Hour - time.Second)
	s.mustRead(t, e, nil, acctest.Values{"last_days": 1}, map[string]any{"end_date": "2026-02-28"})
	e.Clock.Advance(time.Second)
	s.mustRead(t, e, nil, acctest.Values{"last_days": 1}, map[string]any{"end_date": "2026-03-01"})
}

var myCost = sources[5]

// The rows of every query are returned as JSON. The days of the query with known rows are also returned as values.
func TestAnalyticsMyCost_everyQuery(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := between("2026-02-20", "2026-02-28")
	for _, key := range analytics.CostQueryKeys() {
		s := myCost
		s.query = "&queryKey=" + key
		rows, organization := s.answer(e, "2026-02-20", "2026-02-28", "")
		if len(rows) == 0 {
			t.Fatalf("the API answers no rows to %s", key)
		}
		want := map[string]any{"query_key": key, "org_id": organization, "data": []any{}}
		if key == analytics.CostHeadlineDaily {
			want["data"] = inOrder(rows, "")
		}
		text, err := json.Marshal(rows)
		check.Must(t, err)
		want["data_json"] = string(text)
		config["query_key"] = key
		s.mustRead(t, e, nil, config, want)
	}
	config["query_key"] = "team_cost"
	myCost.mustFail(t, e, nil, config, "query_key", "query_key must be \"headline_daily\",")
}

func TestAnalyticsMyCost_dataJSONIsNormalized(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: myCost.operation, Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"data": [{"date": "2026-02-28", "fsc": 12345678901234567890, "b": "<x>"}, {"fsc": null, "date": "2026-02-27"}], "meta": {}}`})
	myCost.mustRead(t, e, nil, between("2026-02-27", "2026-02-28"), map[string]any{
		"data_json": `[{"date":"2026-02-27","fsc":null},{"b":"<x>","date":"2026-02-28","fsc":12345678901234567890}]`,
		"data":      []any{map[string]any{"date": "2026-02-27", "fsc": nil}, map[string]any{"date": "2026-02-28", "fsc": 12345678901234567890.0}},
	})
}

// All pages are read, with the largest page size. Only the entries of the selected users are returned.
func TestAnalyticsUsers_allPages(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	people(t, e)
	users := sources[4]
	for name, tc := range map[string]struct {
		config  acctest.Values
		entries int
		pages   int
	}{
		"all":                {nil, 10, 3},
		"two":                {acctest.Values{"user_emails": []any{"KIM@people.example", "zoe@people.example"}}, 4, 3},
		"nobody":             {acctest.Values{"user_emails": []any{"tom@people.example"}}, 0, 3},
		"one, and one entry": {acctest.Values{"user_emails": []any{"kim@people.example"}, "max_results": 1}, 1, 0},
		"all, and one entry": {acctest.Values{"max_results": 1}, 1, 1},
	} {
		e.Journal().Reset()
		config := between("2026-02-27", "2026-02-28")
		maps.Copy(config, tc.config)
		got := e.MustRead(t, nil, "agentyard_analytics_users", config)["data"].([]any)
		if n := e.Journal().Count(users.operation); len(got) != tc.entries || tc.pages > 0 && n != tc.pages {
			t.Errorf("%s: %d entries of %d pages: %v", name, len(got), n, got)
		}
		for _, entry := range e.Journal().Entries() {
			if config["max_results"] == nil && !strings.Contains(entry.Query, "limit=100") {
				t.Errorf("%s: a page was asked for with %s", name, entry.Query)
			}
		}
	}
	for attribute, more := range map[string]acctest.Values{
		"user_emails": {"user_emails": []any{}}, "user_emails[…]": {"user_emails": []any{"kim"}}, "max_results": {"max_results": 0},
	} {
		maps.Copy(more, between("2026-02-27", "2026-02-28"))
		users.mustFail(t, e, nil, more, attribute)
	}
}
