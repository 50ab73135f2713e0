// Package analytics calls the operations of analytics.
package analytics

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Client calls the operations of analytics.
type Client struct {
	// Tokens has the tokens of each day, Tools the use of tools, Activity the active users, and Productivity the files and commits.
	Tokens       *Query[TokenRow]
	Tools        *Query[ToolRow]
	Activity     *Query[ActivityRow]
	Productivity *Query[ProductivityRow]

	users  *Query[UserRow]
	myCost *Query[json.RawMessage]
}

// New returns a client for analytics.
func New(conn *transport.Conn) *Client {
	return &Client{
		Tokens:       newQuery(conn, "getTokenAnalytics", "tokens", (*TokenRow).key),
		Tools:        newQuery(conn, "getToolAnalytics", "tools", (*ToolRow).key),
		Activity:     newQuery(conn, "getActivityAnalytics", "activity", (*ActivityRow).key),
		Productivity: newQuery(conn, "getProductivityAnalytics", "productivity", (*ProductivityRow).key),
		users:        newQuery(conn, "getUserAnalytics", "users", (*UserRow).key),
		myCost:       newQuery[json.RawMessage](conn, "queryMyCost", "cost/me/query", rawKey),
	}
}

// Days is a range of days in UTC, as YYYY-MM-DD. Both ends are included.
type Days struct{ Start, End string }

// Report is the result of a query about days.
type Report[T any] struct {
	// OrgID is the organization's ID; empty if the service does not return it.
	OrgID string
	// Days are those of the response; both ends are empty if it does not name them.
	Days Days
	Rows []T
}

func (r *TokenRow) key() string        { return keyOf(r.Date, r.GroupKey) }
func (r *ToolRow) key() string         { return keyOf(r.Date, r.GroupKey) }
func (r *ActivityRow) key() string     { return keyOf(r.Date, r.GroupKey) }
func (r *ProductivityRow) key() string { return keyOf(r.Date, nil) }
func (r *UserRow) key() string         { return keyOf(r.Date, &r.UserID) }

// keyOf returns a text that identifies a row, and orders the rows.
func keyOf(date string, group *string) string {
	if group == nil {
		return date
	}
	return date + "\n" + *group
}

// rawKey is the key of a row whose fields are not documented.
func rawKey(row *json.RawMessage) string { return string(*row) }

// Rows returns the rows of each day, for each model, tool, or client if groupBy is set. All rows of analytics are ordered by date and group.
func (a *Query[T]) Rows(ctx context.Context, days Days, groupBy string) (*Report[T], error) {
	return a.run(ctx, days.query("group_by", groupBy), nil, 0)
}

// Users returns what each user did each day, ordered by date and user: at most limit rows, the first ones that the service
// lists; 0 means all. Emails, whose case does not matter, selects users; none means all.
func (c *Client) Users(ctx context.Context, days Days, emails []string, limit int) (*Report[UserRow], error) {
	if len(emails) == 0 {
		return c.users.run(ctx, days.query("limit", collection.PageSize(limit)), nil, limit)
	}
	selected := map[string]bool{}
	for _, email := range emails {
		selected[strings.ToLower(email)] = true
	}
	isSelected := func(r *UserRow) bool { return r.UserEmail != nil && selected[strings.ToLower(*r.UserEmail)] }
	return c.users.run(ctx, days.query("limit", collection.PageSize(0)), isSelected, limit)
}

// query returns the query parameters, plus one with the given name if its value is not empty.
func (d Days) query(name, value string) url.Values {
	q := url.Values{"startDate": {d.Start}, "endDate": {d.End}}
	if value != "" {
		q.Set(name, value)
	}
	return q
}

// Query is an operation of analytics. Calls with the same parameters share their requests for collection.SharedLifetime,
// because responses may be large and slow.
type Query[T any] struct {
	conn *transport.Conn
	op   transport.Operation
	// key identifies a row.
	key   func(*T) string
	pages *collection.Paged[Report[T]]
}

func newQuery[T any](conn *transport.Conn, name, path string, key func(*T) string) *Query[T] {
	a := &Query[T]{conn: conn, op: transport.Get(name, "/api/v1/analytics/"+path).Op, key: key}
	a.pages = collection.NewPaged(conn.Clock, a.op, a.fetch)
	return a
}

// run returns the rows that isSelected accepts, ordered by their keys; nil accepts all. It returns at most limit rows; 0 means all. It
// drops repeated rows, because a user may move to a later page during the listing.
func (a *Query[T]) run(ctx context.Context, query url.Values, isSelected func(*T) bool, limit int) (*Report[T], error) {
	found, earlier := &Report[T]{Rows: []T{}}, map[string]bool{}
	for page, err := range a.pages.All(ctx, query.Encode()) {
		if err != nil {
			return nil, err
		}
		found.OrgID, found.Days = cmp.Or(found.OrgID, page.OrgID), cmp.Or(found.Days, page.Days)
		for _, row := range page.Rows {
			if (isSelected == nil || isSelected(&row)) && !earlier[a.key(&row)] {
				found.Rows = append(found.Rows, row)
			}
		}
		for i := range page.Rows {
			earlier[a.key(&page.Rows[i])] = true
		}
		if limit > 0 && len(found.Rows) >= limit {
			found.Rows = found.Rows[:limit]
			break
		}
	}
	wire.Sort(found.Rows, func(x, y *T) int { return cmp.Compare(a.key(x), a.key(y)) })
	return found, nil
}

// fetch reads a page, which has the organization's ID even without rows.
func (a *Query[T]) fetch(ctx context.Context, query, cursor string) (collection.Page[Report[T]], error) {
	var none collection.Page[Report[T]]
	q, err := url.ParseQuery(query)
	if err != nil {
		return none, fmt.Errorf("%s: the query cannot be read: %w", a.op.Name, err)
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	r := transport.Request{Op: a.op, Query: q}
	var envelope struct {
		Meta struct {
			OrgID      string          `json:"org_id"`
			StartDate  string          `json:"start_date"`
			EndDate    string          `json:"end_date"`
			HasMore    *bool           `json:"has_more"`
			NextCursor json.RawMessage `json:"next_cursor"`
		} `json:"meta"`
	}
	rows, err := transport.CallItems[T](ctx, a.conn, r, "data", &envelope)
	if err != nil {
		return none, err
	}
	next, err := collection.NextPage(r, "meta", envelope.Meta.HasMore, envelope.Meta.NextCursor, 1)
	report := Report[T]{OrgID: envelope.Meta.OrgID, Days: Days{envelope.Meta.StartDate, envelope.Meta.EndDate}, Rows: rows}
	return collection.Page[Report[T]]{Content: report, Next: next}, err
}

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
