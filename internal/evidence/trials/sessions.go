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
		Name:  "existing sessions",
		Rules: []string{"list-sessions", "get-session", "computer-id-query-parameter", "list-session-messages", "message-seq"},
		run: func(x *exam) {
			all := x.get(sessions)
			rows := all.rows("sessions")
			if !all.ok() {
				x.blocked("listing the sessions", all)
				return
			}
			if len(rows) == 0 {
				x.obstacle = "there is no session; with " + Sessions + ", the tests create some"
				return
			}
			x.newestFirst("list-sessions", "createdAt", rows)
			x.absent("list-sessions", slices.ContainsFunc(rows, func(s object) bool { return s.Has("serviceCredits") }),
				"a listed session has credits", "no two sessions have different times")
			id := rows[0].Text("sessionId")
			single := x.get(session, id)
			if !single.ok() {
				x.blocked("reading a listed session", single)
				return
			}
			x.absent("get-session", single.record().Has("sessionSettings"), "a single read has the settings", "nothing shows whether the session has settings")
			x.answers("computer-id-query-parameter", "a session asked for at an unknown computer", x.get(session+"?computerId="+unknownID, id), 404)
			x.messages(id)
		},
	},
	{
		Name:     "a session",
		Variable: Sessions,
		Rules: []string{
			"create-session", "autonomy-contradiction", "autonomy-mode", "update-session", "interrupt-session", "send-message-text",
			"send-message-computer-id", "send-session-message", "attachment-data", "get-session", "computer-id-query-parameter", "delete-session",
			"list-session-messages", "message-seq",
		},
		run: func(x *exam) {
			id := x.newSession(x.lab.Computer)
			if id == "" {
				return
			}
			x.settings(id)
			x.answers("computer-id-query-parameter", "a session asked for at an unknown computer", x.get(session+"?computerId="+unknownID, id), 404)
			for range 2 {
				a := x.post("/sessions/{id}/interrupt", nil, id)
				x.answers("interrupt-session", "an interruption of an idle session", a, accepted)
				if a.ok() {
					x.holds("interrupt-session", a.record().Text("status") == "idle", "an idle session stays idle", "an idle session does not stay idle")
				}
			}
			if them, _, ok := x.asAccount(); ok {
				x.denies("get-session", "a session of somebody else", them.get(session, id))
				x.denies("send-session-message", "a message to a session of somebody else",
					them.post("/sessions/{id}/messages", object{"text": "Say hello."}, id))
			}
			x.sentMessages(id)
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
		if made.record().Has("sessionSettings") {
			x.holds("get-session", !read.record().Has("sessionSettings"), "a single read has no settings", "a single read has the settings")
		}
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

	old := update(object{"autonomyMode": "auto-low"})
	shown := old.record().Object("sessionSettings")
	if !old.ok() || shown == nil {
		x.unseen("autonomy-mode", "the deprecated mode was "+old.said()+", or the answer has no settings")
		return
	}
	x.holds("autonomy-mode", shown.Text("interactionMode") == "auto" && shown.Text("autonomyLevel") == "low" && shown.Text("autonomyMode") == "auto-low",
		"the answer shows both forms of a mode", "the answer does not show both forms of a mode")
	x.refuses("autonomy-contradiction", "a mode that contradicts the level", old, update(object{"autonomyMode": "auto-low", "autonomyLevel": "high"}), 400)
	changed := update(object{"autonomyLevel": "medium"})
	if changed.record().Object("sessionSettings").Text("autonomyLevel") == "medium" {
		x.holds("autonomy-mode", changed.record().Object("sessionSettings").Text("autonomyMode") != "auto-low",
			"another level ends the deprecated mode", "another level leaves the deprecated mode")
	}
}

// sentMessages judges which messages are refused, beside one that an agent gets.
func (x *exam) sentMessages(id string) {
	send := func(message object) answer { return x.post("/sessions/{id}/messages", message, id) }
	good := send(object{"text": "Say hello."})
	x.refuses("send-message-text", "a message without text", good, send(object{"text": ""}), 400)
	x.refuses("send-message-computer-id", "a message to an unknown computer", good, send(object{"text": "Say hello.", "computerId": unknownID}), 404)
	image := object{"type": "base64", "mediaType": "image/png", "data": "no Base64!"}
	x.refuses("attachment-data", "an image that is not Base64", good, send(object{"text": "Say hello.", "images": []object{image}}), 400)
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

// messages judges the order and the numbers of a session's messages.
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
	x.newestFirst("list-session-messages", "createdAt", rows)
	last := rows[len(rows)-1]
	switch {
	case page.record().Object("pagination").Truth("hasMore") || !last.Has("seq"):
		x.unseen("message-seq", "the first message is not on the page, or has no number")
	default:
		x.holds("message-seq", last.Number("seq") == 1, "the first message has the number 1", "the first message has another number than 1")
	}
}
