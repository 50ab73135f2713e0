package trials

import (
	"slices"
	"strings"
)

var ciTrials = []Trial{
	{
		Name: "CI automation",
		Rules: []string{
			"list-ci-jobs", "list-ci-repositories", "list-ci-repositories-owner", "list-ci-repository-owners", "scan-ci-workflows",
		},
		run: func(x *exam) {
			const ci = "/automations/ci/"
			x.newestFirst("list-ci-jobs", "createdAt", x.get(ci+"jobs").rows("jobs"))

			owners, all := x.get(ci+"repository-owners"), x.get(ci+"repositories")
			repositories := all.rows("repositories")
			integration := owners.record().Object("integration")
			switch {
			case !owners.ok() || !all.ok() || !integration.Has("connected"):
				x.unseen("list-ci-repositories", "the lists were "+owners.said()+" and "+all.said())
			case integration.Truth("connected"):
				x.unseen("list-ci-repositories", "the code-host integration is connected")
			case !all.record().Has("repositories"):
				x.unseen("list-ci-repositories", "the answer has no list of repositories")
			default:
				x.holds("list-ci-repositories", len(repositories) == 0, "without an integration there are no repositories", "without an integration there are repositories")
			}
			x.owners(owners.rows("owners"), repositories)
			if none := x.get(ci + "repositories?owner=tf-acc-none"); len(repositories) > 0 {
				if none.ok() {
					x.holds("list-ci-repositories-owner", len(none.rows("repositories")) == 0, "an owner limits the list", "an owner does not limit the list")
				} else {
					x.answers("list-ci-repositories-owner", "an owner without repositories", none, accepted)
				}
			}

			scan := func() answer { return x.get(ci + "scan") }
			at := func(a answer) float64 { return a.record().Number("scannedAt") }
			first, second, third := scan(), scan(), scan()
			if !first.ok() || !second.ok() || !third.ok() || !first.record().Has("scannedAt") || first.record().Number("cacheTtlMs") < 60_000 {
				x.unseen("scan-ci-workflows", "a scan was "+first.said()+", has no time, or is kept for less than a minute")
				return
			}
			// Somebody else may force a scan between two of these.
			x.holds("scan-ci-workflows", at(first) == at(second) || at(second) == at(third),
				"a scan is answered again from the cache", "each scan is a new one")
		},
	},
	{
		Name:     "CI workflows of no repository",
		Variable: CIRepository,
		Rules:    []string{"edit-ci-workflow", "ci-path", "ci-twice", "ci-schedule"},
		run: func(x *exam) {
			// Nobody has these repositories, so that no pull request is opened.
			target := func(name, path string) object { return object{"repoFullName": "tf-acc-none/" + name, "filePath": path} }
			edit := func(schedule string, targets ...object) answer {
				return x.post("/automations/ci/edit", object{
					"action": "create", "repos": targets, "automationName": "tf-acc", "serviceAutomationId": unknownID,
					"changes": object{"name": "tf-acc", "customPrompt": "Say hello.", "schedule": schedule},
				})
			}
			const path = ".github/workflows/tf-acc.yml"
			good := edit("0 6 * * 1", target("a", path), target("b", path))
			entries := good.record().List("sessions")
			if !good.ok() {
				x.answers("edit-ci-workflow", "an edit of repositories that do not exist", good, accepted)
				return
			}
			failed := 0
			for _, entry := range entries {
				if entry.Has("error") {
					failed++
				}
			}
			x.holds("edit-ci-workflow", len(entries) == 2 && failed == 2, "each repository has an entry with its failure", "a repository has no entry, or none with its failure")
			x.refuses("ci-path", "a path outside of the workflows", good, edit("", target("a", "docs/tf-acc.yml")), 400)
			x.refuses("ci-twice", "a file named twice", good, edit("", target("a", path), target("a", path)), 400)
			x.refuses("ci-schedule", "a schedule of four fields", good, edit("0 6 * *", target("a", path)), 400)
		},
	},
}

// owners judges the owners of the repositories that the integration covers.
func (x *exam) owners(owners, repositories []object) {
	isUnreadable := slices.ContainsFunc(owners, lacks[string]("login")) || slices.ContainsFunc(repositories, lacks[string]("fullName"))
	if len(owners) == 0 || len(repositories) == 0 || isUnreadable {
		x.unseen("list-ci-repository-owners", "there is no owner or no repository with a name")
		x.unseen("list-ci-repositories-owner", "there is no owner or no repository with a name")
		return
	}
	listed, real := map[string]bool{}, map[string]bool{}
	for _, owner := range owners {
		listed[strings.ToLower(owner.Text("login"))] = true
	}
	for _, repository := range repositories {
		owner, _, _ := strings.Cut(repository.Text("fullName"), "/")
		real[strings.ToLower(owner)] = true
	}
	same := len(listed) == len(owners) && len(listed) == len(real)
	for owner := range real {
		same = same && listed[owner]
	}
	x.holds("list-ci-repository-owners", same, "each owner of a repository is listed once", "the owners are not those of the repositories, each once")

	owner, _, _ := strings.Cut(repositories[0].Text("fullName"), "/")
	upper := x.get("/automations/ci/repositories?owner=" + strings.ToUpper(owner)).rows("repositories")
	lower := x.get("/automations/ci/repositories?owner=" + strings.ToLower(owner)).rows("repositories")
	x.holds("list-ci-repositories-owner", len(lower) > 0 && len(lower) == len(upper), "the case of an owner does not matter", "the case of an owner matters")
}
