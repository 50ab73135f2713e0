package analytics_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const analyticsRoute = "/api/v1/analytics/"

// source is an analytics data source and what it reads.
type source struct {
	name, path, operation string
	// arguments are required in addition to the days.
	arguments string
	// query is the same for the API.
	query string
	// groupBy is the supported dimension. Empty if there is none.
	groupBy string
	// fields are the fields of a row.
	fields []string
}

var sources = []source{
	{
		name: "tokens", path: "tokens", operation: "getTokenAnalytics", groupBy: "model",
		fields: []string{"date", "group_key", "billable_tokens", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "by_model", "by_user"},
	},
	{
		name: "tools", path: "tools", operation: "getToolAnalytics", groupBy: "tool_name",
		fields: []string{
			"date", "group_key", "tool_calls", "by_tool", "mcp_users_with_mcp", "mcp_by_server", "skills_invocations", "skills_by_name", "slash_commands_invocations", "slash_commands_by_name",
			"hooks_invocations", "hooks_by_event", "web_users", "autonomy_ratio_avg", "autonomy_ratio_p50", "autonomy_ratio_p90", "tool_calls_per_session_avg", "user_turns_per_session_avg",
			"tool_autonomy_level_ratio",
		},
	},
	{
		name: "activity", path: "activity", operation: "getActivityAnalytics", groupBy: "client",
		fields: []string{
			"date", "group_key", "daily_active_users", "weekly_active_users", "monthly_active_users", "daily_active_users_by_client", "sessions", "messages", "user_messages",
		},
	},
	{
		name: "productivity", path: "productivity", operation: "getProductivityAnalytics",
		fields: []string{"date", "files_created", "files_edited", "by_extension", "by_language", "git_commits", "git_prs_created"},
	},
	{
		name: "users", path: "users", operation: "getUserAnalytics",
		fields: []string{
			"user_id", "user_email", "date", "tool_calls", "billable_tokens", "primary_model", "primary_model_tier", "files_created", "files_edited", "git_commits", "git_prs_created", "mcp_calls",
			"skill_calls", "slash_commands", "hooks", "sessions", "messages", "user_messages", "assistant_messages", "autonomy_ratio", "delegation_level", "languages",
		},
	},
	{name: "my_cost", path: "cost/me/query", operation: "queryMyCost", arguments: `query_key = "headline_daily"`, query: "&queryKey=headline_daily", fields: []string{"date", "fsc"}},
}

// config returns the data source for some days, with additional arguments.
func (s source) config(start, end, more string) string {
	return fmt.Sprintf("data \"agentyard_analytics_%s\" \"x\" {\n  start_date = %q\n  end_date = %q\n  %s\n  %s\n}\n", s.name, start, end, s.arguments, more)
}

// known checks attributes of the data source.
func (s source) known(want map[string]knownvalue.Check) []statecheck.StateCheck {
	var checks []statecheck.StateCheck
	for name, check := range want {
		checks = append(checks, statecheck.ExpectKnownValue("data.agentyard_analytics_"+s.name+".x", tfjsonpath.New(name), check))
	}
	return checks
}

// answer returns the API's response for some days, with an additional query such as "&limit=1".
func (s source) answer(e *acctest.Env, start, end, more string) (rows []map[string]any, organization string) {
	var answer struct {
		Data []map[string]any `json:"data"`
		Meta struct {
			OrgID string `json:"org_id"`
		} `json:"meta"`
	}
	e.API(http.MethodGet, analyticsRoute+s.path+"?startDate="+start+"&endDate="+end+s.query+more, nil, &answer)
	return answer.Data, answer.Meta.OrgID
}

// rows checks that the data contains the API's rows with every field. Fields that a row lacks are null.
func (s source) rows(rows []map[string]any) knownvalue.Check {
	checks := make([]knownvalue.Check, len(rows))
	for i, row := range rows {
		fields := map[string]knownvalue.Check{}
		for _, name := range s.fields {
			fields[name] = like(row[name])
		}
		checks[i] = knownvalue.ObjectExact(fields)
	}
	return knownvalue.ListExact(checks)
}

// like checks that a value equals a decoded JSON value.
func like(decoded any) knownvalue.Check {
	switch v := decoded.(type) {
	case string:
		return knownvalue.StringExact(v)
	case float64:
		return knownvalue.Float64Exact(v)
	case []any:
		items := make([]knownvalue.Check, len(v))
		for i, item := range v {
			items[i] = like(item)
		}
		return knownvalue.ListExact(items)
	case map[string]any:
		fields := map[string]knownvalue.Check{}
		for name, field := range v {
			fields[name] = like(field)
		}
		return knownvalue.ObjectExact(fields)
	}
	return knownvalue.Null()
}

// inOrder sorts the API's rows as the data source does.
func inOrder(rows []map[string]any, key string) []map[string]any {
	slices.SortStableFunc(rows, func(a, b map[string]any) int {
		return strings.Compare(fmt.Sprint(a["date"], " ", a[key]), fmt.Sprint(b["date"], " ", b[key]))
	})
	for _, row := range rows {
		settle(row)
	}
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

func run(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, Steps: steps})
}

func read(hcl string, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{Config: hcl, ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: checks}
}

func refused(hcl, want string) resource.TestStep {
	return resource.TestStep{Config: hcl, PlanOnly: true, ExpectError: regexp.MustCompile(want)}
}

// values returns the same configuration for a process without a CLI.
func (s source) values(start, end string) acctest.Values {
	config := acctest.Values{"start_date": start, "end_date": end}
	if s.name == "my_cost" {
		config["query_key"] = "headline_daily"
	}
	return config
}

// mustFail reads data in a process with these settings, and fails the test unless the read fails.
func (s source) mustFail(t *testing.T, e *acctest.Env, settings, config acctest.Values, at string, want ...string) {
	t.Helper()
	_, out := acctest.NewProcess(t, e, settings).ReadData("agentyard_analytics_"+s.name, config)
	out.MustFail(t, at, want...)
}

// mustRead reads data in a new process.
func (s source) mustRead(t *testing.T, e *acctest.Env, config acctest.Values) {
	t.Helper()
	if _, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_analytics_"+s.name, config); len(out.Errors) > 0 {
		t.Error(out)
	}
}

// people adds members, so that there are several pages.
func people(t *testing.T, e *acctest.Env) {
	t.Helper()
	for _, name := range []string{"zoe", "max", "ann", "kim"} {
		if _, _, err := e.AddHuman(emulator.Human{Email: name + "@people.example"}); err != nil {
			t.Fatal(err)
		}
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

// The service does not define the order of lists within a row. The data source does.
func TestAccAnalytics_everyField(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 100 })
		people(t, e)
		rows, organization := s.answer(e, "2026-02-26", "2026-02-28", "")
		if len(rows) < 3 || organization == "" {
			t.Fatalf("the API answers %d rows of %q", len(rows), organization)
		}
		run(t, e, read(e.Config(s.config("2026-02-26", "2026-02-28", "")), s.known(map[string]knownvalue.Check{
			"start_date": knownvalue.StringExact("2026-02-26"), "end_date": knownvalue.StringExact("2026-02-28"), "org_id": knownvalue.StringExact(organization),
			"data": s.rows(inOrder(rows, "user_id")),
		})...))
	})
}

// The service does not define the order of grouped rows. The data source does.
func TestAccAnalytics_grouped(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		if s.groupBy == "" {
			run(t, e, refused(e.Config(s.config("2026-02-26", "2026-02-28", `group_by = "model"`)), `(?s)group_by = .*argument named "group_by" is not expected`))
			return
		}
		people(t, e)
		rows, organization := s.answer(e, "2026-02-26", "2026-02-28", "&group_by="+s.groupBy)
		if len(rows) < 6 {
			t.Fatalf("the API answers %d rows", len(rows))
		}
		run(t, e, read(e.Config(s.config("2026-02-26", "2026-02-28", "group_by = \""+s.groupBy+"\"")), s.known(map[string]knownvalue.Check{
			"group_by": knownvalue.StringExact(s.groupBy), "org_id": knownvalue.StringExact(organization), "data": s.rows(inOrder(rows, "group_key")),
		})...))
		run(t, e, refused(e.Config(s.config("2026-02-26", "2026-02-28", `group_by = "team"`)), `(?s)group_by = "team".*group_by\s+must\s+be\s+one\s+of\s+`+s.groupBy+`,`))
	})
}

func TestAccAnalytics_quietDays(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		for _, day := range []string{"2026-02-14", "2026-02-15"} {
			if err := e.AddQuietDay(day); err != nil {
				t.Fatal(err)
			}
		}
		_, organization := s.answer(e, "2026-02-14", "2026-02-15", "")
		want := map[string]knownvalue.Check{"org_id": knownvalue.StringExact(organization), "data": knownvalue.ListExact(nil)}
		if s.name == "my_cost" {
			want["data_json"] = knownvalue.StringExact("[]")
		}
		run(t, e, read(e.Config(s.config("2026-02-14", "2026-02-15", "")), s.known(want)...))
	})
}

func TestAnalytics_dates(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		for _, tc := range []struct{ start, end, at, want string }{
			{"2026-02-30", "2026-02-28", "start_date", `Invalid Date: start_date must be a date in the format YYYY-MM-DD, such as 2026-02-28, got: "2026-02-30"`},
			{"2026-02-01", "28.02.26", "end_date", "Invalid Date: end_date must be a date"},
			{"2026-01-13", "2026-02-28", "start_date", "Invalid Date Range: The service cannot return the days from 2026-01-13 to 2026-02-28. The first day must be 2026-01-14 or later, and not after the last day."},
			{"2026-02-28", "2026-02-27", "start_date", "Invalid Date Range: The service cannot return the days from 2026-02-28 to 2026-02-27."},
		} {
			_, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_analytics_"+s.name, s.values(tc.start, tc.end))
			out.MustFail(t, tc.at, tc.want)
		}
		if n := len(e.Journal().Entries()); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
		for start, end := range map[string]string{"2026-02-28": "2026-03-01", "2026-03-01": "2026-03-02"} {
			s.mustFail(t, e, nil, s.values(start, end), "", "Cannot read analytics of ", "returned 400: There is no data of the endDate "+end+" yet")
		}
		s.mustRead(t, e, s.values("2026-01-14", "2026-01-14"))
		s.mustRead(t, e, s.values("2026-02-28", "2026-02-28"))
	})
}

// A day is available from the midnight in UTC that ends it.
func TestAnalytics_midnight(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	s := sources[0]
	today := s.values("2026-03-01", "2026-03-01")
	e.Clock.Advance(12*time.Hour - time.Second)
	s.mustFail(t, e, nil, today, "", "There is no data of the endDate 2026-03-01 yet")
	e.Clock.Advance(time.Second)
	s.mustRead(t, e, today)
}
