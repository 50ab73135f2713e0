package trials

import (
	"slices"
	"strings"
)

var analyticsTrials = []Trial{
	{
		Name:  "analytics",
		Rules: []string{"date-history", "start-date-parameter", "date-order", "end-date-parameter", "get-user-analytics"},
		run: func(x *exam) {
			const activity, users = "/api/v1/analytics/activity?", "/api/v1/analytics/users?"
			good := x.get(activity + days(-3, -2))
			for _, rule := range []string{"date-history", "start-date-parameter"} {
				x.refuses(rule, "a first day before 2026-01-14", good, x.get(activity+"startDate=2026-01-13&endDate=2026-01-15"), 400)
			}
			for _, rule := range []string{"date-order", "end-date-parameter"} {
				x.refuses(rule, "a last day before the first", good, x.get(activity+days(-2, -3)), 400)
			}
			rows := x.get(users + days(-15, -2) + "&limit=1")
			var ids []string
			for _, row := range rows.rows("data") {
				ids = append(ids, row.Text("user_id"))
			}
			if len(ids) < 2 || slices.Contains(ids, "") {
				x.unseen("get-user-analytics", "there is no user with two days of use")
				return
			}
			x.holds("get-user-analytics", len(slices.Compact(ids)) == 1, "a page of one user has all rows of that user", "a page of one has rows of several users")
			x.sorted("get-user-analytics", "day", dated(rows.rows("data")), func(a, b float64) bool { return a <= b })
		},
	},
}

// dated replaces the date of analytics rows by a number, which orders the same.
func dated(rows []object) []object {
	var all []object
	for _, row := range rows {
		days := 0.0
		for _, digit := range strings.ReplaceAll(row.Text("date"), "-", "") {
			days = days*10 + float64(digit-'0')
		}
		all = append(all, object{"day": days})
	}
	return all
}
