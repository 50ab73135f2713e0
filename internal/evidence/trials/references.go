package trials

import (
	"net/url"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// referenceTrials name objects that do not exist, so that nothing changes.
var referenceTrials = []Trial{{
	Name: "references",
	Rules: []string{
		"account-unknown", "service-account-id-query-parameter", "environment-ids", "get-environment-build-statuses-environment-ids",
		"id-in-body", "body-size", "session-computer", "problem", "cursor-unknown", "limit-parameter",
	},
	run: func(x *exam) {
		plain := x.get(environments)
		x.refuses("account-unknown", "a list of an unknown account's environments", plain, x.get(environments+"?serviceAccountId="+unknownID), 400)
		x.refuses("service-account-id-query-parameter", "a list of environments with an empty serviceAccountId", plain, x.get(environments+"?serviceAccountId="), 400)

		statuses := func(n int) answer {
			return x.get("/environments/build-statuses?" + url.Values{"environmentIds": distinctIDs(n)}.Encode())
		}
		hundred := statuses(100)
		x.bounds("environment-ids", "100 IDs", hundred, statuses(101))
		if hundred.ok() {
			x.absent("get-environment-build-statuses-environment-ids", len(hundred.rows("builds")) > 0,
				"what does not exist is listed", "nothing that exists was asked about")
		} else {
			x.answers("get-environment-build-statuses-environment-ids", "a question about what does not exist", hundred, accepted)
		}

		from := func(source string) answer {
			return x.newEnvironment(object{"sourceId": source})
		}
		good := x.newEnvironment(nil)
		x.refuses("id-in-body", "the ID of no source", good, from(unknownID), 404)
		x.refuses("id-in-body", "a long ID of no source", good, from(strings.Repeat("x", 2000)), 404)
		if big := from(strings.Repeat("x", 900<<10)); good.ok() && big.status == 404 {
			huge := from(strings.Repeat("x", 1100<<10))
			if huge.status == 413 { // It may come from what stands before the service.
				x.judge("body-size", evidence.Confirmed, "a body of 1.1 MiB was answered 413")
			} else {
				x.answers("body-size", "a body of 1.1 MiB", huge, 400)
			}
		} else {
			x.unseen("body-size", "a body of 0.9 MiB was "+big.said())
		}
		x.refuses("session-computer", "a session on an unknown computer", x.get(sessions+"?limit=1"), x.post(sessions, object{"computerId": unknownID}), 400)

		x.problems()
		x.pages()
	},
}}

// distinctIDs returns IDs of nothing.
func distinctIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strings.Replace(unknownID, "0c1b2a394857", strings.Repeat(string(rune('a'+i/26)), 6)+strings.Repeat(string(rune('a'+i%26)), 6), 1)
	}
	return ids
}

// problems judges what a path and a method are answered that no operation has.
func (x *exam) problems() {
	if a := x.get(computers); !a.ok() {
		x.unseen("problem", "a list was "+a.said())
		return
	}
	for _, a := range []answer{x.get("/tf-acc-none"), x.put(computers, object{})} {
		switch {
		case a.isForeign && a.status < 500:
			x.judge("problem", evidence.Refuted, "a path or method of no operation is answered without the fields of an error")
		case a.status == 404 || a.status == 405:
			x.judge("problem", evidence.Confirmed, "a path or method of no operation is answered like every error")
		default:
			x.unseen("problem", "a path or method of no operation was "+a.said())
		}
	}
}

// pages judges cursors, and the size of a page that is not asked for.
func (x *exam) pages() {
	for _, list := range []struct{ field, route string }{{"users", members}, {"changes", history}, {"sessions", sessions}} {
		field, route := list.field, list.route
		first := x.get(route)
		if !first.ok() {
			x.unseen("limit-parameter", "a list was "+first.said())
			continue
		}
		x.refuses("cursor-unknown", "a cursor that no answer gave, for "+field+",", first, x.get(route+"?cursor=tf-acc-none"), 400)
		n, more := len(first.rows(field)), first.record().Object("pagination").Truth("hasMore")
		switch {
		case n > 20 || more:
			x.holds("limit-parameter", n == 20, "a page without a limit has 20 rows", "a page without a limit has not 20 rows")
		default:
			x.unseen("limit-parameter", "no list has more than 20 rows")
		}
	}
}
