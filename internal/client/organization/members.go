// Package organization calls the operations on members, usage limits, and the history of enterprise controls.
package organization

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Client calls the operations on members, usage limits, and the history of enterprise controls.
type Client struct {
	conn *transport.Conn

	members        *collection.Paged[[]Member]
	controlChanges *collection.Paged[[]ControlChange]
	usageLimits    *memo.Memo[*UsageLimits]
	globalLimit    *memo.Memo[*int64]
	// settingLimit has a lock for each user, by emailKey, and limitsSet the users whose limits this process has set.
	settingLimit collection.Locks
	limitsSet    sync.Map
}

// New returns a client for members, usage limits, and the history of enterprise controls.
func New(conn *transport.Conn) *Client {
	c := &Client{conn: conn}
	c.members = collection.NewPages[Member](conn, transport.Get("listMembers", "/api/v0/organization/users"), "users")
	history := transport.Get("listEnterpriseControlHistory", "/api/v0/organization/enterprise-controls/history")
	c.controlChanges = collection.NewPages[ControlChange](conn, history, "changes")
	c.usageLimits = memo.New[*UsageLimits](conn.Clock, collection.SharedLifetime)
	c.globalLimit = memo.New[*int64](conn.Clock, collection.SharedLifetime)
	return c
}

// Member belongs to the organization. A pending invitation is not a member. Every operation on members
// requires the key of a member with the Manager role or higher.
type Member struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	// FirstName and LastName may be empty.
	FirstName string      `json:"firstName"`
	LastName  string      `json:"lastName"`
	CreatedAt wire.Millis `json:"createdAt"`
	// LastSignInAt is zero if the member never signed in.
	LastSignInAt wire.Millis   `json:"lastSignInAt"`
	Metadata     wire.Metadata `json:"metadata"`
}

func (m *Member) Ref() wire.Ref { return wire.Ref{ID: m.ID} }

func (m *Member) MissingField() string { return wire.MissingIf(m.Email == "", "email") }

// RefusedError says that the service did nothing for one person, although it accepted the request.
type RefusedError struct {
	Op    transport.Operation
	Email string
	// Field is the API's field at fault.
	Field string
	// Problem is the service's message.
	Problem string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s (%s %s) was refused for %s: %s", e.Op.Name, e.Op.Method, e.Op.Route, e.Email, e.Problem)
}

// Members returns at most limit members of the organization, oldest first; 0 means all. Calls in a short time share the pages.
func (c *Client) Members(ctx context.Context, limit int) ([]Member, error) {
	found, err := collection.Gather(c.members.All(ctx, collection.PageKey(limit, nil)), limit)
	wire.Sort(found, func(a, b *Member) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	if err != nil || limit == 0 {
		return found, err
	}
	return found[:min(limit, len(found))], nil
}

// Member returns the member with an ID, otherwise the first one with an email address, which is case-insensitive, or nil. An empty ID
// is nobody's. It reads the pages that all such calls share, up to the one with the member.
func (c *Client) Member(ctx context.Context, id, email string) (*Member, error) {
	var found *Member
	for members, err := range c.members.All(ctx, collection.PageKey(0, nil)) {
		if err != nil {
			return nil, err
		}
		for i := range members {
			m := &members[i]
			switch {
			case m.ID == id:
				return m, nil
			case found == nil && strings.EqualFold(m.Email, email):
				found = m
			}
		}
		if found != nil && id == "" {
			break
		}
	}
	return found, nil
}

// MemberNow is Member by email address, with a listing that is new enough for a creation.
func (c *Client) MemberNow(ctx context.Context, email string) (*Member, error) {
	c.members.DropOld(collection.PageKey(0, nil))
	return c.Member(ctx, "", email)
}

// RemoveMember removes a member, or revokes a pending invitation. If there is neither, the error is a *MissingError.
func (c *Client) RemoveMember(ctx context.Context, email string) error {
	err := c.conn.CallIgnoringBody(ctx, transport.Delete("removeMember", "/api/v0/organization/users").Where(url.Values{"email": {email}}))
	c.usageLimits.DropAll() // The service removes the limit with its member.
	if transport.IsNotFound(err) {
		return c.confirmNoMember(ctx, email, err)
	}
	c.members.Invalidate()
	return err
}

// confirmNoMember turns a 404 into a *MissingError, unless a new listing has the member.
func (c *Client) confirmNoMember(ctx context.Context, email string, notFound error) error {
	c.members.Invalidate()
	switch found, err := c.Member(ctx, "", email); {
	case err != nil:
		return fmt.Errorf("%s; the member may still exist, because the list that would show it failed: %w", notFound.Error(), err)
	case found == nil:
		return &collection.MissingError{Err: notFound}
	}
	return notFound
}

// The roles of members.
const (
	RoleUser    = "user"
	RoleManager = "manager"
	RoleOwner   = "owner"
)

// The results of invitations that need special treatment.
const (
	AlreadyMember    = "already_member"
	invitationFailed = "error"
)

// InvitationResult is the service's answer to an invitation.
type InvitationResult struct {
	Email string `json:"email"`
	// Role is the one that the person has, or is invited with.
	Role string `json:"role"`
	// Status says what the service did.
	Status string          `json:"status"`
	Reason json.RawMessage `json:"error"`
}

func (i *InvitationResult) Ref() wire.Ref { return wire.Ref{ID: i.Email} }

func (i *InvitationResult) MissingField() string {
	return cmp.Or(wire.MissingIf(i.Email == "", "email"), wire.MissingIf(i.Status == "", "status"))
}

// Invite invites a person, or gives a member the role, and returns what the service did. Without a role, the service chooses the
// default, also for a member. Repeating it is harmless: the service sends no second invitation. If the person cannot be invited, or
// keeps another role, the error is a *RefusedError. The members that were read before stay valid, because nobody
// joins by being invited, and their records do not show the role.
func (c *Client) Invite(ctx context.Context, email, role string) (status string, err error) {
	body := map[string]string{"email": email}
	if role != "" {
		body["role"] = role
	}
	r := transport.Post("inviteMember", "/api/v0/organization/users/invite").Repeatable().With(body)
	result, err := transport.CallObject[InvitationResult](ctx, c.conn, r, "", email)
	if err != nil {
		return "", err
	}
	if text := wire.Messages([]json.RawMessage{result.Reason}); text != "" || result.Status == invitationFailed {
		return "", &RefusedError{Op: r.Op, Email: email, Field: "email", Problem: cmp.Or(text, "no explanation")}
	}
	if role != "" && result.Role != "" && !strings.EqualFold(result.Role, role) {
		kept := fmt.Sprintf("it kept the role %q instead of %q", result.Role, role)
		return "", &RefusedError{Op: r.Op, Email: email, Field: "role", Problem: kept}
	}
	return result.Status, nil
}
