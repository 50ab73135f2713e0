package analytics_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

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
