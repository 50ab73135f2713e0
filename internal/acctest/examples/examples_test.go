// Package examples runs every example of the documentation as written. Each kind of object has a test for its folder. An
// example that needs more than newOrganization provides has a row.
package examples

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

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// names lists the examples of a kind.
func names(t *testing.T, kind string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("..", "..", "..", "examples", kind))
	if err != nil || len(entries) == 0 {
		t.Fatalf("no examples of %s: %v", kind, err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

// objects lists the examples of resources that are no operations, which are in specimens.Operations.
func objects(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(names(t, "resources"), func(name string) bool { return specimens.ResourceOf(name).Type == "" })
}

// organization is an emulator with one object of each kind. Replace inserts their IDs for the IDs in the examples.
type organization struct {
	*acctest.Env
	replace func(example string) string
	ids     map[string]string
}

func quick(o *emulator.Options) {
	o.Provisioning.Step, o.BuildPhase, o.SessionDelay, o.SessionListDelay = time.Millisecond, time.Millisecond, -1, -1
	o.AgentPhase, o.MessageDelay = time.Millisecond, -1
}

// letBuild advances the emulator's clock until every build has ended.
func letBuild(e *acctest.Env) {
	e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": "24h"}, nil)
}

func newOrganization(t *testing.T, options ...acctest.Option) organization {
	t.Helper()
	e := acctest.NewRealTime(t, append([]acctest.Option{quick}, options...)...)
	must := func(err error) {
		t.Helper()
		check.Must(t, err)
	}
	ids := map[string]string{"member_id": "avery@agentyard.example"}
	create := func(place, path string, body any) acctest.Made {
		made := e.Make("/api/v0"+path, body)
		ids[place] = made.ID
		return made
	}
	e.AddMembers()
	create("account", "/service-accounts", map[string]any{"name": "ci"})
	keys := "/service-accounts/" + ids["account"] + "/api-keys"
	create("key", keys, map[string]any{"name": "pipeline"})
	e.API(http.MethodPost, "/api/v0"+keys+"/"+create("revoked", keys, map[string]any{"name": "old"}).ID+"/revoke", nil, nil)

	create("machine", "/computers", map[string]any{"name": "workstation", "provider": "byom", "hostId": "1b4e28ba-2fa1-41d2-883f-0016d3cca427"})
	settings := map[string]any{"model": "model-thinking", "tags": []any{map[string]any{"name": "nightly"}}}
	session := create("session", "/sessions", map[string]any{"computerId": ids["machine"], "sessionSettings": settings}).ID
	for role, block := range map[string]string{"assistant": `{"type":"tool_use","id":"t1","name":"execute","input":{}}`, "tool": `{"type":"tool_result","toolUseId":"t1"}`} {
		must(e.AddMessage(session, emulator.SessionMessage{Role: role, Content: []json.RawMessage{json.RawMessage(block)}}))
	}
	must(e.AddMessage(session, emulator.SessionMessage{Role: "assistant", Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"Done."}`)}}))
	must(e.ChangeSession(session, emulator.SessionChange{Status: new("running")}))

	environment := func(place, name, scope string) acctest.Made {
		return create(place, "/environments", map[string]any{"name": name, "scope": scope, "repositories": []any{map[string]any{"url": "https://git.example/acme/app", "script": "make"}}})
	}
	must(e.FailBuild(emulator.BuildFailure{Name: "broken", Excerpt: "make: error"}))
	must(e.FailBuild(emulator.BuildFailure{Name: "hidden", Withheld: true}))
	app := environment("environment", "app", "organization")
	environment("broken", "broken", "user")
	environment("hidden", "hidden", "user")

	create("run", "/wiki", map[string]any{"repoUrl": "https://code.example/acme/api", "pages": []any{map[string]any{"path": "storage.md", "title": "Storage", "content": "Where things are stored."}}})
	_, err := e.AddWikiRun(emulator.WikiRun{RepoURL: "https://code.example/acme/web"})
	must(err)

	e.API(http.MethodPut, "/api/v0/organization/usage/limits/global", map[string]any{"limit": 10_000_000}, nil)
	e.API(http.MethodPut, "/api/v0/organization/usage/limits/users", map[string]any{"users": []any{map[string]any{"email": "avery@agentyard.example", "limit": 20_000_000}}}, nil)
	must(e.ChangeEnterpriseControls(map[string]json.RawMessage{"sessionRetentionDays": json.RawMessage("30")}, ""))
	e.Make("/api/v0/automations/ci/edit", map[string]any{"action": "create", "repos": []any{map[string]any{"repoFullName": "acme/api"}}})
	must(e.AddCIRun(map[string]any{"id": "r1", "conclusion": "failure"}))
	letBuild(e)
	must(e.SetDefaultEnvironment(app.ID))
	e.Journal().Reset()

	shown := []string{
		"key_01hzy3x9d4f6g8h0j2k4m6n8p0", ids["key"], "env_01hzy3v7k2m4n6p8q0r2s4t6v8", app.ID, "bld_01hzy3v7k2m4n6p8q0r2s4t6v9", app.BuildID, "wiki_01hzy5b9n4q6r8s0t2v4w6x8y0", ids["run"],
	}
	for _, l := range specimens.Lists {
		if id := ids[strings.TrimPrefix(l.Shows, "$")]; id != "" {
			shown = append(shown, importID.FindStringSubmatch(acctest.Example(t, "resources/"+l.Type+"/import.sh"))[1], id)
		} else if l.Shows != "" {
			t.Fatalf("create %s, which the example of %s imports, in newOrganization of internal/acctest/examples", l.Shows, l.Type)
		}
	}
	return organization{Env: e, replace: strings.NewReplacer(shown...).Replace, ids: ids}
}

// importID matches the ID at the end of an import command, without the one of what it belongs to.
var importID = regexp.MustCompile(`([^\s/]+)\n$`)

// contents returns the list responses for everything that examples create.
func (o organization) contents() map[string]string {
	all := map[string]string{}
	paths := []string{"/api/v0/sessions"} // The specimen's are those of one computer.
	for _, r := range specimens.Resources {
		if path := r.Listing.Path; path != "" && !strings.Contains(path, "$") {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		var lines []string
		for _, page := range o.Pages(path) {
			lines = append(lines, strings.FieldsFunc(string(page), func(r rune) bool { return strings.ContainsRune("{}[]", r) })...)
		}
		for n := range lines {
			lines[n] = strings.Trim(lines[n], ",")
		}
		slices.Sort(lines) // The order of lists is undefined.
		all[path] = strings.Join(lines, "\n")
	}
	return all
}

// named matches the name of a resource. Two examples may use the same name.
var named = regexp.MustCompile(`(?m)^(resource "\w+" "\w+" \{\n\s+name\s+= )"[^"]+"`)

// modules returns a configuration that calls each example of a kind as a module, with the arguments that some need.
func (o organization) modules(t *testing.T, kind string, arguments map[string]string) *acctest.CLI {
	t.Helper()
	cli := acctest.NewCLI(t, o.Env, "")
	var main strings.Builder
	for _, name := range names(t, kind) {
		example := o.replace(acctest.Example(t, kind+"/"+name+"/"+strings.TrimSuffix(kind, "s")+".tf"))
		example = named.ReplaceAllString(example, `${1}"`+name+`"`)
		cli.Write(name+"/main.tf", "terraform {\n  required_providers {\n    agentyard = {\n      source = \"agentyard/agentyard\"\n    }\n  }\n}\n"+example)
		fmt.Fprintf(&main, "module %q {\n  source = \"./%s\"\n  %s\n}\noutput %q {\n  value = module.%s\n}\n", name, name, arguments[name], name, name)
	}
	cli.Write("main.tf", main.String())
	cli.MustRun("get")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	return cli
}

// All data sources in one configuration. The plan after it is empty, and the values that the examples compute are right.
func TestAccExamples_dataSources_everyCLI(t *testing.T) {
	t.Parallel()
	o := newOrganization(t)
	run := fmt.Sprintf("wiki_run_id = %q", o.ids["run"])
	cli := o.modules(t, "data-sources", map[string]string{"agentyard_wiki_export": run, "agentyard_wiki_page": run, "agentyard_wiki_search": run})
	cli.MustPlanEmpty()

	var outputs map[string]struct{ Value map[string]any }
	check.Must(t, json.Unmarshal([]byte(cli.MustRun("output", "-json").Output), &outputs))
	for _, want := range []struct{ example, output, value string }{
		{"agentyard_environment_build_diagnostics", "why", fmt.Sprint(map[string]string{o.ids["broken"]: "make: error", o.ids["hidden"]: "The log is withheld."})},
		{"agentyard_environments", "default_environment", "app"},
		{"agentyard_usage_limits", "global_limit", "1e+07"},
		{"agentyard_usage_limits", "limits_by_user", "map[avery@agentyard.example:2e+07]"},
		{"agentyard_wiki_page", "about_storage", "Where things are stored."},
		{"agentyard_session", "model", "model-thinking"},
		{"agentyard_session_children", "busy_subagents", "[]"},
		{"agentyard_session_messages", "answer", "Done."},
		{"agentyard_session_messages", "tools", "[execute]"},
		{"agentyard_sessions", "tagged_nightly", "[" + o.ids["session"] + "]"},
		{"agentyard_api_keys", "keys_without_expiry", "[pipeline]"},
	} {
		check.Is(t, want.example+": "+want.output, fmt.Sprint(outputs[want.example].Value[want.output]), want.value)
	}
	if _, err := os.Stat(filepath.Join(cli.Dir, "wiki.zip")); err != nil {
		t.Error(err)
	}
	cli.MustRun("destroy", "-auto-approve", "-input=false")
}

// All ephemeral resources in one configuration. Only the kept key remains. After its value was lost, no run stores null.
func TestAccExamples_ephemerals_everyCLI(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	acctest.NeedsWriteOnly(t)
	o := newOrganization(t)
	before := o.keys()
	o.PutFile(o.ids["machine"], "report.pdf", "a report")
	cli := o.modules(t, "ephemeral-resources", map[string]string{
		"agentyard_api_key":                fmt.Sprintf("service_account_id = %q\n  computer_id = %q", o.ids["account"], o.ids["machine"]),
		"agentyard_computer_file_download": fmt.Sprintf("computer_id = %q", o.ids["machine"]),
	})
	cli.MustPlanEmpty()
	if r := cli.Run("apply", "-auto-approve", "-input=false", "-replace=module.agentyard_api_key.agentyard_computer_file_upload.key"); r.ExitCode == 0 || !strings.Contains(r.Output, "Missing content") {
		t.Errorf("null was stored: %s", r.Output)
	}
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	for _, operation := range []string{"createApiKey", "createFileDownload", "createWikiVideoUploadUrl"} {
		if o.Journal().Count(operation) == 0 {
			t.Errorf("%s was not sent", operation)
		}
	}
	check.Is(t, "live keys, of which one is kept, and one is that of the failed run", o.keys(), before+2)
}

// keys counts the service account's live keys.
func (o organization) keys() int {
	var answer json.RawMessage
	o.API(http.MethodGet, "/api/v0/service-accounts/"+o.ids["account"]+"/api-keys", nil, &answer)
	return strings.Count(string(answer), `"isRevoked":false`)
}

// Each resource example applies, then plans no changes, and leaves nothing after a destroy.
func TestAccExamples_resources(t *testing.T) {
	t.Parallel()
	sent := map[string]map[string]int{
		"agentyard_session":            {"createSession": 2},
		"agentyard_global_usage_limit": {"setGlobalUsageLimit": 2},
		"agentyard_computer_fleet":     {"bulkCreateComputers": 2},
	}
	for _, name := range objects(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, quick)
			e.AddMembers()
			o := organization{Env: e}
			before := o.contents()
			e.Journal().Reset()
			cli := acctest.NewCLI(t, e, acctest.Example(t, "resources/"+name+"/resource.tf"))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			for operation, want := range sent[name] {
				e.WantRequests(t, operation, want)
			}
			check.Is(t, "left behind", o.contents(), before)
		})
	}
}

var listed = regexp.MustCompile(`(?m)^list "(\w+)" "(\w+)"`)

// All list resources in one query. The configuration that it generates changes only the revoked key and the two failed environments.
func TestAccExamples_lists(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	o := newOrganization(t)
	lengths := map[string]int{ // All others have one.
		"agentyard_api_key.of_ci": 2, "agentyard_computer.of_ci": 0, "agentyard_environment.all": 3, "agentyard_member_invitation.all": 4, "agentyard_wiki_run.newest": 2,
	}
	var query strings.Builder
	for _, name := range names(t, "list-resources") {
		query.WriteString(o.replace(acctest.Example(t, "list-resources/"+name+"/list-resource.tfquery.hcl")))
	}
	all := 0
	var checks []querycheck.QueryResultCheck
	for _, list := range listed.FindAllStringSubmatch(query.String(), -1) {
		length, ok := lengths[list[1]+"."+list[2]]
		if !ok {
			length = 1
		}
		all += length
		checks = append(checks, querycheck.ExpectLength(list[1]+"."+list[2], length))
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.New(t).Factories,
		Steps:                    []resource.TestStep{{Query: true, Config: o.Config(query.String()), QueryResultChecks: checks}},
	})
	cli := acctest.NewCLI(t, o.Env, "")
	cli.Write("all.tfquery.hcl", query.String())
	cli.MustRun("query", "-generate-config-out=generated.tf")
	check.Says(t, cli.MustRun("plan", "-input=false").Output, fmt.Sprintf("Plan: %d to import, 0 to add, 3 to change, 0 to destroy.", all))
}

// With real IDs, the import examples import an existing object in each of the three forms, and change nothing.
func TestAccExamples_imports(t *testing.T) {
	t.Parallel()
	target := regexp.MustCompile(`(?:import|to =) (agentyard_\w+)\.(\w+)`)
	for _, name := range objects(t) {
		for _, file := range []string{"import.sh", "import-by-string-id.tf", "import-by-identity.tf"} {
			t.Run(name+"/"+file, func(t *testing.T) {
				t.Parallel()
				if file == "import-by-identity.tf" {
					acctest.NeedsIdentity(t)
				}
				o := newOrganization(t)
				o.API(http.MethodPost, "/api/v0/computers/bulk", map[string]any{"namePrefix": "build", "quantity": 2}, nil)
				letBuild(o.Env)
				o.Journal().Reset()
				example := o.replace(acctest.Example(t, "resources/"+name+"/"+file))
				to := target.FindStringSubmatch(example)
				if to == nil || to[1] != name {
					t.Fatalf("imports into no %s: %s", name, example)
				}
				config := specimens.HCL(specimens.Fill(func(place string) any { return o.ids[strings.TrimPrefix(place, "$")] }).In(specimens.ResourceOf(name).Exists))
				cli := acctest.NewCLI(t, o.Env, fmt.Sprintf("resource %q %q {\n%s\n}\n", to[1], to[2], config))
				if file == "import.sh" {
					_, command, _ := strings.Cut(strings.ReplaceAll(example, "\\\n", ""), "\nterraform ")
					command, _, _ = strings.Cut(command, "\n")
					cli.MustRun(strings.Fields(command)...)
				} else {
					cli.Write("import.tf", example)
					check.Says(t, cli.MustRun("apply", "-auto-approve", "-input=false").Output, "1 imported, 0 added, 0 changed, 0 destroyed")
				}
				cli.MustPlanEmpty()
				for _, entry := range o.Journal().Entries() {
					check.Is(t, "the method of "+entry.Operation, entry.Method, http.MethodGet)
				}
			})
		}
	}
}

// sent are the requests that the example of an operation sends, if they are not its own one, once.
var sent = map[string]map[string]int{
	"agentyard_computer_file_upload":     {"completeFileUpload": 3, "createApiKey": 1},
	"agentyard_environment_build_cancel": {"cancelEnvironmentBuild": 0}, // The latest build has ended.
	"agentyard_session_answer":           {"sendSessionMessage": 1},
}

// Each example runs its operation once. The next plan is empty, and a destroy does not repeat it.
func TestAccExamples_operations_everyCLI(t *testing.T) {
	t.Parallel()
	for _, operation := range specimens.Operations {
		if operation.Name != "" {
			continue
		}
		t.Run(operation.Type, func(t *testing.T) {
			t.Parallel()
			if operation.Type == "agentyard_computer_file_upload" {
				acctest.NeedsWriteOnly(t)
			}
			o := newOrganization(t)
			cli := acctest.NewCLI(t, o.Env, o.replace(acctest.Example(t, "resources/"+operation.Type+"/resource.tf")))
			cli.Write("data.tar.gz", "packed")
			o.Journal().Reset()
			cli.MustRun("apply", "-auto-approve", "-input=false")
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			wants := sent[operation.Type]
			if wants == nil {
				wants = map[string]int{operation.Request: 1}
			}
			for request, want := range wants {
				o.WantRequests(t, request, want)
			}
		})
	}
}
