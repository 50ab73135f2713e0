package organization

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

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
	r := transport.Post("inviteMember", membersRoute+"/invite").Repeatable().With(body)
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
