package emulator

import "errors"

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
