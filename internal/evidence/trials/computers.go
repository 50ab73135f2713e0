package trials

import (
	"slices"
	"time"
)

// registered is the creation of a machine of the caller's, which costs nothing and is only a record.
func (x *exam) registered() object {
	return object{"name": x.lab.NewName("computer"), "provider": "byom", "remoteUser": "agent"}
}

var computerTrials = []Trial{
	{
		Name: "registered machines",
		Rules: []string{
			"computer-name",               // A creation finds what a lost response made by its name, and the error of 409 names the namesake.
			"create-computer-remote-user", // The argument is optional.
			"account-computers",           // A guide recommends computers of service accounts, which managers' keys change and delete.
			"computer-provisioning-steps", // The client asks for the steps, and says in errors which of them failed.
			"provisioning-step-status",    // A plan replaces a computer whose steps show that it never was active.
		},
		run: func(x *exam) {
			body := x.registered()
			first := x.create(computers, body)
			if !first.ok() {
				x.blocked("registering a machine", first)
				return
			}
			x.answers("computer-name", "a second computer of one name", x.create(computers, body), 409)
			withoutUser := x.registered()
			delete(withoutUser, "remoteUser")
			made := x.create(computers, withoutUser)
			x.answers("create-computer-remote-user", "a creation without remoteUser", made, accepted)
			if user := x.get(computer, made.record().Text("id")).record().Text("remoteUser"); made.ok() && user != "" {
				x.holds("create-computer-remote-user", user == "agent", "the default is agent", "the default is not agent")
			}
			owned := x.registered()
			if owned["serviceAccountId"] = x.newAccount(); owned.Text("serviceAccountId") != "" {
				made := x.create(computers, owned)
				if gone := x.remove(computer, made.record().Text("id")); made.ok() && (gone.ok() || gone.status == 403 || gone.status == 404) {
					x.holds("account-computers", gone.ok(), "the key of a member deletes a service account's computer", "deleting a service account's computer was "+gone.said())
				}
			}
			x.steps()
		},
	},
	{
		Name:     "a managed computer",
		Variable: ManagedComputers,
		Rules: []string{
			"computer-provisioning-steps", // As above.
			"provisioning-step-status",    // As above.
			"delete-computer",             // A session reads from its settings whether it is archived.
		},
		run: func(x *exam) {
			made := x.create(computers, object{"name": x.lab.NewName("computer"), "remoteUser": "agent"})
			id := made.record().Text("id")
			if id == "" {
				x.blocked("creating a managed computer", made)
				return
			}
			ready := x.until(provisioningTime, func() answer { return x.get(computer, id) }, func(a answer) bool {
				return a.record().Text("status") == "active" || a.record().Text("status") == "error" || a.isUnclear()
			})
			if ready.record().Text("status") != "active" {
				x.obstacle = "the computer did not become active"
				return
			}
			x.steps()
			x.archived(id)
		},
	},
}

// provisioningTime limits the wait for a managed computer.
const provisioningTime = 20 * time.Minute

// stepInstall is the ID of the step that installs dependencies.
const stepInstall = "install-dependencies"

// steps judges where the steps of managed computers are shown, and that an active computer has completed them.
func (x *exam) steps() {
	const shown, completed = "computer-provisioning-steps", "provisioning-step-status"
	isOpen := func(step object) bool { return step.Text("status") != "completed" && step.Text("id") != stepInstall }
	for _, c := range x.get(computers + "?includeProvisioningSteps=true&includeUnlisted=true").rows("computers") {
		if steps := c.List("provisioningSteps"); len(steps) > 0 && c.Text("status") == "active" {
			x.holds(completed, !slices.ContainsFunc(steps, isOpen), "an active computer has completed its steps", "an active computer has a step that is not completed")
		}
		if !c.Has("provisioningSteps") || x.judged[shown] {
			continue
		}
		if read := x.get(computer, c.Text("id")); read.ok() {
			x.holds(shown, !read.record().Has("provisioningSteps"), "a read by ID has no steps", "a read by ID has the steps")
		}
	}
}

// archived judges what the deletion of a managed computer does to its sessions.
func (x *exam) archived(computerID string) {
	const rule = "delete-computer"
	if !x.lab.MayCreateSessions {
		x.unseen(rule, "needs "+Sessions+" and "+ManagedComputers)
		return
	}
	id := x.newSession(computerID)
	if id == "" {
		return
	}
	if gone := x.remove(computer, computerID); !gone.ok() {
		x.unseen(rule, "the deletion was "+gone.said())
		return
	}
	// An update shows the settings, which a single read may lack.
	after := x.patch(session, object{"sessionSettings": object{}}, id)
	if !after.ok() || !after.record().Has("sessionSettings") {
		x.unseen(rule, "an update of the session was "+after.said()+", or the answer has no settings")
		return
	}
	x.holds(rule, after.record().Object("sessionSettings").Has("archivedAt"), "the session has archivedAt among its settings", "the session has no archivedAt")
}
