package trials

import (
	"slices"
	"time"
)

// visibleTime limits the wait for a new session.
const visibleTime = time.Minute

// until repeats a request until its answer is as wanted, or the time is over.
func (x *exam) until(limit time.Duration, send func() answer, isWanted func(answer) bool) answer {
	clock := x.conn.Clock
	for deadline := clock.Now().Add(limit); ; {
		a := send()
		if isWanted(a) || !clock.Now().Before(deadline) || clock.Sleep(x.ctx, time.Second) != nil {
			return a
		}
	}
}

var sessionTrials = []Trial{
	{
		Name: "existing sessions",
		Rules: []string{
			"list-sessions",         // A look-up of the newest sessions ends with a page.
			"list-session-messages", // The newest messages are on the first page.
			"session-computer",      // The error of this status says what is wrong with the computer.
		},
		run: func(x *exam) {
			all := x.get(sessions)
			rows := all.rows("sessions")
			if !all.ok() {
				x.blocked("listing the sessions", all)
				return
			}
			bad := x.post(sessions, object{"computerId": unknownID})
			if bad.ok() {
				x.laterDelete(sessions, bad.record().Text("sessionId"))
			}
			x.refuses("session-computer", "a session on an unknown computer", all, bad, 400)
			if len(rows) == 0 {
				x.obstacle = "there is no session; with " + Sessions + ", the tests create some"
				return
			}
			x.newestFirst("list-sessions", rows)
			x.messages(rows[0].Text("sessionId"))
		},
	},
	{
		Name:     "a session",
		Variable: Sessions,
		Rules: []string{
			"create-session",        // A plan leaves the settings unknown that are not given, and the answer has them.
			"update-session",        // An update sends what changed.
			"delete-session",        // A session that is gone is created again.
			"list-session-messages", // As above.
		},
		run: func(x *exam) {
			id := x.newSession(x.lab.Computer)
			if id == "" {
				return
			}
			x.settings(id)
			for range 2 {
				x.post("/sessions/{id}/messages", object{"text": "Say hello."}, id)
			}
			// Messages may be listed late.
			x.until(visibleTime, func() answer { return x.get("/sessions/{id}/messages", id) }, func(a answer) bool { return !a.ok() || len(a.rows("messages")) > 1 })
			x.messages(id)
			x.deleted(id)
		},
	},
}

// newSession creates a session, and waits until it can be read. It returns "" if that is not possible.
func (x *exam) newSession(computerID string) string {
	made := x.post(sessions, object{"computerId": computerID, "sessionSettings": object{"tags": []object{{"name": x.lab.NewName("session")}}}})
	id := made.record().Text("sessionId")
	if id == "" {
		x.blocked("creating a session", made)
		return ""
	}
	x.laterDelete(sessions, id)
	read := x.until(visibleTime, func() answer { return x.get(session, id) }, answer.ok)
	if !read.ok() {
		x.blocked("reading a new session", read)
		return ""
	}
	if slices.Contains(x.rules, "create-session") {
		x.filledIn(made.record().Object("sessionSettings"))
	}
	return id
}

// filledIn judges the settings that a creation left out.
func (x *exam) filledIn(settings object) {
	const rule = "create-session"
	changes := x.get(history + "?limit=1").rows("changes")
	if len(changes) == 0 {
		x.unseen(rule, "the organization's default settings cannot be read")
		return
	}
	model := changes[0].Object("settings").Object("sessionDefaultSettings").Text("model")
	if model == "" {
		x.unseen(rule, "the organization has no default model")
		return
	}
	x.holds(rule, settings.Text("model") == model, "the default model is filled in", "the default model is not filled in")
}

// settings judges what an update of some settings does to the others.
func (x *exam) settings(id string) {
	update := func(settings object) answer { return x.patch(session, object{"sessionSettings": settings}, id) }
	tags := []object{{"name": x.lab.NewName("session")}, {"name": x.lab.NewName("session")}}
	before := update(object{"tags": tags})
	after := update(object{"compactionThresholdCheckEnabled": true})
	if before.ok() && after.ok() && after.record().Has("sessionSettings") {
		x.holds("update-session", len(after.record().Object("sessionSettings").List("tags")) == 2,
			"settings that are left out stay", "settings that are left out do not stay")
		replaced := update(object{"tags": tags[:1]}).record().Object("sessionSettings").List("tags")
		x.holds("update-session", len(replaced) == 1, "tags are replaced as a whole", "tags are not replaced as a whole")
	} else {
		x.unseen("update-session", "the updates were "+before.said()+" and "+after.said()+", or the answer has no settings")
	}
}

// deleted judges what a deleted session is answered.
func (x *exam) deleted(id string) {
	const rule = "delete-session"
	if a := x.remove(session, id); !a.ok() {
		x.unseen(rule, "the deletion was "+a.said())
		return
	}
	gone := x.until(visibleTime, func() answer { return x.get(session, id) }, func(a answer) bool { return a.status == 404 })
	x.answers(rule, "a read of a deleted session", gone, 404)
	// Lists are late, so that the session may not have been listed at all.
	isListed := func(a answer) bool { return find(a.rows("sessions"), "sessionId", id) != nil }
	list := x.until(visibleTime, func() answer { return x.get(sessions + "?limit=100") }, func(a answer) bool { return !isListed(a) })
	x.absent(rule, isListed(list), "a deleted session is listed", "no list had the session")
}

// messages judges the order of a session's messages.
func (x *exam) messages(id string) {
	page := x.get("/sessions/{id}/messages?limit=100", id)
	rows := page.rows("messages")
	if !page.ok() {
		x.blocked("listing the messages of a session", page)
		return
	}
	if len(rows) == 0 {
		x.obstacle = "the newest session has no messages; with " + Sessions + ", the tests send some"
		return
	}
	x.newestFirst("list-session-messages", rows)
}
