package trials

var wikiTrials = []Trial{
	{
		Name:     "an uploaded wiki",
		Variable: Wiki,
		Rules: []string{
			"create-wiki-run",      // A creation whose response was lost is not sent again, but its run is found.
			"create-wiki-run-body", // The arguments for the commit and the branch are optional.
		},
		run: func(x *exam) {
			repository := x.lab.Repository
			upload := func() answer {
				a := x.post(wiki, object{
					"repoUrl": repository, "branch": x.lab.NewName("branch"),
					"pages": []object{{"path": "a.md", "title": "The first", "content": "a"}},
				})
				if a.ok() {
					x.laterDelete(wiki, a.record().Text("wikiRunId"))
				}
				return a
			}
			first := upload()
			id := first.record().Text("wikiRunId")
			if id == "" {
				x.blocked("an upload", first)
				return
			}
			x.answers("create-wiki-run-body", "an upload without a commit", first, accepted)
			again := upload()
			x.answers("create-wiki-run", "the same upload again", again, accepted)
			if again.record().Has("wikiRunId") {
				x.holds("create-wiki-run", again.record().Text("wikiRunId") != id, "the same request makes another run", "the same request makes no other run")
			}
		},
	},
}

var ciTrials = []Trial{{
	Name:     "CI workflows of no repository",
	Variable: CIRepository,
	Rules:    []string{"edit-ci-workflow"}, // The action reports the failure of each repository.
	run: func(x *exam) {
		// Nobody has these repositories, so that no pull request is opened.
		target := func(name string) object {
			return object{"repoFullName": "tf-acc-none/" + name, "filePath": ".github/workflows/tf-acc.yml"}
		}
		good := x.post("/automations/ci/edit", object{
			"action": "create", "repos": []object{target("a"), target("b")}, "automationName": "tf-acc", "serviceAutomationId": unknownID,
			"changes": object{"name": "tf-acc", "customPrompt": "Say hello.", "schedule": "0 6 * * 1"},
		})
		if !good.ok() {
			x.answers("edit-ci-workflow", "an edit of repositories that do not exist", good, accepted)
			return
		}
		entries, failed := good.record().List("sessions"), 0
		for _, entry := range entries {
			if entry.Has("error") {
				failed++
			}
		}
		x.holds("edit-ci-workflow", len(entries) == 2 && failed == 2, "each repository has an entry with its failure", "a repository has no entry, or none with its failure")
	},
}}
