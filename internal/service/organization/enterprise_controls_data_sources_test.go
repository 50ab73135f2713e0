package organization_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const controlsType = "agentyard_enterprise_controls"

// onlyInSettings are the settings that can contain secrets, or whose format is not documented.
var onlyInSettings = []string{"customModels", "hooks", "env", "enabledPlugins", "personaPlugins", "permissionRules", "telemetry.headers"}

func documentedControls(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../emulator/enterprise_settings.json")
	check.Must(t, err)
	var all map[string]any
	check.Must(t, json.Unmarshal(data, &all))
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
	check.Is(t, "the settings", got, want)
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
	check.Is(t, "never changed", read(""), map[string]any{})
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
		check.Must(t, err)
		return string(data)
	}
	for _, settings := range []string{`{}`, `[]`, `"text"`, `{"max_autonomy_level":"low","maxautonomylevel":"low"}`, allOf("null"), allOf(`[[1]]`), allOf(`1.5`)} {
		check.Is(t, settings, change(settings), map[string]any{})
	}
	// One field of another type leaves the others. A null in a list or a map is an empty value.
	check.Is(t, "the others", change(`{"sandbox":{"enabled":"yes","mode":"per-command","network":[]},"networkPolicy":{"allowedIps":["192.0.2.1",null]},
		"builtInToolAutonomyOverrides":{"a":"low","b":null},"mcpPolicy":{"allowlist":[]},"userModelPolicies":{"u":{}},"routerRules":[{}],"mcpAutonomyOverrides":{"a":null}}`), map[string]any{
		"sandbox": map[string]any{"mode": "per-command"}, "network_policy": map[string]any{"allowed_ips": []any{"192.0.2.1", ""}}, "built_in_tool_autonomy_overrides": map[string]any{"a": "low", "b": ""},
		"mcp_policy": map[string]any{"allowlist": []any{}}, "user_model_policies": map[string]any{"u": map[string]any{}}, "router_rules": []any{map[string]any{}}, "mcp_autonomy_overrides": map[string]any{"a": map[string]any{}},
	})
}

const historyType = "agentyard_enterprise_control_history"

// changeControls changes one setting, a minute after the previous change.
func changeControls(t *testing.T, e *acctest.Env, name, value, email string) {
	t.Helper()
	if e.Clock != nil {
		e.Clock.Advance(time.Minute)
	}
	check.Must(t, e.ChangeEnterpriseControls(map[string]json.RawMessage{name: json.RawMessage(value)}, email))
}

// The settings are normalized: sorted keys, no whitespace, and numbers and characters as in the response.
func TestEnterpriseControlHistory_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: "ada@acme.example", FirstName: "Ada", LastName: "Adams", Role: emulator.RoleManager})
	changeControls(t, e, "addedLater", `{"z": 1, "a": {"new": [1.50, 12345678901234567890, "<é> & y"]}}`, "ada@acme.example")
	changes := e.MustRead(t, nil, historyType, nil)["changes"].([]any)
	if len(changes) != 4 {
		t.Fatalf("the changes are %v", changes)
	}
	for n, want := range []struct {
		settings []string
		change   map[string]any
	}{
		{
			[]string{`"addedLater":{"a":{"new":[1.50,12345678901234567890,"<é> & y"]},"z":1}`, `"apiKey":"no-secret-api-key"`},
			map[string]any{"revision": 4.0, "updated_at": "2026-03-01T12:02:00Z", "user": map[string]any{"id": id, "email": "ada@acme.example", "name": "Ada Adams"}},
		},
		{
			[]string{`"sessionRetentionDays":90`},
			map[string]any{"revision": 3.0, "updated_at": "2026-03-01T12:00:00Z", "user": map[string]any{"id": nil, "email": bootstrap, "name": "Avery Manager"}},
		},
		{
			[]string{`"sessionRetentionDays":30`, `"maxAutonomyLevel":"high"`},
			map[string]any{"revision": 2.0, "updated_at": "2026-03-01T12:00:00Z", "user": map[string]any{"id": nil, "email": bootstrap, "name": "Avery Manager"}},
		},
		{
			[]string{`"maxAutonomyLevel":"medium"`},
			map[string]any{"revision": 1.0, "updated_at": "2026-02-28T12:00:00Z", "user": map[string]any{"id": nil, "email": nil, "name": nil}},
		},
	} {
		got := changes[n].(map[string]any)
		settings, user := got["settings"].(string), got["user"].(map[string]any)
		if check.Says(t, settings, want.settings...); !json.Valid([]byte(settings)) || strings.Contains(settings, "\n") || strings.Contains(settings, `": `) {
			t.Errorf("not normalized: %s", settings)
		}
		if delete(got, "settings"); n > 0 {
			user["id"] = nil // The emulator chooses it.
		}
		check.Is(t, fmt.Sprint("change ", n), got, want.change)
	}
}

// Pages with only earlier changes are not requested. The emulator's pages have two changes.
func TestEnterpriseControlHistory_sinceRevision(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for range 4 {
		changeControls(t, e, "outputStyle", `"terse"`, "")
	}
	for _, tc := range []struct {
		config          acctest.Values
		found, requests int
	}{
		{acctest.Values{"since_revision": 100}, 0, 1},
		{acctest.Values{"since_revision": 6}, 1, 1},
		{acctest.Values{"since_revision": 5}, 2, 2}, // Only the next page shows that there is no more.
		{acctest.Values{"since_revision": 0}, 7, 4},
		{acctest.Values{"since_revision": 2, "max_results": 1}, 1, 1},
		{acctest.Values{"since_revision": 6, "max_results": 5}, 1, 1},
	} {
		e.Journal().Reset()
		check.Is(t, fmt.Sprint("changes with ", tc.config), len(e.MustRead(t, nil, historyType, tc.config)["changes"].([]any)), tc.found)
		e.WantRequests(t, "listEnterpriseControlHistory", tc.requests)
	}
}

var fakeSecret = regexp.MustCompile(`no-secret-[a-z-]+`)

// The values of settings are in the state, but never in a log at any level or in the output, even if a response is
// malformed.
func TestAccEnterpriseControlHistory_settingsAreSecret(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	changeControls(t, e, "extraKnownMarketplaces", `{"a":{"source":{"source":"url","url":"https://robot:no-secret-password@git.example/a.git"}}}`, "")
	cli := acctest.NewCLI(t, e, `
data "agentyard_enterprise_control_history" "x" {}
data "agentyard_enterprise_controls" "x" {}
output "level" {
  value = "The level is ${data.agentyard_enterprise_controls.x.max_autonomy_level}."
}
`)
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(cli.Dir, name))
		check.Must(t, err)
		return string(data)
	}
	cli.Setenv("TF_LOG", "TRACE")
	cli.Setenv("TF_LOG_PATH", filepath.Join(cli.Dir, "trace.log"))
	shown := cli.MustRun("apply", "-auto-approve", "-input=false").Output + cli.MustRun("show").Output
	state := read("terraform.tfstate")
	secrets := slices.Compact(slices.Sorted(slices.Values(fakeSecret.FindAllString(state, -1))))
	if check.Says(t, shown, "The level is high.", "strict_known_marketplaces", "allowed_ips", "(sensitive value)"); len(secrets) < 5 {
		t.Fatalf("the state holds the secrets %v, shown is\n%s", secrets, shown)
	}
	_, body := e.Try(http.MethodGet, "/api/v0/organization/enterprise-controls/history?limit=1", nil)
	for _, broken := range []string{
		string(body[:len(body)/2]), // It is cut off.
		strings.Replace(string(body), `"revision":4`, `"revision":"4"`, 1), // It has another type.
		strings.Replace(string(body), `"revision"`, `"number"`, 1),         // It lacks a field.
	} {
		if !fakeSecret.MatchString(broken) || broken == string(body) {
			t.Fatalf("this proves nothing: %s", broken)
		}
		e.Faults().Add(emulator.Fault{Operation: "listEnterpriseControlHistory", Kind: emulator.FaultOtherResponse, Body: broken, Times: 10})
		r := cli.Run("plan", "-input=false")
		if r.ExitCode == 0 {
			t.Errorf("the spoiled answer is read: %s", broken)
		}
		shown += r.Output
		e.Faults().Clear()
	}
	trace := read("trace.log")
	if strings.Count(trace, "listEnterpriseControlHistory") < 5 {
		t.Fatalf("a log of %d bytes proves nothing", len(trace))
	}
	check.Is(t, "the secret in the log or in the output", fakeSecret.FindString(trace+shown), "")
}
