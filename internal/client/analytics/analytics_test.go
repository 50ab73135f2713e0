package analytics

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
)

var area = areatest.New[*Client](New)

var february = Days{Start: "2026-02-01", End: "2026-02-28"}

const analyticsRoute = "/api/v1/analytics/"

// inJSON shows values as JSON, with pointers resolved.
func inJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	check.Must(t, err)
	return string(text)
}

// Fields of the envelope may be missing, but rows that are not a list are an error.
func TestAnalytics_envelopes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"data":[{"date":"2026-02-01"}],"meta":{"org_id":"o","has_more":false}}`: "o 1",
		`{"data":null,"meta":null}`:                      " 0",
		`{"data":[{"date":"2026-02-01"}]}`:               " 1",
		` [{"date":"2026-02-01"},{"date":"2026-02-02"}]`: " 2",
		`{"rows":[]}`:                        "the field data is missing",
		`{"data":{}}`:                        "unexpected response",
		`{"data":[],"meta":"x"}`:             "unexpected response",
		`{"data":[{"date":"2026-02-01"},1]}`: "unexpected response",
		`{"data":[{"date":"2026-02-01","git_commits":"many"}]}`: "unexpected response",
	} {
		c, _, _ := area.ServeShort(t, func(string) string { return "200 " + body })
		got, err := c.Productivity.Rows(t.Context(), february, "")
		text := fmt.Sprint(err)
		if err == nil {
			text = fmt.Sprint(got.OrgID, " ", len(got.Rows))
		}
		if !strings.Contains(text, want) || err == nil && got.Rows == nil {
			t.Errorf("%s: got %q, want %q", body, text, want)
		}
	}
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
		"all":              {0, "100", "", all, 3},
		"half of them":     {6, "6", "", "1b 1d 1e 2b 2d 2e ", 2},
		"one page":         {4, "4", "", "1d 1e 2d 2e ", 1},
		"one":              {1, "1", "", "1e ", 1},
		"repeated cursor":  {0, "100", rows("b") + `,"has_more":true,"next_cursor":"d"}}`, "cursor leads back", 2},
		"overlapping page": {0, "100", rows("db") + `,"has_more":true,"next_cursor":"b"}}`, all, 3},
		"no cursor":        {0, "100", rows("b") + `,"has_more":true,"next_cursor":null}}`, "has no cursor", 2},
		"broken half-way":  {0, "100", `400 {"title":"Bad Request","detail":"cursor is no user.","requestId":"req_9"}`, "returned 400: cursor is no user (request req_9)", 2},
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
				check.Is(t, "the organization", got.OrgID, "o")
			}
			if err == nil && text != tc.want || !strings.Contains(text, tc.want) {
				t.Errorf("got %q, want %q", text, tc.want)
			}
			rec.WantCount(t, "GET", tc.asks)
		})
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
		"one":    {[]string{"c@people.example"}, 0, "1c 2c ", 2},
		"two":    {[]string{"C@people.example", "a@People.example"}, 0, "1a 1c 2a 2c ", 2},
		"nobody": {[]string{"x@people.example"}, 0, "", 2},
		"enough": {[]string{"a@people.example"}, 2, "1a 2a ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
				users + "endDate=2026-02-28&" + query:          `200 {"data":[` + rows("a", `"a@people.example"`) + "," + rows("b", "null") + `],"meta":{"has_more":true,"next_cursor":"b"}}`,
				users + "cursor=b&endDate=2026-02-28&" + query: `200 {"data":[` + rows("c", `"c@people.example"`) + `],"meta":{"has_more":false,"next_cursor":null}}`,
			}))
			got, err := c.Users(t.Context(), february, tc.emails, tc.most)
			check.Must(t, err)
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

func TestMyCost(t *testing.T) {
	t.Parallel()
	const top = `{"rank":1,"title":"<x>","fsc":12345678901234567890},{"date":7}`
	for name, tc := range map[string]struct{ key, body, want string }{
		"days":               {CostHeadlineDaily, `{"data":[{"date":"2026-02-02","fsc":0.1,"new":1},{"date":"2026-02-01","fsc":null}],"meta":{"org_id":"o"}}`, `o [{"date":"2026-02-01","fsc":null},{"date":"2026-02-02","fsc":0.1,"new":1}] [{"date":"2026-02-01","fsc":null},{"date":"2026-02-02","fsc":0.1}]`},
		"another query":      {"top_sessions", `{"data":[` + top + `],"meta":{"org_id":"o"}}`, `o [` + top + `] null`},
		"another, open rows": {"by_pr", `{"data":[{"date":"2026-01-01"}]}`, ` [{"date":"2026-01-01"}] null`},
		"no credits":         {CostHeadlineDaily, `{"data":[{"date":"2026-02-02","fsc":"many"}]}`, "unexpected response"},
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
	check.Is(t, "queries", len(CostQueryKeys()), 15)
}
