package analytics_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

var users = sources[4]

func TestAccAnalyticsUsers_allPages(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	people(t, e)
	var want []string
	for _, row := range inOrder(everyUser(e), "user_id") {
		want = append(want, fmt.Sprint(row["date"], " ", row["user_id"]))
	}
	if len(want) != 10 {
		t.Fatalf("the API answers %v", want)
	}
	checks := make([]knownvalue.Check, len(want))
	for i, row := range want {
		date, id, _ := strings.Cut(row, " ")
		checks[i] = knownvalue.ObjectPartial(map[string]knownvalue.Check{"date": knownvalue.StringExact(date), "user_id": knownvalue.StringExact(id)})
	}
	e.Journal().Reset()
	run(t, e, read(e.Config(users.config("2026-02-27", "2026-02-28", "")), users.known(map[string]knownvalue.Check{"data": knownvalue.ListExact(checks), "max_results": knownvalue.Null()})...))
	for _, entry := range e.Journal().Entries() {
		if !strings.Contains(entry.Query, "limit=100") {
			t.Errorf("a page was asked for with %s", entry.Query)
		}
	}
	if n := e.Journal().Count(users.operation); n == 0 || n%3 != 0 {
		t.Errorf("%d requests for listings of three pages", n)
	}
}

// everyUser returns the rows of all users on the last two days of February, page by page.
func everyUser(e *acctest.Env) (all []map[string]any) {
	for more := ""; ; {
		rows, _ := users.answer(e, "2026-02-27", "2026-02-28", more)
		all = append(all, rows...)
		if len(rows) < 4 {
			return all
		}
		more = "&cursor=" + fmt.Sprint(rows[3]["user_id"])
	}
}

func TestAccAnalyticsUsers_maxResultsIsPositive(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for _, most := range []string{"0", "-1"} {
		run(t, e, refused(e.Config(users.config("2026-02-27", "2026-02-28", "max_results = "+most)), `(?s)max_results = `+most+`.*max_results\s+value\s+must\s+be\s+at\s+least\s+1`))
	}
	run(t, e, refused(e.Config(users.config("2026-02-27", "2026-02-28", "max_results = 1.5")), `(?s)max_results = 1.5`))
}

// Only the entries of the selected users are returned, from all pages.
func TestAnalyticsUsers_userEmails(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	people(t, e)
	p := acctest.NewProcess(t, e, nil)
	for name, tc := range map[string]struct {
		config  acctest.Values
		entries int
		pages   int
	}{
		"one":                  {acctest.Values{"user_emails": []any{"kim@people.example"}}, 2, 3},
		"two":                  {acctest.Values{"user_emails": []any{"KIM@people.example", "zoe@people.example"}}, 4, 3},
		"nobody":               {acctest.Values{"user_emails": []any{"tom@people.example"}}, 0, 3},
		"one, and one entry":   {acctest.Values{"user_emails": []any{"kim@people.example"}, "max_results": 1}, 1, 0},
		"all, and one entry":   {acctest.Values{"max_results": 1}, 1, 1},
		"all, without a limit": {nil, 10, 3},
	} {
		e.Clock.Advance(time.Hour) // Earlier reads are no longer shared.
		e.Journal().Reset()
		config := acctest.Values{"start_date": "2026-02-27", "end_date": "2026-02-28"}
		maps.Copy(config, tc.config)
		got, out := p.ReadData("agentyard_analytics_users", config)
		var entries []tftypes.Value
		if len(out.Errors) > 0 || got["data"].As(&entries) != nil || len(entries) != tc.entries {
			t.Errorf("%s: %d entries, want %d: %s", name, len(entries), tc.entries, out)
		}
		if n := e.Journal().Count(users.operation); tc.pages > 0 && n != tc.pages {
			t.Errorf("%s: %d requests, want %d", name, n, tc.pages)
		}
	}
}

func TestAnalyticsUsers_userEmailsAreAddresses(t *testing.T) {
	t.Parallel()
	p := acctest.NewProcess(t, acctest.New(t), nil)
	for attribute, emails := range map[string][]any{"user_emails": {}, "user_emails[…]": {"kim"}} {
		_, out := p.ReadData("agentyard_analytics_users", acctest.Values{"start_date": "2026-02-27", "end_date": "2026-02-28", "user_emails": emails})
		out.MustFail(t, attribute)
	}
}
