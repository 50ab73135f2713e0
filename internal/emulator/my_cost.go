package emulator

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// myCostQueries are the query keys and their rows. The API shows the fields of headline_daily only; those of the others
// are invented, with values of every kind that a client must accept.
var myCostQueries = map[string]func([]usage) []any{
	"headline_daily":             headlineDaily,
	"cost_summary":               costSummary,
	"top_sessions":               topSessions,
	"by_model":                   costByModel,
	"fsc_by_model_daily":         costByModelDaily,
	"fsc_by_multiplier_daily":    costByMultiplierDaily,
	"by_ticket":                  costByTicket,
	"by_pr":                      costByPR,
	"my_activity_summary":        myActivitySummary,
	"my_time_spent":              myTimeSpent,
	"my_intent_breakdown":        myIntentBreakdown,
	"my_completed_tickets_daily": myCompletedTicketsDaily,
	"my_completed_tickets":       myCompletedTickets,
	"my_merged_prs_daily":        myMergedPRsDaily,
	"my_merged_pr_detail":        myMergedPRDetail,
}

// queryMyCost answers with rows of the days on which the caller was active.
func queryMyCost(r *request) (reply, error) {
	if !r.query.Has("queryKey") {
		return reply{}, invalid("The query parameter %q is required.", "queryKey")
	}
	rows := myCostQueries[r.query.Get("queryKey")]
	if rows == nil {
		return reply{}, invalid("There is no %s %q.", "queryKey", r.query.Get("queryKey"))
	}
	dates, meta, err := r.dates(maxMyCostDays)
	if err != nil {
		return reply{}, err
	}
	w, err := readWorkforce(r.tx)
	if err != nil {
		return reply{}, err
	}
	data := []any{}
	if me := slices.IndexFunc(w.people, func(p person) bool { return p.id == r.who.ID }); me >= 0 {
		if mine := w.usagesOf(w.people[me], dates); len(mine) > 0 {
			data = rows(mine)
		}
	}
	return reply{200, analyticsResponse{data, meta}}, nil
}

// costRow is a row whose fields only its own query key has.
type costRow = map[string]any

func headlineDaily(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		rows = append(rows, costRow{"date": u.date, "fsc": u.billable()})
	}
	return rows
}

func costSummary(mine []usage) []any {
	var fsc, sessions int64
	for _, u := range mine {
		fsc += u.billable()
		sessions += u.sessions
	}
	return []any{costRow{"fsc": fsc, "sessions": sessions, "active_days": len(mine), "fsc_per_active_day": ratio(fsc, int64(len(mine)))}}
}

// topSessions are the ten that cost most. Some have no title.
func topSessions(mine []usage) []any {
	const most = 10
	var rows []costRow
	for _, u := range mine {
		for i, fsc := range split(u.billable(), u.sessions) {
			id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "%s %s %d", u.person.address, u.date, i)).String()
			session := costRow{"session_id": id, "title": nil, "date": u.date, "fsc": fsc}
			if i%3 > 0 {
				session["title"] = fmt.Sprintf("Session %d of %s", i+1, u.date)
			}
			rows = append(rows, session)
		}
	}
	slices.SortStableFunc(rows, func(a, b costRow) int { return cmp.Compare(b["fsc"].(int64), a["fsc"].(int64)) })
	var top []any
	for _, session := range rows[:min(most, len(rows))] {
		top = append(top, session)
	}
	return top
}

func costByModel(mine []usage) []any {
	var rows []any
	for _, m := range modelsOf(mine) {
		rows = append(rows, costRow{
			"model_id": m.id, "model_tier": m.tier, "fsc": m.billable,
			"tokens": costRow{"input": m.input, "output": m.output, "cache_read": m.cacheRead, "cache_write": m.cacheWrite},
		})
	}
	return rows
}

func costByModelDaily(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		for _, m := range u.models {
			rows = append(rows, costRow{"date": u.date, "model_id": m.id, "fsc": m.billable})
		}
	}
	return rows
}

func costByMultiplierDaily(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		byPercent := map[int64]int64{}
		for _, m := range u.models {
			byPercent[m.percent] += m.billable
		}
		for _, percent := range []int64{40, 100, 200} {
			if fsc, used := byPercent[percent]; used {
				rows = append(rows, costRow{"date": u.date, "multiplier": ratio(percent, 100), "fsc": fsc})
			}
		}
	}
	return rows
}

// costByTicket ends with a row of what was spent on no ticket.
func costByTicket(mine []usage) []any {
	var rows []any
	var other int64
	for _, u := range mine {
		ids := u.tickets()
		shares := split(u.billable(), int64(len(ids))+1)
		for i, id := range ids {
			rows = append(rows, costRow{"ticket_id": id, "title": "Work on " + id, "fsc": shares[i]})
		}
		other += shares[len(ids)]
	}
	return append(rows, costRow{"ticket_id": nil, "title": nil, "fsc": other})
}

func costByPR(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		numbers := u.merged()
		for i, fsc := range split(u.billable(), int64(len(numbers))) {
			rows = append(rows, costRow{"repository": "acme/app", "number": numbers[i], "fsc": fsc})
		}
	}
	return rows
}

func myActivitySummary(mine []usage) []any {
	var all usage
	for _, u := range mine {
		addAll(all.tools[:], u.tools[:])
		all.sessions += u.sessions
		all.userMessages += u.userMessages
		all.assistantMessages += u.assistantMessages
	}
	return []any{costRow{
		"active_days": len(mine), "sessions": all.sessions, "messages": all.userMessages + all.assistantMessages,
		"user_messages": all.userMessages, "assistant_messages": all.assistantMessages, "tool_calls": all.toolCalls(),
	}}
}

func myTimeSpent(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		minutes := u.seed.of("minutes").between(10, 480)
		byClient := costRow{}
		for i, name := range clientNames {
			if u.clients[i] {
				byClient[name] = true
			}
		}
		rows = append(rows, costRow{"date": u.date, "hours": ratio(minutes, 60), "clients": byClient})
	}
	return rows
}

func myIntentBreakdown(mine []usage) []any {
	intents := []string{"feature", "fix", "question"}
	counts, all := make([]int64, len(intents)), int64(0)
	for _, u := range mine {
		for i := range u.sessions {
			counts[u.seed.of("intent").at(int(i)).between(0, int64(len(intents))-1)]++
		}
		all += u.sessions
	}
	var rows []any
	for i, n := range counts {
		if n > 0 {
			rows = append(rows, costRow{"intent": intents[i], "sessions": n, "share": ratio(n, all)})
		}
	}
	return rows
}

func myCompletedTicketsDaily(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		rows = append(rows, costRow{"date": u.date, "completed": len(u.tickets())})
	}
	return rows
}

func myCompletedTickets(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		for _, id := range u.tickets() {
			rows = append(rows, costRow{"ticket_id": id, "title": "Work on " + id, "completed_on": u.date})
		}
	}
	return rows
}

func myMergedPRsDaily(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		rows = append(rows, costRow{"date": u.date, "merged": len(u.merged())})
	}
	return rows
}

func myMergedPRDetail(mine []usage) []any {
	var rows []any
	for _, u := range mine {
		for i, number := range u.merged() {
			l := u.seed.of("merged").at(i)
			rows = append(rows, costRow{
				"repository": "acme/app", "number": number, "merged_on": u.date,
				"lines": []int64{l.of("added").between(1, 900), l.of("removed").between(0, 300)},
			})
		}
	}
	return rows
}

// tickets are the IDs of those that were completed on the day, one or two; no two days share one.
func (u usage) tickets() []string {
	ids := []string{}
	for _, n := range u.numbers("tickets") {
		ids = append(ids, fmt.Sprintf("APP-%d", n))
	}
	return ids
}

// merged are the numbers of the pull requests that were merged on the day, one or two; no two days share one.
func (u usage) merged() []int { return u.numbers("merged") }

func (u usage) numbers(kind string) []int {
	d, _ := time.Parse(time.DateOnly, u.date) // It is one of our own.
	first := int(d.Unix()/86400) * 2
	if u.seed.of(kind).between(0, 1) == 0 {
		return []int{first}
	}
	return []int{first, first + 1}
}

// split divides a number into unequal parts whose sum it is; the last one takes the rest.
func split(total, parts int64) []int64 {
	shares := make([]int64, parts)
	rest := total
	for i := range parts - 1 {
		shares[i] = total * (i + 1) / (parts * (parts + 1) / 2)
		rest -= shares[i]
	}
	shares[parts-1] = rest
	return shares
}
