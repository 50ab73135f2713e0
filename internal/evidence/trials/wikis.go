package trials

import (
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

var wikiTrials = []Trial{
	{
		Name:  "wikis",
		Rules: []string{"list-wiki-runs", "get-wiki-history-200", "search-wiki-run", "search-wiki-run-limit"},
		run: func(x *exam) {
			all := x.get(wiki)
			runs := all.rows("wikiRuns")
			if !all.ok() {
				x.blocked("listing the wiki runs", all)
				return
			}
			if len(runs) == 0 {
				x.obstacle = "there is no wiki run; with " + Wiki + ", the tests create some"
				return
			}
			seen := map[string]bool{}
			for _, run := range runs {
				repository := strings.ToLower(run.Text("repoUrl"))
				if seen[repository] {
					x.judge("list-wiki-runs", evidence.Refuted, "a repository has more than one run in the list")
				}
				seen[repository] = true
			}
			past := x.get("/wiki/history/{repoUrl}", runs[0].Text("repoUrl")).rows("wikiRuns")
			x.newestFirst("get-wiki-history-200", "createdAt", past)
			if len(past) > 1 {
				// Somebody else may create or delete a run between these requests.
				latest := runs[0].Number("createdAt")
				if later := find(x.get(wiki).rows("wikiRuns"), "repoUrl", runs[0].Text("repoUrl")); later != nil {
					latest = max(latest, later.Number("createdAt"))
				}
				newest, older := true, false
				for _, run := range past {
					newest = newest && run.Number("createdAt") <= latest
					older = older || run.Has("createdAt") && run.Number("createdAt") < latest
				}
				if older {
					x.holds("list-wiki-runs", newest, "the list has the newest run of a repository", "the list has an older run of a repository")
				} else {
					x.unseen("list-wiki-runs", "no repository has two runs of different times")
				}
			}
			x.search(runs[0].Text("wikiRunId"))
		},
	},
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
				if a.ok() {
					x.laterDelete(wiki, a.record().Text("wikiRunId"))
				}
				return a
			}
			pages := []object{page("a.md", "The first", "the"), page("b.md", "The second", "the the")}
			first := upload(pages...)
			id := first.record().Text("wikiRunId")
			if id == "" {
				x.blocked("an upload", first)
				return
			}
			x.answers("create-wiki-run-body", "an upload without a commit", first, accepted)
			again := upload(pages...)
			x.answers("create-wiki-run", "the same upload again", again, accepted)
			if again.record().Has("wikiRunId") {
				x.holds("create-wiki-run", again.record().Text("wikiRunId") != id, "the same request makes another run", "the same request makes no other run")
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
}

// search judges the search in the pages of a wiki run.
func (x *exam) search(id string) {
	const find = "/wiki/{id}/search?q="
	lower, upper := x.get(find+"the", id), x.get(find+"THE", id)
	results := lower.rows("results")
	x.refuses("search-wiki-run-limit", "a limit of 0", lower, x.get(find+"the&limit=0", id), 400)
	one := x.get(find+"the&limit=1", id)
	if len(results) > 1 && results[0].Has("path") && !slices.ContainsFunc(results, lacks[float64]("matchCount")) && upper.ok() && one.ok() { // Somebody else may delete the run meanwhile.
		x.holds("search-wiki-run-limit", len(one.rows("results")) == 1, "a limit limits the results", "a limit does not limit the results")
		x.holds("search-wiki-run", len(results) == len(upper.rows("results")), "the case of a text does not matter", "the case of a text matters")
		inOrder := slices.IsSortedFunc(results, func(a, b object) int {
			if a.Number("matchCount") != b.Number("matchCount") {
				return int(b.Number("matchCount") - a.Number("matchCount"))
			}
			return strings.Compare(a.Text("path"), b.Text("path"))
		})
		x.holds("search-wiki-run", inOrder, "most matches come first, then by path", "the results are not in the order of matches and paths")
	} else {
		x.unseen("search-wiki-run", "a search was "+lower.said()+", or has fewer than two results with counts")
	}
}
