package client

import (
	"cmp"
	"context"
	"fmt"
	"sync"
)

// limitClaims are the limits that this process sets, by address.
type limitClaims struct {
	mu    sync.Mutex
	byKey map[string]*limitClaim
	// planned are the values of limits that are planned anew; nil for one that is not known yet.
	planned map[string]*int64
	// held are the addresses whose limits resources in the state hold.
	held map[string]*limitHolders
	// isUsed says that a write has begun.
	isUsed bool
}

// limitHolders are how many resources in the state were read that hold a limit, and how many a plan takes out of it.
type limitHolders struct{ read, leaving int }

// limitClaim is one of them. Ended is closed when all who set it are done, and isSet says whether one of them did: a claim
// that nobody sets any more and that is not set has failed.
type limitClaim struct {
	limit   int64
	setting int
	isSet   bool
	ended   chan struct{}
}

// take claims an address for a value. The caller calls release when it knows whether the value was set.
func (l *limitClaims) take(email string, limit int64) (release func(isSet bool), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isUsed = true
	if l.byKey == nil {
		l.byKey = map[string]*limitClaim{}
	}
	key := emailKey(email)
	claim := l.byKey[key]
	switch {
	case claim == nil, claim.hasFailed() && claim.limit != limit:
		claim = &limitClaim{limit: limit, ended: make(chan struct{})}
		l.byKey[key] = claim
	case claim.limit != limit:
		return nil, &LimitConflictError{Email: email, First: claim.limit, Second: limit}
	case claim.setting == 0:
		claim.ended = make(chan struct{})
	}
	claim.setting++
	return func(isSet bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		claim.isSet = claim.isSet || isSet
		if claim.setting--; claim.setting == 0 {
			close(claim.ended)
		}
	}, nil
}

func (c *limitClaim) hasFailed() bool { return c.setting == 0 && !c.isSet }

// keeps reports whether an address was claimed and its limit set. It waits for a claim whose outcome is open. Where the
// claim has failed, it is an error: to remove the limit then would leave neither the old one nor the new one.
func (l *limitClaims) keeps(ctx context.Context, email string) (bool, error) {
	for {
		l.mu.Lock()
		l.isUsed = true
		claim := l.byKey[emailKey(email)]
		if claim == nil || claim.isSet {
			l.mu.Unlock()
			return claim != nil, nil
		}
		if claim.hasFailed() {
			l.mu.Unlock()
			return false, cmp.Or(ctx.Err(), fmt.Errorf("%s, which was to take its place, was not set; the limit stays as it is", newLimitOf(email)))
		}
		ended := claim.ended
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("waiting until another resource has set the limit of %s: %w", email, ctx.Err())
		case <-ended: // Somebody else may have claimed it since.
		}
	}
}

func newLimitOf(email string) string {
	if email == everybody {
		return "the new global limit"
	}
	return "the new limit of " + email
}

// HoldUserUsageLimit notes that one more resource in the state holds a user's limit. Each read notes it.
func (c *Client) HoldUserUsageLimit(email string) { c.limitClaims.hold(emailKey(email)) }

// HoldGlobalUsageLimit is HoldUserUsageLimit for the global limit. Its reads leave that to the caller.
func (c *Client) HoldGlobalUsageLimit() { c.globalLimitClaims.hold(everybody) }

// LeaveUserUsageLimit notes that a plan takes a resource with a user's limit out of the state. It reports whether another
// one is known to stay. In what order Terraform reads and plans resources is its own affair, and a destruction may read
// none: not to know of another one does not mean that there is none.
func (c *Client) LeaveUserUsageLimit(email string) (staysHeld bool) {
	return c.limitClaims.leave(emailKey(email))
}

// LeaveGlobalUsageLimit is LeaveUserUsageLimit for the global limit.
func (c *Client) LeaveGlobalUsageLimit() (staysHeld bool) {
	return c.globalLimitClaims.leave(everybody)
}

// HoldsUserUsageLimit reports whether a resource in the state is known to hold a user's limit, or to have held it before this plan.
func (c *Client) HoldsUserUsageLimit(email string) bool { return c.limitClaims.isHeld(emailKey(email)) }

// HoldsGlobalUsageLimit is HoldsUserUsageLimit for the global limit.
func (c *Client) HoldsGlobalUsageLimit() bool { return c.globalLimitClaims.isHeld(everybody) }

func (l *limitClaims) hold(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holders(key).read++
}

func (l *limitClaims) leave(key string) (staysHeld bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	holders := l.holders(key)
	holders.leaving++
	return holders.read > holders.leaving
}

func (l *limitClaims) isHeld(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[key] != nil
}

func (l *limitClaims) holders(key string) *limitHolders {
	if l.held == nil {
		l.held = map[string]*limitHolders{}
	}
	if l.held[key] == nil {
		l.held[key] = &limitHolders{}
	}
	return l.held[key]
}

// PlanUserUsageLimit notes that a new limit is planned for a user; nil is a value that is not known yet. It reports whether
// that is the second one in this process, and the value of the first.
func (c *Client) PlanUserUsageLimit(email string, limit *int64) (first *int64, isSecond bool) {
	return c.limitClaims.plan(emailKey(email), limit)
}

// PlanGlobalUsageLimit is PlanUserUsageLimit for the global limit.
func (c *Client) PlanGlobalUsageLimit(limit *int64) (first *int64, isSecond bool) {
	return c.globalLimitClaims.plan(everybody, limit)
}

func (l *limitClaims) plan(key string, limit *int64) (first *int64, isSecond bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.planned == nil {
		l.planned = map[string]*int64{}
	}
	first, isSecond = l.planned[key]
	if !isSecond {
		l.planned[key] = limit
	}
	return first, isSecond
}

// ForeseeUsageLimits returns the limits for a plan to tell of. It returns nil where none can be read, and once this process
// has begun to write limits: an apply plans again, and would list them after each write.
func (c *Client) ForeseeUsageLimits(ctx context.Context) (*UsageLimits, error) {
	if c.limitClaims.hasBegun() || c.unconfigured != nil {
		return nil, nil
	}
	return c.UsageLimits(ctx)
}

// ForeseeGlobalUsageLimit is ForeseeUsageLimits for the global limit; nil is also where there is none.
func (c *Client) ForeseeGlobalUsageLimit(ctx context.Context) (*int64, error) {
	if c.globalLimitClaims.hasBegun() || c.unconfigured != nil {
		return nil, nil
	}
	return c.GlobalUsageLimit(ctx)
}

func (l *limitClaims) hasBegun() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isUsed
}
