package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
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

// userLimit is the limit of one user; null means no limit of their own.
type userLimit struct {
	Email string `json:"email"`
	Limit *int64 `json:"limit"`
}

// Limits are in credits, by member ID; the global one is under scopeOrganization.
var limitTable = &table[int64]{name: "usage_limits"}

// setLimit stores the limit of a member, or of the organization; nil removes it.
func (r *request) setLimit(owner, name string, limit *int64) error {
	if limit == nil {
		r.noteChange(owner, "of "+name).Instead("removed", "usage-limits")
		return limitTable.remove(r.tx, owner)
	}
	r.noteChange(owner, "of "+name)
	return limitTable.put(r.tx, owner, *limit)
}

func getGlobalLimit(r *request) (reply, error) {
	limit, err := limitTable.get(r.tx, scopeOrganization, nil)
	return reply{200, values{"limit": limit}}, err
}

func setGlobalLimit(r *request) (reply, error) {
	f := r.fields()
	limit := readLimit(f)
	if err := f.done(); err != nil {
		return reply{}, err
	}
	return reply{200, values{"limit": limit}}, r.setLimit(scopeOrganization, "the organization", limit)
}

// readLimit reads the field limit, which has to be there: a number of credits, or null for none.
func readLimit(f *fields) *int64 {
	if f.null("limit") {
		return nil
	}
	limit := f.integer("limit")
	if limit > maxInteger {
		f.problemBy("limit-size", "limit", "must be at most %d", int64(maxInteger))
	}
	return &limit
}

// getUserLimits shows an entry for each member. One without a limit of their own has null, because the global one applies.
func getUserLimits(r *request) (reply, error) {
	limits := map[string]*int64{}
	err := limitTable.each(r.tx, "", func(owner string, limit *int64) error {
		limits[owner] = limit
		return nil
	})
	members, listErr := memberTable.list(r.tx, "")
	users := arrange(r.e, views(members, func(m *member) userLimit { return userLimit{m.Email, limits[m.ID]} }))
	return reply{200, values{"globalLimit": limits[scopeOrganization], "userLimits": users}}, errors.Join(err, listErr)
}

// setUserLimits carries out each entry that names a member and lists the others under errors.
func setUserLimits(r *request) (reply, error) {
	f := r.fields()
	entries := readUserLimits(f)
	if err := f.done(); err != nil {
		return reply{}, err
	}
	updated, failed := []userLimit{}, []values{}
	for _, entry := range entries {
		m, err := memberByEmail(r.tx, entry.Email, nil)
		if err != nil {
			return reply{}, err
		}
		if m == nil {
			failed = append(failed, values{"email": entry.Email, "error": r.unknownMember(entry.Email)})
			continue
		}
		if err := r.setLimit(m.ID, m.Email, entry.Limit); err != nil {
			return reply{}, err
		}
		updated = append(updated, userLimit{m.Email, entry.Limit})
	}
	return reply{200, values{"updated": arrange(r.e, updated), "errors": arrange(r.e, failed)}}, nil
}

func readUserLimits(f *fields) []userLimit {
	items := f.objects("users")
	entries, first := make([]userLimit, len(items)), map[string]int{}
	for i, item := range items {
		entries[i] = userLimit{item.text("email"), readLimit(item)}
		if other, twice := first[emailKey(entries[i].Email)]; twice && entries[i].Email != "" {
			item.problemBy("email-twice", "email", "repeats that of users[%d]; letter case is ignored", other)
		}
		first[emailKey(entries[i].Email)] = i
	}
	return entries
}

// unknownMember is the error for an email address that is not a member's.
func (r *request) unknownMember(email string) string {
	switch {
	case !isAddress(email):
		return "The email address is malformed."
	case invitationTable.has(r.tx, emailKey(email)):
		return "The invitation of this member is pending; a limit can be set once the member has joined."
	}
	return "The organization has no member with this email address."
}
