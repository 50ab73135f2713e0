package trials

import (
	"context"
	"errors"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

var wikiTrials = []Trial{
	{
		Name:     "an uploaded wiki",
		Variable: Wiki,
		Rules: []string{
			"create-wiki-run", "create-wiki-run-body", "wiki-path", "wiki-tree", "update-wiki-privacy", "list-wiki-runs", "delete-wiki-run",
			"get-wiki-history-200", "search-wiki-run", "search-wiki-run-limit",
		},
		run: func(x *exam) {
			branch, repository := x.lab.NewName("branch"), x.lab.Repository
			page := func(path, title, content string) object {
				return object{"path": path, "title": title, "content": content}
			}
			upload := func(pages ...object) answer {
				a := x.post(wiki, object{"repoUrl": repository, "branch": branch, "pages": pages})
				if id := a.record().text("wikiRunId"); a.ok() {
					x.laterRun(id)
				}
				return a
			}
			pages := []object{page("a.md", "The first", "the"), page("b.md", "The second", "the the")}
			first := upload(pages...)
			id := first.record().text("wikiRunId")
			if id == "" {
				x.blocked("an upload", first)
				return
			}
			x.answers("create-wiki-run-body", "an upload without a commit", first, accepted)
			again := upload(pages...)
			x.answers("create-wiki-run", "the same upload again", again, accepted)
			if again.ok() {
				x.holds("create-wiki-run", again.record().text("wikiRunId") != id, "the same request makes another run", "the same request makes no other run")
				x.newestFirst("get-wiki-history-200", "createdAt", x.get("/wiki/history/{repoUrl}", repository).rows("wikiRuns"))
			}
			x.answers("wiki-path", "a page outside of the wiki", upload(page("../a.md", "A", "a")), 400)
			x.answers("wiki-tree", "two pages of one path", upload(pages[0], pages[0]), 400)
			x.search(id)

			level := func(c caller, to string) answer { return c.post("/wiki/{id}/privacy", object{"privacyLevel": to}, id) }
			shared := level(x.caller, "organization")
			x.refuses("update-wiki-privacy", "an unknown level", shared, level(x.caller, "tf-acc-none"), 422)
			them, _, ok := x.asAccount()
			if !ok || !shared.ok() {
				return
			}
			visible := them.get(wikiRun, id)
			if !visible.ok() {
				x.unseen("list-wiki-runs", "a run of the organization was "+visible.said()+" for a service account")
				return
			}
			x.answers("delete-wiki-run", "a deletion of somebody else's run", them.remove(wikiRun, id), 403)
			x.answers("update-wiki-privacy", "another level of somebody else's run", level(them, "private"), 403)
			if level(x.caller, "private").ok() {
				x.answers("list-wiki-runs", "a private run of somebody else", them.get(wikiRun, id), 404)
			}
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
			entries := good.record().list("sessions")
			if !good.ok() {
				x.answers("edit-ci-workflow", "an edit of repositories that do not exist", good, accepted)
				return
			}
			failed := 0
			for _, entry := range entries {
				if entry.has("error") {
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

func (x *exam) laterRun(id string) {
	x.later(func(ctx context.Context) error {
		gone := caller{ctx, x.conn}.remove(wikiRun, id)
		if !gone.ok() && gone.status != 404 {
			return errors.New("deleting wiki run " + id + " was " + gone.said())
		}
		return nil
	})
}

var managedTrials = []Trial{{
	Name:     "a managed computer",
	Variable: ManagedComputers,
	Rules: []string{
		"create-computer", "byom-clone", "repos", "bulk-create-computers-name-prefix", "computer-provisioning-steps", "install-computer-deps",
		"content-type", "complete-file-upload-request-body", "create-file-download-request-body", "upload-size",
		"delete-computer",
	},
	run: func(x *exam) {
		plain := object{"name": x.lab.NewName("computer"), "remoteUser": "agent"}
		made := x.create(computers, plain)
		id := made.record().text("id")
		if id == "" {
			x.blocked("creating a managed computer", made)
			return
		}
		providers, _ := x.get("/computers/providers").record()["providers"].([]any)
		x.holds("create-computer", len(providers) > 0 && providers[0] == made.record()["providerType"],
			"without a provider it is the first managed one", "without a provider it is not the first managed one")

		with := func(field string, value any) answer {
			return x.create(computers, object{"name": x.lab.NewName("computer"), "remoteUser": "agent", field: value})
		}
		x.answers("repos", "a repository that is no URL", with("repos", []string{"tf-acc none"}), 400)
		registered := x.create(computers, x.registered(nil)).record().text("id")
		if registered != "" {
			x.answers("byom-clone", "a copy of a registered machine", with("source", object{"kind": "computer", "sourceComputerId": registered}), 400)
		}
		for _, prefix := range []string{"Tf-acc", "tf-acc-", padded("tf-acc", 59)} {
			bulk := x.post("/computers/bulk", object{"quantity": 1, "namePrefix": prefix, "provider": made.record()["providerType"]})
			for _, extra := range bulk.rows("computers") {
				x.laterDelete(computers, extra.text("id"))
			}
			x.answers("bulk-create-computers-name-prefix", "a prefix beyond the pattern", bulk, 400)
		}
		x.steps()

		ready := x.until(provisioningTime, func() answer { return x.get(computer, id) }, func(a answer) bool {
			return a.record().text("status") == "active" || a.record().text("status") == "error" || a.isUnclear()
		})
		if ready.record().text("status") != "active" {
			x.obstacle = "the computer did not become active"
			return
		}
		x.answers("install-computer-deps", "an installation that was not configured", x.post("/computers/{id}/install-deps", nil, id), 400)
		x.files(id)
		x.archived(id)
	},
}}

// archived judges what the deletion of a managed computer does to its sessions.
func (x *exam) archived(computerID string) {
	const rule = "delete-computer"
	if !x.lab.MayCreateSessions {
		x.unseen(rule, "tried with "+Sessions+" and "+ManagedComputers)
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
	// An update shows the settings, which a single read leaves out.
	after := x.patch(session, object{"sessionSettings": object{}}, id)
	if !after.ok() || !after.record().has("sessionSettings") {
		x.unseen(rule, "an update of the session was "+after.said()+", or the answer has no settings")
		return
	}
	x.holds(rule, after.record().object("sessionSettings").has("archivedAt"), "the session has archivedAt among its settings", "the session has no archivedAt")
}

// files judges the upload and the download of a file.
func (x *exam) files(id string) {
	begin := func(name string, body object) answer {
		return x.post("/computers/{id}/files/{fileName}/create-upload", body, id, name)
	}
	x.bounds("content-type", "a content type of 255 characters",
		begin("tf-acc-type", object{"sizeBytes": 1, "contentType": padded("text/", 255)}),
		begin("tf-acc-type", object{"sizeBytes": 1, "contentType": padded("text/", 256)}))

	const complete = "/computers/{id}/files/{fileName}/complete-upload"
	name := x.lab.NewName("file")
	if err := x.upload(id, name); err != nil {
		x.obstacle = "the upload of a file failed"
		return
	}
	wrong := x.post(complete, object{"sizeBytes": 2}, id, name)
	if wrong.ok() {
		x.judge("upload-size", evidence.Refuted, "a wrong size was accepted")
		return
	}
	right := x.post(complete, nil, id, name)
	x.answers("complete-file-upload-request-body", "a completion without a body", right, accepted)
	if right.ok() {
		x.answers("upload-size", "a wrong size", wrong, 400)
		x.answers("create-file-download-request-body", "a download without a body",
			x.post("/computers/{id}/files/{fileName}/create-download", nil, id, name), accepted)
	}
}
