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

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// MinUsageLimit is the lowest limit that the service accepts, in credits.
const MinUsageLimit = 1_000_000

// maxLimitEntries is how many users' limits the service accepts in one request.
const maxLimitEntries = 100

// UsageLimits are the credit limits of an organization.
type UsageLimits struct {
	// Global is the limit of every user without their own limit, in credits; nil means none.
	Global *int64
	// Users are ordered by email address. Some may have no limit of their own.
	Users []UserUsageLimit
	// byKey has the limits by emailKey.
	byKey map[string]*UserUsageLimit
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
	Email string               `json:"email"`
	Limit wire.Nullable[int64] `json:"limit"`
}

func (l *listedLimit) Ref() wire.Ref { return wire.Ref{ID: l.Email} }

func (l *listedLimit) MissingField() string {
	return cmp.Or(wire.MissingIf(l.Email == "", "email"), wire.MissingIf(!l.Limit.IsPresent, "limit"))
}

// Of is the limit of a user, in credits; nil if only the global limit applies.
func (l *UsageLimits) Of(email string) *int64 {
	if found := l.byKey[emailKey(email)]; found != nil {
		return found.Limit
	}
	return nil
}

// emailKey is the same for all spellings of an address.
func emailKey(email string) string { return strings.ToLower(email) }

// isInvalid reports whether the service rejected the request as invalid.
func isInvalid(err error) bool {
	status := transport.StatusOf(err)
	return (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) && !transport.IsForeign(err)
}

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
	found := limits.byKey[emailKey(email)]
	if found == nil || found.Limit == nil {
		return nil, &collection.MissingError{Err: fmt.Errorf("%s has no limit of their own", email)}
	}
	limit := *found
	return &limit, nil
}

func (c *Client) listUsageLimits(ctx context.Context) (*UsageLimits, error) {
	r := transport.Get("getUserUsageLimits", "/api/v0/organization/usage/limits/users")
	var envelope struct {
		Global wire.Nullable[int64] `json:"globalLimit"`
	}
	listed, err := transport.CallList[listedLimit](ctx, c.conn, r, "userLimits", &envelope)
	switch {
	case err != nil:
		return nil, err
	case !envelope.Global.IsPresent:
		return nil, r.Unexpected("the field globalLimit is missing")
	case listed == nil:
		return nil, r.Unexpected("the field userLimits is null")
	}
	users := make([]UserUsageLimit, len(listed))
	for i, l := range listed {
		users[i] = UserUsageLimit{Email: l.Email, Limit: l.Limit.Value}
	}
	wire.Sort(users, func(a, b *UserUsageLimit) int { return cmp.Compare(emailKey(a.Email), emailKey(b.Email)) })
	limits := &UsageLimits{Global: envelope.Global.Value, Users: users, byKey: make(map[string]*UserUsageLimit, len(users))}
	for i := range users {
		limits.byKey[emailKey(users[i].Email)] = &users[i]
	}
	return limits, nil
}

// UsageLimitsAtPlan is UsageLimits with errors like CheckAccess.
func (c *Client) UsageLimitsAtPlan(ctx context.Context) (*UsageLimits, error) {
	limits, err := c.UsageLimits(ctx)
	return limits, c.conn.CheckOnce(ctx, "usage limits", func(context.Context) error { return err })
}

// CheckAccess checks during a plan that the key, its role, and base_url can manage limits.
func (c *Client) CheckAccess(ctx context.Context) error {
	return c.conn.CheckOnce(ctx, "usage limits", func(ctx context.Context) error { _, err := c.UsageLimits(ctx); return err })
}

// SetUserUsageLimit sets a user's limit, in credits. If the service rejects this user, the error is a *RefusedError.
func (c *Client) SetUserUsageLimit(ctx context.Context, email string, limit int64) (*UserUsageLimit, error) {
	return &UserUsageLimit{Email: email, Limit: &limit}, c.SetUserUsageLimits(ctx, map[string]*int64{email: &limit})[email]
}

// RemoveUserUsageLimit removes a user's limit, so that the global limit applies.
func (c *Client) RemoveUserUsageLimit(ctx context.Context, email string) error {
	return c.SetUserUsageLimits(ctx, map[string]*int64{email: nil})[email]
}

// SetUserUsageLimits sets or removes the limits of many users, in requests of up to maxLimitEntries, and returns the errors by email
// address. After an error that is not about single users, it sends nothing more, and the others get the same error.
//
// A limit that this process has set is not removed: when a resource is renamed, its create and destroy run in any order.
func (c *Client) SetUserUsageLimits(ctx context.Context, limits map[string]*int64) map[string]error {
	failed := map[string]error{}
	requests := slices.Collect(slices.Chunk(slices.Sorted(maps.Keys(limits)), maxLimitEntries))
	for len(requests) > 0 {
		emails := requests[0]
		refused, err := c.putUserUsageLimits(ctx, emails, limits)
		if isInvalid(err) && len(emails) > 1 { // The service may reject a request because of one user in it.
			requests = slices.Concat(slices.Collect(slices.Chunk(emails, 1)), requests[1:])
			continue
		}
		maps.Copy(failed, refused)
		switch {
		case isInvalid(err):
			failed[emails[0]] = fmt.Errorf("the limit of %s: %w", emails[0], err) // The service's message may not name the member.
		case err != nil:
			for _, email := range slices.Concat(requests...) {
				failed[email] = err
			}
			return failed
		}
		requests = requests[1:]
	}
	return failed
}

// HasSetLimit reports whether this process has set a user's limit.
func (c *Client) HasSetLimit(email string) bool {
	_, isSet := c.limitsSet.Load(emailKey(email))
	return isSet
}

// IsAboutUser reports whether the service rejected a limit because of its user or value.
func IsAboutUser(err error) bool {
	_, isRefused := errors.AsType[*RefusedError](err)
	return isRefused || isInvalid(err)
}

// putUserUsageLimits sends one request, and returns the errors of single users.
func (c *Client) putUserUsageLimits(ctx context.Context, emails []string, limits map[string]*int64) (map[string]error, error) {
	r := transport.Put("setUserUsageLimits", "/api/v0/organization/usage/limits/users")
	for _, key := range emailKeys(emails) {
		release, err := c.settingLimit.Lock(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("%s was not sent: %w", r.Op.Name, err)
		}
		defer release()
	}
	var body struct {
		Users []limitEntry `json:"users"`
	}
	for _, email := range emails {
		if limits[email] != nil || !c.HasSetLimit(email) {
			body.Users = append(body.Users, limitEntry{email, limits[email]})
		}
	}
	if len(body.Users) == 0 {
		return nil, nil
	}
	defer c.usageLimits.DropAll()
	response, err := c.conn.Exchange(ctx, r.With(body), transport.EmptyOrJSON)
	if err != nil {
		return nil, err
	}
	answer, refused := readLimitsAnswer(response.Body), map[string]error{}
	for _, e := range body.Users {
		if field, problem := answer.problem(e); problem != "" {
			refused[e.Email] = &RefusedError{Op: r.Op, Email: e.Email, Field: field, Problem: problem}
		} else if e.Limit != nil {
			c.limitsSet.Store(emailKey(e.Email), true)
		}
	}
	c.forgiveRemovals(ctx, limits, refused)
	return refused, nil
}

// forgiveRemovals drops the errors of removals whose limits do not exist, such as those of former members.
func (c *Client) forgiveRemovals(ctx context.Context, limits map[string]*int64, refused map[string]error) {
	removals := slices.DeleteFunc(slices.Collect(maps.Keys(refused)), func(email string) bool { return limits[email] != nil })
	if len(removals) == 0 {
		return
	}
	c.usageLimits.DropAll()
	present, err := c.UsageLimits(ctx)
	if err != nil {
		return
	}
	for _, email := range removals {
		if present.Of(email) == nil {
			delete(refused, email)
		}
	}
}

// emailKeys returns the keys of addresses in one order for all callers, so that no two wait for each other's locks.
func emailKeys(emails []string) []string {
	var keys []string
	for _, email := range emails {
		keys = append(keys, emailKey(email))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// limitEntry is a limit to set, or to remove if it is nil.
type limitEntry struct {
	Email string `json:"email"`
	Limit *int64 `json:"limit"`
}

// limitsAnswer is what the service says about the limits that it was asked to set.
type limitsAnswer struct {
	// updated is nil if the response has no such list, or one that cannot be decoded: it then says nothing.
	updated []listedLimit
	// problems are the service's messages for the users that it rejected, by emailKey.
	problems map[string]string
}

// readLimitsAnswer omits what it cannot decode.
func readLimitsAnswer(body []byte) limitsAnswer {
	var lists struct {
		Updated json.RawMessage   `json:"updated"`
		Errors  []json.RawMessage `json:"errors"`
	}
	_ = json.Unmarshal(body, &lists)
	answer := limitsAnswer{problems: map[string]string{}}
	if json.Unmarshal(lists.Updated, &answer.updated) != nil {
		answer.updated = nil
	}
	for _, raw := range lists.Errors {
		var e struct {
			Email string          `json:"email"`
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(raw, &e) == nil {
			text, _ := wire.TextOf(e.Error)
			answer.problems[emailKey(e.Email)] = cmp.Or(text, "no explanation")
		}
	}
	return answer
}

// problem says why a limit is not set, and which field is at fault. It is empty unless the response denies the limit.
func (a limitsAnswer) problem(e limitEntry) (field, problem string) {
	if problem, ok := a.problems[emailKey(e.Email)]; ok {
		return "email", problem
	}
	if a.updated != nil {
		problem = "the response has the address neither in updated nor in errors"
	}
	for _, u := range a.updated {
		switch {
		case emailKey(u.Email) != emailKey(e.Email):
		case u.Limit.Denies(e.Limit):
			problem = fmt.Sprintf("the response has the limit %s instead of %s", wire.Shown(u.Limit.Value), wire.Shown(e.Limit))
		default:
			return "", ""
		}
	}
	return "limit", problem
}

// GlobalUsageLimit returns the limit of every user without their own limit, in credits; nil means none. Calls in a short time
// share one request.
func (c *Client) GlobalUsageLimit(ctx context.Context) (*int64, error) {
	return c.globalLimit.Get(ctx, collection.Organization, c.readGlobalUsageLimit)
}

// GlobalUsageLimitAtPlan is GlobalUsageLimit with errors like CheckAccess.
func (c *Client) GlobalUsageLimitAtPlan(ctx context.Context) (*int64, error) {
	limit, err := c.GlobalUsageLimit(ctx)
	return limit, c.conn.CheckOnce(ctx, "global usage limit", func(context.Context) error { return err })
}

func (c *Client) readGlobalUsageLimit(ctx context.Context) (*int64, error) {
	r := transport.Get("getGlobalUsageLimit", "/api/v0/organization/usage/limits/global")
	found, err := transport.Call[struct {
		Limit wire.Nullable[int64] `json:"limit"`
	}](ctx, c.conn, r)
	switch {
	case err != nil:
		return nil, err
	case !found.Limit.IsPresent:
		return nil, r.Unexpected("the field limit is missing")
	}
	return found.Limit.Value, nil
}

// everybody stands for an email address where limits are locked and remembered.
const everybody = ""

// SetGlobalUsageLimit sets the global limit, in credits; nil removes it. As with the users' limits, a limit that this process has set is
// not removed.
func (c *Client) SetGlobalUsageLimit(ctx context.Context, limit *int64) error {
	r := transport.Put("setGlobalUsageLimit", "/api/v0/organization/usage/limits/global")
	release, err := c.settingLimit.Lock(ctx, everybody)
	if err != nil {
		return fmt.Errorf("%s was not sent: %w", r.Op.Name, err)
	}
	defer release()
	if _, isSet := c.limitsSet.Load(everybody); isSet && limit == nil {
		return nil
	}
	defer c.globalLimit.DropAll()
	defer c.usageLimits.DropAll()
	response, err := c.conn.Exchange(ctx, r.With(map[string]*int64{"limit": limit}), transport.EmptyOrJSON)
	if err != nil {
		return err
	}
	var said struct {
		Limit wire.Nullable[int64] `json:"limit"`
	}
	if json.Unmarshal(response.Body, &said) == nil && said.Limit.Denies(limit) {
		return r.Denied("limit", wire.Shown(said.Limit.Value), wire.Shown(limit))
	}
	if limit != nil {
		c.limitsSet.Store(everybody, true)
	}
	return nil
}
