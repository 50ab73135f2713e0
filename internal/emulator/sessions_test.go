package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const sessions = "/api/v0/sessions"

// startSessions is startSessionsWith the default options, for a test that runs in parallel with others.
func startSessions(t *testing.T) (*env, string) {
	t.Helper()
	t.Parallel()
	return startSessionsWith(t, emulator.Options{})
}

// startSessionsWith starts an emulator with an active managed computer of the manager and returns the computer's ID.
func startSessionsWith(t *testing.T, opts emulator.Options) (*env, string) {
	t.Helper()
	v := start(t, opts)
	id := v.computer(object{"name": "box"})["id"].(string)
	v.clock.Advance(time.Minute)
	return v, id
}

// session creates one as the manager and waits until it is everywhere.
func (v *env) session(body object) string {
	v.t.Helper()
	id := v.call(201, "POST", sessions, body).object(v.t)["sessionId"].(string)
	v.clock.Advance(5 * time.Second)
	return id
}

// sessionPage lists sessions and returns those of the page.
func (v *env) sessionPage(key, query string) []any {
	v.t.Helper()
	return v.as(key, 200, "GET", sessions+query, nil).object(v.t)["sessions"].([]any)
}

// defaultSettings are what a new session has by the enterprise controls of every emulator.
func defaultSettings() object {
	return object{
		"model": "model-standard", "reasoningEffort": "medium", "interactionMode": "auto", "autonomyLevel": "medium",
		"specModeModel": "model-thinking", "specModeReasoningEffort": "high",
	}
}

func TestSessionLife(t *testing.T) {
	v, computerID := startSessions(t)
	began := v.clock.Now()
	created := v.call(201, "POST", sessions, object{"computerId": computerID, "cwd": "/srv/ä", "systemPrompt": "Be brief."}).object(t)
	id := created["sessionId"].(string)
	want := object{
		"sessionId": id, "status": "idle", "messageCount": 0, "createdAt": began.UnixMilli(), "updatedAt": began.UnixMilli(),
		"computerId": computerID, "sessionSettings": defaultSettings(),
	}
	same(t, "created", created, want)
	v.clock.Advance(5 * time.Second)

	settings := defaultSettings()
	settings["model"] = "model-light"
	want["sessionSettings"], want["updatedAt"] = settings, v.clock.Now().UnixMilli()
	one := sessions + "/" + id
	same(t, "updated", v.call(200, "PATCH", one, object{"sessionSettings": object{"model": "model-light"}}).object(t), want)
	want["artifacts"] = []any{}
	same(t, "listed", v.sessionPage(v.BootstrapKey(), "?computerId="+computerID), []any{want})
	delete(want, "artifacts")
	want["serviceCredits"] = 0
	same(t, "read", v.call(200, "GET", one+"?computerId="+computerID, nil).object(t), want)
	same(t, "interrupted", v.call(200, "POST", one+"/interrupt", nil).object(t), object{"status": "idle"})

	v.call(204, "DELETE", one, nil)
	for method, path := range map[string]string{"GET": one, "DELETE": one, "POST": one + "/interrupt"} {
		v.detail(v.call(404, method, path, nil), id)
	}
	v.detail(v.call(404, "PATCH", one, object{}), id)
	same(t, "listed after the deletion", len(v.sessionPage(v.BootstrapKey(), "")), 0)
}

// Until a new session is everywhere, whoever names it meets 404, also with the computer's ID, and listings lack it.
func TestNewSessionShowsUpLate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts          emulator.Options
		found, listed time.Duration
	}{
		"usual":         {emulator.Options{}, 2 * time.Second, 5 * time.Second},
		"longer":        {emulator.Options{SessionDelay: 30 * time.Second, SessionListDelay: time.Minute}, 30 * time.Second, time.Minute},
		"at once":       {emulator.Options{SessionDelay: -1, SessionListDelay: -time.Hour}, 0, 0},
		"listed before": {emulator.Options{SessionListDelay: -1}, 2 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, computerID := startSessionsWith(t, c.opts)
			one := sessions + "/" + v.call(201, "POST", sessions, object{"computerId": computerID}).object(t)["sessionId"].(string)
			began := v.clock.Now()
			moments := []time.Duration{0, c.found - time.Millisecond, c.found, c.listed - time.Millisecond, c.listed, max(c.found, c.listed) + time.Millisecond}
			slices.Sort(moments)
			for _, after := range moments {
				if after < 0 {
					continue
				}
				v.clock.Advance(began.Add(after).Sub(v.clock.Now()))
				status, listed := 200, 0
				if after < c.found {
					status = 404
				}
				if after >= c.listed {
					listed = 1
				}
				for _, request := range []request{{"GET", "", nil}, {"GET", "?computerId=" + computerID, nil}, {"PATCH", "", object{}}, {"POST", "/interrupt", nil}} {
					a, err := v.try(v.BootstrapKey(), request.method, one+request.path, request.body)
					if err != nil || a.status != status {
						t.Errorf("%s %s after %s: %d, want %d, error %v", request.method, request.path, after, a.status, status, err)
					}
				}
				if status == 404 {
					v.detail(v.call(404, "DELETE", one, nil), "No session with the ID")
				}
				for _, query := range []string{"", "?computerId=" + computerID} {
					same(t, fmt.Sprintf("listed %q after %s", query, after), len(v.sessionPage(v.BootstrapKey(), query)), listed)
				}
			}
			v.call(204, "DELETE", one, nil)
		})
	}
}

// Listings show late what a session does, and at once everything else.
func TestListingOfSessionsLags(t *testing.T) {
	v, computerID := startSessions(t)
	id := v.session(object{"computerId": computerID})
	began := v.clock.Now()
	shown := func(of object) string {
		return fmt.Sprint(of["status"], " ", of["title"], " ", of["messageCount"], " ", of["updatedAt"].(float64)-float64(began.UnixMilli()))
	}
	expect := func(read, listed string) {
		t.Helper()
		same(t, "read", shown(v.call(200, "GET", sessions+"/"+id, nil).object(t)), read)
		same(t, "listed", shown(v.sessionPage(v.BootstrapKey(), "")[0].(object)), listed)
	}
	expect("idle <nil> 0 -5000", "idle <nil> 0 -5000")
	v.change(id, emulator.SessionChange{Status: new("running"), Title: new("Fix it"), MessageCount: new(int64(2))})
	expect("running Fix it 2 0", "idle <nil> 0 -5000")
	v.clock.Advance(3 * time.Second)
	v.change(id, emulator.SessionChange{MessageCount: new(int64(4))})
	expect("running Fix it 4 3000", "idle <nil> 0 -5000")
	v.clock.Advance(2 * time.Second)
	expect("running Fix it 4 3000", "running Fix it 2 0")
	v.call(200, "POST", sessions+"/"+id+"/interrupt", object{})
	v.call(200, "PATCH", sessions+"/"+id, object{"sessionSettings": object{"model": "model-light"}})
	expect("idle Fix it 4 5000", "running Fix it 2 5000")
	same(t, "listed model", v.sessionPage(v.BootstrapKey(), "")[0].(object)["sessionSettings"].(object)["model"], "model-light")
	v.clock.Advance(3 * time.Second)
	expect("idle Fix it 4 5000", "running Fix it 4 5000")
	v.clock.Advance(2 * time.Second)
	expect("idle Fix it 4 5000", "idle Fix it 4 5000")
	// What changes nothing is no news.
	v.change(id, emulator.SessionChange{Status: new("idle")})
	expect("idle Fix it 4 5000", "idle Fix it 4 5000")
}

// A session belongs to whose key made it, whoever owns its computer. Nobody else lists it; TestAccess shows who else may use it.
func TestSessionsOfOthers(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	_, owner := v.human(emulator.RoleOwner)
	accountID, account := v.account("ci")
	byom := func(key, name string) string {
		return v.as(key, 201, "POST", computers, object{"name": name, "provider": "byom"}).object(t)["id"].(string)
	}
	begin := func(key, computerID string) string {
		id := v.as(key, 201, "POST", sessions, object{"computerId": computerID}).object(t)["sessionId"].(string)
		v.clock.Advance(5 * time.Second)
		return id
	}
	box := byom(account, "accounts")
	mine, robots, managers := begin(user, byom(user, "users")), begin(account, box), begin(v.BootstrapKey(), box)
	v.as(user, 200, "GET", sessions+"/"+mine, nil)
	v.detail(v.as(account, 403, "GET", sessions+"/"+managers, nil), "belongs to another member")
	for _, c := range []struct{ key, query, want string }{
		{user, "", mine}, {account, "", robots}, {v.BootstrapKey(), "", managers}, {owner, "", ""},
		{v.BootstrapKey(), "?computerId=" + box, managers}, {account, "?computerId=" + box, robots},
	} {
		same(t, "listed"+c.query, sessionIDs(v.sessionPage(c.key, c.query)), c.want)
	}
	v.call(200, "DELETE", accounts+"/"+accountID, nil)
	v.call(204, "DELETE", sessions+"/"+robots, nil)
}

// Whoever asks for a computer is asked whether it may use it, before anything else is said about the session.
func TestSessionsByComputer(t *testing.T) {
	v, managed := startSessions(t)
	byom := v.computer(object{"name": "byom", "provider": "byom"})["id"].(string)
	_, user := v.human(emulator.RoleUser)
	foreign := v.as(user, 201, "POST", computers, object{"name": "users", "provider": "byom"}).object(t)["id"].(string)
	a, b := v.session(object{"computerId": managed}), v.session(object{"computerId": strings.ToUpper(byom)})
	c := v.session(object{"computerId": managed, "cwd": ""})
	for query, want := range map[string]string{
		"": c + " " + b + " " + a, "?computerId=" + managed: c + " " + a, "?computerId=" + byom: b, "?computerId=" + managed + "&limit=1": c,
	} {
		same(t, query, sessionIDs(v.sessionPage(v.BootstrapKey(), query)), want)
	}
	for _, computerID := range []string{foreign, uuidA, "x"} {
		v.detail(v.call(400, "POST", sessions, object{"computerId": computerID}), "No computer with the ID")
		same(t, "sessions on "+computerID, sessionIDs(v.sessionPage(v.BootstrapKey(), "?computerId="+computerID)), "")
		v.detail(v.call(404, "GET", sessions+"/"+a+"?computerId="+computerID, nil), "No computer with the ID")
		v.detail(v.call(404, "DELETE", sessions+"/"+a+"?computerId="+computerID, nil), "No computer with the ID")
		v.detail(v.call(400, "GET", sessions+"?limit=101&computerId="+computerID, nil), "limit")
	}
	v.detail(v.call(404, "DELETE", sessions+"/"+a+"?computerId="+byom, nil), `"byom" has no session`)
	v.detail(v.call(404, "GET", sessions+"/"+b+"?computerId="+managed, nil), `"box" has no session`)
	v.call(200, "GET", sessions+"/"+strings.ToUpper(a)+"?computerId="+managed, nil)
	v.call(204, "DELETE", sessions+"/"+a+"?computerId="+managed, nil)

	check.Must(t, v.Break(managed))
	v.detail(v.call(400, "POST", sessions, object{"computerId": managed}), `"box" is in status error`)
	starting := v.computer(object{"name": "new"})["id"].(string)
	v.detail(v.call(400, "POST", sessions, object{"computerId": starting}), `"new" is in status provisioning`)
	v.call(200, "GET", sessions+"?computerId="+managed, nil)
}

// sessionIDs are the IDs of listed sessions, in their order.
func sessionIDs(list []any) string {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.(object)["sessionId"].(string)
	}
	return strings.Join(ids, " ")
}

// change plays the agent.
func (v *env) change(id string, c emulator.SessionChange) {
	v.t.Helper()
	check.Must(v.t, v.ChangeSession(id, c))
}
