package emulator_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// everySetting has a value for each setting; the two of which an update has none are for a creation.
func everySetting(creation bool) object {
	settings := object{
		"model": "model-light", "reasoningEffort": "xhigh", "interactionMode": "spec", "autonomyLevel": "low", "specModeModel": "m", "specModeReasoningEffort": "off",
		"providerLock": "generic-chat-completion-api", "providerLockTimestamp": "2026-05-01T12:00:00Z", "apiProviderLock": "x", "archivedAt": "yesterday",
		"tags":     []any{object{"name": "a", "metadata": object{"k": "v", "": ""}}, object{"name": "ä"}},
		"worktree": object{"branch": "b", "lifecycle": "ephemeral", "path": "/p", "parentWorktreePath": "/q", "removedAt": "r", "repoRoot": "/r"}, "setupProfileId": "s",
		"enabledToolIds": []any{"b", "a"}, "disabledToolIds": []any{""}, "restrictToolIds": []any{},
		"compactionModel": "custom:x", "compactionThresholdCheckEnabled": false,
	}
	if creation {
		settings["toolExecutionMode"], settings["allowSubagentsInScripts"] = "script_only", true
	}
	return settings
}

// settingsOf reads the settings of a session as an update answers them that changes nothing.
func (v *env) settingsOf(id string) object {
	v.t.Helper()
	return v.call(200, "PATCH", sessions+"/"+id, object{}).object(v.t)["sessionSettings"].(object)
}

func TestEverySettingIsKept(t *testing.T) {
	v, computerID := startSessions(t)
	created := v.call(201, "POST", sessions, object{"computerId": computerID, "sessionSettings": everySetting(true)}).object(t)
	same(t, "created", created["sessionSettings"], everySetting(true))
	id := v.session(object{"computerId": computerID})
	response := v.call(200, "PATCH", sessions+"/"+id, object{"sessionSettings": everySetting(false)}).object(t)
	same(t, "updated", response["sessionSettings"], everySetting(false))
	for _, listed := range v.sessionPage(v.BootstrapKey(), "") {
		same(t, "listed", listed.(object)["sessionSettings"], everySetting(listed.(object)["sessionId"] != id))
	}
}

func TestSessionSettingsDefaults(t *testing.T) {
	v, computerID := startSessions(t)
	created := func(settings object) object {
		t.Helper()
		return v.call(201, "POST", sessions, object{"computerId": computerID, "sessionSettings": settings}).object(t)["sessionSettings"].(object)
	}
	with := func(other object) object {
		settings := defaultSettings()
		maps.Copy(settings, other)
		return settings
	}
	same(t, "some are given", created(object{"model": "", "compactionModel": "current-model"}), with(object{"model": "", "compactionModel": "current-model"}))
	same(t, "a mode without a level", created(object{"autonomyMode": "spec"}), with(object{"autonomyMode": "spec", "interactionMode": "spec"}))
	same(t, "a mode with a level", created(object{"autonomyMode": "normal"}), with(object{"autonomyMode": "normal", "autonomyLevel": "off"}))

	old := v.session(object{"computerId": computerID})
	v.changeControls(object{"sessionDefaultSettings": object{"interactionMode": "agi", "autonomyMode": "spec", "outputStyle": "x", "model": 7, "reasoningEffort": 5, "autonomyLevel": "full", "specModeModel": "s"}}, "")
	same(t, "only valid settings", created(object{}), object{"interactionMode": "mission", "specModeModel": "s"})
	same(t, "settings of an older session", v.settingsOf(old), defaultSettings())
	for _, none := range []any{object{}, "x", nil} {
		v.changeControls(object{"sessionDefaultSettings": none}, "")
		same(t, "without defaults", created(object{}), object{})
		same(t, "without defaults", created(object{"model": "m"}), object{"model": "m"})
	}
}

// The deprecated mode is answered with what it means, until something else says what the session does by itself.
func TestSessionAutonomy(t *testing.T) {
	v, computerID := startSessions(t)
	v.changeControls(object{"sessionDefaultSettings": nil}, "")
	for _, c := range []struct {
		name          string
		before, given object
		want          object
	}{
		{"normal", nil, object{"autonomyMode": "normal"}, object{"autonomyMode": "normal", "interactionMode": "auto", "autonomyLevel": "off"}},
		{"high", object{"interactionMode": "mission", "autonomyLevel": "off"}, object{"autonomyMode": "auto-high"}, object{"autonomyMode": "auto-high", "interactionMode": "auto", "autonomyLevel": "high"}},
		{"spec leaves the level", object{"autonomyMode": "auto-high"}, object{"autonomyMode": "spec"}, object{"autonomyMode": "spec", "interactionMode": "spec", "autonomyLevel": "high"}},
		{"spec without a level", nil, object{"autonomyMode": "spec"}, object{"autonomyMode": "spec", "interactionMode": "spec"}},
		{"another level ends the mode", object{"autonomyMode": "auto-low"}, object{"autonomyLevel": "high"}, object{"interactionMode": "auto", "autonomyLevel": "high"}},
		{"another interaction ends the mode", object{"autonomyMode": "auto-low"}, object{"interactionMode": "agi"}, object{"interactionMode": "mission", "autonomyLevel": "low"}},
		{"what it means changes nothing", object{"autonomyMode": "auto-low"}, object{"interactionMode": "auto", "autonomyLevel": "low"}, object{"autonomyMode": "auto-low", "interactionMode": "auto", "autonomyLevel": "low"}},
		{"another setting leaves the mode", object{"autonomyMode": "auto-low"}, object{"model": "m"}, object{"autonomyMode": "auto-low", "interactionMode": "auto", "autonomyLevel": "low", "model": "m"}},
		{"agi", nil, object{"interactionMode": "agi"}, object{"interactionMode": "mission"}},
	} {
		before := object{}
		maps.Copy(before, c.before)
		id := v.session(object{"computerId": computerID, "sessionSettings": before})
		response := v.call(200, "PATCH", sessions+"/"+id, object{"sessionSettings": c.given}).object(t)
		same(t, c.name, response["sessionSettings"], c.want)
		same(t, c.name+", read again", v.settingsOf(id), c.want)
		if c.before == nil {
			response := v.call(201, "POST", sessions, object{"computerId": computerID, "sessionSettings": c.given}).object(t)
			same(t, c.name+", from the start", response["sessionSettings"], c.want)
		}
	}
	one := sessions + "/" + v.session(object{"computerId": computerID})
	for _, c := range []refusal{
		{object{"autonomyMode": "normal", "interactionMode": "spec"}, `"sessionSettings.interactionMode" contradicts the deprecated autonomyMode "normal", which means "auto"`},
		{object{"autonomyMode": "normal", "autonomyLevel": "low"}, `"sessionSettings.autonomyLevel" contradicts the deprecated autonomyMode "normal", which means "off"`},
		{object{"autonomyMode": "auto-high", "interactionMode": "agi"}, `which means "auto"`},
		{object{"autonomyMode": "spec", "interactionMode": "auto"}, `which means "spec"`},
	} {
		v.detail(v.call(400, "PATCH", one, object{"sessionSettings": c.body}), c.want)
	}
}

func TestSessionUpdateIsPartial(t *testing.T) {
	v, computerID := startSessions(t)
	id := v.session(object{"computerId": computerID, "sessionSettings": everySetting(true)})
	one := sessions + "/" + id
	before := v.call(200, "PATCH", one, object{}).object(t)
	same(t, "nothing given", v.call(200, "PATCH", one, object{"sessionSettings": object{}}).object(t), before)
	same(t, "updated at", before["updatedAt"], before["createdAt"])
	want := everySetting(true)
	for _, change := range []object{
		{"model": "other"},
		{"tags": []any{object{"name": "b"}}},
		{"tags": []any{}, "worktree": object{"repoRoot": ""}},
		{"enabledToolIds": []any{"c"}, "disabledToolIds": []any{}},
		{"compactionThresholdCheckEnabled": true, "archivedAt": ""},
	} {
		maps.Copy(want, change)
		same(t, fmt.Sprint(change), v.call(200, "PATCH", one, object{"sessionSettings": change}).object(t)["sessionSettings"], want)
	}
	same(t, "updated at", v.call(200, "PATCH", one, object{}).object(t)["updatedAt"], float64(v.clock.Now().UnixMilli()))
}

func TestInterruptSession(t *testing.T) {
	v, computerID := startSessions(t)
	for _, status := range []string{"idle", "pending", "running"} {
		id := v.session(object{"computerId": computerID})
		v.change(id, emulator.SessionChange{Status: &status})
		one := sessions + "/" + id
		same(t, "before", v.call(200, "GET", one, nil).object(t)["status"], status)
		for range 2 {
			v.clock.Advance(time.Second)
			same(t, status+", interrupted", v.call(200, "POST", one+"/interrupt", nil).object(t), object{"status": "idle"})
			same(t, "after", v.call(200, "GET", one, nil).object(t)["status"], "idle")
		}
		// What was idle already is not updated.
		updated := v.call(200, "GET", one, nil).object(t)["updatedAt"].(float64)
		same(t, status+": updated by the first interrupt", updated == float64(v.clock.Now().Add(-time.Second).UnixMilli()), status != "idle")
	}
}

// The sessions of a managed computer are archived with it; those of a registered machine do not notice.
func TestSessionsOfADeletedComputer(t *testing.T) {
	v, managed := startSessions(t)
	byom := v.computer(object{"name": "byom", "provider": "byom"})["id"].(string)
	archived, before := v.session(object{"computerId": managed}), v.session(object{"computerId": managed, "sessionSettings": object{"archivedAt": "before"}})
	untouched := v.session(object{"computerId": byom})
	states := func(ids ...string) (list []any) {
		for _, id := range ids {
			list = append(list, v.call(200, "PATCH", sessions+"/"+id, object{}).object(t))
		}
		return list
	}
	want := states(untouched, before)
	v.clock.Advance(time.Minute)
	now := v.clock.Now()
	v.call(204, "DELETE", computers+"/"+managed, nil)
	v.call(204, "DELETE", computers+"/"+byom, nil)
	same(t, "others", states(untouched, before), want)

	got := states(archived)[0].(object)
	same(t, "archived", []any{got["sessionSettings"].(object)["archivedAt"], got["updatedAt"], got["computerId"]}, []any{now.Format(time.RFC3339), float64(now.UnixMilli()), managed})
	v.call(200, "GET", sessions+"/"+archived, nil)
	list := v.sessionPage(v.BootstrapKey(), "")
	same(t, "listed", sessionIDs(list), strings.Join([]string{untouched, before, archived}, " "))
	same(t, "listed as archived at", list[2].(object)["sessionSettings"].(object)["archivedAt"], now.Format(time.RFC3339))
	for _, id := range []string{managed, byom} {
		same(t, "sessions on a deleted computer", sessionIDs(v.sessionPage(v.BootstrapKey(), "?computerId="+id)), "")
		v.detail(v.call(404, "GET", sessions+"/"+archived+"?computerId="+id, nil), "No computer")
		v.detail(v.call(400, "POST", sessions, object{"computerId": id}), "No computer")
	}
	v.call(200, "PATCH", sessions+"/"+archived, object{"sessionSettings": object{"model": "m"}}) // It can be used on, and deleted.
	v.call(204, "DELETE", sessions+"/"+archived, nil)
}

// The computers of a service account go with it, and their sessions are archived, also those of a manager.
func TestSessionsOfADeletedServiceAccount(t *testing.T) {
	v := startParallel(t)
	accountID, account := v.account("ci")
	box := v.as(account, 201, "POST", computers, object{"name": "box"}).object(t)["id"].(string)
	v.clock.Advance(time.Minute)
	robots := v.as(account, 201, "POST", sessions, object{"computerId": box}).object(t)["sessionId"].(string)
	mine := v.session(object{"computerId": box})
	v.call(200, "DELETE", "/api/v0/service-accounts/"+accountID, nil)
	for _, id := range []string{robots, mine} {
		same(t, "archived at", v.settingsOf(id)["archivedAt"], v.clock.Now().Format(time.RFC3339))
	}
	v.as(account, 401, "GET", sessions, nil)
}

// Who is removed, and a key that ends, leave their sessions behind.
func TestSessionsOutliveMembersAndKeys(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	box := v.as(user, 201, "POST", computers, object{"name": "box", "provider": "byom"}).object(t)["id"].(string)
	members := v.as(user, 201, "POST", sessions, object{"computerId": box}).object(t)["sessionId"].(string)
	accountID, _ := v.account("ci")
	keys := accounts + "/" + accountID + "/api-keys"
	minted := v.mint(201, keys, object{"name": "k"})
	account := minted["value"].(string)
	machine := v.as(account, 201, "POST", computers, object{"name": "m", "provider": "byom"}).object(t)["id"].(string)
	robots := v.as(account, 201, "POST", sessions, object{"computerId": machine}).object(t)["sessionId"].(string)
	v.clock.Advance(time.Minute)
	v.call(204, "DELETE", remove("user@people.example"), nil)
	v.call(204, "POST", keys+"/"+minted["id"].(string)+"/revoke", nil)
	v.as(user, 401, "GET", sessions, nil)
	v.as(account, 401, "GET", sessions, nil)
	for _, id := range []string{members, robots} {
		same(t, "settings", v.settingsOf(id), defaultSettings())
		v.call(200, "POST", sessions+"/"+id+"/interrupt", nil)
	}
	again := v.mint(201, keys, object{"name": "k2"})["value"].(string)
	same(t, "listed for another key of the account", sessionIDs(v.sessionPage(again, "")), robots)
}

// What the agent and others do shows in reads and listings, each in its own way.
func TestControlSessions(t *testing.T) {
	v, computerID := startSessions(t)
	id := v.session(object{"computerId": computerID})
	control, one := "/_emulator/sessions/"+id, sessions+"/"+id
	created := v.clock.Now().Add(-5 * time.Second).UnixMilli()
	artifact := object{
		"id": "a", "kind": "pull_request", "url": "https://code.example/acme/api/pull/1", "title": "Fix", "provider": "code", "action": "create",
		"externalId": "acme/api#1", "createdAt": "2026-05-01T12:00:00Z",
	}
	v.SessionSettingsOnReads(false)
	v.call(204, "POST", control, object{
		"status": "pending", "title": "ä", "messageCount": 2, "serviceCredits": 1.5, "archivedAt": "2026-01-01T00:00:00Z", "parentSessionId": uuidA,
		"computerId": uuidB, "completedAt": 5, "artifacts": []any{artifact},
	})
	v.clock.Advance(5 * time.Second)
	want := object{
		"sessionId": id, "parent_session_id": uuidA, "title": "ä", "status": "pending", "messageCount": 2, "createdAt": created, "updatedAt": created + 5000,
		"completedAt": 5, "computerId": uuidB, "serviceCredits": 1.5,
	}
	same(t, "read", v.call(200, "GET", one, nil).object(t), want)
	settings := defaultSettings()
	settings["archivedAt"] = "2026-01-01T00:00:00Z"
	want["sessionSettings"] = settings
	v.call(204, "POST", "/_emulator/sessions/settings-on-reads", object{"on": true})
	same(t, "read with settings", v.call(200, "GET", one, nil).object(t), want)
	v.call(204, "POST", "/_emulator/sessions/settings-on-reads", object{"on": false})
	delete(want, "serviceCredits")
	want["artifacts"] = []any{artifact}
	same(t, "listed", v.sessionPage(v.BootstrapKey(), ""), []any{want})
	same(t, "read without settings", v.call(200, "GET", one, nil).object(t)["sessionSettings"], nil)
	same(t, "sessions on the first computer", len(v.sessionPage(v.BootstrapKey(), "?computerId="+computerID)), 0)

	v.call(204, "POST", control, object{"title": "", "archivedAt": "", "parentSessionId": "", "computerId": "", "completedAt": 0, "artifacts": []any{}, "messageCount": 0, "serviceCredits": 0})
	same(t, "taken away", v.call(200, "GET", one, nil).object(t), object{
		"sessionId": id, "status": "pending", "messageCount": 0, "createdAt": created, "updatedAt": created + 10000, "serviceCredits": 0,
	})
	same(t, "settings", v.settingsOf(id), defaultSettings())

	for want, body := range map[string]any{
		`status "busy" is not`:    object{"status": "busy"},
		"messages -1 is negative": object{"messageCount": -1},
		"an ID and a kind":        object{"artifacts": []any{object{"id": "a"}}},
		`time "today" of an`:      object{"artifacts": []any{object{"id": "a", "kind": "k", "createdAt": "today"}}},
	} {
		v.detail(v.call(400, "POST", control, body), want)
	}
	v.detail(v.call(400, "POST", "/_emulator/sessions/"+uuidA, object{}), "does not exist")
}
