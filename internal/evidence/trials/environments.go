package trials

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// newEnvironment creates an environment of the caller's, whose build nobody waits for.
func (x *exam) newEnvironment(more object) answer {
	body := object{"name": x.lab.NewName("environment"), "repositories": []any{}}
	for field, value := range more {
		body[field] = value
	}
	return x.create(environments, body)
}

func isBuilding(o object) bool { return o.Text("status") == "building" }

var environmentTrials = []Trial{
	{
		Name: "an environment and its builds",
		Rules: []string{
			"create-environment", "create-environment-scope", "create-environment-source-id", "environment", "create-environment-build",
			"delete-environment", "update-environment", "cancel-environment-build", "environment-status", "build-status", "list-environments",
			"get-environment-build-statuses-environment-ids", "get-environment-build-diagnostics", "get-environment",
			"build-started-at", "build-finished-at", "build-promoted-at", "build-repositories", "environment-source-unavailable",
		},
		run: func(x *exam) {
			first := x.newEnvironment(nil)
			id := first.record().Text("id")
			if id == "" {
				x.blocked("creating an environment", first)
				return
			}
			read := func() object { return x.get(environment, id).record() }
			before := read()
			x.defaults(before)
			x.newborn(before)
			x.whileBuilding(id, read)
			x.failed(id, read)

			name := read().Text("name")
			x.answers("create-environment", "a second environment of one name", x.newEnvironment(object{"name": name}), 409)
			second := x.newEnvironment(nil).record().Text("id")
			if second == "" {
				return
			}
			x.answers("update-environment", "a name that is taken", x.patch(environment, object{"name": name}, second), 409)
			x.statusesOf(id, second)
			x.listed(id, second, read())
			x.asAnother(id)
		},
	},
	{
		Name:  "texts of an environment",
		Rules: []string{"environment-name", "environment-name-length", "script", "script-size"},
		run: func(x *exam) {
			name := x.lab.NewName("environment")
			good := x.newEnvironment(object{"name": padded(name, 128)})
			x.bounds("environment-name", "a name of 128 characters", good, x.newEnvironment(object{"name": padded(name, 129)}))
			x.refuses("environment-name-length", "an empty name", good, x.newEnvironment(object{"name": ""}), 400)
			id := good.record().Text("id")
			if id == "" {
				x.blocked("creating an environment", good)
				return
			}
			size := func(n int) answer { return x.patch(environment, object{"setupScript": strings.Repeat("#", n)}, id) }
			small := size(1)
			if !small.ok() {
				x.blocked("a short setup script", small)
				return
			}
			x.bounds("script-size", "a setup script of 64 KiB", size(64<<10), size(64<<10+1))
			x.answers("script", "an empty setup script", size(0), accepted)
		},
	},
	{
		Name: "repositories of an environment",
		Rules: []string{
			"repository-count", "repository-twice", "environment-repositories", "source-repositories", "source-setup-script",
		},
		run: func(x *exam) {
			repositories := func(n int) []object {
				list := make([]object, n)
				for i := range list {
					list[i] = object{"url": fmt.Sprintf("https://example.com/none/%d.git", i), "script": ""}
				}
				return list
			}
			x.answers("environment-repositories", "an environment without repositories", x.newEnvironment(nil), accepted)
			one := x.newEnvironment(object{"repositories": repositories(1)})
			x.sourcesWithout(one, repositories(1))
			if !one.ok() {
				x.blocked("an environment with a repository that does not exist", one)
				return
			}
			x.bounds("repository-count", "50 repositories",
				x.newEnvironment(object{"repositories": repositories(50)}), x.newEnvironment(object{"repositories": repositories(51)}))
			twice := append(repositories(1), repositories(1)...)
			x.answers("repository-twice", "a repository given twice", x.newEnvironment(object{"repositories": twice}), 400)
		},
	},
}

// sourcesWithout judges what a source refuses that does not support it. The answer with is that of a source that does.
func (x *exam) sourcesWithout(with answer, repositories []object) {
	for _, provider := range x.get("/environments/source-options").rows("providers") {
		for _, source := range provider.List("sources") {
			from := func(field string, value any) answer {
				return x.newEnvironment(object{"sourceId": source.Text("id"), field: value})
			}
			if !source.Truth("supportsRepositories") && !x.judged["source-repositories"] {
				x.refuses("source-repositories", "a repository for a source without support", with, from("repositories", repositories), 400)
			}
			if !source.Truth("supportsSetupScripts") && !x.judged["source-setup-script"] {
				x.refuses("source-setup-script", "a setup script for a source without support", x.newEnvironment(object{"setupScript": "true"}), from("setupScript", "true"), 400)
			}
		}
	}
	for _, rule := range []string{"source-repositories", "source-setup-script"} {
		if !x.judged[rule] {
			x.unseen(rule, "every source supports it")
		}
	}
}

// defaults judges what a creation that leaves out scope and source means.
func (x *exam) defaults(e object) {
	if e.Has("scope") {
		x.holds("create-environment-scope", e.Text("scope") == "user", "without a scope it is that of the user", "without a scope it is not that of the user")
	}
	const rule = "create-environment-source-id"
	x.answers(rule, "an unknown source", x.newEnvironment(object{"sourceId": unknownID}), 404)
	x.answers(rule, "an empty source", x.newEnvironment(object{"sourceId": ""}), 400)
	options := x.get("/environments/source-options")
	for _, provider := range options.rows("providers") {
		for _, source := range provider.List("sources") {
			if source.Truth("supportsRepositories") && source.Truth("supportsSetupScripts") {
				if !source.Has("id") || !e.Object("source").Has("id") {
					x.unseen(rule, "a source has no ID")
					return
				}
				x.holds(rule, e.Object("source").Text("id") == source.Text("id"),
					"the default is the first source that supports both", "the default is not the first source that supports both")
				return
			}
		}
	}
	x.unseen(rule, "no available source supports both")
}

// newborn judges what an environment shows before a build of it succeeded.
func (x *exam) newborn(e object) {
	if e.Object("latestBuild").Text("status") == "succeeded" {
		x.unseen("environment", "the first build was done at once")
		return
	}
	active := e.Has("activeRepositories") || e.Has("activeSource") || e.Has("lastSuccessfulBuildAt")
	x.absent("environment", active, "something is active before a build succeeded", "no build succeeded")
}

// whileBuilding judges what is not possible while a build runs.
func (x *exam) whileBuilding(id string, read func() object) {
	x.during("create-environment-build", "another build", id, func(id string) answer { return x.post("/environments/{id}/builds", nil, id) })
	// Another environment: where builds end soon, it is gone now, and the rest is about the first one.
	brief := x.newEnvironment(nil).record().Text("id")
	x.during("delete-environment", "a deletion", brief, func(id string) answer { return x.remove(environment, id) })

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

// during judges a request that the service answers 409 while a build runs. Any other answer may only mean that the build ended before,
// so that it counts only where builds are known to take longer than the request.
func (x *exam) during(rule, what, id string, send func(id string) answer) {
	const short = 3 * time.Second
	what += " while a build runs"
	a := send(id)
	if a.status == 409 || a.isUnclear() {
		x.answers(rule, what, a, 409)
		return
	}
	slow := x.newEnvironment(nil).record().Text("id")
	isOver := func(a answer) bool { return !isBuilding(a.record()) }
	if isOver(x.until(short, func() answer { return x.get(environment, slow) }, isOver)) {
		x.unseen(rule, "builds end too soon")
		return
	}
	started := x.conn.Clock.Now()
	fresh := x.newEnvironment(nil)
	if a = send(fresh.record().Text("id")); !fresh.ok() || x.conn.Clock.Now().Sub(started) > short {
		x.unseen(rule, "requests take too long")
		return
	}
	x.answers(rule, what, a, 409)
}

// failed cancels the latest build, and judges what the environment is then.
func (x *exam) failed(id string, read func() object) {
	const cancel = "/environments/{id}/builds/{buildId}/cancel"
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
	again := x.post("/environments/{id}/builds", nil, id)
	x.answers("create-environment-build", "a build after one that failed", again, accepted)
	if after := read(); again.ok() && e.Has("updatedAt") && after.Has("updatedAt") {
		x.holds("environment", after.Number("updatedAt") == e.Number("updatedAt"), "a build leaves updatedAt as it is", "a build changes updatedAt")
	}
	// What follows is about an environment that failed.
	x.post(cancel, nil, id, read().Object("latestBuild").Text("id"))
}

// statusesOf judges how several environments are asked about at once.
func (x *exam) statusesOf(first, second string) {
	const rule = "get-environment-build-statuses-environment-ids"
	both := x.get("/environments/build-statuses?" + url.Values{"environmentIds": {first, unknownID, second}}.Encode())
	if both.isUnclear() {
		x.unseen(rule, "a question about several environments was "+both.said())
		return
	}
	rows := both.rows("builds")
	x.holds(rule, find(rows, "environmentId", first) != nil && find(rows, "environmentId", second) != nil,
		"a repeated parameter asks about several environments", "an environment of a repeated parameter is missing")
	x.holds(rule, both.ok() && len(rows) == 2, "what does not exist is left out", "what does not exist is listed or refused")
}

// listed judges the listing, and with it the builds of all environments.
func (x *exam) listed(first, second string, single object) {
	a := x.get(environments)
	rows := a.rows("environments")
	earlier, later := position(rows, first), position(rows, second)
	if earlier < 0 || later < 0 {
		x.unseen("list-environments", "the listing was "+a.said()+", or lacks a new environment")
		return
	}
	x.newestFirst("list-environments", "createdAt", rows)
	if row := rows[earlier]; single.Has("failureReason") || single.Object("latestBuild").Has("failureReason") {
		hidden := !row.Has("failureReason") && !row.Object("latestBuild").Has("failureReason")
		x.holds("list-environments", hidden, "the listing leaves out why a build failed", "the listing says why a build failed")
	}
	unavailable := idsOf(x.get("/environments/source-options").rows("unavailableProviders"))
	for _, e := range append(rows, single) {
		x.consistent(e, unavailable)
	}
	diagnostics := x.get("/environments/{id}/build-diagnostics", first).record()
	switch {
	case diagnostics.Truth("withheld"):
		x.holds("get-environment-build-diagnostics", !diagnostics.Has("excerpt"), "what is withheld is absent", "what is withheld is shown")
	case diagnostics.Has("excerpt"):
		x.absent("get-environment-build-diagnostics", len(diagnostics.Text("excerpt")) > 4<<10, "an excerpt has more than 4 KiB", "no excerpt was withheld")
	}
}

func idsOf(rows []object) map[string]bool {
	ids := map[string]bool{}
	for _, row := range rows {
		ids[row.Text("id")] = true
	}
	return ids
}

// consistent judges what an environment says about its latest build.
func (x *exam) consistent(e object, unavailable map[string]bool) {
	if source := e.Object("source"); source.Truth("unavailable") || unavailable[source.Object("provider").Text("id")] {
		x.holds("environment-source-unavailable", source.Truth("unavailable") && unavailable[source.Object("provider").Text("id")],
			"the provider of an unavailable source is unavailable", "a source and its provider differ in being unavailable")
	}
	b := e.Object("latestBuild")
	status := b.Text("status")
	if status == "" {
		return
	}
	x.absent("build-status", status == "superseded", "the latest build is superseded", "no edit superseded a build")
	want := map[string]string{"succeeded": "ready", "failed": "failed", "superseded": "failed"}[status]
	if want == "" {
		want = "building"
	}
	if e.Has("status") {
		x.holds("environment-status", e.Text("status") == want, "the status follows from that of the latest build", "the status differs from that of the latest build")
	}
	if want == "building" {
		x.absent("build-finished-at", b.Has("finishedAt"), "a build has finishedAt before its end", "no build had ended")
	} else {
		x.holds("build-finished-at", b.Has("finishedAt"), "a build that ended has finishedAt", "a build that ended lacks finishedAt")
	}
	if status == "succeeded" {
		x.holds("build-promoted-at", b.Has("promotedAt"), "a build that succeeded has promotedAt", "a build that succeeded lacks promotedAt")
		x.holds("environment", e.Has("lastSuccessfulBuildAt"), "a build that succeeded is shown", "a build that succeeded is not shown")
	} else {
		x.absent("build-promoted-at", b.Has("promotedAt"), "a build that did not succeed has promotedAt", "no build succeeded")
	}
	switch status {
	case "queued":
		x.absent("build-started-at", b.Has("startedAt"), "a queued build has startedAt", "no build had begun")
		x.absent("build-repositories", b.Has("repositories"), "a queued build has repositories", "no build of repositories had begun")
	case "building", "validating", "succeeded":
		x.holds("build-started-at", b.Has("startedAt"), "a build that began has startedAt", "a build that began lacks startedAt")
		if len(e.List("repositories")) > 0 {
			x.holds("build-repositories", b.Has("repositories"), "a build that began has its repositories", "a build that began lacks its repositories")
		}
	}
}

// asAnother judges who sees an environment of the scope user.
func (x *exam) asAnother(id string) {
	const rule = "get-environment"
	them, _, ok := x.asAccount()
	if !ok {
		return
	}
	if a := them.get(environments); !a.ok() {
		x.unseen(rule, "a list as a service account was "+a.said())
		return
	}
	a := them.get(environment, id)
	if a.status == 403 {
		x.judge(rule, evidence.Refuted, "an environment of somebody else was answered 403, not 404")
		return
	}
	x.answers(rule, "an environment of somebody else", a, 404)
}
