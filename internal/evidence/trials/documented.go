package trials

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// stated notes that the service breaks a rule that the documents of the API state. It is no assumption, so that nothing is noted if
// the service keeps to it. An answer that is unclear shows nothing.
func (x *exam) stated(rule string, keeps bool, got answer, no string) {
	if !keeps && !got.isUnclear() {
		x.lab.Broken(got.method, got.route, rule, no)
	}
}

// documentedTrials try out what the provider relies on most, and what the documents of the API state.
var documentedTrials = []Trial{
	{Name: "documented rules of API keys", run: func(x *exam) {
		id := x.newAccount()
		if id == "" {
			return
		}
		minted := x.post(keys, object{"name": x.lab.NewName("key"), "expiresAt": time.Now().Add(24 * time.Hour).UnixMilli()}, id)
		key, use := minted.record().Text("id"), x.useOf(minted)
		if key == "" {
			return
		}
		worked := use()
		rotated := x.post(rotation, object{}, id, key)
		if !rotated.ok() || !worked.ok() {
			return
		}
		next, useNext := rotated.record().Text("id"), x.useOf(rotated)
		after := useNext()
		x.stated("a rotation issues a key that works", after.status != 401, rotated, "the new key was answered 401")
		revoke := func() answer { return x.post(revocation, nil, id, next) }
		first := revoke()
		if !first.ok() {
			return
		}
		again := revoke()
		x.stated("a revocation is idempotent", again.ok(), again, "another revocation was "+again.said())
		dead := use()
		x.stated("a rotated key does not authenticate", !dead.ok(), dead, "a rotated key still works")
		dead = useNext()
		x.stated("a revoked key does not authenticate", !dead.ok(), dead, "a revoked key still works")

		list := x.get(keys, id)
		rows := list.rows("apiKeys")
		old, renewed := find(rows, "id", key), find(rows, "id", next)
		x.stated("a listing has all keys, active and inactive", old != nil && renewed != nil, list, "a revoked key is not listed")
		if old != nil && renewed != nil {
			x.stated("a rotated key is revoked", old.Truth("isRevoked"), list, "a rotated key is not listed as revoked")
			x.stated("a replacement inherits the name of its key", old.Text("name") == renewed.Text("name"), list, "the names of a key and of its replacement differ")
		}
	}},
	{Name: "documented rules of computers", run: func(x *exam) {
		host := uuid.NewString()
		made := x.create(computers, x.registered(object{"hostId": host}))
		id := made.record().Text("id")
		if id == "" {
			return
		}
		status := made.record().Text("status") // It is optional.
		x.stated("a registered machine is active at once", status == "active" || status == "", made, "a registered machine has another status")
		twice := x.create(computers, x.registered(object{"hostId": host}))
		x.stated("host IDs are unique among the computers of an owner", !twice.ok(), twice, "a second computer with a host ID was accepted")
		moved := x.patch(computer, object{"hostId": uuid.NewString()}, id)
		x.stated("a host ID is assigned once", !moved.ok() || x.get(computer, id).record().Text("hostId") == host, moved, "another host ID replaced the first")
		filtered := x.get(computers + "?hostId=" + host)
		x.stated("a list can be limited to a host ID", len(filtered.rows("computers")) == 1, filtered, "a list limited to a host ID has not one computer")
		named := x.get("/computers/name/{name}", made.record().Text("name"))
		x.stated("a computer is found by its name", named.record().Text("id") == id, named, "a look-up by name was "+named.said()+", or found another computer")
		capital := x.create(computers, x.registered(object{"hostId": strings.ToUpper(uuid.NewString())}))
		x.stated("a host ID is a UUID, also in capital letters", capital.ok(), capital, "a host ID in capital letters was "+capital.said())
		restart := x.post("/computers/{id}/restart", nil, id)
		x.stated("a registered machine cannot be restarted", !restart.ok(), restart, "restarting a registered machine was accepted")

		account := x.newAccount()
		if account == "" {
			return
		}
		theirs := x.create(computers, x.registered(object{"serviceAccountId": account})).record().Text("id")
		if theirs == "" || !x.get(computer, theirs).ok() || !x.remove("/service-accounts/{id}", account).ok() {
			return
		}
		orphan := x.until(visibleTime, func() answer { return x.get(computer, theirs) }, func(a answer) bool { return !a.ok() })
		x.stated("the deletion of a service account tears down its computers", !orphan.ok(), orphan, "a computer of a deleted service account is still there")
		if x.remove(computer, id).ok() {
			gone := x.until(visibleTime, func() answer { return x.get(computer, id) }, func(a answer) bool { return !a.ok() })
			x.stated("a deleted computer is 404", gone.status == 404, gone, "a deleted computer was "+gone.said())
		}
	}},
	{Name: "documented rules of sessions", Variable: Sessions, run: func(x *exam) {
		machine := x.create(computers, x.registered(nil)).record().Text("id")
		if machine == "" {
			return
		}
		id := x.newSession(machine)
		if id == "" || !x.remove(computer, machine).ok() {
			return
		}
		kept := x.get(session, id)
		x.stated("the sessions of a registered machine stay when it is deleted", kept.ok(), kept, "a session of a deleted registered machine was "+kept.said())
	}},
	{Name: "documented rules of lists", run: func(x *exam) {
		for _, list := range []struct{ field, route string }{{"users", members}, {"sessions", sessions}, {"changes", history}} {
			first := x.get(list.route + "?limit=1")
			if !first.ok() {
				continue
			}
			large := x.get(list.route + "?limit=101")
			x.stated("a limit is from 1 to 100", !large.ok(), large, "a limit of 101 was accepted for "+list.field)
			rows := first.rows(list.field)
			x.stated("a page has at most limit rows", len(rows) <= 1, first, "a page of one has more rows of "+list.field)
			pages := first.record().Object("pagination")
			if !pages.Truth("hasMore") || len(rows) == 0 {
				continue
			}
			next := x.get(list.route + "?limit=1&cursor=" + url.QueryEscape(pages.Text("nextCursor")))
			if next.ok() { // What the cursor names may have been deleted meanwhile.
				x.stated("a cursor leads to the next page", fmt.Sprint(rows) != fmt.Sprint(next.rows(list.field)), next, "the second page of "+list.field+" repeats the first")
			}
		}
		today := x.get("/api/v1/analytics/activity?" + days(-2, 0))
		x.stated("there is data through yesterday", !today.ok(), today, "asking about today was accepted")
	}},
}
