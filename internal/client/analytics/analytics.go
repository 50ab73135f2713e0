// Package analytics calls the operations of analytics.
package analytics

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Client calls the operations of analytics.
type Client struct {
	conn *transport.Conn

	queries queries
}

// New returns the calls of analytics.
func New(conn *transport.Conn) *Client {
	c := &Client{conn: conn}
	c.queries = newQueries(c)
	return c
}

// Days are a range of days in UTC, as YYYY-MM-DD. Both ends belong to it.
type Days struct{ Start, End string }

// Report is the answer to a question about days.
type Report[T any] struct {
	// OrgID is the organization's ID; empty where the service does not say.
	OrgID string
	Rows  []T
}

// place identifies a row of an answer, and orders the rows.
type place struct{ date, key string }

func (r *TokenRow) place() place        { return placed(r.Date, r.GroupKey) }
func (r *ToolRow) place() place         { return placed(r.Date, r.GroupKey) }
func (r *ActivityRow) place() place     { return placed(r.Date, r.GroupKey) }
func (r *ProductivityRow) place() place { return placed(r.Date, nil) }
func (r *UserRow) place() place         { return placed(r.Date, &r.UserID) }

func placed(date string, key *string) place {
	if key == nil {
		return place{date, ""}
	}
	return place{date, *key}
}

// verbatim is the place of a row whose fields are open.
func verbatim(row *json.RawMessage) place { return place{"", string(*row)} }

// compareTexts puts what the service leaves out first.
func compareTexts(a, b *string) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// queries are those to the operations of analytics.
type queries struct {
	tokens       *query[TokenRow]
	tools        *query[ToolRow]
	activity     *query[ActivityRow]
	productivity *query[ProductivityRow]
	users        *query[UserRow]
	myCost       *query[json.RawMessage]
}

func newQueries(c *Client) queries {
	return queries{
		tokens:       newQuery(c, "getTokenAnalytics", "tokens", (*TokenRow).place, (*TokenRow).order),
		tools:        newQuery(c, "getToolAnalytics", "tools", (*ToolRow).place, (*ToolRow).order),
		activity:     newQuery(c, "getActivityAnalytics", "activity", (*ActivityRow).place, (*ActivityRow).order),
		productivity: newQuery(c, "getProductivityAnalytics", "productivity", (*ProductivityRow).place, (*ProductivityRow).order),
		users:        newQuery(c, "getUserAnalytics", "users", (*UserRow).place, (*UserRow).order),
		myCost:       newQuery[json.RawMessage](c, "queryMyCost", "cost/me/query", verbatim, nil),
	}
}

// Tokens returns what was used each day, and of each model if groupBy says so; empty does not. Rows are ordered by
// date and group, here and in what follows.
func (c *Client) Tokens(ctx context.Context, days Days, groupBy string) (*Report[TokenRow], error) {
	return c.queries.tokens.run(ctx, days.query("group_by", groupBy), 0)
}

// Tools returns the use of tools each day, and of each tool if groupBy says so.
func (c *Client) Tools(ctx context.Context, days Days, groupBy string) (*Report[ToolRow], error) {
	return c.queries.tools.run(ctx, days.query("group_by", groupBy), 0)
}

// Activity returns who was active each day, and on each client if groupBy says so.
func (c *Client) Activity(ctx context.Context, days Days, groupBy string) (*Report[ActivityRow], error) {
	return c.queries.activity.run(ctx, days.query("group_by", groupBy), 0)
}

// Productivity returns what was made each day.
func (c *Client) Productivity(ctx context.Context, days Days) (*Report[ProductivityRow], error) {
	return c.queries.productivity.run(ctx, days.query("", ""), 0)
}

// Users returns what each user did each day, ordered by date and user: at most so many rows, those that the
// service lists first; 0 is all.
func (c *Client) Users(ctx context.Context, days Days, most int) (*Report[UserRow], error) {
	size := collection.MaxPageSize
	if most > 0 {
		size = min(most, collection.MaxPageSize)
	}
	return c.queries.users.run(ctx, days.query("limit", strconv.Itoa(size)), most)
}

// query is the question about the days, with one more parameter unless its value is empty.
func (d Days) query(name, value string) url.Values {
	q := url.Values{"startDate": {d.Start}, "endDate": {d.End}}
	if value != "" {
		q.Set(name, value)
	}
	return q
}

// unlike says why a row with such a date does not belong to an answer about the days; empty if it does.
func (d Days) unlike(row int, date string) string {
	switch {
	case date == "":
		return fmt.Sprintf("its row %d has no date", row)
	case dayOf(date) < d.Start || dayOf(date) > d.End:
		return fmt.Sprintf("its row %d is outside the requested days: %s", row, date)
	}
	return ""
}

// dayOf is the day of a date, which the service may write with a time of day.
func dayOf(date string) string { return date[:min(len(date), len(time.DateOnly))] }

// query are the answers to the questions that one process has put to an operation of analytics, by their queries. Those
// who ask the same within sharedLifetime share the requests, because such an answer may be large and slow.
type query[T any] struct {
	client *Client
	op     transport.Operation
	// place identifies a row. Order sorts the lists in it; it is nil if rows stay as the service writes them.
	place func(*T) place
	order func(*T)
	pages *collection.Paged[Report[T]]
}

func newQuery[T any](c *Client, name, path string, place func(*T) place, order func(*T)) *query[T] {
	a := &query[T]{client: c, op: transport.Operation{Name: name, Method: http.MethodGet, Route: "/api/v1/analytics/" + path}, place: place, order: order}
	a.pages = collection.NewPaged(c.conn.Clock, a.op, a.fetch, func(one, other Report[T]) bool {
		return slices.EqualFunc(one.Rows, other.Rows, func(x, y T) bool { return place(&x) == place(&y) })
	})
	return a
}

// run returns the rows of all pages, or of as many as hold enough of them; 0 is all. No rows are an empty list. A
// row that an earlier page had is dropped: a user may have moved to a later page meanwhile.
func (a *query[T]) run(ctx context.Context, query url.Values, most int) (*Report[T], error) {
	found, earlier := &Report[T]{Rows: []T{}}, map[place]bool{}
	for part, err := range a.pages.All(ctx, query.Encode()) {
		if err != nil {
			return nil, err
		}
		if found.OrgID != "" && part.OrgID != "" && found.OrgID != part.OrgID {
			a.pages.Invalidate() // As any other failure, this one is not kept.
			return nil, transport.Request{Op: a.op}.Unexpected(fmt.Sprintf("it belongs to organization %s, and an earlier page to %s", part.OrgID, found.OrgID))
		}
		found.OrgID = cmp.Or(found.OrgID, part.OrgID)
		for _, row := range part.Rows {
			if a.order == nil || !earlier[a.place(&row)] {
				found.Rows = append(found.Rows, row)
			}
		}
		for i := range part.Rows {
			earlier[a.place(&part.Rows[i])] = true
		}
		if most > 0 && len(found.Rows) >= most {
			found.Rows = found.Rows[:most]
			break
		}
	}
	if a.order != nil {
		slices.SortStableFunc(found.Rows, func(x, y T) int {
			one, other := a.place(&x), a.place(&y)
			return cmp.Or(cmp.Compare(one.date, other.date), cmp.Compare(one.key, other.key))
		})
	}
	return found, nil
}

// fetch asks for a page. It is one item of the listing, because the organization's ID is known without any row too.
func (a *query[T]) fetch(ctx context.Context, query, cursor string) (collection.Page[Report[T]], error) {
	var none collection.Page[Report[T]]
	q, err := url.ParseQuery(query)
	if err != nil {
		return none, fmt.Errorf("%s: the query cannot be read: %w", a.op.Name, err)
	}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	r := transport.Request{Op: a.op, Query: q}
	answer, err := a.client.conn.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		return none, err
	}
	rows, err := transport.ReadList[T](answer.Body, "data")
	if err != nil {
		return none, transport.NewTransportError(a.op, err)
	}
	days := Days{Start: q.Get("startDate"), End: q.Get("endDate")}
	// An operation without pages is not asked for a number of users, and need not say that its answer is whole.
	size, err := strconv.Atoi(q.Get("limit"))
	isPaged := err == nil
	if isPaged && rows == nil {
		return none, r.Unexpected("its data is null")
	}
	for i := range rows {
		if a.order == nil {
			break
		}
		if problem := days.unlike(i+1, a.place(&rows[i]).date); problem != "" {
			return none, r.Unexpected(problem)
		}
		a.order(&rows[i])
	}
	var envelope struct {
		Meta struct {
			OrgID      string          `json:"org_id"`
			StartDate  string          `json:"start_date"`
			EndDate    string          `json:"end_date"`
			HasMore    *bool           `json:"has_more"`
			NextCursor json.RawMessage `json:"next_cursor"`
		} `json:"meta"`
	}
	if err := transport.ReadEnvelope(answer.Body, &envelope); err != nil {
		return none, transport.NewTransportError(a.op, err)
	}
	if told := (Days{cmp.Or(dayOf(envelope.Meta.StartDate), days.Start), cmp.Or(dayOf(envelope.Meta.EndDate), days.End)}); told != days {
		return none, r.Unexpected(fmt.Sprintf("it covers other days than requested: %s to %s", told.Start, told.End))
	}
	next, err := collection.NextPage(r, envelope.Meta.HasMore, envelope.Meta.NextCursor, isPaged && a.users(rows) >= size)
	return collection.Page[Report[T]]{Items: []Report[T]{{OrgID: envelope.Meta.OrgID, Rows: rows}}, Next: next}, err
}

// users counts those whom rows of pages are about: the size of such a page is a number of users.
func (a *query[T]) users(rows []T) int {
	users := map[string]bool{}
	for i := range rows {
		users[a.place(&rows[i]).key] = true
	}
	return len(users)
}
