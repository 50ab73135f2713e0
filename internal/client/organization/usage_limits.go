package organization

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// MinUsageLimit is the least limit that the service takes, in credits.
const MinUsageLimit = 1_000_000

const (
	// limitWindow is how long after the last write of a limit the request with all of them is sent.
	limitWindow = 50 * time.Millisecond
	// maxLimitEntries is how many users' limits the service takes in one request.
	maxLimitEntries = 100
)

// UsageLimits are the credit limits of an organization.
type UsageLimits struct {
	// Global is the limit of every user without one of their own, in credits; nil is none.
	Global *int64
	// Users are ordered by their addresses. One without a limit of their own may be among them.
	Users []UserUsageLimit
	// byEmail has each address as it is spelled, and by its key.
	byEmail, byKey map[string]*UserUsageLimit
}

// UserUsageLimit is the credit limit of one user.
type UserUsageLimit struct {
	// Email compares without case.
	Email string
	// Limit is in credits; nil means that the global limit applies.
	Limit *int64
}

// listedLimit is an entry of a listing. Its limit may be null, but is there.
type listedLimit struct {
	Email string          `json:"email"`
	Limit json.RawMessage `json:"limit"`
}

func (l *listedLimit) Identifier() string { return l.Email }

func (l *listedLimit) MissingField() string {
	if len(l.Limit) == 0 {
		return "limit"
	}
	return ""
}

// Of is the limit that a user has, in credits; nil where only the global limit applies.
func (l *UsageLimits) Of(email string) *int64 {
	if found := l.find(email); found != nil {
		return found.Limit
	}
	return nil
}

// find prefers the very spelling where a listing has an address in several.
func (l *UsageLimits) find(email string) *UserUsageLimit {
	return cmp.Or(l.byEmail[email], l.byKey[emailKey(email)])
}

// index has the limits found by address. Of two for one address, the one that is a limit counts.
func (l *UsageLimits) index() {
	l.byEmail, l.byKey = make(map[string]*UserUsageLimit, len(l.Users)), make(map[string]*UserUsageLimit, len(l.Users))
	add := func(to map[string]*UserUsageLimit, key string, user *UserUsageLimit) {
		if known := to[key]; known == nil || known.Limit == nil {
			to[key] = user
		}
	}
	for i := range l.Users {
		add(l.byEmail, l.Users[i].Email, &l.Users[i])
		add(l.byKey, emailKey(l.Users[i].Email), &l.Users[i])
	}
}

// emailKey is the same for all spellings of an address.
func emailKey(email string) string { return strings.ToLower(email) }

// EntryError says that the service carried out a request for several users, but not for this one.
type EntryError struct {
	// Operation, Method and Route are as in APIError.
	Operation, Method, Route string
	Email                    string
	// Problem is what the service says.
	Problem string
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("%s (%s %s) was refused for %s: %s", e.Operation, e.Method, e.Route, e.Email, e.Problem)
}

// LimitConflictError says that a limit was not set because another value for it is part of the same request.
type LimitConflictError struct {
	// Email is empty for the global limit.
	Email string
	// First is the value that is sent, Second the one that is not. Both are in credits.
	First, Second int64
}

func (e *LimitConflictError) Error() string {
	which := "the global limit"
	if e.Email != "" {
		which = "the limit of " + e.Email
	}
	return fmt.Sprintf("%s was not set to %d, because another resource of this run sets it to %d", which, e.Second, e.First)
}

// limitResult is what became of one user's part of a request.
type limitResult struct {
	set *UserUsageLimit
	err error
}

// newLimitBatch combines the writes of limits; a nil value removes a limit.
func newLimitBatch[R any](c *Client, send func(context.Context, []collection.BatchEntry[int64]) ([]R, error)) *collection.Batcher[int64, R] {
	return collection.NewBatcher(c.conn.Clock, collection.BatchOptions[int64, R]{
		Window:    limitWindow,
		Max:       maxLimitEntries,
		Send:      send,
		IsRefused: isInvalid,
		Conflict: func(email string, first, second int64) error {
			return &LimitConflictError{Email: email, First: first, Second: second}
		},
	})
}

// isInvalid reports that the service itself refused what was sent.
func isInvalid(err error) bool {
	status := transport.StatusOf(err)
	return (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) && !transport.IsForeign(err)
}

func sameLimit(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// UsageLimits returns all limits. Many calls in a short time share one listing.
func (c *Client) UsageLimits(ctx context.Context) (*UsageLimits, error) {
	found, err := c.usageLimits.All(ctx, collection.Organization)
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// UserUsageLimit reads one user's limit from the same listing. Where only the global limit applies, it is a *GoneError.
func (c *Client) UserUsageLimit(ctx context.Context, email string) (*UserUsageLimit, error) {
	limits, err := c.UsageLimits(ctx)
	if err != nil {
		return nil, err
	}
	found := limits.find(email)
	switch {
	case found == nil:
		return nil, &collection.GoneError{Err: fmt.Errorf("%s is not listed", email)}
	case found.Limit == nil:
		return nil, &collection.GoneError{Err: fmt.Errorf("%s has no limit of their own", email)}
	}
	limit := *found
	return &limit, nil
}

// listUsageLimits always asks the service. Its listing has one object.
func (c *Client) listUsageLimits(ctx context.Context, _ string) ([]UsageLimits, error) {
	r := transport.Request{Op: transport.Operation{Name: "getUserUsageLimits", Method: http.MethodGet, Route: "/api/v0/organization/usage/limits/users"}}
	answer, err := c.conn.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		return nil, err
	}
	global, listed, err := limitsIn(answer.Body)
	if err != nil {
		return nil, transport.NewTransportError(r.Op, err)
	}
	if listed, err = transport.CheckObjects[listedLimit](r, listed); err != nil {
		return nil, err
	}
	users := make([]UserUsageLimit, len(listed))
	for i, l := range listed {
		users[i].Email = l.Email
		if err := transport.Decode(l.Limit, "", &users[i].Limit); err != nil {
			return nil, transport.NewTransportError(r.Op, err)
		}
	}
	// The API leaves the order open, and a changing order would show up as a change.
	slices.SortFunc(users, func(a, b UserUsageLimit) int {
		return cmp.Or(cmp.Compare(emailKey(a.Email), emailKey(b.Email)), cmp.Compare(a.Email, b.Email))
	})
	limits := UsageLimits{Global: global, Users: users}
	limits.index()
	return []UsageLimits{limits}, nil
}

// limitsIn reads a listing. One that lacks a key is refused: taken for null, it would make limits look removed.
func limitsIn(body []byte) (global *int64, users []listedLimit, err error) {
	var fields map[string]json.RawMessage
	if err := transport.Decode(body, "", &fields); err != nil {
		return nil, nil, err
	}
	if _, ok := fields["globalLimit"]; !ok {
		return nil, nil, &transport.ResponseError{Problem: "it has no globalLimit"}
	}
	if string(fields["userLimits"]) == "null" {
		return nil, nil, &transport.ResponseError{Problem: "its userLimits are null"}
	}
	if err := transport.Decode(fields["globalLimit"], "", &global); err != nil {
		return nil, nil, err
	}
	users, err = transport.ReadList[listedLimit](body, "userLimits")
	return global, users, err
}

// FirstUsageLimits returns the limits as this process read them first, and an error like CheckAccess. An apply plans
// again, and would otherwise list the limits after each write.
func (c *Client) FirstUsageLimits(ctx context.Context) (*UsageLimits, error) {
	err := c.conn.CheckOnce("usage limits", func() (err error) {
		c.firstLimits, err = c.UsageLimits(ctx)
		return err
	})
	return c.firstLimits, err
}

// IsFirstLimitRead reports whether a resource reads a limit for the first time in this process.
func (c *Client) IsFirstLimitRead(id string) bool {
	_, known := c.limitReads.LoadOrStore(emailKey(id), true)
	return !known
}

// SetUserUsageLimit sets a user's limit, in credits. Writes that come together share a request. Besides the service's own
// errors it returns *EntryError, and *LimitConflictError if the request has another value for the user.
func (c *Client) SetUserUsageLimit(ctx context.Context, email string, limit int64) (*UserUsageLimit, error) {
	result, err := c.limitBatch.Do(ctx, email, &limit)
	return result.set, cmp.Or(err, result.err)
}

// RemoveUserUsageLimit removes a user's limit, so that the global one applies. A limit that this process has set stays: a
// renamed resource is created and destroyed in any order, and must not leave its user without a limit.
func (c *Client) RemoveUserUsageLimit(ctx context.Context, email string) error {
	result, err := c.limitBatch.Do(ctx, email, nil)
	return cmp.Or(err, result.err)
}

// writeUserUsageLimits sends what is to be written, without removals of limits that this process has set.
func (c *Client) writeUserUsageLimits(ctx context.Context, entries []collection.BatchEntry[int64]) ([]limitResult, error) {
	var sent []collection.BatchEntry[int64]
	var places []int
	for i, e := range entries {
		if e.Value != nil || !c.limitsSet[emailKey(e.Key)] {
			sent, places = append(sent, e), append(places, i)
		}
	}
	results := make([]limitResult, len(entries))
	if len(sent) == 0 {
		return results, nil
	}
	written, err := c.sendUserUsageLimits(ctx, sent)
	if err != nil {
		return nil, err
	}
	for n, i := range places {
		results[i] = written[n]
		if written[n].err == nil && entries[i].Value != nil {
			c.limitsSet[emailKey(entries[i].Key)] = true
		}
	}
	return results, nil
}

// sendUserUsageLimits sends one request. What its answer does not tell of an entry, a listing does.
func (c *Client) sendUserUsageLimits(ctx context.Context, entries []collection.BatchEntry[int64]) ([]limitResult, error) {
	defer c.usageLimits.InvalidateAll()
	type entry struct {
		Email string `json:"email"`
		Limit *int64 `json:"limit"`
	}
	body := struct {
		Users []entry `json:"users"`
	}{make([]entry, len(entries))}
	for i, e := range entries {
		body.Users[i] = entry{e.Key, e.Value}
	}
	r := transport.Request{Op: transport.Operation{Name: "setUserUsageLimits", Method: http.MethodPut, Route: "/api/v0/organization/usage/limits/users"}, Body: body}
	answer, err := c.conn.Exchange(ctx, r, transport.AnyBody)
	if err != nil && !transport.IsAmbiguous(err) {
		return nil, err
	}
	var told limitAnswer
	if err == nil {
		told = readLimitAnswer(answer.Body)
	}
	results := make([]limitResult, len(entries))
	var open []int
	for i, e := range entries {
		var isTold bool
		if results[i], isTold = told.result(r, e); !isTold {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return results, nil
	}
	present, readErr := c.usageLimitsAfterLoss(ctx)
	for _, i := range open {
		email, wanted := entries[i].Key, entries[i].Value
		switch {
		case readErr == nil && sameLimit(present.Of(email), wanted):
			results[i] = limitResult{set: &UserUsageLimit{Email: email, Limit: wanted}}
		case err != nil:
			results[i].err = err
		case results[i].err != nil: // What the service says is wrong with it.
		case readErr != nil:
			results[i].err = fmt.Errorf("%w (the response to %s does not report the limit of %s, so the provider read the limits back)", readErr, r.Op.Name, email)
		default:
			results[i].err = r.Unexpected(fmt.Sprintf("it does not report the limit of %s, and the limit read back differs", email))
		}
	}
	return results, nil
}

// limitAnswer is what the answer to a request tells, by address. Updated is nil for one that is told with different limits.
type limitAnswer struct {
	updated  map[string]*UserUsageLimit
	problems map[string]string
}

// readLimitAnswer takes what can be read of an answer; the rest is not told.
func readLimitAnswer(body []byte) limitAnswer {
	told := limitAnswer{map[string]*UserUsageLimit{}, map[string]string{}}
	var lists struct {
		Updated, Errors []json.RawMessage
	}
	_ = json.Unmarshal(body, &lists)
	for _, raw := range lists.Updated {
		var l struct {
			Email string          `json:"email"`
			Limit json.RawMessage `json:"limit"`
		}
		var limit *int64
		if json.Unmarshal(raw, &l) == nil && len(l.Limit) > 0 && json.Unmarshal(l.Limit, &limit) == nil {
			set := &UserUsageLimit{Email: l.Email, Limit: limit}
			if other, ok := told.updated[emailKey(l.Email)]; ok && (other == nil || !sameLimit(other.Limit, limit)) {
				set = nil
			}
			told.updated[emailKey(l.Email)] = set
		}
	}
	for _, raw := range lists.Errors {
		var e struct {
			Email string          `json:"email"`
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(raw, &e) == nil {
			text, _ := transport.TextOf(e.Error)
			told.problems[emailKey(e.Email)] = cmp.Or(text, "no explanation")
		}
	}
	return told
}

// result is what an answer tells of an entry. A refusal is not told to the end where there may be nothing to remove, or
// where the answer says the opposite too.
func (a limitAnswer) result(r transport.Request, e collection.BatchEntry[int64]) (result limitResult, isTold bool) {
	updated, isUpdated := a.updated[emailKey(e.Key)]
	if problem, ok := a.problems[emailKey(e.Key)]; ok {
		refused := &EntryError{Operation: r.Op.Name, Method: r.Op.Method, Route: r.Op.Route, Email: e.Key, Problem: problem}
		return limitResult{err: refused}, e.Value != nil && !isUpdated
	}
	if updated == nil || !sameLimit(updated.Limit, e.Value) {
		return limitResult{}, false
	}
	return limitResult{set: updated}, true
}

// usageLimitsAfterLoss reads the limits after a request to set some. What that did must be known, also where the run is stopped.
func (c *Client) usageLimitsAfterLoss(ctx context.Context) (*UsageLimits, error) {
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	c.usageLimits.InvalidateAll()
	return c.UsageLimits(ctx)
}
