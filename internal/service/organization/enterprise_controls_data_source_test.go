package organization_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const controlsType = "agentyard_enterprise_controls"

// onlyInSettings are the settings that can contain secrets, or whose format is not documented.
var onlyInSettings = []string{"customModels", "hooks", "env", "enabledPlugins", "personaPlugins", "permissionRules", "telemetry.headers"}

func documentedControls(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../emulator/enterprise_settings.json")
	acctest.Must(t, err)
	var all map[string]any
	acctest.Must(t, json.Unmarshal(data, &all))
	return all
}

func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// inSnakeCase renames the fields of a setting. The keys of a map have no capitals and stay.
func inSnakeCase(path string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		renamed := map[string]any{}
		for name, field := range v {
			if at := path + "." + name; slices.Contains(onlyInSettings, at[1:]) {
				continue
			} else if strings.HasPrefix(name, "user_") {
				renamed[name] = inSnakeCase(at, field) // The ID of a user.
			} else {
				renamed[snakeCase(name)] = inSnakeCase(at, field)
			}
		}
		return renamed
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = inSnakeCase(path, item)
		}
		return items
	}
	return value
}

// Every documented setting that cannot contain secrets is an attribute with the value of the newest revision.
func TestEnterpriseControls_everyAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	changeControls(t, e, "maxAutonomyLevel", `"low"`, "")
	changeControls(t, e, "addedLater", `{"z":1}`, "")
	e.Journal().Reset()
	got := acctest.WithoutNulls(e.MustRead(t, nil, controlsType, nil)).(map[string]any)
	if entries := e.Journal().Entries(); len(entries) != 1 || entries[0].Query != "limit=1" {
		t.Errorf("the requests are %v", entries)
	}
	documented := documentedControls(t)
	documented["maxAutonomyLevel"], documented["sessionRetentionDays"] = "low", 90.0
	want := inSnakeCase("", documented).(map[string]any)
	want["revision"], want["updated_at"] = 5.0, "2026-03-01T12:02:00Z"
	settings := got["settings"].(string)
	delete(got, "settings")
	acctest.Is(t, "the settings", got, want)
	if !strings.Contains(settings, `"addedLater":{"z":1}`) || strings.Contains(settings, "\n") || len(fakeSecret.FindAllString(settings, -1)) < 4 {
		t.Errorf("settings: %s", settings)
	}
}

// The service may change the settings: a value of another type is null and fails nothing. So is everything before the first change.
func TestEnterpriseControls_otherTypes(t *testing.T) {
	t.Parallel()
	documented := documentedControls(t)
	e := acctest.New(t)
	read := func(changes string) map[string]any {
		body := `{"changes":[` + changes + `],"pagination":{"hasMore":false,"nextCursor":null}}`
		e.Faults().Add(emulator.Fault{Operation: "listEnterpriseControlHistory", Kind: emulator.FaultOtherResponse, Body: body})
		return acctest.WithoutNulls(e.MustRead(t, nil, controlsType, nil)).(map[string]any)
	}
	acctest.Is(t, "never changed", read(""), map[string]any{})
	change := func(settings string) map[string]any {
		got := read(`{"revision":7,"settings":` + settings + `,"user":{"id":"u","email":null,"name":null},"updatedAt":"2026-03-01T00:00:00Z"}`)
		if got["revision"] != 7.0 || got["settings"] == nil {
			t.Errorf("%s: %v", settings, got)
		}
		for _, name := range []string{"revision", "updated_at", "settings"} {
			delete(got, name)
		}
		return got
	}
	allOf := func(value string) string {
		others := map[string]json.RawMessage{}
		for name := range documented {
			others[name] = json.RawMessage(value)
		}
		data, err := json.Marshal(others)
		acctest.Must(t, err)
		return string(data)
	}
	for _, settings := range []string{`{}`, `[]`, `"text"`, `{"max_autonomy_level":"low","maxautonomylevel":"low"}`, allOf("null"), allOf(`[[1]]`), allOf(`1.5`)} {
		acctest.Is(t, settings, change(settings), map[string]any{})
	}
	// One field of another type leaves the others. A null in a list or a map is an empty value.
	acctest.Is(t, "the others", change(`{"sandbox":{"enabled":"yes","mode":"per-command","network":[]},"networkPolicy":{"allowedIps":["192.0.2.1",null]},
		"builtInToolAutonomyOverrides":{"a":"low","b":null},"mcpPolicy":{"allowlist":[]},"userModelPolicies":{"u":{}},"routerRules":[{}],"mcpAutonomyOverrides":{"a":null}}`), map[string]any{
		"sandbox": map[string]any{"mode": "per-command"}, "network_policy": map[string]any{"allowed_ips": []any{"192.0.2.1", ""}}, "built_in_tool_autonomy_overrides": map[string]any{"a": "low", "b": ""},
		"mcp_policy": map[string]any{"allowlist": []any{}}, "user_model_policies": map[string]any{"u": map[string]any{}}, "router_rules": []any{map[string]any{}}, "mcp_autonomy_overrides": map[string]any{"a": map[string]any{}},
	})
}
