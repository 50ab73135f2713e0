package analytics_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// ranged returns the configuration with only these arguments for the days.
func (s source) ranged(days acctest.Values) acctest.Values {
	config := s.values("", "")
	delete(config, "start_date")
	delete(config, "end_date")
	for name, value := range days {
		config[name] = value
	}
	return config
}

// mustCover reads data, and compares the days in the result.
func (s source) mustCover(t *testing.T, p *acctest.Process, days acctest.Values, start, end string) {
	t.Helper()
	attributes, out := p.ReadData("agentyard_analytics_"+s.name, s.ranged(days))
	if len(out.Errors) > 0 {
		t.Errorf("%v: %s", days, out)
		return
	}
	for name, want := range map[string]string{"start_date": start, "end_date": end} {
		if !attributes[name].Equal(tftypes.NewValue(tftypes.String, want)) {
			t.Errorf("%v: %s is %s, want %s", days, name, attributes[name], want)
		}
	}
}

func TestAnalytics_ranges(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t) // It is noon on 2026-03-01.
		e.Clock.Advance(60 * 24 * time.Hour)
		p := acctest.NewProcess(t, e, nil)
		for _, tc := range []struct {
			days       acctest.Values
			start, end string
		}{
			{acctest.Values{"last_days": 1}, "2026-04-29", "2026-04-29"},
			{acctest.Values{"last_days": 7}, "2026-04-23", "2026-04-29"},
			{acctest.Values{"last_days": 90}, "2026-01-30", "2026-04-29"},
			{acctest.Values{"last_days": 48, "end_date": "2026-03-02"}, "2026-01-14", "2026-03-02"},
			{acctest.Values{"start_date": "2026-04-28"}, "2026-04-28", "2026-04-29"},
			{acctest.Values{"start_date": "2026-04-27", "end_date": "2026-04-28"}, "2026-04-27", "2026-04-28"},
		} {
			s.mustCover(t, p, tc.days, tc.start, tc.end)
		}
		for _, tc := range []struct {
			days     acctest.Values
			at, want string
		}{
			{acctest.Values{"last_days": 0}, "last_days", "must be at least 1"},
			{acctest.Values{"last_days": 49, "end_date": "2026-03-02"}, "last_days", "The first day must be 2026-01-14 or later"},
			{acctest.Values{"start_date": "2026-04-30"}, "start_date", "cannot return the days from 2026-04-30 to 2026-04-29"},
			{acctest.Values{"last_days": 1<<53 - 1}, "last_days", "Invalid Date Range"},
			{nil, "", "Missing Attribute Configuration"},
		} {
			_, out := p.ReadData("agentyard_analytics_"+s.name, s.ranged(tc.days))
			out.MustFail(t, tc.at, tc.want)
		}
		_, both := p.ReadData("agentyard_analytics_"+s.name, s.ranged(acctest.Values{"last_days": 1, "start_date": "2026-02-01"}))
		both.MustInclude(t, "start_date", "Invalid Attribute Combination")
	})
}

func TestAnalyticsMyCost_rangeTooLong(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Clock.Advance(60 * 24 * time.Hour)
	s := sources[len(sources)-1]
	s.mustFail(t, e, nil, s.ranged(acctest.Values{"last_days": 91}), "last_days", "The maximum is 90 days")
	s.mustFail(t, e, nil, s.ranged(acctest.Values{"start_date": "2026-01-29"}), "start_date", "The maximum is 90 days")
}

// The next day begins at midnight in UTC.
func TestAnalytics_rangeAtMidnight(t *testing.T) {
	t.Parallel()
	e, s := acctest.New(t), sources[0]
	e.Clock.Advance(12*time.Hour - time.Second)
	p := acctest.NewProcess(t, e, nil)
	s.mustCover(t, p, acctest.Values{"last_days": 1}, "2026-02-28", "2026-02-28")
	e.Clock.Advance(time.Second)
	s.mustCover(t, p, acctest.Values{"last_days": 1}, "2026-03-01", "2026-03-01")
}
