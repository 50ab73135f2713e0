package trials

import (
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// registered is the creation of a machine of the caller's, which costs nothing and is only a record.
func (x *exam) registered(more object) object {
	body := object{"name": x.lab.NewName("computer"), "provider": "byom", "remoteUser": "agent"}
	for field, value := range more {
		if body[field] = value; value == nil {
			delete(body, field)
		}
	}
	return body
}

var computerTrials = []Trial{{
	Name: "registered machines",
	Rules: []string{
		"computer-name", "remote-user", "create-computer-remote-user", "byom-field", "account-inactive", "list-computers",
		"get-computer-by-name-name", "computer-provisioning-steps", "id-in-body", "file-name-parameter", "service-account-id-query-parameter",
	},
	run: func(x *exam) {
		plain := x.create(computers, x.registered(nil))
		if !plain.ok() {
			x.blocked("registering a machine", plain)
			return
		}
		name := x.lab.NewName("computer")
		second := x.create(computers, x.registered(object{"name": padded(name, 63)}))
		longer := x.create(computers, x.registered(object{"name": padded(name, 64)}))
		x.bounds("computer-name", "a name of 63 characters", second, longer)
		if second.ok() {
			x.answers("computer-name", "a second computer of one name", x.create(computers, x.registered(object{"name": padded(name, 63)})), 409)
		}
		// A service that cuts the name finds the computer whose name is cut so.
		near, found := x.get("/computers/name/{name}", padded(name, 63)), x.get("/computers/name/{name}", padded(name, 64))
		switch {
		case !near.ok() || found.isUnclear():
			x.unseen("get-computer-by-name-name", "look-ups of 63 and 64 characters were "+near.said()+" and "+found.said())
		default:
			x.holds("get-computer-by-name-name", !found.ok(), "no name of 64 characters is found", "a name of 64 characters is found")
		}
		x.bounds("remote-user", "a user of 63 characters",
			x.create(computers, x.registered(object{"remoteUser": padded("agent", 63)})),
			x.create(computers, x.registered(object{"remoteUser": padded("agent", 64)})))
		x.sameMoment(plain.record(), second.record())

		withoutUser := x.create(computers, x.registered(object{"remoteUser": nil}))
		x.answers("create-computer-remote-user", "a creation without remoteUser", withoutUser, accepted)
		if withoutUser.ok() {
			if user := x.get(computer, withoutUser.record().Text("id")).record().Text("remoteUser"); user != "" {
				x.holds("create-computer-remote-user", user == "agent", "the default is agent", "the default is not agent")
			}
		}

		source := object{"kind": "computer", "sourceComputerId": plain.record().Text("id")}
		for _, more := range []object{{"repos": []string{"https://example.com/none.git"}}, {"autoInstallDeps": true}, {"source": source}} {
			for field := range more {
				x.answers("byom-field", "a registered machine with "+field, x.create(computers, x.registered(more)), 400)
			}
		}

		unknown := x.create(computers, x.registered(object{"serviceAccountId": unknownID}))
		x.answers("id-in-body", "the ID of no service account", unknown, 404)
		x.answers("id-in-body", "a long ID of no service account", x.create(computers, x.registered(object{"serviceAccountId": strings.Repeat("x", 1000)})), 404)
		x.answers("id-in-body", "an empty ID", x.create(computers, x.registered(object{"serviceAccountId": ""})), 400)
		x.answers("service-account-id-query-parameter", "a list with an empty serviceAccountId", x.get(computers+"?serviceAccountId="), 400)

		x.fileNames(plain.record().Text("id"))
		x.steps()
		x.inactiveAccount()
	},
}}

// sameMoment judges the order of two computers, of which the second was created later.
func (x *exam) sameMoment(first, second object) {
	rows := x.get(computers).rows("computers")
	earlier, later := position(rows, first.Text("id")), position(rows, second.Text("id"))
	switch {
	case earlier < 0 || later < 0 || !first.Has("createdAt"):
		x.unseen("list-computers", "the list lacks a new computer, or there is no createdAt")
	case later > earlier:
		x.judge("list-computers", evidence.Refuted, "the list has an earlier computer before a later one")
	case first.Number("createdAt") == second.Number("createdAt"):
		x.judge("list-computers", evidence.Confirmed, "of two computers of one millisecond the list has the later one first")
	default:
		x.unseen("list-computers", "the later of two computers is first, but none were created in one millisecond")
	}
}

// fileNames judges names of files by downloads: what the daemon of the machine would answer is no matter, but 400 is.
func (x *exam) fileNames(id string) {
	download := func(name string) answer {
		return x.post("/computers/{id}/files/{fileName}/create-download", object{}, id, name)
	}
	ordinary := download("report.txt")
	if ordinary.status == 400 || ordinary.status != 424 && ordinary.isUnclear() {
		x.obstacle = "a download of an ordinary file name was " + ordinary.said()
		return
	}
	for _, bad := range []struct{ what, name string }{
		{"two dots", "a..b"}, {"a backslash", `a\b`}, {"a slash", "a/b"}, {"blanks alone", " "}, {"256 characters", padded("report", 256)},
	} {
		x.answers("file-name-parameter", "a file name with "+bad.what, download(bad.name), 400)
	}
}

// steps judges where the steps of a managed computer are shown, if there is one already.
func (x *exam) steps() {
	const rule = "computer-provisioning-steps"
	rows := x.get(computers + "?includeProvisioningSteps=true&includeUnlisted=true").rows("computers")
	for _, c := range rows {
		if !c.Has("provisioningSteps") {
			continue
		}
		id := c.Text("id")
		without, with := x.get(computer, id), x.get(computer+"?includeProvisioningSteps=true", id)
		if !without.ok() || !with.ok() {
			x.unseen(rule, "a computer of the list was "+without.said())
			return
		}
		x.holds(rule, !without.record().Has("provisioningSteps") && with.record().Has("provisioningSteps"),
			"a read by ID has the steps only if they are asked for", "a read by ID has the steps unasked, or lacks them although asked")
		listed := find(x.get(computers+"?includeUnlisted=true").rows("computers"), "id", id)
		if listed != nil {
			x.holds(rule, !listed.Has("provisioningSteps"), "the list has no steps unasked", "the list has steps unasked")
		}
		return
	}
	x.unseen(rule, "no listed computer has steps")
}

// inactiveAccount judges what a service account that is not active may own.
func (x *exam) inactiveAccount() {
	id := x.newAccount()
	if id == "" {
		return
	}
	theirs := object{"serviceAccountId": id}
	active := x.create(computers, x.registered(theirs))
	if off := x.patch(account, object{"status": "inactive"}, id); !off.ok() {
		x.blocked("making an account inactive", off)
		return
	}
	x.refuses("account-inactive", "a computer for an inactive account", active, x.create(computers, x.registered(theirs)), 400)
}
