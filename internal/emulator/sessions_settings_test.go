package emulator_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
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
		{"low", nil, object{"autonomyMode": "auto-low"}, object{"autonomyMode": "auto-low", "interactionMode": "auto", "autonomyLevel": "low"}},
		{"medium", nil, object{"autonomyMode": "auto-medium"}, object{"autonomyMode": "auto-medium", "interactionMode": "auto", "autonomyLevel": "medium"}},
		{"high", object{"interactionMode": "mission", "autonomyLevel": "off"}, object{"autonomyMode": "auto-high"}, object{"autonomyMode": "auto-high", "interactionMode": "auto", "autonomyLevel": "high"}},
		{"spec leaves the level", object{"autonomyMode": "auto-high"}, object{"autonomyMode": "spec"}, object{"autonomyMode": "spec", "interactionMode": "spec", "autonomyLevel": "high"}},
		{"spec without a level", nil, object{"autonomyMode": "spec"}, object{"autonomyMode": "spec", "interactionMode": "spec"}},
		{"spec with a level", nil, object{"autonomyMode": "spec", "autonomyLevel": "low"}, object{"autonomyMode": "spec", "interactionMode": "spec", "autonomyLevel": "low"}},
		{"both forms", nil, object{"autonomyMode": "auto-low", "interactionMode": "auto", "autonomyLevel": "low"}, object{"autonomyMode": "auto-low", "interactionMode": "auto", "autonomyLevel": "low"}},
		{"another level ends the mode", object{"autonomyMode": "auto-low"}, object{"autonomyLevel": "high"}, object{"interactionMode": "auto", "autonomyLevel": "high"}},
		{"another level ends spec too", object{"autonomyMode": "spec"}, object{"autonomyLevel": "high"}, object{"interactionMode": "spec", "autonomyLevel": "high"}},
		{"another interaction ends the mode", object{"autonomyMode": "auto-low"}, object{"interactionMode": "agi"}, object{"interactionMode": "mission", "autonomyLevel": "low"}},
		{"what it means changes nothing", object{"autonomyMode": "auto-low"}, object{"interactionMode": "auto", "autonomyLevel": "low"}, object{"autonomyMode": "auto-low", "interactionMode": "auto", "autonomyLevel": "low"}},
		{"another setting leaves the mode", object{"autonomyMode": "auto-low"}, object{"model": "m"}, object{"autonomyMode": "auto-low", "interactionMode": "auto", "autonomyLevel": "low", "model": "m"}},
		{"agi", nil, object{"interactionMode": "agi"}, object{"interactionMode": "mission"}},
		{"mission", nil, object{"interactionMode": "mission"}, object{"interactionMode": "mission"}},
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

// Two updates at once of different settings both count.
func TestSessionUpdatesAtOnce(t *testing.T) {
	v, computerID := startSessions(t)
	id := v.session(object{"computerId": computerID})
	want := defaultSettings()
	var wg sync.WaitGroup
	for _, name := range []string{"model", "specModeModel", "setupProfileId", "archivedAt", "providerLock", "compactionModel"} {
		want[name] = "of " + name
		wg.Go(func() {
			a, err := v.try(v.BootstrapKey(), "PATCH", sessions+"/"+id, object{"sessionSettings": object{name: "of " + name}})
			if err != nil || a.status != 200 {
				t.Errorf("%s: %d, error %v", name, a.status, err)
			}
		})
	}
	wg.Wait()
	same(t, "settings", v.settingsOf(id), want)
}

// A list of tools is a set: each is in it once, in any order.
func TestSessionToolsAreSets(t *testing.T) {
	t.Parallel()
	v, computerID := startSessionsWith(t, emulator.Options{ShuffleLists: true})
	var given []any
	for i := range 26 {
		given = append(given, string(rune('a'+i)))
	}
	id := v.session(object{"computerId": computerID, "sessionSettings": object{"enabledToolIds": append(slices.Clone(given), "a", "z")}})
	orders := map[string]bool{}
	for range 3 {
		got := v.settingsOf(id)["enabledToolIds"].([]any)
		orders[fmt.Sprint(got)] = true
		slices.SortFunc(got, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		same(t, "tools", got, given)
	}
	if len(orders) == 1 {
		t.Error("the order is always the same")
	}
}

func TestSessionRefusals(t *testing.T) {
	v, computerID := startSessions(t)
	one := sessions + "/" + v.session(object{"computerId": computerID})
	for _, c := range []refusal{
		{object{"reasoningEffort": "extreme"}, "none, dynamic, off, minimal, low, medium, high, xhigh, max"},
		{object{"specModeReasoningEffort": ""}, "none, dynamic, off, minimal, low, medium, high, xhigh, max"},
		{object{"interactionMode": "yolo"}, "auto, spec, agi, mission"},
		{object{"autonomyLevel": "full"}, "off, low, medium, high"},
		{object{"providerLock": ""}, "providerLock"},
		{object{"apiProviderLock": ""}, "apiProviderLock"},
		{object{"compactionModel": ""}, "compactionModel"},
		{object{"worktree": object{"repoRoot": "/", "lifecycle": "eternal"}}, "ephemeral, persistent"},
		{object{"restrictToolIds": []any{"\x00"}}, "NUL character"},
	} {
		v.detail(v.call(400, "PATCH", one, object{"sessionSettings": c.body}), c.want)
		v.detail(v.call(400, "POST", sessions, object{"computerId": computerID, "sessionSettings": c.body}), c.want)
		// What is wrong is said before the session is looked for.
		v.detail(v.call(400, "PATCH", sessions+"/"+uuidA, object{"sessionSettings": c.body}), c.want)
	}
	for _, c := range []badRequest{
		{"POST", sessions, object{"computerId": ""}, "computerId"},
		{"POST", sessions, object{"computerId": computerID, "sessionSettings": object{"toolExecutionMode": "direct"}}, "direct_only, direct_and_script, script_only"},
		{"POST", sessions, object{"computerId": computerID, "systemPrompt": 1}, "systemPrompt"},
		{"POST", sessions, object{"computerId": computerID, "systemPrompt": []any{}}, "systemPrompt"},
		{"POST", sessions, object{"computerId": computerID, "systemPrompt": "a\x00"}, "NUL character"},
	} {
		v.detail(v.call(400, c.method, c.path, c.body), c.want)
	}
	same(t, "sessions after the refusals", sessionIDs(v.sessionPage(v.BootstrapKey(), "")), strings.TrimPrefix(one, sessions+"/"))
	same(t, "settings", v.settingsOf(strings.TrimPrefix(one, sessions+"/")), defaultSettings())
}

// What a creation gives and no response shows is kept all the same.
func TestSessionsAsTheyAreKept(t *testing.T) {
	v, computerID := startSessions(t)
	if got, err := v.Sessions(); err != nil || len(got) != 0 {
		t.Errorf("at the start: %v %v", got, err)
	}
	preset := object{"type": "preset", "preset": "agent", "append": ""}
	var want []string
	for _, prompt := range []any{nil, " Be brief. ", preset} {
		body := object{"computerId": computerID, "cwd": "~/a b", "systemPrompt": prompt}
		maps.DeleteFunc(body, func(_ string, value any) bool { return value == nil })
		created := v.call(201, "POST", sessions, body)
		if strings.Contains(string(created.raw), "brief") || strings.Contains(string(created.raw), "systemPrompt") || strings.Contains(string(created.raw), "a b") {
			t.Errorf("the answer shows what it must not: %s", created.raw)
		}
		want = append(want, created.object(t)["sessionId"].(string))
		v.clock.Advance(time.Millisecond)
	}
	kept, err := v.Sessions()
	must(t, err)
	var ids, prompts []string
	for _, s := range kept {
		ids, prompts = append(ids, s.ID), append(prompts, string(s.SystemPrompt))
		if s.CWD != "~/a b" || s.ComputerID != computerID || !strings.HasPrefix(s.OwnerID, "user_") || string(s.Settings["model"]) != `"model-standard"` {
			t.Errorf("kept: %+v", s)
		}
	}
	same(t, "IDs", ids, want)
	same(t, "prompts", prompts, []string{"", `" Be brief. "`, `{"append":"","preset":"agent","type":"preset"}`})
}
