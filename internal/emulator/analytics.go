package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// organizationID is the same in every emulator, so that all of them return the same analytics.
	organizationID = "org_01KEVMTN00AGENTYARDEXAMP1E"
	// historyBegins is the first day with data.
	historyBegins = "2026-01-14"
	// maxMyCostDays is how many days one query of the caller's own cost can cover.
	maxMyCostDays = 90
)

func analyticsArea() area {
	routes := []route{
		{operation: "getTokenAnalytics", admit: admitManagers, handle: daily("model", tokensRow, "billable_tokens", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")},
		{operation: "queryMyCost", admit: admitHumans, handle: queryMyCost},
		{operation: "getToolAnalytics", admit: admitManagers, handle: daily("tool_name", toolsRow, "tool_calls")},
		{operation: "getActivityAnalytics", admit: admitManagers, handle: daily("client", activityRow, "daily_active_users")},
		{operation: "getProductivityAnalytics", admit: admitManagers, handle: daily("", productivityRow)},
		{operation: "getUserAnalytics", admit: admitManagers, handle: getUserAnalytics},
	}
	return area{routes, []anyTable{formerMemberTable, quietDayTable}}
}

// admitIf returns 403 unless the organization has analytics, and the caller is one that may see it.
func (r *request) admitIf(admitted bool, refusal string) error {
	switch tier := r.e.tier(); {
	case tier != TierEnterprise:
		return forbidden("The organization has the tier %s; analytics needs the tier enterprise.", tier)
	case r.e.switched().noAnalytics:
		return forbidden("Analytics is not enabled for the organization.")
	case !admitted:
		return forbidden("%s", refusal)
	}
	return nil
}

// admitManagers admits callers to the analytics of the whole organization.
func admitManagers(r *request) error {
	return r.admitIf(r.who.manages(), "The analytics of the organization require a member with the Manager role or higher.")
}

// admitHumans admits callers to their own analytics.
func admitHumans(r *request) error {
	return r.admitIf(r.who.Kind == kindHuman, "A service account has no personal credits; this needs the API key of a member.")
}

// daily serves an endpoint that has a row for each day, or with group_by several for each day.
func daily(dimension string, row func(*day) values, grouped ...string) func(*request) (reply, error) {
	return func(r *request) (reply, error) {
		isGrouped := r.query.Has("group_by")
		days, w, meta, err := r.days(0)
		if err != nil {
			return reply{}, err
		}
		data := []values{}
		for _, d := range days {
			d.people = slices.DeleteFunc(slices.Clone(w.people), func(p person) bool { return !w.active(p, d.date) })
			switch {
			case len(d.people) == 0:
			case isGrouped:
				data = append(data, d.grouped(grouped...)...)
			default:
				data = append(data, row(d))
			}
		}
		return reply{200, values{"data": data, "meta": meta}}, nil
	}
}

// queryMyCost answers with a row for each day on which the caller was active.
func queryMyCost(r *request) (reply, error) {
	key := r.query.Get("queryKey")
	days, w, meta, err := r.days(maxMyCostDays)
	if err != nil {
		return reply{}, err
	}
	own := slices.DeleteFunc(slices.Clone(w.people), func(p person) bool { return p.id != r.who.ID })
	return reply{200, values{"data": w.rows(own, days, func(d *day) values { return myCostRow(key, d) }), "meta": meta}}, nil
}

// rows are those of each person on each day on which they were active.
func (w *workforce) rows(people []person, days []*day, row func(*day) values) []values {
	data := []values{}
	for _, p := range people {
		for _, d := range days {
			if w.active(p, d.date) {
				data = append(data, row(d.alone(p)))
			}
		}
	}
	return data
}

// days reads the days that a request is about, at most so many, and whose they are; 0 means any number.
func (r *request) days(most int) ([]*day, *workforce, values, error) {
	start, end := r.date("startDate"), r.date("endDate")
	from, to, today := start.Format(time.DateOnly), end.Format(time.DateOnly), r.now.UTC().Format(time.DateOnly)
	var problems []problem
	if to < from {
		problems = append(problems, problem{fmt.Sprintf("The endDate %s is before the startDate %s.", to, from), "date-order"})
	}
	if from < historyBegins {
		problems = append(problems, problem{fmt.Sprintf("The startDate %s is before %s, the first day that there is data of.", from, historyBegins), "date-history"})
	}
	if to >= today {
		problems = append(problems, problem{fmt.Sprintf("There is no data of the endDate %s yet; today is %s in UTC, and data is available through yesterday.", to, today), "date-unavailable"})
	}
	if most > 0 && end.After(start.AddDate(0, 0, most-1)) {
		problems = append(problems, problem{fmt.Sprintf("The days from %s to %s are more than %d.", from, to, most), "date-range"})
	}
	if len(problems) > 0 {
		return nil, nil, nil, invalidFor(problems...)
	}

	w, err := readWorkforce(r.tx)
	var days []*day
	for d := start; !d.After(end); d = d.AddDate(0, 0, 1) {
		days = append(days, &day{date: d.Format(time.DateOnly), workforce: w, e: r.e})
	}
	return days, w, values{"org_id": organizationID, "start_date": from, "end_date": to}, err
}

// date reads a query parameter that is a day.
func (r *request) date(name string) time.Time {
	d, _ := time.Parse(time.DateOnly, r.query.Get(name)) // The contract was asked.
	return d
}

// getUserAnalytics pages by users: a page holds all rows of up to limit of them, by user and then by date.
func getUserAnalytics(r *request) (reply, error) {
	days, w, meta, err := r.days(0)
	if err != nil {
		return reply{}, err
	}
	people := w.people
	if r.query.Has("cursor") {
		at := slices.IndexFunc(people, func(p person) bool { return p.id == r.query.Get("cursor") })
		if at < 0 {
			return reply{}, refuse("cursor-unknown", "The query parameter %q is not the ID of a user.", "cursor")
		}
		people = people[at+1:]
	}
	people = slices.DeleteFunc(slices.Clone(people), func(p person) bool {
		return !slices.ContainsFunc(days, func(d *day) bool { return w.active(p, d.date) })
	})

	meta["has_more"], meta["next_cursor"] = false, nil
	if size := min(r.limit(), r.e.opts.MaxPageSize); len(people) > size {
		people = people[:size]
		meta["has_more"], meta["next_cursor"] = true, people[size-1].id
	}
	return reply{200, values{"data": w.rows(people, days, usersRow), "meta": meta}}, nil
}

// AllowAnalytics enables or disables analytics for the organization. While disabled, all its operations return 403.
func (e *Emulator) AllowAnalytics(allowed bool) {
	e.program(func(s *switches) { s.noAnalytics = !allowed })
}

// AddQuietDay adds a day, such as 2026-02-14, without any activity. It returns an error if the date does not exist.
func (e *Emulator) AddQuietDay(date string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("%q must be a date such as 2026-02-28", date)
	}
	return e.store.db.Update(func(tx *bolt.Tx) error { return quietDayTable.put(tx, date, true) })
}

// formerMember is a removed member. The rows of the days before the removal remain.
type formerMember struct {
	member
	RemovedAt int64
}

// Former members are by ID, and the days without activity by date.
var (
	formerMemberTable = &table[formerMember]{name: "former_members"}
	quietDayTable     = &table[bool]{name: "quiet_days"}
)

// workforce is all present and former members, and the days without activity.
type workforce struct {
	// people are ordered by email address, which is the same in every emulator, unlike an ID.
	people []person
	quiet  map[string]bool
}

// person is a present or former member.
type person struct {
	id, address string
	email       *string // Nil for a former member.
	lastDate    string  // Empty for a present member.
}

func readWorkforce(tx *bolt.Tx) (*workforce, error) {
	w := &workforce{quiet: map[string]bool{}}
	present, err := memberTable.list(tx, "")
	for _, m := range present {
		w.people = append(w.people, person{id: m.ID, address: strings.ToLower(m.Email), email: &m.Email})
	}
	former, formerErr := formerMemberTable.list(tx, "")
	for _, m := range former {
		w.people = append(w.people, person{id: m.ID, address: strings.ToLower(m.Email), lastDate: timeOf(m.RemovedAt).Format(time.DateOnly)})
	}
	for _, date := range quietDayTable.keys(tx, "") {
		w.quiet[date] = true
	}
	slices.SortFunc(w.people, func(a, b person) int {
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.id, b.id))
	})
	return w, errors.Join(err, formerErr)
}

func (w *workforce) active(p person, date string) bool {
	return !w.quiet[date] && (p.lastDate == "" || date <= p.lastDate)
}

// activeUntil counts who was active on at least one of so many days, the last of which is a date.
func (w *workforce) activeUntil(date string, days int) int {
	last, _ := time.Parse(time.DateOnly, date) // It is one of our own.
	n := 0
	for _, p := range w.people {
		for i := range days {
			if d := last.AddDate(0, 0, -i).Format(time.DateOnly); d >= historyBegins && w.active(p, d) {
				n++
				break
			}
		}
	}
	return n
}
