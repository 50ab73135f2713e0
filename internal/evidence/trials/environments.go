package trials

import "net/url"

// newEnvironment creates an environment of the caller's, whose build nobody waits for.
func (x *exam) newEnvironment(more object) answer {
	body := object{"name": x.lab.NewName("environment"), "repositories": []any{}}
	for field, value := range more {
		body[field] = value
	}
	return x.create(environments, body)
}

func isBuilding(o object) bool { return o.Text("status") == "building" }

const cancel = "/environments/{id}/builds/{buildId}/cancel"

var environmentTrials = []Trial{{
	Name: "an environment and its builds",
	Rules: []string{
		"create-environment",                             // A creation finds what a lost response made by its name, and the error of 409 names the namesake.
		"create-environment-build",                       // A build waits while another runs.
		"delete-environment",                             // A deletion cancels the build that runs.
		"update-environment",                             // A plan says which changes build.
		"cancel-environment-build",                       // The wait tells what was canceled from what failed.
		"environment-status",                             // The wait ends with it.
		"build-status",                                   // The wait goes on with the build that superseded its own.
		"get-environment-build-statuses-environment-ids", // Waits share requests.
	},
	run: func(x *exam) {
		first := x.newEnvironment(nil)
		id := first.record().Text("id")
		if id == "" {
			x.blocked("creating an environment", first)
			return
		}
		read := func() object { return x.get(environment, id).record() }
		x.whileBuilding(id, read)
		x.failed(id, read)

		name := read().Text("name")
		x.answers("create-environment", "a second environment of one name", x.newEnvironment(object{"name": name}), 409)
		second := x.newEnvironment(nil).record().Text("id")
		if second == "" {
			return
		}
		x.answers("update-environment", "a name that is taken", x.patch(environment, object{"name": name}, second), 409)
		const several = "get-environment-build-statuses-environment-ids"
		both := x.get("/environments/build-statuses?" + url.Values{"environmentIds": {id, unknownID, second}}.Encode())
		if both.isUnclear() {
			x.unseen(several, "a question about several environments was "+both.said())
			return
		}
		rows := both.rows("builds")
		x.holds(several, len(rows) == 2 && find(rows, "environmentId", id) != nil && find(rows, "environmentId", second) != nil,
			"a repeated parameter asks about several environments, and what does not exist is left out", "not exactly the environments of a repeated parameter are listed")
	},
}}

// whileBuilding judges what is not possible while a build runs, and what starts another.
func (x *exam) whileBuilding(id string, read func() object) {
	x.during("create-environment-build", "another build", x.post("/environments/{id}/builds", nil, id))
	// Another environment: where builds end soon, it is gone now, and the rest is about the first one.
	x.during("delete-environment", "a deletion", x.remove(environment, x.newEnvironment(nil).record().Text("id")))

	renamed := x.patch(environment, object{"name": x.lab.NewName("environment")}, id)
	x.absent("update-environment", renamed.record().Has("buildId"), "a name starts a build", "another name was "+renamed.said())
	former := read()
	edited := x.patch(environment, object{"setupScript": "true"}, id)
	if !edited.ok() {
		x.unseen("update-environment", "another setup script was "+edited.said())
		return
	}
	// Beside this one, that another name starts no build is more than a field that is never there.
	x.holds("update-environment", edited.record().Has("buildId"), "another setup script starts a build", "another setup script starts no build")
	build := former.Object("latestBuild").Text("id")
	if !isBuilding(former) || build == "" {
		return
	}
	status := x.get("/environments/{id}/builds/{buildId}/diagnostics", id, build).record().Text("status")
	if status == "" || status == "succeeded" || status == "failed" {
		x.unseen("build-status", "the build that an edit made pointless had ended, or its status is not shown")
		return
	}
	x.holds("build-status", status == "superseded", "an edit supersedes the build that runs", "an edit leaves the build that runs as it is")
}

// during judges a request that the service answers 409 while a build runs. Success may only mean that the build ended before.
func (x *exam) during(rule, what string, a answer) {
	what += " while a build runs"
	if a.ok() {
		x.unseen(rule, what+" was accepted, or the build had ended")
		return
	}
	x.answers(rule, what, a, 409)
}

// failed cancels the latest build, and judges what the environment is then.
func (x *exam) failed(id string, read func() object) {
	build := read().Object("latestBuild").Text("id")
	if build == "" {
		return
	}
	a := x.post(cancel, nil, id, build)
	if !a.ok() {
		x.unseen("cancel-environment-build", "the cancellation was "+a.said())
		return
	}
	x.answers("cancel-environment-build", "another cancellation", x.post(cancel, nil, id, build), 409)
	e := read()
	latest := e.Object("latestBuild")
	x.holds("cancel-environment-build", latest.Text("status") == "failed" && latest.Text("failureCategory") == "unknown",
		"a cancelled build failed with the category unknown", "a cancelled build has another status or category")
	if latest.Text("status") == "failed" && e.Has("status") {
		x.holds("environment-status", e.Text("status") == "failed", "the status follows from that of the latest build", "the status differs from that of the latest build")
	}
	x.answers("create-environment-build", "a build after one that failed", x.post("/environments/{id}/builds", nil, id), accepted)
	// What follows is about an environment that failed.
	x.post(cancel, nil, id, read().Object("latestBuild").Text("id"))
}
