package emulator_test

import (
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// page returns a page of the emulator, which needs no key.
func (v *env) page(want int, path string) string {
	v.t.Helper()
	a := v.as("", want, "GET", path, nil)
	same(v.t, "Content-Type of "+path, a.header.Get("Content-Type"), "text/html; charset=utf-8")
	return string(a.raw)
}

// secrets are texts that no page may contain: keys, scripts, prompts, messages, logs, and signed URLs.
var secrets = []string{"fk-", "seed-setup", "seed-script", "seed-prompt", "seed-message", "seed-answer", "seed-log", "seed-video", "seed-user", "seed-password", "X-Signature", "signature="}

// everything makes an object of each kind, with secrets wherever there is room for one, and returns the paths of their pages.
func everything(v *env) map[string]string {
	v.t.Helper()
	account, accountKey := v.account("ci")
	expiry := v.clock.Now().Add(26 * time.Hour).UnixMilli()
	key := v.mint(201, accounts+"/"+account+"/api-keys", object{"name": "soon", "expiresAt": expiry})["id"].(string)
	v.mint(200, accounts+"/"+account+"/api-keys/"+key+"/rotate", object{"gracePeriodMinutes": 5})
	must(v.t, v.Invite("new@people.example", emulator.RoleUser))
	must(v.t, v.Invite("a//b@people.example", emulator.RoleUser)) // Its page has an address like any other.
	v.call(200, "PUT", globalLimits, object{"limit": 9000000})
	v.call(200, "PUT", userLimits, object{"users": []object{{"email": "manager@agentyard.example", "limit": 2000000}}})
	member := v.call(200, "GET", members, nil).object(v.t)["users"].([]any)[0].(object)["id"].(string)

	computer := v.computer(object{"name": "box", "repos": []string{"https://code.example/acme/api"}})["id"].(string)
	v.call(201, "POST", computers+"/bulk", object{"namePrefix": "ci", "quantity": 12, "serviceAccountId": account})
	must(v.t, v.FailBuild(emulator.BuildFailure{Category: "validation", Reason: "make: exit 2", Excerpt: "seed-log"}))
	environment := v.call(201, "POST", environments, object{
		"name": "dev", "scope": "organization", "repositories": []object{{"url": "https://seed-user:seed@seed-password@code.example/acme/api", "script": "seed-script"}}, "setupScript": "seed-setup",
	}).object(v.t)["id"].(string)
	v.clock.Advance(time.Minute)
	v.call(200, "GET", environments+"/"+environment, nil)

	session := v.session(object{"computerId": computer, "cwd": "/w", "sessionSettings": object{}, "systemPrompt": "seed-prompt"})
	must(v.t, v.ScriptAnswer(session, emulator.SessionAnswer{Text: "seed-answer"}))
	v.send(session, "seed-message")
	v.clock.Advance(time.Minute)
	v.as(accountKey, 200, "GET", computers, nil)
	v.call(200, "POST", computers+"/"+computer+"/files/a.txt/create-upload", object{"sizeBytes": 4})
	run := v.wikiRun("https://code.example/acme/api", nil)["wikiRunId"].(string)
	must(v.t, v.SetVideoOverview(run, object{"url": "https://files.example/seed-video?signature=x"}))
	v.outcomes(ciBody("delete", ciTarget("acme/web", reviewFile)))
	job := v.call(200, "GET", "/api/v0/automations/ci/jobs", nil).object(v.t)["jobs"].([]any)[0].(object)["id"].(string)
	return map[string]string{
		"agentyard_computer":    "/objects/computers/" + computer,
		"agentyard_environment": "/objects/environments/" + environment, "agentyard_session": "/objects/sessions/" + session,
		"agentyard_service_account": "/objects/service-accounts/" + account, "agentyard_api_key": "/objects/api-keys/" + key,
		"agentyard_member_invitation": "/objects/members/" + member, "invitation": "/objects/invitations/new@people.example",
		"agentyard_global_usage_limit": "/objects/usage-limits/organization", "agentyard_user_usage_limit": "/objects/usage-limits/" + member,
		"agentyard_wiki_run": "/objects/wiki-runs/" + run, "repository": "/objects/repositories/acme/api", "job": "/objects/ci-jobs/" + job,
	}
}

// idOf is the end of the path of an object's page.
func idOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func TestObjectPage_everyKind(t *testing.T) {
	v := startParallel(t)
	pages := everything(v)
	account, key := idOf(pages["agentyard_service_account"]), idOf(pages["agentyard_api_key"])
	imports := map[string]string{"agentyard_api_key": account + "/" + key, "agentyard_global_usage_limit": "organization"}
	for _, resource := range []string{"agentyard_member_invitation", "agentyard_user_usage_limit"} {
		imports[resource] = "manager@agentyard.example"
	}
	says := map[string][]string{
		"agentyard_computer":           {"Computer box", "Status active", "Owner manager@agentyard.example", `"provisioningSteps": [`, "createFileUpload: 200 POST /api/v0/computers/", "createComputer: 201 POST"},
		"agentyard_environment":        {"dev", "failed", "Owner organization", "Failure make: exit 2", "Build failed (create): make: exit 2 bld_", `"setupScript": "(not shown here)"`, "getEnvironment: 200 GET", "Scripts and logs are not shown here."},
		"agentyard_session":            {"Message: user", "Message: assistant", "Status running", "The title, prompts, and messages are not shown here.", "sendSessionMessage: 200 POST", "Session on box"},
		"agentyard_service_account":    {"Service account ci", "Status active"},
		"agentyard_api_key":            {"API key soon", "grace period", "Owner ci", `"expiresAt": `},
		"agentyard_member_invitation":  {"Member manager@agentyard.example", "Role manager"},
		"invitation":                   {"Invitation new@people.example", "Role user", "The API does not return pending invitations."},
		"agentyard_global_usage_limit": {"Usage limit organization", "Limit 9,000,000 credits", `{ "limit": 9000000 }`, "setGlobalUsageLimit: 200 PUT"},
		"agentyard_user_usage_limit":   {"Limit 2,000,000 credits", "Usage limit manager@agentyard.example"},
		"agentyard_wiki_run":           {"Privacy organization", "A video overview is not shown here."},
		"repository":                   {"Permission admin"},
		"job":                          {"Pull request open", `"repoFullName": "acme/web"`},
	}
	for kind, path := range pages {
		page := v.page(200, path)
		shows(t, page, says[kind]...)
		wanted := ""
		if strings.HasPrefix(kind, "agentyard_") {
			id := imports[kind]
			if id == "" {
				id = idOf(path)
			}
			wanted = kind + " " + id
		}
		same(t, "import of "+kind, importOf(page), wanted)
		hasKey := slices.Contains([]string{"agentyard_global_usage_limit", "agentyard_user_usage_limit"}, kind)
		same(t, kind+" has an ID", strings.Contains(page, "<dt>ID</dt>"), !hasKey)
		head := v.as("", 200, "HEAD", path, nil)
		same(t, "bytes for HEAD", len(head.raw), 0)
	}
	for _, e := range v.Journal().Entries() {
		if strings.HasPrefix(e.Path, "/objects/") || strings.HasPrefix(e.Path, "/status/") {
			t.Errorf("a page is in the journal: %+v", e)
		}
	}
}

var importPattern = regexp.MustCompile(`(?s)import \{\s+to = (agentyard_\w+)\.[a-z_][a-z0-9_]*\s+id = "([^"]*)"\s+\}`)

// importOf is the type and the ID of the import block on a page.
func importOf(page string) string {
	if m := importPattern.FindStringSubmatch(html.UnescapeString(page)); m != nil {
		return m[1] + " " + m[2]
	}
	return ""
}

// A page needs no key, so none shows anything that opens a door, or that a configuration only writes.
func TestObjectPage_hasNoSecrets(t *testing.T) {
	v := startParallel(t)
	paths := slices.Collect(maps.Values(everything(v)))
	linked := regexp.MustCompile(`href="(/[^"#]*)"`)
	visited := map[string]bool{}
	for paths = append(paths, "/"); len(paths) > 0; paths = paths[1:] {
		path := paths[0]
		if visited[path] {
			continue
		}
		visited[path] = true
		a := v.as("", 200, "GET", path, nil) // No link leads nowhere.
		for _, secret := range append(secrets, v.BootstrapKey()) {
			if strings.Contains(string(a.raw), secret) {
				t.Errorf("%s contains %q", path, secret)
			}
		}
		for _, m := range linked.FindAllStringSubmatch(string(a.raw), -1) {
			paths = append(paths, html.UnescapeString(m[1]))
		}
	}
	if len(visited) < 30 {
		t.Errorf("visited only %d pages", len(visited))
	}
}

// Only the owner can import an environment of their own.
func TestObjectPage_ofAnotherOwner(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	own := v.as(user, 201, "POST", environments, object{"name": "own", "scope": "user", "repositories": []object{{"url": "https://code.example/acme/api", "script": "make"}}}).object(t)["id"].(string)
	page := string(v.as("", 200, "GET", "/objects/environments/"+own, nil).raw)
	if importOf(page) != "" || !strings.Contains(page, "Needs an API key of the owner.") {
		t.Errorf("%s", page)
	}
}

func TestObjectPage_isMissing(t *testing.T) {
	v := startParallel(t)
	for _, path := range []string{
		"/objects/", "/objects/nothing", "/objects/nothing/a", "/objects/computers/a", "/objects/computers/", "/objects/computers/%00", "/objects/computers/..%2f..%2f",
	} {
		shows(t, v.page(404, path), "No object has this address.")
	}
	for _, path := range []string{"/status/nothing.css", "/status/objects.html"} {
		v.detail(v.as("", 404, "GET", path, nil), "no file")
	}
	v.detail(v.as("", 404, "POST", "/objects/computers", object{}), "no operation")
}

// All objects of a kind are on a page of their own, so that the status page stays small. What is deleted has no page.
func TestObjectPage_ofAKind(t *testing.T) {
	v := startParallel(t)
	account, _ := v.account("gone")
	for i := range 25 {
		v.computer(object{"name": fmt.Sprintf("dev-%03d", i)})
	}
	page := v.statusPage()
	shows(t, page, "Computers 25", "And 15 more", "Service accounts 1")
	if !strings.Contains(page, `<a href="/objects/computers">And 15 more</a>`) {
		t.Error("the rest is not linked")
	}
	same(t, "rows", strings.Count(v.page(200, "/objects/computers"), ">dev-"), 25)
	v.call(200, "DELETE", accounts+"/"+account, nil)
	shows(t, v.page(200, "/objects/service-accounts"), "Service accounts Filter 0 Name")
	v.page(404, "/objects/service-accounts/"+account)
}
