package trials

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

var organizationTrials = []Trial{
	{
		Name:  "lists of the organization",
		Rules: []string{"list-members", "list-enterprise-control-history", "get-user-usage-limits"},
		run: func(x *exam) {
			all := x.get(members + "?limit=100")
			people := all.rows("users")
			x.oldestFirst("list-members", "createdAt", timed(people))
			changes := x.get(history + "?limit=100")
			if changes.ok() {
				x.newestFirst("list-enterprise-control-history", "revision", changes.rows("changes"))
			}
			limits := x.get(userLimits)
			_, isList := limits.record()["userLimits"].([]any)
			if len(people) == 0 || !people[0].Has("email") || !limits.ok() || !isList || all.record().Object("pagination").Truth("hasMore") {
				x.unseen("get-user-usage-limits", "the members or the limits cannot be listed as a whole")
				return
			}
			entries := map[string]bool{}
			for _, entry := range limits.rows("userLimits") {
				entries[strings.ToLower(entry.Text("email"))] = true
			}
			complete := len(entries) == len(people)
			for _, person := range people {
				complete = complete && entries[strings.ToLower(person.Text("email"))]
			}
			x.holds("get-user-usage-limits", complete, "there is one entry for each member", "a member has no entry, or an entry no member")
		},
	},
	{
		Name:  "limits of nobody",
		Rules: []string{"email-twice", "limit-size", "set-user-usage-limits", "set-user-usage-limits-users", "email-form"},
		run: func(x *exam) {
			// Nobody has this address, so that no limit changes and nobody is removed.
			nobody := x.lab.NewName("nobody") + "@example.invalid"
			set := func(entries ...object) answer { return x.put(userLimits, object{"users": entries}) }
			limited := func(limit any) object { return object{"email": nobody, "limit": limit} }
			good := set(limited(1_000_000))
			x.answers("set-user-usage-limits", "a limit of nobody", good, accepted)
			if good.ok() {
				x.holds("set-user-usage-limits", len(good.record().List("errors")) == 1 && len(good.record().List("updated")) == 0,
					"a limit of nobody is among the errors", "a limit of nobody is not among the errors")
			}
			x.refuses("set-user-usage-limits", "a limit that is too low", good, set(limited(999_999)), 400)
			x.refuses("email-twice", "a user named twice", good, set(limited(1_000_000), limited(2_000_000)), 400)
			x.refuses("set-user-usage-limits-users", "an empty list of users", good, x.put(userLimits, object{"users": []any{}}), 400)
			x.bounds("limit-size", "a limit of 2^53-1", set(limited(int64(1)<<53-1)), set(limited(int64(1)<<53)))

			plain := x.removeMember(nobody)
			if plain.status != 404 {
				x.unseen("email-form", "removing nobody was "+plain.said())
				return
			}
			for _, spelled := range []string{" " + nobody, "Nobody <" + nobody + ">"} {
				x.answers("email-form", "an address with a blank or a name around it", x.removeMember(spelled), 400)
			}
		},
	},
	{
		Name:     "invitations",
		Variable: Invitation,
		Rules:    []string{"invite-member", "invitation-result-role", "list-members"},
		run: func(x *exam) {
			const invite = "/organization/users/invite"
			address := x.lab.Address
			first := x.post(invite, object{"email": address, "role": "user"})
			if !first.ok() {
				x.blocked("an invitation", first)
				return
			}
			x.laterGone("the invitation", func(c caller) answer { return c.removeMember(address) })
			if status := first.record().Text("status"); status != "invited" {
				x.obstacle = "the first invitation of an address did not have the status invited"
				return
			}
			second := x.post(invite, object{"email": address, "role": "manager"})
			again := second.record()
			x.stated("a pending invitation is left as it is", again.Text("status") == "already_invited", second, "another invitation of an address has not the status already_invited")
			if again.Text("status") == "already_invited" {
				x.holds("invitation-result-role", again.Text("role") == "user",
					"the answer has the role of the pending invitation", "the answer has the role of the request that had no effect")
			}
			pending := x.get(members + "?limit=100")
			if people := pending.rows("users"); len(people) > 0 && people[0].Has("email") && !pending.record().Object("pagination").Truth("hasMore") {
				x.holds("list-members", find(people, "email", address) == nil, "an invitation is no member", "an invitation is listed as a member")
			}
			them, _, ok := x.asAccount()
			if !ok {
				return
			}
			// The invitation is pending, so that a service that lets an account invite changes nothing.
			x.reserved("invite-member", "an invitation", first, them.post(invite, object{"email": address, "role": "user"}))
		},
	},
	{
		Name:     "settings of the organization",
		Variable: Organization,
		Rules: []string{
			"default-scope", "set-default-environment", "create-environment-make-organization-default", "set-global-usage-limit",
			"delete-environment", "create-environment",
		},
		run: func(x *exam) {
			x.globalLimit()
			before := x.get(environments)
			former := before.record().Text("defaultEnvironmentId")
			if !before.ok() || former == "" {
				x.obstacle = "the organization has no default environment that could be restored"
				return
			}
			if strings.HasPrefix(find(before.rows("environments"), "id", former).Text("name"), NamePrefix) {
				x.obstacle = "the default environment is that of another run"
				return
			}
			choose := func(id string) answer { return x.put(defaultChoice, object{"environmentId": id}) }
			good := choose(former) // Changes nothing. Who may not do this cannot restore the default either.
			if !good.ok() {
				x.blocked("choosing the present default again", good)
				return
			}
			mine := x.newEnvironment(nil)
			x.laterDefault(before) // Before the environment is deleted, and so below.
			if mine.ok() {
				bad := choose(mine.record().Text("id"))
				if bad.status == 409 {
					x.unseen("default-scope", "an environment that was never built was answered 409")
				} else {
					x.refuses("default-scope", "an environment of the user as the default", good, bad, 400)
				}
			}
			name := x.lab.NewName("environment")
			namesake := x.newEnvironment(object{"name": name})
			ours := x.newEnvironment(object{"name": name, "scope": "organization"})
			if namesake.ok() {
				x.answers("create-environment", "an environment of the organization with the name of one of the user", ours, accepted)
			}
			if !ours.ok() {
				x.blocked("creating an environment of the organization", ours)
				return
			}
			x.laterDefault(before)
			id := ours.record().Text("id")
			never := choose(id)
			if x.get(environment, id).record().Has("lastSuccessfulBuildAt") {
				x.unseen("set-default-environment", "the first build was done at once")
			} else {
				x.answers("set-default-environment", "a default that was never built", never, 409)
			}
			next := x.newEnvironment(object{"scope": "organization", "makeOrganizationDefault": true})
			if !next.ok() {
				x.blocked("creating the default environment", next)
				return
			}
			x.laterDefault(before)
			if id = next.record().Text("id"); id == "" {
				return
			}
			x.holds("create-environment-make-organization-default", x.get(environments).record().Text("defaultEnvironmentId") == id,
				"a new default is the default at once", "a new default is not the default at once")
			if build := x.get(environment, id).record().Object("latestBuild").Text("id"); build != "" {
				x.post("/environments/{id}/builds/{buildId}/cancel", nil, id, build)
			}
			if e := x.get(environment, id).record(); !isBuilding(e) && e.Truth("isDefault") {
				x.answers("delete-environment", "deleting the default while there are others", x.remove(environment, id), 409)
			}
		},
	},
}

// timed replaces createdAt as a date by a number, which orders the same.
func timed(rows []object) []object {
	var all []object
	for _, row := range rows {
		at, err := time.Parse(time.RFC3339, row.Text("createdAt"))
		if err == nil {
			all = append(all, object{"createdAt": float64(at.UnixMilli())})
		}
	}
	return all
}

// laterDefault makes an environment the default again, before the environments are deleted that were created until now. It leaves
// a default that existed before: somebody else chose it meanwhile. It reads with few demands, like the trial that changed it.
func (x *exam) laterDefault(before answer) {
	former := before.record().Text("defaultEnvironmentId")
	restore := x.lab.Restore("the default environment, which was: "+former, func(ctx context.Context, c *client.Client) error {
		them := caller{ctx, c.Conn}
		now := them.get(environments).record().Text("defaultEnvironmentId")
		if now != "" && position(before.rows("environments"), now) >= 0 {
			return nil
		}
		if set := them.put(defaultChoice, object{"environmentId": former}); !set.ok() {
			return fmt.Errorf("setting the default environment was %s", set.said())
		}
		return nil
	})
	x.later(func(context.Context) error { return restore() })
}

// globalLimit judges who may set the global limit. Both callers set the limit that there is.
func (x *exam) globalLimit() {
	const rule = "set-global-usage-limit"
	them, _, ok := x.asAccount()
	if !ok {
		return
	}
	now := x.get(globalLimit)
	limit, known := now.record()["limit"]
	if !now.ok() || !known {
		x.unseen(rule, "reading the global limit was "+now.said())
		return
	}
	same := object{"limit": limit}
	x.reserved(rule, "setting the global limit that there is", x.put(globalLimit, same), them.put(globalLimit, same))
}
