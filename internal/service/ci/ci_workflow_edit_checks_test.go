package ci

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// unknown represents an unknown value.
type unknown struct{}

// configured returns a value of a type. Nil is null.
func configured(typ tftypes.Type, v any) tftypes.Value {
	if _, ok := v.(unknown); ok {
		return tftypes.NewValue(typ, tftypes.UnknownValue)
	}
	switch given := v.(type) {
	case map[string]any:
		object, attributes := typ.(tftypes.Object), map[string]tftypes.Value{}
		for name, attribute := range object.AttributeTypes {
			attributes[name] = configured(attribute, given[name])
		}
		return tftypes.NewValue(typ, attributes)
	case []any:
		list, elements := typ.(tftypes.List), []tftypes.Value{}
		for _, element := range given {
			elements = append(elements, configured(list.ElementType, element))
		}
		return tftypes.NewValue(typ, elements)
	}
	return tftypes.NewValue(typ, v)
}

// validated validates and plans a configuration, which must give the same errors. It returns the errors by path.
func validated(t *testing.T, config map[string]any) map[string]string {
	t.Helper()
	a, ok := WorkflowEdit.Action().(interface {
		action.ActionWithValidateConfig
		action.ActionWithModifyPlan
	})
	if !ok {
		t.Fatal("the action does not validate")
	}
	var described action.SchemaResponse
	a.Schema(context.Background(), action.SchemaRequest{}, &described)
	raw := tfsdk.Config{Schema: described.Schema, Raw: configured(described.Schema.Type().TerraformType(t.Context()), config)}
	var inValidation action.ValidateConfigResponse
	var inPlan action.ModifyPlanResponse
	a.ValidateConfig(t.Context(), action.ValidateConfigRequest{Config: raw}, &inValidation)
	a.ModifyPlan(t.Context(), action.ModifyPlanRequest{Config: raw}, &inPlan)
	if !inValidation.Diagnostics.Equal(inPlan.Diagnostics) {
		t.Errorf("validation says %v, the plan %v", inValidation.Diagnostics, inPlan.Diagnostics)
	}
	found := map[string]string{}
	for _, d := range inValidation.Diagnostics {
		at, ok := d.(diag.DiagnosticWithPath)
		if !ok {
			t.Errorf("%v has no path", d)
			continue
		}
		if found[at.Path().String()] != "" {
			t.Errorf("%s has two errors", at.Path())
		}
		found[at.Path().String()] = d.Summary() + ": " + d.Detail()
	}
	return found
}

// config returns a valid configuration with some attributes replaced.
func config(replaced map[string]any) map[string]any {
	all := map[string]any{"action": "create", "repos": []any{repo("acme/api", nil)}}
	for name, v := range replaced {
		all[name] = v
	}
	return all
}

func repo(name, file any) any {
	return map[string]any{"repo_full_name": name, "file_path": file}
}

const someFile = ".github/workflows/a.yml"

func TestCheck(t *testing.T) {
	t.Parallel()
	repos := func(repos ...any) map[string]any { return config(map[string]any{"repos": repos}) }
	with := func(name string, v any) map[string]any { return config(map[string]any{name: v}) }
	changes := func(name string, v any) map[string]any { return with("changes", map[string]any{name: v}) }
	for name, tc := range map[string]struct {
		config map[string]any
		want   map[string]string
	}{
		"the least":                   {config(nil), nil},
		"an unknown action":           {with("action", unknown{}), nil},
		"another action":              {with("action", "Create"), map[string]string{"action": `must be one of create, edit, delete, got: "Create".`}},
		"no repositories":             {repos(), map[string]string{"repos": "must contain at least one repository"}},
		"null repositories":           {with("repos", nil), map[string]string{"repos": "must contain at least one repository"}},
		"unknown repositories":        {with("repos", unknown{}), nil},
		"an unknown repository":       {repos(unknown{}, repo("acme/api", nil)), nil},
		"null for a repository":       {repos(nil), map[string]string{"repos[0].repo_full_name": "must not be null"}},
		"no name":                     {repos(repo("acme/api", nil), repo(nil, someFile)), map[string]string{"repos[1].repo_full_name": "must not be null"}},
		"an unknown name":             {repos(repo(unknown{}, nil), repo(unknown{}, nil)), nil},
		"an unknown file":             {repos(repo("acme/api", unknown{}), repo("acme/api", unknown{})), nil},
		"another repository":          {repos(repo("acme/api", nil), repo("acme/web", nil)), nil},
		"another file":                {repos(repo("acme/api", nil), repo("acme/api", someFile), repo("acme/api", ".github/workflows/A.yml")), nil},
		"a repository twice":          {repos(repo("acme/api", nil), repo("robin/tools", nil), repo("ACME/api", nil)), map[string]string{"repos[2]": "the same repository and file as repos[0]"}},
		"a file twice":                {repos(repo("acme/api", someFile), repo("acme/api", someFile)), map[string]string{"repos[1]": "the same repository and file as repos[0]"}},
		"edit without changes":        {config(map[string]any{"action": "edit", "repos": []any{repo("acme/api", someFile)}}), map[string]string{"changes": "is required if action is edit"}},
		"edit with unknown changes":   {config(map[string]any{"action": "edit", "repos": []any{repo("acme/api", someFile)}, "changes": unknown{}}), nil},
		"edit with empty changes":     {config(map[string]any{"action": "edit", "repos": []any{repo("acme/api", someFile)}, "changes": map[string]any{}}), nil},
		"edit without a file":         {config(map[string]any{"action": "edit", "repos": []any{repo("acme/api", someFile), repo("acme/web", nil)}, "changes": map[string]any{}}), map[string]string{"repos[1].file_path": "is required if action is edit"}},
		"delete without a file":       {config(map[string]any{"action": "delete"}), map[string]string{"repos[0].file_path": "is required if action is delete"}},
		"delete of an unknown file":   {config(map[string]any{"action": "delete", "repos": []any{repo("acme/api", unknown{})}}), nil},
		"delete":                      {config(map[string]any{"action": "delete", "repos": []any{repo("acme/api", someFile)}}), nil},
		"an automation":               {with("service_automation_id", "1b4e28ba-2fa1-41d2-883f-0016d3cca427"), nil},
		"an unknown automation":       {with("service_automation_id", unknown{}), nil},
		"no UUID":                     {with("service_automation_id", "1b4e28ba2fa141d2883f0016d3cca427"), map[string]string{"service_automation_id": "must be a UUID, such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427."}},
		"a UUID in another form":      {with("service_automation_id", "{1b4e28ba-2fa1-41d2-883f-0016d3cca427}"), map[string]string{"service_automation_id": "must be a UUID, such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427."}},
		"a blank name":                {with("automation_name", " "), map[string]string{"automation_name": "must not be blank"}},
		"an empty mode":               {with("mode_id", ""), map[string]string{"mode_id": "must not be blank"}},
		"another mode":                {with("mode_id", "of-tomorrow"), nil},
		"an unknown schedule":         {changes("schedule", unknown{}), nil},
		"no schedule":                 {changes("schedule", ""), nil},
		"a schedule of four fields":   {changes("schedule", "0 6 * *"), map[string]string{"changes.schedule": "must be five cron fields"}},
		"a schedule and a line break": {changes("schedule", "0 6 * * 1\n"), map[string]string{"changes.schedule": "separated by spaces"}},
		"unknown events":              {changes("github_events", unknown{}), nil},
		"an unknown event":            {changes("github_events", []any{unknown{}, "push"}), nil},
		"no events":                   {changes("github_events", []any{}), nil},
		"every event":                 {changes("github_events", []any{"pull-request", "pr-opened", "comment-added", "push", "label-change", "checks-completed"}), nil},
		"another event":               {changes("github_events", []any{"push", "pull_request"}), map[string]string{"changes.github_events[1]": "must be one of pull-request, pr-opened"}},
		"null for an event":           {changes("github_events", []any{nil}), map[string]string{"changes.github_events[0]": "must not be null"}},
		"several things are wrong":    {config(map[string]any{"action": "x", "repos": []any{repo("x", "x")}, "mode_id": ""}), map[string]string{"action": "", "repos[0].repo_full_name": "", "repos[0].file_path": "", "mode_id": ""}},
		"everything is still to come": {map[string]any{"action": unknown{}, "repos": unknown{}, "changes": unknown{}, "automation_name": unknown{}, "service_automation_id": unknown{}, "mode_id": unknown{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := validated(t, tc.config)
			if len(found) != len(tc.want) {
				t.Errorf("got %v", found)
			}
			for at, want := range tc.want {
				if said, ok := found[at]; !ok || !strings.Contains(said, want) {
					t.Errorf("at %s: got %q, want %q", at, said, want)
				}
			}
		})
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		accepts   func(string) bool
		good, bad []string
	}{
		"repository": {isRepository, []string{"acme/api", "Acme-1/my.repo_2", "a/b"}, []string{
			"", "acme", "acme/", "/api", "acme/api/web", "acme//api", "acme/ api", "acme/api ", " acme/api", "acme/a\tb", "acme/..", "../api", "acme/a..b", "acme/api?x=1", "acme/api%2fweb", "acme/api#a", `acme\api/x`, "acme/a\x00", "acme/a\u00a0b",
			"https://code.example/acme/api",
		}},
		"workflow": {isWorkflow, []string{someFile, ".github/workflows/a.yaml", ".github/workflows/" + strings.Repeat("a", 1002) + ".yml", ".github/workflows/a/b.yml", ".github/workflows/a b.yml"}, []string{
			"", "a.yml", "/.github/workflows/a.yml", ".github/workflows/", ".github/workflows/a", ".github/workflows/a.yml/", ".github/workflows/a.YML", ".github/workflows/a.json", ".github/workflows/../a.yml", ".github/workflows/a..yml",
			".github/a.yml", "x/.github/workflows/a.yml", ".github/workflows//a.yml", ".github/workflows/./a.yml", ".github/workflows/a\n.yml", ".github/workflows/.yml", ".github/workflows/a/.yaml", ".github/workflows/v1..2.yml", ".github/workflows/" + strings.Repeat("a", 1003) + ".yml", " .github/workflows/a.yml", ".github/workflows/a.yml ",
		}},
		"schedule":  {schedule.MatchString, []string{"", "* * * * *", "0 6 * * 1", "*/5 0-12/2 1,15 JAN-mar MON", "0  6 * * 1"}, []string{" ", " 0 6 * * 1", "0 6 * * 1 ", "0 6 * * 1\n", "0\t6 * * 1", "0 6 * *", "0 6 * * 1 2026", "@daily", "0 6 ? * 1", "every monday at six o'clock", "0 1.5 * * *"}},
		"UUID":      {isUUID, []string{"1b4e28ba-2fa1-41d2-883f-0016d3cca427", "1B4E28BA-2FA1-41D2-883F-0016D3CCA427"}, []string{"", "1b4e28ba", "urn:uuid:1b4e28ba-2fa1-41d2-883f-0016d3cca427", "1b4e28ba-2fa1-41d2-883f-0016d3cca42g"}},
		"not blank": {isNotBlank, []string{"a", " a"}, []string{"", " ", "\t\n"}},
	} {
		for _, s := range tc.good {
			if !tc.accepts(s) {
				t.Errorf("%s: %q is refused", name, s)
			}
		}
		for _, s := range tc.bad {
			if tc.accepts(s) {
				t.Errorf("%s: %q is accepted", name, s)
			}
		}
	}
}
