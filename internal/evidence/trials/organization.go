package trials

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

var organizationTrials = []Trial{
	{
		Name:  "limits of members",
		Rules: []string{"get-user-usage-limits"}, // A member without an entry would be none.
		run: func(x *exam) {
			all := x.get(members + "?limit=100")
			people := all.rows("users")
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
		Rules: []string{"set-user-usage-limits"}, // The client sends many limits in one request, and reads which of them failed.
		run: func(x *exam) {
			// Nobody has this address, so that no limit changes.
			set := func(limit int) answer {
				return x.put(userLimits, object{"users": []object{{"email": x.lab.NewName("nobody") + "@example.invalid", "limit": limit}}})
			}
			good := set(1_000_000)
			x.answers("set-user-usage-limits", "a limit of nobody", good, accepted)
			if good.ok() {
				x.holds("set-user-usage-limits", len(good.record().List("errors")) == 1 && len(good.record().List("updated")) == 0,
					"a limit of nobody is among the errors", "a limit of nobody is not among the errors")
			}
			x.refuses("set-user-usage-limits", "a limit that is too low", good, set(999_999), 400)
		},
	},
	{
		Name:     "invitations",
		Variable: Invitation,
		Rules:    []string{"invitation-result-role"}, // The resource stores the role of an invitation from it.
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
			again := x.post(invite, object{"email": address, "role": "manager"}).record()
			if again.Text("status") == "already_invited" {
				x.holds("invitation-result-role", again.Text("role") == "user",
					"the answer has the role of the pending invitation", "the answer has the role of the request that had no effect")
			}
		},
	},
	{
		Name:     "settings of the organization",
		Variable: Organization,
		Rules: []string{
			"set-default-environment",                      // The default waits for a build.
			"create-environment-make-organization-default", // A creation needs no second request for it.
			"delete-environment",                           // The error says that the environment is the default.
			"create-environment",                           // Names are looked up among the objects of one scope.
		},
		run: func(x *exam) {
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
			x.laterDefault(former) // Before the environment is deleted, and so below.
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
			x.laterDefault(former)
			if id = next.record().Text("id"); id == "" {
				return
			}
			x.holds("create-environment-make-organization-default", x.get(environments).record().Text("defaultEnvironmentId") == id,
				"a new default is the default at once", "a new default is not the default at once")
			if build := x.get(environment, id).record().Object("latestBuild").Text("id"); build != "" {
				x.post(cancel, nil, id, build)
			}
			if e := x.get(environment, id).record(); !isBuilding(e) && e.Truth("isDefault") {
				x.answers("delete-environment", "deleting the default while there are others", x.remove(environment, id), 409)
			}
		},
	},
}

// laterDefault makes an environment the default again, before the environments are deleted that were created until now.
func (x *exam) laterDefault(former string) {
	restore := x.lab.Restore("the default environment, which was: "+former, func(ctx context.Context, c *client.Client) error {
		them := caller{ctx, c.Conn}
		if set := them.put(defaultChoice, object{"environmentId": former}); !set.ok() {
			return fmt.Errorf("setting the default environment was %s", set.said())
		}
		return nil
	})
	x.later(func(context.Context) error { return restore() })
}
