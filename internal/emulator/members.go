package emulator

import (
	"errors"
	"net/mail"
	"slices"
	"time"
)

// memberView is a member as the API shows it. What is not known about one is left out.
type memberView struct {
	ID           string    `json:"id"`
	Email        string    `json:"email"`
	FirstName    string    `json:"firstName,omitempty"`
	LastName     string    `json:"lastName,omitempty"`
	CreatedAt    time.Time `json:"createdAt"`
	LastSignInAt time.Time `json:"lastSignInAt,omitzero"`
	Metadata     values    `json:"metadata"`
}

func organizationArea() area {
	routes := []route{
		{operation: "listEnterpriseControlHistory", handle: listControlChanges},
		{operation: "getGlobalUsageLimit", handle: getGlobalLimit},
		{operation: "setGlobalUsageLimit", handle: setGlobalLimit},
		{operation: "getUserUsageLimits", handle: getUserLimits},
		{operation: "setUserUsageLimits", handle: setUserLimits},
		{operation: "listMembers", handle: listMembers},
		{operation: "removeMember", handle: removeMember},
		{operation: "inviteMember", handle: inviteMember},
	}
	for i := range routes {
		routes[i].handle = managersOnly(routes[i].handle)
	}
	return area{routes, []anyTable{memberTable, invitationTable, limitTable, controlTable}}
}

// listMembers shows who has joined, the oldest member first: so the IDs sort. Only the members of the page are read.
func listMembers(r *request) (reply, error) {
	ids := memberTable.keys(r.tx, "")
	from, to, p, err := r.page(ids)
	if err != nil {
		return reply{}, err
	}
	users, err := memberTable.pick(r.tx, ids[from:to])
	return reply{200, values{"users": views(users, func(m *member) memberView { return m.memberView }), "pagination": p}}, err
}

// maxAddress is how many bytes an email address can have (RFC 5321). A key of the database has a limit too.
const maxAddress = 254

// isAddress reports whether a text is an email address and nothing else.
func isAddress(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && len(text) <= maxAddress && address.Address == text
}

// removeMember ends a membership or a pending invitation. The limit goes with the member, and the API keys no longer
// authenticate. The record is kept, because the member's usage remains.
func removeMember(r *request) (reply, error) {
	email := r.query.Get("email")
	switch {
	case !isAddress(email):
		return reply{}, refuse("email-form", "The query parameter %q must be an email address.", "email")
	case invitationTable.has(r.tx, emailKey(email)):
		r.noteChange(emailKey(email), email).Instead("revoked", "invitations")
		return reply{status: 204}, invitationTable.remove(r.tx, emailKey(email))
	}
	m, err := memberByEmail(r.tx, email, notFound("The organization has no member and no pending invitation with the email address %q.", email))
	switch {
	case err != nil:
		return reply{}, err
	case m.ID == r.who.ID:
		return reply{}, r.refuseSelfRemoval()
	}
	r.noteChange(m.ID, m.Email)
	return reply{status: 204}, errors.Join(
		formerMemberTable.put(r.tx, m.ID, formerMember{*m, millis(r.now)}), memberTable.remove(r.tx, m.ID), limitTable.remove(r.tx, m.ID),
	)
}

// refuseSelfRemoval says why callers cannot remove themselves. This also protects the last manager or owner.
func (r *request) refuseSelfRemoval() error {
	members, err := memberTable.list(r.tx, "")
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(members, func(m *member) bool { return m.ID != r.who.ID && m.Role != RoleUser }):
		return conflict("You cannot remove yourself; another manager or owner can remove you.")
	}
	return conflict("The last manager or owner of the organization cannot be removed.")
}
