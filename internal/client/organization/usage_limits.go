package organization

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// MinUsageLimit is the lowest limit that the service accepts, in credits.
const MinUsageLimit = 1_000_000

const (
	// limitWindow is how long after the last write of a limit the batch is sent.
	limitWindow = 50 * time.Millisecond
	// maxLimitEntries is how many users' limits the service accepts in one request.
	maxLimitEntries = 100
)

// UsageLimits are the credit limits of an organization.
type UsageLimits struct {
	// Global is the limit of every user without their own limit, in credits; nil means none.
	Global *int64
	// Users are ordered by email address. Some may have no limit of their own.
	Users []UserUsageLimit
	// byEmail has the limits by exact spelling, and byKey by emailKey.
	byEmail, byKey map[string]*UserUsageLimit
}

// UserUsageLimit is the credit limit of one user.
type UserUsageLimit struct {
	// Email is case-insensitive.
	Email string
	// Limit is in credits; nil means that the global limit applies.
	Limit *int64
}

// listedLimit is an entry of a listing. Its limit may be null, but must be present.
type listedLimit struct {
	Email string          `json:"email"`
	Limit json.RawMessage `json:"limit"`
}

func (l *listedLimit) Ref() wire.Ref { return wire.Ref{ID: l.Email} }

func (l *listedLimit) MissingField() string {
	switch {
	case l.Email == "":
		return "email"
	case len(l.Limit) == 0:
		return "limit"
	}
	return ""
}

// Of is the limit of a user, in credits; nil if only the global limit applies.
func (l *UsageLimits) Of(email string) *int64 {
	if found := l.find(email); found != nil {
		return found.Limit
	}
	return nil
}

// find prefers the exact spelling if a listing has several spellings of an address.
func (l *UsageLimits) find(email string) *UserUsageLimit {
	return cmp.Or(l.byEmail[email], l.byKey[emailKey(email)])
}

// index indexes the limits by email address. Of two entries for one address, the one with a limit counts.
func (l *UsageLimits) index() {
	l.byEmail, l.byKey = make(map[string]*UserUsageLimit, len(l.Users)), make(map[string]*UserUsageLimit, len(l.Users))
	add := func(to map[string]*UserUsageLimit, key string, user *UserUsageLimit) {
		if present := to[key]; present == nil || present.Limit == nil {
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

// LimitConflictError says that a limit was not set because the same request has another value for it.
type LimitConflictError struct {
	// Email is empty for the global limit.
	Email string
	// First is the value that is sent, and Second the rejected one, both in credits.
	First, Second int64
}

func (e *LimitConflictError) Error() string {
	which := "the global limit"
	if e.Email != "" {
		which = "the limit of " + e.Email
	}
	return fmt.Sprintf("%s was not set to %d, because another resource of this run sets it to %d", which, e.Second, e.First)
}

// limitResult is the result for one user of a request.
type limitResult struct {
	set *UserUsageLimit
	err error
}

// newLimitBatch combines writes of limits. A nil value removes a limit.
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

// isInvalid reports whether the service rejected the request as invalid.
func isInvalid(err error) bool {
	status := transport.StatusOf(err)
	return (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) && !transport.IsForeign(err)
}

func sameLimit(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// UsageLimits returns all limits. Calls in a short time share one listing.
func (c *Client) UsageLimits(ctx context.Context) (*UsageLimits, error) {
	return c.usageLimits.Get(ctx, collection.Organization, c.listUsageLimits)
}

// UserUsageLimit reads one user's limit from the same listing. If only the global limit applies, the error is a *MissingError.
func (c *Client) UserUsageLimit(ctx context.Context, email string) (*UserUsageLimit, error) {
	limits, err := c.UsageLimits(ctx)
	if err != nil {
		return nil, err
	}
	found := limits.find(email)
	switch {
	case found == nil:
		return nil, &collection.MissingError{Err: fmt.Errorf("%s is not listed", email)}
	case found.Limit == nil:
		return nil, &collection.MissingError{Err: fmt.Errorf("%s has no limit of their own", email)}
	}
	limit := *found
	return &limit, nil
}

func (c *Client) listUsageLimits(ctx context.Context) (*UsageLimits, error) {
	r := transport.Request{Op: transport.Operation{Name: "getUserUsageLimits", Method: http.MethodGet, Route: "/api/v0/organization/usage/limits/users"}}
	response, err := c.conn.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		return nil, err
	}
	global, listed, err := decodeLimits(response.Body)
	if err != nil {
		return nil, transport.NewTransportError(r.Op, err)
	}
	if listed, err = transport.CheckObjects[listedLimit](r, listed); err != nil {
		return nil, err
	}
	users := make([]UserUsageLimit, len(listed))
	for i, l := range listed {
		users[i].Email = l.Email
		if err := wire.Decode(l.Limit, "", &users[i].Limit); err != nil {
			return nil, transport.NewTransportError(r.Op, fmt.Errorf("the field limit of %s: %w", l.Email, err))
		}
	}
	// The API does not define the order, and a changing order would show up as drift.
	wire.Sort(users, func(a, b *UserUsageLimit) int {
		return cmp.Or(cmp.Compare(emailKey(a.Email), emailKey(b.Email)), cmp.Compare(a.Email, b.Email))
	})
	limits := &UsageLimits{Global: global, Users: users}
	limits.index()
	return limits, nil
}

// decodeLimits requires both fields, because missing ones would look like removed limits.
func decodeLimits(body []byte) (global *int64, users []listedLimit, err error) {
	var fields map[string]json.RawMessage
	if err := wire.Decode(body, "", &fields); err != nil {
		return nil, nil, err
	}
	if _, ok := fields["globalLimit"]; !ok {
		return nil, nil, &wire.ResponseError{Problem: "the field globalLimit is missing"}
	}
	if string(fields["userLimits"]) == "null" {
		return nil, nil, &wire.ResponseError{Problem: "the field userLimits is null"}
	}
	var limits struct {
		Global *int64 `json:"globalLimit"`
	}
	if err := wire.Decode(body, "", &limits); err != nil {
		return nil, nil, err
	}
	users, err = wire.ReadList[listedLimit](body, "userLimits")
	return limits.Global, users, err
}

// UsageLimitsAtPlan is UsageLimits with errors like CheckAccess. Its listing outlives writes: an apply plans each resource again,
// and would otherwise list the limits after each write.
func (c *Client) UsageLimitsAtPlan(ctx context.Context) (*UsageLimits, error) {
	limits, err := c.limitsAtPlan.Get(ctx, collection.Organization, c.UsageLimits)
	return limits, c.conn.CheckOnce(ctx, "usage limits", func(context.Context) error { return err })
}

// SetUserUsageLimit sets a user's limit, in credits. Writes within limitWindow share a request. Besides the service's errors,
// it returns *RefusedError, and *LimitConflictError if the request has another value for the user.
func (c *Client) SetUserUsageLimit(ctx context.Context, email string, limit int64) (*UserUsageLimit, error) {
	result, err := c.limitBatch.Do(ctx, email, &limit)
	return result.set, cmp.Or(err, result.err)
}

// RemoveUserUsageLimit removes a user's limit, so that the global limit applies. A limit that this process has set is kept:
// when a resource is renamed, its create and destroy run in any order, and the user must keep the limit.
func (c *Client) RemoveUserUsageLimit(ctx context.Context, email string) error {
	result, err := c.limitBatch.Do(ctx, email, nil)
	return cmp.Or(err, result.err)
}

// SetUserUsageLimits sets or removes the limits of many users, in requests of up to maxLimitEntries, and returns the errors by email
// address. After an error that is not about single users, it sends nothing more, and the others get the same error.
func (c *Client) SetUserUsageLimits(ctx context.Context, limits map[string]*int64) map[string]error {
	failed := map[string]error{}
	var stopped error
	for emails := range slices.Chunk(slices.Sorted(maps.Keys(limits)), maxLimitEntries) {
		var entries []collection.BatchEntry[int64]
		for _, email := range emails {
			entries = append(entries, collection.BatchEntry[int64]{Key: email, Value: limits[email]})
			if stopped != nil {
				failed[email] = stopped
			}
		}
		if stopped != nil {
			continue
		}
		c.limitBatch.DoTogether(ctx, entries, func(n int, result limitResult, err error) {
			if err = cmp.Or(err, result.err); err != nil {
				failed[emails[n]] = err
			}
			if err != nil && !IsAboutUser(err) {
				stopped = err
			}
		})
	}
	return failed
}

// IsAboutUser reports whether the service rejected a limit because of its user or value.
func IsAboutUser(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) || isInvalid(err)
}

// writeUserUsageLimits sends entries, except removals of limits that this process has set.
func (c *Client) writeUserUsageLimits(ctx context.Context, entries []collection.BatchEntry[int64]) ([]limitResult, error) {
	var sent []collection.BatchEntry[int64]
	var positions []int
	for i, e := range entries {
		if e.Value != nil || !c.limitsSet[emailKey(e.Key)] {
			sent, positions = append(sent, e), append(positions, i)
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
	for n, i := range positions {
		results[i] = written[n]
		if written[n].err == nil && entries[i].Value != nil {
			c.limitsSet[emailKey(entries[i].Key)] = true
		}
	}
	return results, nil
}

// sendUserUsageLimits sends one request. Entries that its response does not report are read back.
func (c *Client) sendUserUsageLimits(ctx context.Context, entries []collection.BatchEntry[int64]) ([]limitResult, error) {
	defer c.usageLimits.DropAll()
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
	response, err := c.conn.Exchange(ctx, r, transport.AnyBody)
	if err != nil && !transport.IsAmbiguous(err) {
		return nil, err
	}
	var reported limitResponse
	if err == nil {
		reported = decodeLimitResponse(response.Body)
	}
	results := make([]limitResult, len(entries))
	var unreported []int
	for i, e := range entries {
		var isReported bool
		if results[i], isReported = reported.result(r, e); !isReported {
			unreported = append(unreported, i)
		}
	}
	if len(unreported) == 0 {
		return results, nil
	}
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	c.usageLimits.DropAll()
	present, readErr := c.UsageLimits(ctx)
	for _, i := range unreported {
		email, wanted := entries[i].Key, entries[i].Value
		switch {
		case readErr == nil && sameLimit(present.Of(email), wanted):
			results[i] = limitResult{set: &UserUsageLimit{Email: email, Limit: wanted}}
		case err != nil:
			results[i].err = err
		case results[i].err != nil: // The service's own message.
		case readErr != nil:
			results[i].err = fmt.Errorf("%w (the response to %s does not report the limit of %s, so the provider read the limits back)", readErr, r.Op.Name, email)
		default:
			results[i].err = r.Unexpected(fmt.Sprintf("it does not report the limit of %s, and the limit read back differs", email))
		}
	}
	return results, nil
}

// limitResponse has the parts of a response by emailKey. An entry of updated is nil if the response has different limits for it.
type limitResponse struct {
	updated  map[string]*UserUsageLimit
	problems map[string]string
}

// decodeLimitResponse omits what it cannot decode.
func decodeLimitResponse(body []byte) limitResponse {
	reported := limitResponse{map[string]*UserUsageLimit{}, map[string]string{}}
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
			if other, ok := reported.updated[emailKey(l.Email)]; ok && (other == nil || !sameLimit(other.Limit, limit)) {
				set = nil
			}
			reported.updated[emailKey(l.Email)] = set
		}
	}
	for _, raw := range lists.Errors {
		var e struct {
			Email string          `json:"email"`
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(raw, &e) == nil {
			text, _ := wire.TextOf(e.Error)
			reported.problems[emailKey(e.Email)] = cmp.Or(text, "no explanation")
		}
	}
	return reported
}

// result returns the result for an entry, and whether it is final. A rejection is not final if there may be nothing to remove,
// or if the response also reports a success.
func (a limitResponse) result(r transport.Request, e collection.BatchEntry[int64]) (result limitResult, isFinal bool) {
	updated, isUpdated := a.updated[emailKey(e.Key)]
	if problem, ok := a.problems[emailKey(e.Key)]; ok {
		rejected := &RefusedError{Op: r.Op, Email: e.Key, Problem: problem}
		return limitResult{err: rejected}, e.Value != nil && !isUpdated
	}
	if updated == nil || !sameLimit(updated.Limit, e.Value) {
		return limitResult{}, false
	}
	return limitResult{set: updated}, true
}
