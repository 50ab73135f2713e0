package analytics_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
			{nil, "", "Missing Attribute Configuration"},
		} {
			s.mustFail(t, e, nil, tc.days, tc.at, tc.want)
		}
		_, both := acctest.NewProcess(t, e, nil).ReadData("agentyard_analytics_"+s.name, s.values(acctest.Values{"last_days": 1, "start_date": "2026-02-01"}))
		both.MustInclude(t, "start_date", "Invalid Attribute Combination")
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
