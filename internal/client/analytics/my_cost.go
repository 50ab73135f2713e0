package analytics

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// CostHeadlineDaily is the query about one's own cost whose rows are known: what was used each day.
const CostHeadlineDaily = "headline_daily"

// CostQueryKeys are the queries about one's own cost.
func CostQueryKeys() []string {
	return []string{
		CostHeadlineDaily, "cost_summary", "top_sessions", "by_model", "fsc_by_model_daily", "fsc_by_multiplier_daily", "by_ticket", "by_pr", "my_activity_summary",
		"my_time_spent", "my_intent_breakdown", "my_completed_tickets_daily", "my_completed_tickets", "my_merged_prs_daily", "my_merged_pr_detail",
	}
}

// MyCost is the answer to a query about one's own cost.
type MyCost struct {
	// OrgID is the organization's ID; empty where the service does not say.
	OrgID string
	// Rows are as the service writes them: the fields of most queries are open.
	Rows []json.RawMessage
	// Days are the rows of CostHeadlineDaily; nil for another query.
	Days []CostDay
}

// CostDay is what was used on a day, in credits; nil where the service leaves it out.
type CostDay struct {
	Date string   `json:"date"`
	FSC  *float64 `json:"fsc"`
}

// MyCost asks about what the API key's owner used. The rows of CostHeadlineDaily are ordered by date, others by the service.
func (c *Client) MyCost(ctx context.Context, queryKey string, days Days) (*MyCost, error) {
	asked := c.queries.myCost
	answer, err := asked.run(ctx, days.query("queryKey", queryKey), 0)
	if err != nil {
		return nil, err
	}
	found := &MyCost{OrgID: answer.OrgID, Rows: answer.Rows}
	if queryKey != CostHeadlineDaily {
		return found, nil
	}
	type dayRow struct {
		day CostDay
		raw json.RawMessage
	}
	rows := make([]dayRow, len(answer.Rows))
	for i, raw := range answer.Rows {
		rows[i].raw = raw
		if err := transport.Decode(raw, "", &rows[i].day); err != nil {
			return nil, transport.NewTransportError(asked.op, err)
		}
		if problem := days.unlike(i+1, rows[i].day.Date); problem != "" {
			return nil, transport.Request{Op: asked.op}.Unexpected(problem)
		}
	}
	slices.SortStableFunc(rows, func(a, b dayRow) int { return cmp.Compare(a.day.Date, b.day.Date) })
	found.Days = make([]CostDay, len(rows))
	for i, row := range rows {
		found.Rows[i], found.Days[i] = row.raw, row.day
	}
	return found, nil
}
