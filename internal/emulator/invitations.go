package emulator

import (
	"cmp"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// invitation is pending until a member joins.
type invitation struct {
	Email, Role string
	CreatedAt   int64
}

// Invitations are by email address.
var invitationTable = &table[invitation]{name: "invitations"}

// What became of an invitation.
const (
	invitationSent    = "invited"
	invitationPending = "already_invited"
	invitationJoined  = "already_member"
	invitationRole    = "role_updated"
	invitationFailed  = "error"
)

// invitationResult is the response to an invitation. The role is the one that the person has now.
type invitationResult struct {
	Email  string `json:"email"`
	Role   string `json:"role"`
	Status string `json:"status"`
	Error  string `json:"error,omitempty"`
}

// inviteMember invites a person, or gives a member the role.
func inviteMember(r *request) (reply, error) {
	f := r.fields()
	in := invitation{Email: f.text("email"), CreatedAt: millis(r.now)}
	if in.Email != "" && !isAddress(in.Email) {
		f.problemBy("email-form", "email", "must be an email address")
	}
	in.Role = cmp.Or(f.text("role"), RoleUser)
	if err := f.done(); err != nil {
		return reply{}, err
	}
	result, err := r.invite(in)
	return reply{200, result}, err
}

func (r *request) invite(in invitation) (invitationResult, error) {
	m, err := memberByEmail(r.tx, in.Email, nil)
	if err != nil {
		return invitationResult{}, err
	}
	pending, err := invitationTable.get(r.tx, emailKey(in.Email), nil)
	switch {
	case err != nil:
		return invitationResult{}, err
	case m != nil:
		return r.changeRole(*m, in.Role)
	case pending != nil:
		return invitationResult{Email: pending.Email, Role: pending.Role, Status: invitationPending}, nil
	case !r.hasFreeSeat():
		return invitationResult{in.Email, in.Role, invitationFailed, "The organization has no free seat."}, nil
	}
	r.noteChange(emailKey(in.Email), in.Email)
	return invitationResult{Email: in.Email, Role: in.Role, Status: invitationSent}, invitationTable.put(r.tx, emailKey(in.Email), in)
}

// changeRole gives a member a role, unless the member is the caller, who could otherwise lock everybody out.
func (r *request) changeRole(m member, role string) (invitationResult, error) {
	switch {
	case m.Role == role:
		return invitationResult{Email: m.Email, Role: role, Status: invitationJoined}, nil
	case m.ID == r.who.ID:
		return invitationResult{m.Email, m.Role, invitationFailed, "You cannot change your own role; another manager or owner can change it."}, nil
	}
	m.Role = role
	r.noteChange(m.ID, m.Email).Instead("updated", "members")
	return invitationResult{Email: m.Email, Role: role, Status: invitationRole}, putMember(r.tx, m)
}

// hasFreeSeat reports whether there is room for another member. Members and pending invitations take a seat each.
func (r *request) hasFreeSeat() bool {
	seats := r.e.switched().seats
	return seats == 0 || memberTable.size(r.tx)+invitationTable.size(r.tx) < seats
}

// SetSeats limits how many members and pending invitations the organization has room for, until Reset; 0 means any number.
// It returns an error if the number is negative. Only invitations by the API need a free seat.
func (e *Emulator) SetSeats(seats int) error {
	if seats < 0 {
		return fmt.Errorf("the number of seats %d is negative", seats)
	}
	e.program(func(s *switches) { s.seats = seats })
	return nil
}

// Invite sends an invitation to join the organization with a role; empty means RoleUser. It stays pending until it is
// revoked or AddHuman adds a member with the email address.
// An error means that the email is malformed, a member's or invited already, or that the role does not exist.
func (e *Emulator) Invite(email, role string) error {
	role = cmp.Or(role, RoleUser)
	if err := checkHuman(email, role); err != nil {
		return err
	}
	return e.store.db.Update(func(tx *bolt.Tx) error {
		switch {
		case isMember(tx, email):
			return fmt.Errorf("a member with the email address %s already exists", email)
		case invitationTable.has(tx, emailKey(email)):
			return fmt.Errorf("an invitation of %s is already pending", email)
		}
		return invitationTable.put(tx, emailKey(email), invitation{email, role, millis(e.clock.Now())})
	})
}
