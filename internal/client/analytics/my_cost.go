package analytics

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// CostHeadlineDaily is the query whose rows are documented: the credits used each day.
const CostHeadlineDaily = "headline_daily"

// CostQueryKeys returns the queries of MyCost.
func CostQueryKeys() []string {
	return []string{
		CostHeadlineDaily, "cost_summary", "top_sessions", "by_model", "fsc_by_model_daily", "fsc_by_multiplier_daily", "by_ticket",
		"by_pr", "my_activity_summary", "my_time_spent", "my_intent_breakdown", "my_completed_tickets_daily", "my_completed_tickets",
		"my_merged_prs_daily", "my_merged_pr_detail",
	}
}

// MyCost is the result of a query for the costs of the API key's owner.
type MyCost struct {
	// OrgID is the organization's ID; empty if the service does not return it.
	OrgID string
	// Range is that of the response, as in Report.
	Range Days
	// Rows are unchanged, because the fields of most queries are not documented.
	Rows []json.RawMessage
	// Days are the rows of CostHeadlineDaily; nil for another query.
	Days []CostDay
}

// CostDay has the credits used on a day; nil if the service does not return them.
type CostDay struct {
	wire.WithRaw
	Date string   `json:"date"`
	FSC  *float64 `json:"fsc"`
}

// MyCost returns the costs of the API key's owner. The rows of CostHeadlineDaily are ordered by date, other rows by the
// service.
func (c *Client) MyCost(ctx context.Context, queryKey string, days Days) (*MyCost, error) {
	found := &MyCost{Rows: []json.RawMessage{}}
	for page, err := range c.myCost.pages.All(ctx, days.query("queryKey", queryKey).Encode()) {
		if err != nil {
			return nil, err
		}
		found.OrgID, found.Range = cmp.Or(found.OrgID, page.OrgID), cmp.Or(found.Range, page.Days)
		found.Rows = append(found.Rows, page.Rows...)
	}
	if queryKey != CostHeadlineDaily {
		return found, nil
	}
	found.Days = make([]CostDay, len(found.Rows))
	for i, raw := range found.Rows {
		if err := wire.Decode(raw, "", &found.Days[i]); err != nil {
			return nil, transport.NewTransportError(c.myCost.op, err)
		}
	}
	wire.Sort(found.Days, func(a, b *CostDay) int { return cmp.Compare(a.Date, b.Date) })
	for i := range found.Days {
		found.Rows[i] = found.Days[i].Raw
	}
	return found, nil
}
