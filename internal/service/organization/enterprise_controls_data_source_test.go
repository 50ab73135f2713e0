package organization_test

import (
	"encoding/json"
	"maps"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

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

// plainValue returns a value of the protocol as JSON would be decoded. Objects lack their null attributes, as JSON does.
func plainValue(t *testing.T, value tftypes.Value) any {
	t.Helper()
	if value.IsNull() {
		return nil
	}
	switch {
	case value.Type().Is(tftypes.String):
		var text string
		acctest.Must(t, value.As(&text))
		return text
	case value.Type().Is(tftypes.Bool):
		var flag bool
		acctest.Must(t, value.As(&flag))
		return flag
	case value.Type().Is(tftypes.Number):
		number := new(big.Float)
		acctest.Must(t, value.As(&number))
		float, _ := number.Float64()
		return float
	case value.Type().Is(tftypes.List{}):
		var items []tftypes.Value
		acctest.Must(t, value.As(&items))
		plain := make([]any, len(items))
		for i, item := range items {
			plain[i] = plainValue(t, item)
		}
		return plain
	}
	var fields map[string]tftypes.Value
	acctest.Must(t, value.As(&fields))
	plain := map[string]any{}
	for name, field := range fields {
		if !field.IsNull() {
			plain[name] = plainValue(t, field)
		}
	}
	return plain
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
	attributes, out := acctest.NewProcess(t, e, nil).ReadData(controlsType, nil)
	if len(out.Errors)+len(out.Warnings) > 0 {
		t.Fatal(out)
	}
	if entries := e.Journal().Entries(); len(entries) != 1 || entries[0].Query != "limit=1" {
		t.Errorf("the requests are %v", entries)
	}
	documented := documentedControls(t)
	documented["maxAutonomyLevel"], documented["sessionRetentionDays"] = "low", 90.0
	want := inSnakeCase("", documented).(map[string]any)
	want["revision"], want["updated_at"] = 5.0, "2026-03-01T12:02:00Z"
	got := map[string]any{}
	for name, value := range attributes {
		got[name] = plainValue(t, value)
	}
	settings := got["settings"].(string)
	delete(got, "settings")
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(got[name], want[name]) {
			t.Errorf("%s is %v, want %v", name, got[name], want[name])
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("the emulator has no values for %v", got)
	}
	if !strings.Contains(settings, `"addedLater":{"z":1}`) || strings.Contains(settings, "\n") || len(fakeSecret.FindAllString(settings, -1)) < 4 {
		t.Errorf("settings: %s", settings)
	}
}

// Only sensitive attributes can contain what is secret.
func TestEnterpriseControls_secrets(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	changeControls(t, e, "extraKnownMarketplaces", `{"a":{"source":{"source":"url","url":"https://robot:no-secret-password@git.example/a.git"}}}`, "")
	cli := acctest.NewCLI(t, e, `
data "agentyard_enterprise_controls" "x" {}
check "controls" {
  assert {
    condition     = data.agentyard_enterprise_controls.x.max_autonomy_level == "low"
    error_message = "The level is ${data.agentyard_enterprise_controls.x.max_autonomy_level}."
  }
}
`)
	shown := cli.MustRun("apply", "-auto-approve", "-input=false").Output
	acctest.Says(t, shown, "The level is high.")
	shown += cli.MustRun("show").Output
	acctest.Says(t, shown, "strict_known_marketplaces", `allowed_ips`, "(sensitive value)")
	if found := fakeSecret.FindString(shown); found != "" {
		t.Errorf("%s is shown", found)
	}
}

// The service may change the settings: a value of another type is null and fails nothing.
func TestEnterpriseControls_otherTypes(t *testing.T) {
	t.Parallel()
	documented := documentedControls(t)
	read := func(t *testing.T, settings string) map[string]tftypes.Value {
		t.Helper()
		e := acctest.New(t)
		body := `{"changes":[{"revision":7,"settings":` + settings + `,"user":{"id":"u","email":null,"name":null},"updatedAt":"2026-03-01T00:00:00Z"}],"pagination":{"hasMore":true,"nextCursor":"x"}}`
		e.Faults().Add(emulator.Fault{Operation: "listEnterpriseControlHistory", Kind: emulator.FaultOtherResponse, Body: body})
		attributes, out := acctest.NewProcess(t, e, nil).ReadData(controlsType, nil)
		if len(out.Errors)+len(out.Warnings) > 0 {
			t.Fatalf("%s: %s", settings, out)
		}
		if revision := plainValue(t, attributes["revision"]); revision != 7.0 || attributes["settings"].IsNull() {
			t.Errorf("%s: revision %v of %s", settings, revision, attributes["settings"])
		}
		for _, name := range []string{"revision", "updated_at", "settings"} {
			delete(attributes, name)
		}
		return attributes
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
		for name, value := range read(t, settings) {
			if !value.IsNull() {
				t.Errorf("%s: %s is %s", settings, name, value)
			}
		}
	}
	// One field of another type leaves the others. A null in a list or a map is an empty value.
	got := read(t, `{"sandbox":{"enabled":"yes","mode":"per-command","network":[]},"networkPolicy":{"allowedIps":["192.0.2.1",null]},
		"builtInToolAutonomyOverrides":{"a":"low","b":null},"mcpPolicy":{"allowlist":[]},"userModelPolicies":{"u":{}},"routerRules":[{}],"mcpAutonomyOverrides":{"a":null}}`)
	for name, want := range map[string]any{
		"sandbox": map[string]any{"mode": "per-command"}, "network_policy": map[string]any{"allowed_ips": []any{"192.0.2.1", ""}}, "built_in_tool_autonomy_overrides": map[string]any{"a": "low", "b": ""},
		"mcp_policy": map[string]any{"allowlist": []any{}}, "user_model_policies": map[string]any{"u": map[string]any{}}, "router_rules": []any{map[string]any{}}, "mcp_autonomy_overrides": map[string]any{"a": map[string]any{}},
	} {
		if found := plainValue(t, got[name]); !reflect.DeepEqual(found, want) {
			t.Errorf("%s is %v, want %v", name, found, want)
		}
	}
}

func TestEnterpriseControls_neverChanged(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "listEnterpriseControlHistory", Kind: emulator.FaultOtherResponse, Body: `{"changes":[],"pagination":{"hasMore":false,"nextCursor":null}}`})
	attributes, out := acctest.NewProcess(t, e, nil).ReadData(controlsType, nil)
	if len(out.Errors) > 0 {
		t.Fatal(out)
	}
	for name, value := range attributes {
		if !value.IsNull() {
			t.Errorf("%s is %s", name, value)
		}
	}
}

// Pages with only earlier changes are not requested. The emulator's pages have two changes.
func TestEnterpriseControlHistory_sinceRevision(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for range 4 {
		changeControls(t, e, "outputStyle", `"terse"`, "")
	}
	const source = "agentyard_enterprise_control_history"
	for _, tc := range []struct {
		config          acctest.Values
		found, requests int
	}{
		{acctest.Values{"since_revision": 7}, 0, 1},
		{acctest.Values{"since_revision": 100}, 0, 1},
		{acctest.Values{"since_revision": 6}, 1, 1},
		{acctest.Values{"since_revision": 5}, 2, 2}, // Only the next page shows that there is no more.
		{acctest.Values{"since_revision": 4}, 3, 2},
		{acctest.Values{"since_revision": 0}, 7, 4},
		{acctest.Values{"since_revision": -1}, 7, 4},
		{acctest.Values{"since_revision": 2, "max_results": 1}, 1, 1},
		{acctest.Values{"since_revision": 6, "max_results": 5}, 1, 1},
	} {
		e.Journal().Reset()
		found, out := readList(t, e, source, tc.config)
		if n := e.Journal().Count("listEnterpriseControlHistory"); found != tc.found || n != tc.requests || len(out.Errors) > 0 {
			t.Errorf("%v: %d changes with %d requests, want %d with %d: %s", tc.config, found, n, tc.found, tc.requests, out)
		}
	}
}
