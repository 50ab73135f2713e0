package emulator_test

import (
	"fmt"
	"maps"
	"testing"

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
		for _, a := range []response{
			v.call(400, "PATCH", one, object{"sessionSettings": c.body}),
			v.call(400, "POST", sessions, object{"computerId": computerID, "sessionSettings": c.body}),
		} {
			v.detail(a, c.want)
			same(t, fmt.Sprintf("%v: rule", c.body), a.header.Get(emulator.RuleHeader), "autonomy-contradiction")
		}
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
