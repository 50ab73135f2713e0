package trials

import (
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// readTrials only read, so that they can show something only where there is something.
var readTrials = []Trial{
	{
		Name:  "analytics",
		Rules: []string{"date-history", "start-date-parameter", "date-order", "end-date-parameter", "get-user-analytics"},
		run: func(x *exam) {
			const activity, users = "/api/v1/analytics/activity?", "/api/v1/analytics/users?"
			good := x.get(activity + days(-3, -2))
			for _, rule := range []string{"date-history", "start-date-parameter"} {
				x.refuses(rule, "a first day before 2026-01-14", good, x.get(activity+"startDate=2026-01-13&endDate=2026-01-15"), 400)
			}
			for _, rule := range []string{"date-order", "end-date-parameter"} {
				x.refuses(rule, "a last day before the first", good, x.get(activity+days(-2, -3)), 400)
			}
			rows := x.get(users + days(-15, -2) + "&limit=1")
			var ids []string
			for _, row := range rows.rows("data") {
				ids = append(ids, row.text("user_id"))
			}
			if len(ids) < 2 {
				x.unseen("get-user-analytics", "there is no user with two days of use")
				return
			}
			x.holds("get-user-analytics", len(slices.Compact(ids)) == 1, "a page of one user has all rows of that user", "a page of one has rows of several users")
			x.sorted("get-user-analytics", "day", dated(rows.rows("data")), func(a, b float64) bool { return a <= b })
		},
	},
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
			integration := owners.record().object("integration")
			switch {
			case !owners.ok() || !all.ok() || !integration.has("connected"):
				x.unseen("list-ci-repositories", "the lists were "+owners.said()+" and "+all.said())
			case integration.truth("connected"):
				x.unseen("list-ci-repositories", "the code-host integration is connected")
			default:
				x.answers("list-ci-repositories", "a list without an integration", all, accepted)
				x.holds("list-ci-repositories", len(repositories) == 0, "without an integration there are no repositories", "without an integration there are repositories")
			}
			x.owners(owners.rows("owners"), repositories)
			if none := x.get(ci + "repositories?owner=tf-acc-none"); all.ok() {
				x.answers("list-ci-repositories-owner", "an owner without repositories", none, accepted)
				if none.ok() && len(repositories) > 0 {
					x.holds("list-ci-repositories-owner", len(none.rows("repositories")) == 0, "an owner limits the list", "an owner does not limit the list")
				}
			}

			scan := func() answer { return x.get(ci + "scan") }
			at := func(a answer) float64 { return a.record().number("scannedAt") }
			first, second, third := scan(), scan(), scan()
			if !first.ok() || !second.ok() || !third.ok() || first.record().number("cacheTtlMs") < 60_000 {
				x.unseen("scan-ci-workflows", "a scan was "+first.said()+", or is kept for less than a minute")
				return
			}
			// Somebody else may force a scan between two of these.
			x.holds("scan-ci-workflows", at(first) == at(second) || at(second) == at(third),
				"a scan is answered again from the cache", "each scan is a new one")
		},
	},
	{
		Name:  "wikis",
		Rules: []string{"list-wiki-runs", "get-wiki-history-200", "search-wiki-run", "search-wiki-run-limit"},
		run: func(x *exam) {
			all := x.get(wiki)
			runs := all.rows("wikiRuns")
			if len(runs) == 0 {
				x.obstacle = "there is no wiki run, or the list was " + all.said()
				return
			}
			seen := map[string]bool{}
			for _, run := range runs {
				repository := strings.ToLower(run.text("repoUrl"))
				if seen[repository] {
					x.judge("list-wiki-runs", evidence.Refuted, "a repository has more than one run in the list")
				}
				seen[repository] = true
			}
			past := x.get("/wiki/history/{repoUrl}", runs[0].text("repoUrl")).rows("wikiRuns")
			x.newestFirst("get-wiki-history-200", "createdAt", past)
			if len(past) > 1 {
				// Somebody else may create or delete a run between these requests.
				latest := runs[0].number("createdAt")
				if later := find(x.get(wiki).rows("wikiRuns"), "repoUrl", runs[0].text("repoUrl")); later != nil {
					latest = max(latest, later.number("createdAt"))
				}
				newest := true
				for _, run := range past {
					newest = newest && run.number("createdAt") <= latest
				}
				x.holds("list-wiki-runs", newest, "the list has the newest run of a repository", "the list has an older run of a repository")
			}
			x.search(runs[0].text("wikiRunId"))
		},
	},
	{
		Name:  "existing sessions",
		Rules: []string{"list-sessions", "get-session", "computer-id-query-parameter", "list-session-messages", "message-seq"},
		run: func(x *exam) {
			all := x.get(sessions)
			rows := all.rows("sessions")
			if len(rows) == 0 {
				x.obstacle = "there is no session, or the list was " + all.said()
				return
			}
			x.newestFirst("list-sessions", "createdAt", rows)
			x.holds("list-sessions", !slices.ContainsFunc(rows, func(s object) bool { return s.has("serviceCredits") }),
				"a listed session has no credits", "a listed session has credits")
			id := rows[0].text("sessionId")
			single := x.get(session, id)
			if !single.ok() {
				x.blocked("reading a listed session", single)
				return
			}
			x.holds("get-session", !single.record().has("sessionSettings"), "a single read has no settings", "a single read has the settings")
			x.answers("computer-id-query-parameter", "a session asked for at an unknown computer", x.get(session+"?computerId="+unknownID, id), 404)
			x.messages(id)
		},
	},
}

// dated replaces the date of analytics rows by a number, which orders the same.
func dated(rows []object) []object {
	var all []object
	for _, row := range rows {
		days := 0.0
		for _, digit := range strings.ReplaceAll(row.text("date"), "-", "") {
			days = days*10 + float64(digit-'0')
		}
		all = append(all, object{"day": days})
	}
	return all
}

// owners judges the owners of the repositories that the integration covers.
func (x *exam) owners(owners, repositories []object) {
	if len(owners) == 0 || len(repositories) == 0 {
		x.unseen("list-ci-repository-owners", "there is no owner or no repository")
		x.unseen("list-ci-repositories-owner", "there is no owner or no repository")
		return
	}
	listed, real := map[string]bool{}, map[string]bool{}
	for _, owner := range owners {
		listed[strings.ToLower(owner.text("login"))] = true
	}
	for _, repository := range repositories {
		owner, _, _ := strings.Cut(repository.text("fullName"), "/")
		real[strings.ToLower(owner)] = true
	}
	same := len(listed) == len(owners) && len(listed) == len(real)
	for owner := range real {
		same = same && listed[owner]
	}
	x.holds("list-ci-repository-owners", same, "each owner of a repository is listed once", "the owners are not those of the repositories, each once")

	owner, _, _ := strings.Cut(repositories[0].text("fullName"), "/")
	upper := x.get("/automations/ci/repositories?owner=" + strings.ToUpper(owner)).rows("repositories")
	lower := x.get("/automations/ci/repositories?owner=" + strings.ToLower(owner)).rows("repositories")
	x.holds("list-ci-repositories-owner", len(lower) > 0 && len(lower) == len(upper), "the case of an owner does not matter", "the case of an owner matters")
}

// search judges the search in the pages of a wiki run.
func (x *exam) search(id string) {
	const find = "/wiki/{id}/search?q="
	lower, upper := x.get(find+"the", id), x.get(find+"THE", id)
	results := lower.rows("results")
	x.refuses("search-wiki-run-limit", "a limit of 0", lower, x.get(find+"the&limit=0", id), 400)
	one := x.get(find+"the&limit=1", id)
	if len(results) > 1 && upper.ok() && one.ok() { // Somebody else may delete the run meanwhile.
		x.holds("search-wiki-run-limit", len(one.rows("results")) == 1, "a limit limits the results", "a limit does not limit the results")
		x.holds("search-wiki-run", len(results) == len(upper.rows("results")), "the case of a text does not matter", "the case of a text matters")
		inOrder := slices.IsSortedFunc(results, func(a, b object) int {
			if a.number("matchCount") != b.number("matchCount") {
				return int(b.number("matchCount") - a.number("matchCount"))
			}
			return strings.Compare(a.text("path"), b.text("path"))
		})
		x.holds("search-wiki-run", inOrder, "most matches come first, then by path", "the results are not in the order of matches and paths")
	} else {
		x.unseen("search-wiki-run", "a search was "+lower.said()+", or has fewer than two results")
	}
}

// messages judges the order and the numbers of a session's messages.
func (x *exam) messages(id string) {
	page := x.get("/sessions/{id}/messages?limit=100", id)
	rows := page.rows("messages")
	if len(rows) == 0 {
		x.unseen("list-session-messages", "there are no messages, or the list was "+page.said())
		return
	}
	x.newestFirst("list-session-messages", "createdAt", rows)
	last := rows[len(rows)-1]
	switch {
	case page.record().object("pagination").truth("hasMore") || !last.has("seq"):
		x.unseen("message-seq", "the first message is not on the page, or has no number")
	default:
		x.holds("message-seq", last.number("seq") == 1, "the first message has the number 1", "the first message has another number than 1")
	}
}
