package acctest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Organization is an emulator with objects of each kind, and what stands for the places of specimens.
type Organization struct {
	*Env
	places map[string]any
	// onDemand makes what only few tests need when a test asks for it.
	onDemand map[string]func() any
}

// Fill returns what a place stands for. It is the specimens.Fill of the organization.
func (o *Organization) Fill(place string) any {
	if create := o.onDemand[place]; create != nil {
		delete(o.onDemand, place)
		o.places[place] = create()
	}
	v, ok := o.places[place]
	if !ok {
		o.t.Fatalf("nothing in internal/acctest/organization.go is %s", place)
	}
	return v
}

// In returns arguments with every place filled in.
func (o *Organization) In(v specimens.Values) Values { return specimens.Fill(o.Fill).In(v) }

// Find returns the IDs of the specimens that a listing shows.
func (o *Organization) Find(l specimens.Listing) []string {
	o.t.Helper()
	var ids []string
	for _, page := range o.Pages(specimens.Fill(o.Fill).Text(l.Path)) {
		found, err := l.Find(page, o.Fill)
		check.Must(o.t, err)
		ids = append(ids, found...)
	}
	return ids
}

func (o *Organization) post(path string, body any) Made {
	o.t.Helper()
	return o.Make("/api/v0"+path, body)
}

func (o *Organization) advance(by string) {
	o.API(http.MethodPost, "/_emulator/clock", map[string]string{"advance": by}, nil)
}

func (o *Organization) environment(name string) Made {
	o.t.Helper()
	return o.post("/environments", Values{"name": name, "scope": "organization", "setupScript": "make", "repositories": []any{
		Values{"url": "https://git.example/acme/app", "script": "make"}, Values{"url": "https://git.example/acme/web", "script": ""},
	}})
}

// AddMembers adds the members of examples and specimens, and returns the ID of the first one.
func (e *Env) AddMembers() (first string) {
	e.t.Helper()
	for _, name := range []string{"avery", "blake", "casey"} {
		id, _, err := e.AddHuman(emulator.Human{Email: name + "@agentyard.example"})
		check.Must(e.t, err)
		first = cmp.Or(first, id)
	}
	return first
}

// NewOrganization creates the objects in an emulator. The settings of the organization are unset: Furnish sets them.
func NewOrganization(t testing.TB, e *Env) *Organization {
	t.Helper()
	o := &Organization{Env: e, places: map[string]any{
		"$name": "new", "$provider": nil, "$host": nil, "$user": nil, "$managed_provider": "managed-a", "$fleet_provider": nil, "$start": "2026-03-01T12:00:00Z",
		"$account_name": "ci", "$machine_name": "workstation", "$environment_name": "app", "$file": "data.txt", "$page": "p1", "$word": "stored",
		"$repositories": []any{map[string]any{"url": "https://git.example/acme/app"}}, "$scope": nil, "$waits": nil,
		"$wiki_repository": "https://code.example/acme/api", "$documented": "https://code.example/acme/api", "$ci_repository": "acme/api",
		"$email": "avery@agentyard.example", "$member": "casey@agentyard.example", "$lower": 1_000_000, "$higher": int64(9_007_199_254_740_991),
		"$first_day": "2026-02-01", "$last_day": "2026-02-02", "$folder": t.TempDir(),
	}}
	o.places["$member_id"] = e.AddMembers()
	account := o.post("/service-accounts", Values{"name": "ci", "description": "builds"}).ID
	o.post("/service-accounts", Values{"name": "robot"})
	keys := "/service-accounts/" + account + "/api-keys"
	o.places["$account"], o.places["$key"] = account, o.post(keys, Values{"name": "live", "expiresAt": e.Now().Add(24 * time.Hour).UnixMilli()}).ID
	e.API(http.MethodPost, "/api/v0"+keys+"/"+o.post(keys, Values{"name": "old"}).ID+"/revoke", nil, nil)

	machine := o.post("/computers", Values{"name": "workstation", "provider": "byom", "hostId": "1b4e28ba-2fa1-41d2-883f-0016d3cca427"}).ID
	managed := o.post("/computers", Values{"name": "managed", "autoInstallDeps": true, "repos": []any{"https://git.example/acme/app", "https://git.example/acme/web"}}).ID
	o.post("/computers", Values{"name": "robot-1", "serviceAccountId": account})
	o.places["$machine"], o.places["$computer"] = machine, machine
	o.places["$managed"], o.places["$measured"], o.places["$refreshed"] = managed, managed, managed
	check.Must(t, os.WriteFile(filepath.Join(o.places["$folder"].(string), "a.txt"), []byte("a"), 0o600))
	check.Must(t, os.WriteFile(filepath.Join(o.places["$folder"].(string), "a.png"), []byte("\x89PNG\r\n\x1a\n"), 0o600))

	check.Must(t, e.FailBuild(emulator.BuildFailure{Name: "broken", Excerpt: "make: error"}))
	app, second, broken := o.environment("app").ID, o.environment("second").ID, o.environment("broken")
	o.places["$environment"], o.places["$built"], o.places["$first"], o.places["$second"] = app, app, app, second
	o.places["$broken"], o.places["$broken_build"] = broken.ID, broken.BuildID
	o.addSessions(machine)
	o.places["$run"] = o.post("/wiki", Values{"repoUrl": "https://code.example/acme/api", "pages": []any{
		Values{"pageId": "p1", "path": "storage.md", "title": "Storage", "content": "Where things are stored."}, Values{"path": "more.md", "title": "More", "content": "What else is stored."},
	}}).ID
	const workflow = ".github/workflows/old.yml"
	for _, repository := range []string{"acme/api", "acme/web"} {
		_, err := e.AddWikiRun(emulator.WikiRun{RepoURL: "https://code.example/" + repository})
		check.Must(t, err)
		o.post("/automations/ci/edit", Values{"action": "create", "repos": []any{Values{"repoFullName": repository, "filePath": workflow}}})
		check.Must(t, e.MergeWorkflow(repository, workflow))
		check.Must(t, e.AddCIRun(map[string]any{"repoFullName": repository, "status": "completed", "conclusion": "failure"}))
	}
	o.advance("1h") // All builds have ended.
	o.post("/computers/"+managed+"/restart", nil)
	for _, computer := range []string{machine, managed} {
		e.PutFile(computer, "data.txt", "x")
	}

	talk := func(session, message string) {
		o.onDemand[session] = func() any { return o.post("/sessions", Values{"computerId": managed}).ID }
		o.onDemand[message] = func() any {
			id := o.Fill(session).(string)
			o.advance("1m")
			return o.post("/sessions/"+id+"/messages", Values{"text": "Reply with the word OK, and do nothing else."}).ID
		}
	}
	o.onDemand = map[string]func() any{
		"$leaked":   func() any { return o.post(keys, Values{"name": "leaked"}).ID },
		"$building": func() any { return o.environment("building").ID },
	}
	talk("$conversation", "$message")
	talk("$conversation_2", "$message_2")
	return o
}

func (o *Organization) addSessions(computer string) {
	session := o.post("/sessions", Values{"computerId": computer, "sessionSettings": Values{"model": "model-thinking", "tags": []any{Values{"name": "a"}}}}).ID
	o.places["$session"] = session
	o.post("/sessions", Values{"computerId": computer})
	o.post("/sessions", Values{"computerId": computer})
	for _, block := range []string{
		`{"type":"thinking","thinking":"Hm.","signature":""}`, `{"type":"redacted_thinking","data":"AA=="}`,
		`{"type":"tool_use","id":"t1","name":"execute","input":{}}`, `{"type":"tool_result","toolUseId":"t1","content":"done","isError":false}`,
		`{"type":"image","source":{"type":"base64","mediaType":"image/png","data":"AA=="}}`,
		`{"type":"document","source":{"type":"base64","mediaType":"application/pdf","data":"AA=="}}`,
		`{"type":"document","source":{"type":"text","mediaType":"text/plain","data":"a"}}`, `{"type":"text","text":"Done."}`,
	} {
		check.Must(o.t, o.AddMessage(session, emulator.SessionMessage{Role: "assistant", Content: []json.RawMessage{json.RawMessage(block)}}))
	}
}

// Furnish sets what an organization has once: limits, controls, and the default environment.
func (o *Organization) Furnish() {
	o.t.Helper()
	o.API(http.MethodPut, "/api/v0/organization/usage/limits/global", Values{"limit": 10_000_000}, nil)
	o.API(http.MethodPut, "/api/v0/organization/usage/limits/users", Values{"users": []any{
		Values{"email": "avery@agentyard.example", "limit": 20_000_000}, Values{"email": "blake@agentyard.example", "limit": 30_000_000},
	}}, nil)
	for _, days := range []string{"30", "60"} {
		check.Must(o.t, o.ChangeEnterpriseControls(map[string]json.RawMessage{"sessionRetentionDays": json.RawMessage(days)}, ""))
	}
	check.Must(o.t, o.SetDefaultEnvironment(o.Fill("$first").(string)))
}
