package lifecycle

import (
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// operation is one row for both kinds: an action, and a resource of the same name.
type operation struct {
	// config contains placeholders for IDs: {account}, {computer}, {environment}, {key}, {session}, {message}, {second session}, {second message}.
	config acctest.Values
	// again are the changes with which it runs again. Without them, a trigger changes.
	again acctest.Values
	// equal are changes that run nothing, besides null and empty triggers: defaults written out, and how to wait.
	equal []acctest.Values
	// request is the operation of the contract that runs it.
	request string
	// results are values of the resource. "*" is any value.
	results map[string]string
	// prepare makes the operation possible again. It may be nil.
	prepare func(e *acctest.Env, ids *strings.Replacer)
}

// operations are the rows by type name. Words after it tell rows of one type apart.
var operations = map[string]operation{
	"api_key_revoke": {config: acctest.Values{"service_account_id": "{account}", "key_id": "{key}"}, request: "revokeApiKey"},
	"ci_workflow_edit": {
		config:  acctest.Values{"action": "create", "repos": []any{map[string]any{"repo_full_name": "acme/api"}}},
		request: "editCiWorkflow", equal: []acctest.Values{{"mode_id": "code-review"}}, results: map[string]string{"pull_request_url": "*", "automation_id": "*"},
	},
	"ci_workflow_edit delete": {
		config: acctest.Values{"action": "delete", "repos": []any{map[string]any{"repo_full_name": "acme/api", "file_path": ".github/workflows/x.yml"}}}, request: "editCiWorkflow",
		equal: []acctest.Values{{"mode_id": "wiki", "automation_name": "x"}, {"changes": map[string]any{"name": "x"}}},
	},
	"ci_workflow_edit in another order": {
		config: acctest.Values{"action": "create", "repos": []any{map[string]any{"repo_full_name": "acme/api"}, map[string]any{"repo_full_name": "robin/tools"}}, "changes": map[string]any{"github_events": []any{"push", "pr-opened"}}},
		equal: []acctest.Values{
			{"repos": []any{map[string]any{"repo_full_name": "Robin/Tools"}, map[string]any{"repo_full_name": "acme/api"}}},
			{"changes": map[string]any{"github_events": []any{"pr-opened", "push"}}},
		},
		request: "editCiWorkflow",
	},
	"computer_activity":     {config: acctest.Values{"computer_id": "{computer}"}, request: "recordComputerActivity", results: map[string]string{"last_active_at": "*"}},
	"computer_file_upload":  {config: acctest.Values{"computer_id": "{computer}", "file_name": "a.txt", "content": "x"}, again: acctest.Values{"file_name": "b.txt"}, equal: []acctest.Values{{"content_type": mime.TypeByExtension(".txt")}}, request: "completeFileUpload", results: map[string]string{"path": "*"}},
	"computer_install_deps": {config: acctest.Values{"computer_id": "{computer}"}, request: "installComputerDeps", results: map[string]string{"install_session_id": "*"}, prepare: func(e *acctest.Env, _ *strings.Replacer) { e.Clock.Advance(time.Hour) }},
	"computer_refresh":      {config: acctest.Values{"computer_id": "{computer}"}, request: "refreshComputer", results: map[string]string{"configured": "*", "secrets_configured": "*"}},
	"computer_restart":      {config: acctest.Values{"computer_id": "{computer}"}, request: "restartComputer", results: map[string]string{"was_restarted": "*"}},
	"environment_build":     {config: acctest.Values{"environment_id": "{environment}"}, equal: []acctest.Values{{"wait_for_build": true}, {"wait_for_build": false}}, request: "createEnvironmentBuild", results: map[string]string{"build_id": "*", "status": "succeeded"}},
	"environment_build_cancel": {
		config: acctest.Values{"environment_id": "{environment}"}, request: "cancelEnvironmentBuild", results: map[string]string{"canceled_build_id": "*"},
		prepare: func(e *acctest.Env, ids *strings.Replacer) {
			e.Clock.Advance(time.Hour) // No other build is running.
			e.API(http.MethodPost, ids.Replace("/api/v0/environments/{environment}/builds"), nil, nil)
		},
	},
	"member_remove": {config: acctest.Values{"email": "avery@agentyard.example"}, equal: []acctest.Values{{"email": "Avery@Agentyard.example"}}, request: "removeMember"},
	// An answer only waits, so it has no action and no triggers.
	"session_answer": {
		config: acctest.Values{"session_id": "{session}", "message_id": "{message}"}, again: acctest.Values{"session_id": "{second session}", "message_id": "{second message}"},
		request: "listSessionMessages", results: map[string]string{"text": "Hello.", "answered_at": "*"},
	},
	"session_message": {config: acctest.Values{"session_id": "{session}", "text": "Hello."}, equal: []acctest.Values{{"files": []any{}}, {"images": []any{}}}, request: "sendSessionMessage", results: map[string]string{"sent_at": "*"}},
	"session_message with a file": {
		config: acctest.Values{"session_id": "{session}", "text": "Hello.", "files": []any{map[string]any{"path": "operations_test.go"}}}, request: "sendSessionMessage",
		equal: []acctest.Values{{"files": []any{map[string]any{"path": "operations_test.go", "media_type": "text/plain"}}}},
	},
	"session_interrupt": {config: acctest.Values{"session_id": "{session}"}, request: "interruptSession", results: map[string]string{"status": "idle"}},
}

func withIDs(values acctest.Values, ids *strings.Replacer) acctest.Values {
	config := maps.Clone(values)
	for name, v := range config {
		if text, ok := v.(string); ok {
			config[name] = ids.Replace(text)
		}
	}
	return config
}

func newOperations(t *testing.T, row *operation) (*acctest.Env, acctest.Values, func()) {
	t.Helper()
	e, _ := newOrganization(t)
	var account, computer, environment struct{ ID string }
	var key struct{ APIKey struct{ ID string } }
	var session struct {
		ID string `json:"sessionId"`
	}
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "revoked"}, &account)
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account.ID+"/api-keys", map[string]any{"name": "leaked"}, &key)
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "managed", "autoInstallDeps": true}, &computer)
	e.API(http.MethodPost, "/api/v0/environments", map[string]any{"name": "third", "scope": "organization", "repositories": []any{map[string]any{"url": "https://git.example/acme/app", "script": "make"}}}, &environment)
	e.Clock.Advance(time.Hour)
	e.API(http.MethodPost, "/api/v0/computers/"+computer.ID+"/restart", nil, nil)
	var message struct{ MessageID string }
	talk := func(sessionName, messageName string) []string {
		e.API(http.MethodPost, "/api/v0/sessions", map[string]any{"computerId": computer.ID}, &session)
		if row.request == "listSessionMessages" {
			e.Clock.Advance(time.Minute)
			e.API(http.MethodPost, "/api/v0/sessions/"+session.ID+"/messages", map[string]any{"text": "Hello."}, &message)
		}
		return []string{sessionName, session.ID, messageName, message.MessageID}
	}
	ids := strings.NewReplacer(slices.Concat([]string{"{account}", account.ID, "{key}", key.APIKey.ID, "{computer}", computer.ID, "{environment}", environment.ID},
		talk("{session}", "{message}"), talk("{second session}", "{second message}"))...)
	prepare := func() {
		if row.prepare != nil {
			row.prepare(e, ids)
		}
		e.Journal().Reset()
	}
	prepare()
	row.again = withIDs(row.again, ids)
	return e, withIDs(row.config, ids), prepare
}

func forEachOperation(t *testing.T, test func(t *testing.T, typeName string, row operation)) {
	t.Helper()
	for name, row := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, "agentyard_"+strings.Fields(name)[0], row)
		})
	}
}

// Each action has a row, and is a resource too.
func TestOperations_everyActionIsAResource(t *testing.T) {
	t.Parallel()
	schemas := acctest.NewProcess(t, acctest.New(t), nil).Schemas()
	for name := range schemas.ActionSchemas {
		_, isTested := operations[strings.TrimPrefix(name, "agentyard_")]
		if _, ok := schemas.ResourceSchemas[name]; !ok || !isTested {
			t.Errorf("%s is no resource, or has no row in operations of internal/acctest/lifecycle/operations_test.go", name)
		}
	}
}

func TestOperations_actionRunsOnce(t *testing.T) {
	t.Parallel()
	forEachOperation(t, func(t *testing.T, typeName string, row operation) {
		e, config, _ := newOperations(t, &row)
		if typeName == "agentyard_session_answer" {
			return
		}
		_, out := acctest.NewProcess(t, e, nil).Invoke(typeName, config)
		out.MustSucceed(t)
		e.WantRequests(t, row.request, 1)
	})
}

// Create sends the request once, refreshes and plans send nothing, and a destroy sends nothing.
func TestOperations_resourceRunsOnce(t *testing.T) {
	t.Parallel()
	forEachOperation(t, func(t *testing.T, typeName string, row operation) {
		e, config, prepare := newOperations(t, &row)
		i := e.NewInstance(t, typeName)
		e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
		e.WantRequests(t, row.request, 1)
		for name, want := range row.results {
			var all map[string]tftypes.Value
			acctest.Must(t, i.State.As(&all))
			if all[name].IsNull() || want != "*" && i.Attribute(name) != want {
				t.Errorf("%s is %s, want %q", name, all[name], want)
			}
		}
		first := i.ID()
		if ranAt, err := time.Parse(time.RFC3339, i.Attribute("ran_at")); typeName != "agentyard_session_answer" && err != nil || ranAt.After(e.Clock.Now()) || first == "" {
			t.Errorf("id %q, ran_at %v: %v", first, ranAt, err)
		}
		prepare()
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		if hasTimeouts(t, e, typeName) {
			config["timeouts"] = map[string]any{"create": "3h"}
			e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		}
		if i.ID() != first || len(e.Journal().Entries()) != 0 {
			t.Errorf("id %q, was %q; requests: %v", i.ID(), first, e.Journal().Entries())
		}

		if maps.Copy(config, row.again); row.again == nil {
			config["triggers"] = map[string]any{"v": "2"}
		}
		e.Apply(t, i, config).MustDo(t, acctest.ActionReplace)
		e.WantRequests(t, row.request, 1)
		if i.ID() == first {
			t.Error("the second run has the first one's id")
		}
		e.Journal().Reset()
		e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
		if sent := e.Journal().Entries(); len(sent) != 0 {
			t.Errorf("the destroy sends %v", sent)
		}
	})
}

// Null and empty are equal, and so is a default that is written out. What only controls the wait runs nothing.
func TestOperations_equalValuesRunNothing(t *testing.T) {
	t.Parallel()
	forEachOperation(t, func(t *testing.T, typeName string, row operation) {
		e, config, prepare := newOperations(t, &row)
		i := e.NewInstance(t, typeName)
		e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
		first := i.ID()
		prepare()
		changes := slices.Clone(row.equal)
		if typeName != "agentyard_session_answer" {
			changes = append(changes, acctest.Values{"triggers": map[string]any{}}, acctest.Values{"triggers": nil})
		}
		for _, change := range changes {
			maps.Copy(config, change)
			e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		}
		for name := range config { // Back to null.
			if _, ok := row.config[name]; !ok {
				delete(config, name)
			}
		}
		if out := e.Apply(t, i, config); out.Action == acctest.ActionReplace {
			t.Errorf("removing the values: %s", out)
		}
		if i.ID() != first || len(e.Journal().Entries()) != 0 {
			t.Errorf("id %q, was %q; requests: %v", i.ID(), first, e.Journal().Entries())
		}
	})
}

func hasTimeouts(t *testing.T, e *acctest.Env, typeName string) bool {
	t.Helper()
	return len(acctest.NewProcess(t, e, nil).Schemas().ResourceSchemas[typeName].Block.BlockTypes) > 0
}

// Whatever happens to the request, either nothing is stored and there is one error, which does not tell to invoke an action, or the
// run is stored. The next apply converges.
func TestOperations_faults(t *testing.T) {
	t.Parallel()
	// Repeating these would run them twice.
	once := []string{"agentyard_ci_workflow_edit", "agentyard_session_message"}
	forEachOperation(t, func(t *testing.T, typeName string, row operation) {
		for _, fault := range []emulator.Fault{
			{Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusNotImplemented},
			{Kind: emulator.FaultDropBeforeCommit},
			{Kind: emulator.FaultDropAfterCommit},
			{Kind: emulator.FaultStatusAfterCommit, Status: http.StatusBadGateway},
			{Kind: emulator.FaultTruncatedBody},
			{Kind: emulator.FaultNonJSON},
		} {
			t.Run(string(fault.Kind), func(t *testing.T) {
				t.Parallel()
				e, config, prepare := newOperations(t, &row)
				i := e.NewInstance(t, typeName)
				fault.Operation, fault.Times = row.request, 1
				e.Faults().Add(fault)
				out := e.Apply(t, i, config)
				if len(out.Errors) > 1 || (len(out.Errors) == 0) == i.State.IsNull() || strings.Contains(out.Text(), "nvoke") || strings.Contains(out.Text(), "again}") {
					t.Errorf("state %s, %s", i.State, out)
				}
				if slices.Contains(once, typeName) {
					e.WantRequests(t, row.request, 1)
				}
				prepare()
				e.Apply(t, i, config)
				e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
				if i.State.IsNull() || e.Journal().Count(row.request) > 1 {
					t.Errorf("state %s, %d requests", i.State, e.Journal().Count(row.request))
				}
			})
		}
	})
}

func TestOperations_noImport(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		p := acctest.NewProcess(t, e, nil)
		p.Import(p.NewInstance("agentyard_"+strings.Fields(name)[0]), "x").MustFail(t, "", "Operation cannot be imported", "Remove the import.")
	}
}

// The content is in no state and no plan, but in the workspace. A new version uploads again.
func TestOperations_uploadOfASecret(t *testing.T) {
	t.Parallel()
	upload := operations["computer_file_upload"]
	e, config, _ := newOperations(t, &upload)
	delete(config, "content")
	i := e.NewInstance(t, "agentyard_computer_file_upload")
	e.Plan(t, i, config).MustFail(t, "", "Exactly one of these attributes must be configured")
	config["content_wo_version"] = "1"
	e.Apply(t, i, config).MustFail(t, "content_wo", "Missing content", "Set source_path, content, content_base64, or content_wo.")
	config["content_wo"] = "s3cret"
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	if strings.Contains(i.State.String(), "s3cret") {
		t.Error(i.State)
	}
	e.Journal().Reset()
	config["content_wo"] = "other"
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	config["content_wo_version"], config["file_name"] = "2", "b.txt"
	e.Apply(t, i, config).MustDo(t, acctest.ActionReplace)
	e.WantRequests(t, "completeFileUpload", 1)
	delete(config, "content_wo")
	config["content"] = "x"
	e.Plan(t, i, config).MustFail(t, "content", "content_wo_version")
}

// Every write-only argument is null in a run in which its ephemeral source is null. Nothing requires it in a plan, an update, or a
// destroy.
func TestResources_writeOnlyValueIsNullLater(t *testing.T) {
	t.Parallel()
	schemas := acctest.NewProcess(t, acctest.New(t), nil).Schemas()
	for name, schema := range schemas.ResourceSchemas {
		for _, attribute := range schema.Block.Attributes {
			if attribute.WriteOnly && name+"."+attribute.Name != "agentyard_computer_file_upload.content_wo" {
				t.Errorf("add %s.%s to this test", name, attribute.Name)
			}
		}
	}
	upload := operations["computer_file_upload"]
	e, config, _ := newOperations(t, &upload)
	delete(config, "content")
	config["content_wo"], config["content_wo_version"] = "s3cret", "1"
	i := e.NewInstance(t, "agentyard_computer_file_upload")
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	delete(config, "content_wo")
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	config["timeouts"] = map[string]any{"create": "3h"}
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	e.Plan(t, i, config).MustDo(t, acctest.ActionCreate)
	e.Apply(t, i, config).MustFail(t, "content_wo", "Missing content", "an ephemeral variable that is not set")
}
