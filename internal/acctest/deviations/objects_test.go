// Package deviations tests what the provider makes of responses that differ from the contract as those of a real service may, and
// that each field of the contract reaches an attribute. Both are derived from the contract, so a new field is tested by itself.
package deviations

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

type values = acctest.Values

// resourceConfigs are configurations of each resource. The first creates, and the second updates in place. Texts such as $account are IDs
// of the fixture.
var resourceConfigs = map[string][]values{
	"agentyard_api_key": {
		{"service_account_id": "$account", "name": "nightly", "expires_in": "30d"},
		{"service_account_id": "$account", "name": "nightly", "expires_in": "30d", "rotation": map[string]any{"triggers": map[string]any{"v": "1"}, "grace_period_minutes": 5}},
	},
	"agentyard_computer": {
		{
			"name": "own", "provider_type": "managed-a", "repos": []any{"https://git.example/acme/app"}, "auto_install_deps": true, "service_account_id": "$account",
			"source": map[string]any{"kind": "computer", "source_computer_id": "$managed"},
		},
		{
			"name": "renamed", "provider_type": "managed-a", "host_id": "$host", "remote_user": "dev", "repos": []any{"https://git.example/acme/app"}, "auto_install_deps": true, "service_account_id": "$account",
			"source": map[string]any{"kind": "computer", "source_computer_id": "$managed"},
		},
	},
	"agentyard_computer registered": {{"name": "registered", "provider_type": "byom", "host_id": "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "remote_user": "dev"}},
	"agentyard_computer least":      {{"name": "least"}, {"name": "renamed"}},
	"agentyard_computer from a template": {{"name": "templated", "source": map[string]any{
		"kind": "template", "template_id": "template-base", "is_listed": true, "software_draft": map[string]any{"workstream_id": "$host", "creation_session_id": "$host", "first_turn_id": "$host"},
	}}, {"name": "renamed", "source": map[string]any{
		"kind": "template", "template_id": "template-base", "is_listed": true, "software_draft": map[string]any{"workstream_id": "$host", "creation_session_id": "$host", "first_turn_id": "$host"},
	}}},
	"agentyard_computer_fleet": {
		{"name_prefix": "web", "quantity": 1, "provider_type": "managed-a", "repos": []any{"https://git.example/acme/app"}, "auto_install_deps": true, "service_account_id": "$account"},
		{"name_prefix": "web", "quantity": 2, "provider_type": "managed-a", "repos": []any{"https://git.example/acme/app"}, "auto_install_deps": true, "service_account_id": "$account"},
	},
	"agentyard_default_environment": {{"environment_id": "$app"}, {"environment_id": "$second"}},
	"agentyard_environment": {
		{"name": "new", "scope": "organization", "source_id": "$source", "setup_script": "make tools", "repositories": repositories},
		{"name": "renamed", "scope": "organization", "source_id": "$spare", "repositories": repositories[1:]},
	},
	"agentyard_environment as default": {{"name": "new", "scope": "organization", "make_organization_default": true, "wait_for_build": false, "repositories": []any{}}},
	"agentyard_environment least":      {{"name": "least", "repositories": []any{}}, {"name": "renamed", "repositories": []any{}}},
	"agentyard_global_usage_limit":     {{"limit": 1_000_000}, {"limit": int64(9_007_199_254_740_991)}},
	"agentyard_member_invitation":      {{"email": "casey@agentyard.example", "role": "manager"}, {"email": "casey@agentyard.example", "role": "user"}},
	"agentyard_service_account":        {{"name": "new", "description": "builds", "status": "active"}, {"name": "new", "description": "tests", "status": "inactive"}},
	"agentyard_session": {
		{"computer_id": "$computer", "cwd": "/srv", "system_prompt_append": "Be brief.", "session_settings": settings(nil)},
		{"computer_id": "$computer", "cwd": "/srv", "system_prompt_append": "Be brief.", "session_settings": settings(map[string]any{
			"model": "model-standard", "reasoning_effort": "high", "interaction_mode": "auto", "autonomy_level": "high", "spec_mode_model": "model-standard", "spec_mode_reasoning_effort": "high",
			"provider_lock": "other", "provider_lock_timestamp": "2026-02-01T00:00:00Z", "api_provider_lock": "other", "setup_profile_id": "other",
			"tags":             []any{map[string]any{"name": "c", "metadata": map[string]any{"k": "w"}}},
			"worktree":         map[string]any{"repo_root": "/opt", "branch": "next", "lifecycle": "persistent", "path": "/opt/w", "parent_worktree_path": "/opt/p", "removed_at": "2026-02-01T00:00:00Z"},
			"enabled_tool_ids": []any{"read"}, "disabled_tool_ids": []any{"write"}, "restrict_tool_ids": []any{"read"},
			"compaction_model": "model-light", "compaction_threshold_check_enabled": false,
		})},
	},
	"agentyard_session archived": {
		{"computer_id": "$computer", "session_settings": map[string]any{"archived_at": "2026-03-01T00:00:00Z"}},
		{"computer_id": "$computer", "session_settings": map[string]any{"archived_at": "2026-02-01T00:00:00Z"}},
	},
	"agentyard_session least": {{"computer_id": "$computer"}, {"computer_id": "$computer", "session_settings": map[string]any{"model": "model-light"}}},
	"agentyard_user_usage_limit": {
		{"email": "casey@agentyard.example", "limit": 1_000_000}, {"email": "casey@agentyard.example", "limit": int64(9_007_199_254_740_991)},
	},
	"agentyard_user_usage_limits": {
		{"limits": map[string]any{"casey@agentyard.example": 1_000_000}}, {"limits": map[string]any{"casey@agentyard.example": int64(9_007_199_254_740_991)}},
	},
	"agentyard_wiki_run": {
		{"repo_url": repoURL, "privacy_level": "private"}, {"repo_url": repoURL, "privacy_level": "organization"},
	},
	"agentyard_wiki_run of pages": {
		{
			"repo_url": repoURL, "branch": "main", "commit_hash": "c0ffee0", "has_local_changes": true, "has_non_remote_commits": true,
			"pages":     `[{"pageId":"p1","path":"a.md","title":"A","content":"a","order":1},{"path":"b.md","title":"B","content":"b"}]`,
			"page_tree": `[{"title":"A","path":"a.md","order":1,"pageId":"p1","children":[{"title":"B","path":"b.md"}]}]`,
		},
	},
}

const workflow = ".github/workflows/agent-review.yml"

const repoURL = "https://code.example/acme/api"

var repositories = []any{
	map[string]any{"url": "https://git.example/acme/app", "script": "make"}, map[string]any{"url": "https://git.example/acme/web", "script": ""},
}

// settings has every setting that does not exclude another one, with changes.
func settings(changes map[string]any) map[string]any {
	all := map[string]any{
		"model": "model-light", "reasoning_effort": "low", "interaction_mode": "spec", "autonomy_level": "low", "spec_mode_model": "model-light", "spec_mode_reasoning_effort": "low",
		"provider_lock": "kind", "provider_lock_timestamp": "2026-03-01T00:00:00Z", "api_provider_lock": "api", "setup_profile_id": "profile",
		"tags":             []any{map[string]any{"name": "a", "metadata": map[string]any{"k": "v"}}, map[string]any{"name": "b"}},
		"worktree":         map[string]any{"repo_root": "/srv", "branch": "main", "lifecycle": "ephemeral", "path": "/srv/w", "parent_worktree_path": "/srv/p", "removed_at": "2026-03-01T00:00:00Z"},
		"enabled_tool_ids": []any{"read", "write"}, "disabled_tool_ids": []any{"execute"}, "restrict_tool_ids": []any{"read", "write", "execute"},
		"compaction_model": "current-model", "compaction_threshold_check_enabled": true, "tool_execution_mode": "direct_only", "allow_subagents_in_scripts": true,
	}
	maps.Copy(all, changes)
	return all
}

func days(more values) values {
	config := values{"start_date": "2026-02-01", "end_date": "2026-02-02"}
	maps.Copy(config, more)
	return config
}

// readConfigs are configurations of what is only read, by kind and type.
var readConfigs = map[string]map[string]values{
	"data": {
		"agentyard_analytics_activity":                       days(nil),
		"agentyard_analytics_activity grouped":               days(values{"group_by": "client"}),
		"agentyard_analytics_my_cost":                        days(values{"query_key": "headline_daily"}),
		"agentyard_analytics_productivity":                   days(nil),
		"agentyard_analytics_productivity of the last days":  {"last_days": 2},
		"agentyard_analytics_tokens":                         days(nil),
		"agentyard_analytics_tokens grouped":                 days(values{"group_by": "model"}),
		"agentyard_analytics_tools":                          days(nil),
		"agentyard_analytics_tools grouped":                  days(values{"group_by": "tool_name"}),
		"agentyard_analytics_users":                          days(nil),
		"agentyard_api_keys":                                 {"service_account_id": "$account"},
		"agentyard_ci_jobs":                                  {},
		"agentyard_ci_repositories":                          {"owner": "acme"},
		"agentyard_ci_repository_owners":                     {},
		"agentyard_ci_runs":                                  {},
		"agentyard_ci_scan":                                  {"force_refresh": true},
		"agentyard_computer":                                 {"id": "$computer"},
		"agentyard_computer by name":                         {"name": "workstation"},
		"agentyard_computer of an account":                   {"name": "robot-1", "service_account_id": "$account"},
		"agentyard_computer_metrics":                         {"computer_id": "$managed", "start": "2026-03-01T12:00:00Z"},
		"agentyard_computer_providers":                       {},
		"agentyard_computers":                                {"include_unlisted": true, "include_provisioning_steps": true},
		"agentyard_computers of a host":                      {"host_id": "$host", "include_unlisted": true},
		"agentyard_computers of an account":                  {"service_account_id": "$account"},
		"agentyard_enterprise_control_history":               {"max_results": 10},
		"agentyard_enterprise_control_history of revisions":  {"since_revision": 1},
		"agentyard_enterprise_controls":                      {},
		"agentyard_environment":                              {"id": "$app"},
		"agentyard_environment by name":                      {"name": "app"},
		"agentyard_environment_build_diagnostics":            {"environment_id": "$broken"},
		"agentyard_environment_build_diagnostics of a build": {"environment_id": "$broken", "build_id": "$build"},
		"agentyard_environment_build_statuses":               {"environment_ids": []any{"$app", "$broken"}},
		"agentyard_environment_build_statuses of an account": {"environment_ids": []any{"$app"}, "service_account_id": "$account"},
		"agentyard_environment_source_options":               {},
		"agentyard_environments":                             {},
		"agentyard_environments of an account":               {"service_account_id": "$account"},
		"agentyard_member":                                   {"email": "avery@agentyard.example"},
		"agentyard_members":                                  {},
		"agentyard_members in pages":                         {},
		"agentyard_sessions in pages":                        {},
		"agentyard_session_messages in pages":                {"session_id": "$session"},
		"agentyard_enterprise_control_history in pages":      {},
		"agentyard_analytics_users in pages":                 days(nil),
		"agentyard_service_account":                          {"id": "$account"},
		"agentyard_service_account by name":                  {"name": "ci"},
		"agentyard_service_accounts":                         {},
		"agentyard_session":                                  {"id": "$session", "computer_id": "$computer"},
		"agentyard_session_children":                         {"session_id": "$session"},
		"agentyard_session_messages":                         {"session_id": "$session"},
		"agentyard_session_messages of a role":               {"session_id": "$session", "roles": []any{"assistant"}, "max_results": 1},
		"agentyard_sessions":                                 {"computer_id": "$computer", "max_results": 10},
		"agentyard_usage_limits":                             {},
		"agentyard_wiki_export":                              {"wiki_run_id": "$run", "output_path": "$folder/wiki.zip"},
		"agentyard_wiki_page":                                {"wiki_run_id": "$run", "page_id": "$page"},
		"agentyard_wiki_run":                                 {"id": "$run"},
		"agentyard_wiki_run_history":                         {"repo_url": repoURL},
		"agentyard_wiki_runs":                                {},
		"agentyard_wiki_search":                              {"wiki_run_id": "$run", "query": "stored", "limit": 10},
	},
	"ephemeral": {
		"agentyard_api_key":                {"service_account_id": "$account", "name": "run", "expires_in": "30m"},
		"agentyard_computer_file_download": {"computer_id": "$computer", "file_name": "data.txt", "session_id": "$session", "content_type": "text/plain"},
		"agentyard_wiki_video_upload_url":  {},
	},
	"list": {
		"agentyard_api_key":                  {"service_account_id": "$account", "include_revoked": true},
		"agentyard_api_key of all":           {},
		"agentyard_computer":                 {"include_unlisted": true},
		"agentyard_computer of an account":   {"service_account_id": "$account"},
		"agentyard_environment":              {},
		"agentyard_service_account":          {},
		"agentyard_session":                  {"computer_id": "$computer"},
		"agentyard_user_usage_limit":         {},
		"agentyard_wiki_run":                 {},
		"agentyard_wiki_run of a repository": {"repo_url": repoURL},
	},
}

// actionConfigs are configurations of each action.
var actionConfigs = map[string]values{
	"agentyard_api_key_revoke": {"service_account_id": "$account", "key_id": "$key"},
	"agentyard_ci_workflow_edit": {"action": "edit", "repos": []any{
		map[string]any{"repo_full_name": "acme/api", "file_path": workflow}, map[string]any{"repo_full_name": "acme/web", "file_path": workflow},
	}, "changes": map[string]any{"yaml_params": "review_depth: deep"}},
	"agentyard_ci_workflow_edit of everything": {"action": "edit", "repos": []any{map[string]any{"repo_full_name": "acme/api", "file_path": workflow}}, "changes": map[string]any{
		"name": "Review", "custom_prompt": "Review.", "schedule": "0 3 * * *", "github_events": []any{"push"}, "custom_ci_model": "model-light", "custom_ci_reasoning_effort": "low",
	}},
	"agentyard_ci_workflow_edit that creates": {
		"action": "create", "repos": []any{map[string]any{"repo_full_name": "acme/web", "file_path": ".github/workflows/other.yml"}},
		"automation_name": "Nightly", "service_automation_id": "$host", "mode_id": "custom",
	},
	"agentyard_computer_activity":          {"computer_id": "$managed"},
	"agentyard_computer_file_upload":       {"computer_id": "$computer", "file_name": "other.txt", "content": "x"},
	"agentyard_computer_install_deps":      {"computer_id": "$managed"},
	"agentyard_computer_refresh":           {"computer_id": "$managed"},
	"agentyard_computer_restart":           {"computer_id": "$managed"},
	"agentyard_environment_build":          {"environment_id": "$app"},
	"agentyard_environment_build_cancel":   {"environment_id": "$building"},
	"agentyard_member_remove":              {"email": "casey@agentyard.example"},
	"agentyard_session_interrupt":          {"session_id": "$session"},
	"agentyard_session_message":            {"session_id": "$session", "text": "Hello."},
	"agentyard_session_message with files": {"session_id": "$session", "text": "Hello.", "files": []any{map[string]any{"path": "$folder/a.txt"}}, "images": []any{map[string]any{"path": "$folder/a.png"}}},
}

// organization is an emulator with at least two objects of each kind.
type organization struct {
	*acctest.Env
	*service
	ids *strings.Replacer
}

func newOrganization(t testing.TB, pageSize int) organization {
	t.Helper()
	must := func(err error) {
		t.Helper()
		acctest.Must(t, err)
	}
	s := &service{}
	e := acctest.New(t, acctest.Wrap(s.layer), func(o *emulator.Options) {
		o.SessionDelay, o.SessionListDelay, o.MessageDelay, o.MaxPageSize = -1, -1, -1, pageSize
	})
	post := func(path string, body any) (made struct {
		ID, BuildID, SessionID, WikiRunID string
		APIKey                            struct{ ID string }
	}) {
		t.Helper()
		e.API(http.MethodPost, "/api/v0"+path, body, &made)
		return made
	}
	for _, email := range []string{"avery@agentyard.example", "blake@agentyard.example", "casey@agentyard.example"} {
		_, _, err := e.AddHuman(emulator.Human{Email: email})
		must(err)
	}
	account := post("/service-accounts", values{"name": "ci", "description": "builds"}).ID
	post("/service-accounts", values{"name": "robot"})
	keys := "/service-accounts/" + account + "/api-keys"
	key := post(keys, values{"name": "live", "expiresAt": e.Now().Add(24 * time.Hour).UnixMilli()}).APIKey.ID
	e.API(http.MethodPost, "/api/v0"+keys+"/"+post(keys, values{"name": "old"}).APIKey.ID+"/revoke", nil, nil)

	const host = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	computer := post("/computers", values{"name": "workstation", "provider": "byom", "hostId": host}).ID
	managed := post("/computers", values{"name": "managed", "autoInstallDeps": true, "repos": []any{"https://git.example/acme/app", "https://git.example/acme/web"}}).ID
	post("/computers", values{"name": "robot-1", "serviceAccountId": account})
	session := post("/sessions", values{"computerId": computer, "sessionSettings": values{"model": "model-thinking", "tags": []any{values{"name": "a"}}}}).SessionID
	post("/sessions", values{"computerId": computer})
	post("/sessions", values{"computerId": computer})
	for _, block := range []string{
		`{"type":"thinking","thinking":"Hm.","signature":""}`, `{"type":"redacted_thinking","data":"AA=="}`,
		`{"type":"tool_use","id":"t1","name":"execute","input":{}}`, `{"type":"tool_result","toolUseId":"t1","content":"done","isError":false}`,
		`{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"AA=="}}`,
		`{"type":"document","source":{"type":"base64","mediaType":"application/pdf","data":"AA=="}}`,
		`{"type":"document","source":{"type":"text","mediaType":"text/plain","data":"a"}}`, `{"type":"text","text":"Done."}`,
	} {
		must(e.AddMessage(session, emulator.SessionMessage{Role: "assistant", Content: []json.RawMessage{json.RawMessage(block)}}))
	}

	must(e.FailBuild(emulator.BuildFailure{Name: "broken", Excerpt: "make: error"}))
	environment := func(name string) struct{ id, build string } {
		made := post("/environments", values{"name": name, "scope": "organization", "setupScript": "make", "repositories": []any{values{"url": "https://git.example/acme/app", "script": "make"}, values{"url": "https://git.example/acme/web", "script": ""}}})
		return struct{ id, build string }{made.ID, made.BuildID}
	}
	app, second, broken := environment("app"), environment("second"), environment("broken")

	run := post("/wiki", values{"repoUrl": repoURL, "pages": []any{
		values{"pageId": "p1", "path": "storage.md", "title": "Storage", "content": "Where things are stored."}, values{"path": "more.md", "title": "More", "content": "What else is stored."},
	}}).WikiRunID
	for _, address := range []string{repoURL, "https://code.example/acme/web"} {
		_, err := e.AddWikiRun(emulator.WikiRun{RepoURL: address})
		must(err)
	}
	e.API(http.MethodPut, "/api/v0/organization/usage/limits/global", values{"limit": 10_000_000}, nil)
	e.API(http.MethodPut, "/api/v0/organization/usage/limits/users", values{"users": []any{values{"email": "avery@agentyard.example", "limit": 20_000_000}, values{"email": "blake@agentyard.example", "limit": 30_000_000}}}, nil)
	for _, days := range []string{"30", "60"} {
		must(e.ChangeEnterpriseControls(map[string]json.RawMessage{"sessionRetentionDays": json.RawMessage(days)}, ""))
	}
	for _, repository := range []string{"acme/api", "acme/web"} {
		e.API(http.MethodPost, "/api/v0/automations/ci/edit", values{"action": "create", "repos": []any{values{"repoFullName": repository}}}, nil)
		must(e.AddCIRun(map[string]any{"repoFullName": repository, "status": "completed", "conclusion": "failure"}))
	}
	must(e.MergeWorkflow("acme/api", workflow))
	e.Clock.Advance(time.Hour) // All builds have ended.
	must(e.SetDefaultEnvironment(app.id))
	folder := t.TempDir()
	must(os.WriteFile(filepath.Join(folder, "a.txt"), []byte("a"), 0o600))
	must(os.WriteFile(filepath.Join(folder, "a.png"), []byte("\x89PNG\r\n\x1a\n"), 0o600))
	building := environment("building")
	_, out := acctest.NewProcess(t, e, nil).Invoke("agentyard_computer_file_upload", values{"computer_id": computer, "file_name": "data.txt", "content": "x"})
	if len(out.Errors) > 0 {
		t.Fatal(out)
	}
	return organization{e, s, strings.NewReplacer(
		"$account", account, "$computer", computer, "$managed", managed, "$host", host, "$session", session, "$app", app.id, "$second", second.id, "$broken", broken.id, "$building", building.id, "$key", key, "$folder", folder,
		"$build", broken.build, "$run", run, "$page", "p1", "$source", "source-base", "$spare", "source-repositories",
	)}
}

// resolve returns a configuration with the IDs of the organization.
func (o organization) resolve(v any) any {
	switch v := v.(type) {
	case string:
		return o.ids.Replace(v)
	case []any:
		resolved := make([]any, len(v))
		for i := range v {
			resolved[i] = o.resolve(v[i])
		}
		return resolved
	case map[string]any:
		resolved := map[string]any{}
		for name := range v {
			resolved[name] = o.resolve(v[name])
		}
		return resolved
	}
	return v
}

func (o organization) config(v values) values { return o.resolve(map[string]any(v)).(map[string]any) }

// typeOf returns the type of a row, whose name may say more.
func typeOf(row string) string {
	name, _, _ := strings.Cut(row, " ")
	return name
}

// flatten returns the leaves of a value by path.
func flatten(into map[string]string, path string, v tftypes.Value) {
	attributes := map[string]tftypes.Value{}
	var elements []tftypes.Value
	switch {
	case v.IsNull() || !v.IsKnown():
		into[path] = "null"
	case v.As(&attributes) == nil:
		for name, inner := range attributes {
			flatten(into, path+"."+name, inner)
		}
	case !v.Type().Is(tftypes.Set{}) && v.As(&elements) == nil:
		into[path] = "list"
		for n, inner := range elements {
			flatten(into, path+"["+strconv.Itoa(n)+"]", inner)
		}
	default:
		into[path] = v.String()
	}
}
