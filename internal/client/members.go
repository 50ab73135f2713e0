package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/agentyard/terraform-provider-agentyard/internal/batch"
)

// organizationClient calls the operations on members, usage limits, and the history of enterprise controls.
type organizationClient struct {
	*conn

	members        *paged[[]Member]
	controlChanges *paged[[]ControlChange]
	// usageLimits and globalLimit have one object each. Writes share requests.
	usageLimits      *shared[UsageLimits]
	globalLimit      *shared[globalUsageLimit]
	limitBatch       *batch.Batcher[int64, limitResult]
	globalLimitBatch *batch.Batcher[int64, struct{}]
	// firstLimits and firstGlobalLimit are as this process read them first.
	firstLimits      *UsageLimits
	firstGlobalLimit *int64
	// limitReads are the limits that resources have read.
	limitReads sync.Map
	// limitsSet has the keys of the addresses whose limits this process has set. Only batches use it, one at a time.
	limitsSet map[string]bool
}

func newOrganization(conn *conn) *organizationClient {
	c := &organizationClient{conn: conn, limitsSet: map[string]bool{}}
	c.members, c.controlChanges = newPages[Member](conn, opListMembers, "users"), newPages[ControlChange](conn, opListControlChanges, "changes")
	c.usageLimits = newShared(conn.Clock, 0, c.listUsageLimits, func(*UsageLimits) string { return organization }, nameless[UsageLimits])
	c.globalLimit = newShared(conn.Clock, 0, c.readGlobalUsageLimit, func(*globalUsageLimit) string { return organization }, nameless[globalUsageLimit])
	c.limitBatch, c.globalLimitBatch = newLimitBatch(c, c.writeUserUsageLimits), newLimitBatch(c, c.sendGlobalUsageLimit)
	return c
}

// membersRoute serves both operations on members.
const membersRoute = "/api/v0/organization/users"

var opListMembers = operation{name: "listMembers", method: http.MethodGet, route: membersRoute}

// Member is a human who belongs to the organization; an invitation that is pending is no member yet. Every operation on
// members needs the key of a human with the Manager role or higher.
type Member struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	// FirstName and LastName are empty where the service does not know them.
	FirstName string    `json:"firstName"`
	LastName  string    `json:"lastName"`
	CreatedAt Timestamp `json:"createdAt"`
	// LastSignInAt is zero for one who never signed in.
	LastSignInAt Timestamp `json:"lastSignInAt"`
	Metadata     Metadata  `json:"metadata"`
}

func (m *Member) identifier() string { return m.ID }

func (m *Member) missing() string {
	if m.Email == "" {
		return "email"
	}
	return ""
}

// Members returns the members of the organization, the oldest first as the service lists them; 0 is all of them. Many
// calls in a short time share the pages, and no page is asked for once there are enough.
func (c *organizationClient) Members(ctx context.Context, most int) ([]Member, error) {
	found, err := gather(c.members.all(ctx, pageSize(most)), most, (*Member).identifier)
	if err != nil || most == 0 {
		return found, err
	}
	return found[:min(most, len(found))], nil
}

// MembersByEmail returns the members with an email address, compared without case; none if there is nobody. It reads the
// pages that all such calls share, and goes no further than the first page that shows one.
func (c *organizationClient) MembersByEmail(ctx context.Context, email string) ([]Member, error) {
	found, _, err := c.lookUp(ctx, email)
	return found, err
}

// lookUp returns the members with an email address, and how many members it went through.
func (c *organizationClient) lookUp(ctx context.Context, email string) (found []Member, seen int, err error) {
	for members, err := range c.members.all(ctx, pageSize(0)) {
		if err != nil {
			return nil, 0, err
		}
		seen += len(members)
		for _, m := range members {
			if strings.EqualFold(m.Email, email) {
				found = append(found, m)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found, seen, nil
}

// RemoveMember ends a membership, or revokes a pending invitation. For an email address of nobody the error is a *GoneError.
func (c *organizationClient) RemoveMember(ctx context.Context, email string) error {
	err := c.callNoAnswer(ctx, request{
		op:    operation{name: "removeMember", method: http.MethodDelete, route: membersRoute},
		query: url.Values{"email": {email}},
	})
	c.usageLimits.discardAll() // A limit goes with its member, also where only the answer was lost.
	if IsNotFound(err) {
		return c.confirmNoMember(ctx, email, err)
	}
	c.forgetMembers()
	return err
}

// confirmNoMember proves a 404 by a listing without the member: somebody who is still there must not pass for one who is
// gone, and a listing without anybody is no proof, because the API key's owner is a member. Without that proof the error
// is the 404 itself, or an *UnprovenGoneError.
func (c *organizationClient) confirmNoMember(ctx context.Context, email string, notFound error) error {
	for range 2 {
		found, seen, err := c.lookUp(ctx, email)
		if err == nil && seen == 0 {
			err = request{op: opListMembers}.strange("it lists no member at all, though the owner of the API key is one")
		}
		switch {
		case err != nil:
			return &UnprovenGoneError{Err: notFound, Listing: err}
		case len(found) == 0:
			return &GoneError{Err: notFound}
		}
		c.forgetMembers() // What was read may be older than the removal.
	}
	return notFound
}

// forgetMembers drops all that a removal changes.
func (c *organizationClient) forgetMembers() {
	c.members.discard()
}
