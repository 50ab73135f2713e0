package emulator_test

import (
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

// htmlTag is what pageText leaves out: tags, IDs beside names, and the titles of bars.
var htmlTag = regexp.MustCompile(`<code class="id">[^<]*</code>|<title>[^<]*</title>|<[^>]*>`)

// statusPage returns the status page.
func (v *env) statusPage() string {
	v.t.Helper()
	a := v.as("", 200, "GET", "/", nil)
	same(v.t, "Content-Type", a.header.Get("Content-Type"), "text/html; charset=utf-8")
	return string(a.raw)
}

// pageText is what a page says, without tags and with single spaces.
func pageText(page string) string {
	_, body, _ := strings.Cut(page, "<body>")
	return strings.Join(strings.Fields(html.UnescapeString(htmlTag.ReplaceAllString(body, " "))), " ")
}

// shows fails the test unless a page says each of some texts.
func shows(t *testing.T, page string, texts ...string) {
	t.Helper()
	said := pageText(page)
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("the page does not say %q: %s", text, said)
		}
	}
}

// failures lets a computer, a build, and some requests fail, and programs more of it.
func failures(v *env) {
	v.FailProvisioning(emulator.FailStep{Name: "ci-*", Step: "clone-repos", Error: "repository not found: <acme/api>", Times: 2})
	v.FailBulkAfter(3, "full")
	check.Must(v.t, v.FailBuild(emulator.BuildFailure{Category: "validation", Reason: "make: exit 2", Excerpt: "the log", Times: -1}))
	v.computer(object{"name": "ci-1", "repos": []string{"https://code.example/acme/api"}})
	v.computer(object{"name": "web-1"})
	v.call(201, "POST", environments, object{"name": "backend", "scope": "organization", "repositories": []any{}})
	v.clock.Advance(time.Minute)
	v.Faults().Add(
		emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 503, Operation: "listComputers"},
		emulator.Fault{Kind: emulator.FaultDropAfterCommit, Operation: "listMembers"},
		emulator.Fault{Kind: emulator.FaultRateLimited, Operation: "createComputer", Match: "bulk", After: 4, Times: -1},
	)
	v.call(503, "GET", computers, nil)
	_, err := v.try(v.BootstrapKey(), "GET", members, nil)
	check.Fails(v.t, err, "EOF")
	v.call(404, "GET", "/api/v0/nothing", nil)
	v.AllowSessions(false)
	check.Must(v.t, v.SetSourceProvider("provider-b", false))
}

func TestStatusPage_empty(t *testing.T) {
	v := startParallel(t)
	page := v.statusPage()
	shows(t, page,
		"Clock 2026-05-01 12:00:00 UTC Tier enterprise Connecting Pause Reload the page to see what is new. Connect export", "Members 1 Name Role", "Repositories 4 Name Permission",
		"Connect export AGENTYARD_BASE_URL="+v.URL()+" export AGENTYARD_API_KEY=PASTE-THE-KEY export AGENTYARD_EMULATOR_CLOCK="+v.ClockFile()+" Copy Paste",
		"If the key is lost, start the emulator again. With -data FILE , it keeps its key and its objects.",
		"Runs None yet. Set the variables under Connect , and run Terraform.", "manager@agentyard.example manager 2026-05-01 12:00",
	)
	for _, part := range []string{`<meta name="viewport"`, `href="/objects/members"`, `id="members"`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
}

func TestStatusPage_failures(t *testing.T) {
	v := startParallel(t)
	failures(v)
	v.call(200, "POST", "/_emulator/clock", object{"advance": "30d"})
	page := v.statusPage()
	shows(t, page,
		"UTC): 404, There is no operation at the path /api/v0/nothing. ", "UTC): no response ",
		"UTC , 30 d ahead ", "Computers 2 1 failed", "Environments 1 1 failed",
		"ci-1 manager@agentyard.example · Clone repositories: repository not found: <acme/api> error 2026-05-01 12:00 web-1 manager@agentyard.example active",
		"backend organization · make: exit 2 failed",
		"rate-limited createComputer, paths with bulk, after 4 more always", "provisioning failure computers ci-*, step clone-repos 1 left",
		"build failure all environments, phase building always", "bulk failure after 3 computers 1 left", "switched off provider-b always switched off sessions always",
		"Computers 2, 1 failed · Environments 1, 1 failed · Members 1 · Repositories 4 Runs 5 failed. Created computer ci-1 (provisioning failed) , web-1 , and environment backend (build failed) 1 × 404, 1 × 503, 1 × build failed, 1 × no response, 1 × provisioning failed ",
		"no operation GET /api/v0/nothing: 404, There is no operation at the path /api/v0/nothing. Details GET /api/v0/nothing,", "Computer ci-1 : provisioning failed, Clone repositories: repository not found: <acme/api> Environment backend : build failed, make: exit 2 Run 1,", "no operation GET /api/v0/nothing 1 of 1 failed ",
		"listMembers GET /api/v0/organization/users fault: drop-after-commit 1 of 1 failed ", "listComputers GET /api/v0/computers fault: status-before-commit 1 of 1 failed ",
	)
	if strings.Contains(page, "<acme") || strings.Contains(page, "the log") {
		t.Error("the page shows a text unescaped, or a log")
	}
	v.AllowAnalytics(false)
	refused := v.call(403, "GET", analytics+"/users?startDate=2026-04-01&endDate=2026-04-01", nil).object(t)
	shows(t, v.page(200, "/runs/1"), fmt.Sprintf("UTC), request ID %s: 403, %s", refused["requestId"], refused["detail"]))
}

// TestObjectPage_hasNoSecrets reads all pages.
func TestStatusPage_objects(t *testing.T) {
	v := startParallel(t)
	account, _ := v.account("ci")
	one := accounts + "/" + account
	second := v.mint(201, one+"/api-keys", object{"name": "soon", "expiresAt": v.clock.Now().Add(26 * time.Hour).UnixMilli()})
	v.mint(200, one+"/api-keys/"+second["id"].(string)+"/rotate", object{"gracePeriodMinutes": 5})
	gone, _ := v.account("gone")
	v.call(200, "DELETE", accounts+"/"+gone, nil)
	v.call(200, "PUT", globalLimits, object{"limit": 5000000})
	v.call(200, "PUT", userLimits, object{"users": []object{{"email": "manager@agentyard.example", "limit": 2000000}}})
	check.Must(t, v.Invite("new@people.example", emulator.RoleUser))
	id := v.computer(object{"name": "a"})["id"].(string)
	v.clock.Advance(time.Minute)
	v.call(201, "POST", sessions, object{"computerId": id, "cwd": "/w", "sessionSettings": object{}, "systemPrompt": "be secret"})
	v.call(200, "POST", "/api/v0/wiki", object{"repoUrl": "https://code.example/acme/api", "branch": "main", "commitHash": "abc", "hasLocalChanges": false, "hasNonRemoteCommits": false})
	v.outcomes(ciBody("delete", ciTarget("acme/web", reviewFile)))
	v.call(200, "GET", "/", nil)

	page := v.statusPage()
	shows(t, page,
		"Service accounts 1 ", "API keys 3 Name Status", "soon of ci revoked in 4 min grace period 2026-05-01 12:00", "Members 1 ", "Invitations 1 ",
		"Usage limits 2 Name Limit manager@agentyard.example 2,000,000 credits organization 5,000,000 credits",
		"Sessions 1 ", "on a manager@agentyard.example idle",
		"CI jobs 1 ", "acme/web "+reviewFile+" delete open 2026-05-01 12:01", "Wiki runs 1 ", "https://code.example/acme/api manager@agentyard.example · branch main organization 2026-05-01 12:01",
	)
	v.clock.Advance(time.Hour)
	v.mint(201, one+"/api-keys", object{"name": "later", "expiresAt": v.clock.Now().Add(26 * time.Hour).UnixMilli()})
	shows(t, v.statusPage(), "API keys 4 ", "later of ci expires in 1 d 2 h valid 2026-05-01 13:01")
	v.clock.Advance(26 * time.Hour)
	shows(t, v.statusPage(), "later of ci expired", "soon of ci revoked")
}

// The API is as it was: only the page itself is at the root, and faults and limits are for the API.
func TestStatusPage_isNoOperation(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{RequestsPerSecond: 1})
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultStatusBeforeCommit})
	for range 3 {
		v.statusPage()
	}
	same(t, "faults", len(v.Faults().Pending()), 1)
	head := v.as("", 200, "HEAD", "/", nil)
	same(t, "bytes for HEAD", len(head.raw), 0)
	v.Faults().Clear()
	v.detail(v.as("", 404, "POST", "/", object{}), "no operation at the path /")
	v.clock.Advance(time.Second)
	v.detail(v.as("", 404, "GET", "/favicon.ico", nil), "no operation at the path /favicon.ico")
	v.clock.Advance(time.Second)
	rebound, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.URL()+"/", nil)
	check.Must(t, err)
	rebound.Host = "rebound.example"
	a, err := do(rebound)
	check.Must(t, err)
	v.detail(a, "no operation at the path /")
	same(t, "requests in the journal", len(v.Journal().Entries()), 3)
}

// The page of a run has all its lanes.
// Pages load themselves again if the version is another one.
func TestStatusPage_version(t *testing.T) {
	v := startParallel(t)
	version := func() string { return string(v.as("", 200, "GET", "/status/version", nil).raw) }
	last := version()
	same(t, "after a page", version(), last)
	for name, change := range map[string]func(){
		"a request": func() { v.call(200, "GET", computers, nil) },
		"a fault":   func() { v.call(204, "DELETE", "/_emulator/faults", nil) },
	} {
		change()
		if now := version(); now == last {
			t.Errorf("after %s: still %s", name, now)
		}
		last = version()
	}
	v.call(200, "GET", "/_emulator/clock", nil)
	same(t, "after a look at the clock", version(), last)
}

func TestRunPage(t *testing.T) {
	v := startParallel(t)
	for i := range 600 {
		v.call(404, "GET", fmt.Sprintf("/api/v0/computers/missing-%03d", i), nil)
	}
	page := v.statusPage()
	shows(t, page, "Only reads 600 × 404 ", "missing-000, missing-001, missing-002 and 597 more 600 ")
	if !strings.Contains(page, `<a href="/runs/1">All requests</a>`) {
		t.Error("the status page has no link to all lanes")
	}
	shows(t, string(v.as("", 200, "GET", "/runs/1", nil).raw), "Run 1 Only reads", "missing-000", "missing-599 1 ")
	for _, path := range []string{"/runs/2", "/runs/x", "/runs/0", "/runs/<b>"} {
		shows(t, string(v.as("", 404, "GET", path, nil).raw), "The journal has no request of this run.")
	}
	v.detail(v.as("", 404, "POST", "/runs/1", object{}), "no operation at the path /runs/1")
}

func TestStatusPage_olderRuns(t *testing.T) {
	v := startParallel(t)
	for range 10 {
		p := v.process()
		same(t, "status", p.send("GET", computers, ""), 200)
		p.CloseIdleConnections()
		for strings.Contains(v.statusPage(), ">Running.</span>") { // The emulator notices it a moment later.
			runtime.Gosched()
		}
	}
	newest := v.statusPage()
	shows(t, newest, "Run 10,", "Run 3,", "Older runs What a run is")
	if strings.Contains(newest, "Run 2,") || strings.Count(newest, " open>") != 1 || !strings.Contains(newest, `<a href="/?before=3">`) {
		t.Error("the page has older runs, or several open ones, or no link")
	}
	shows(t, string(v.as("", 200, "GET", "/?before=3", nil).raw), "Run 2,", "Run 1,", "Newest runs What a run is")
	// Another client, such as the page's buttons, is neither running nor opened.
	v.call(200, "GET", computers, nil)
	newest = v.statusPage()
	shows(t, newest, "Run 11,")
	if strings.Contains(newest, ">Running.</span>") || !strings.Contains(newest, `id="run-10" open>`) || strings.Count(newest, " open>") != 1 {
		t.Error("a run of another client is running, or open")
	}
	if page := string(v.as("", 200, "GET", "/runs/11", nil).raw); !strings.Contains(page, `id="run-11" open>`) {
		t.Error("the page of a run does not open it")
	}
	v.Journal().Reset()
	shows(t, v.statusPage(), "Runs None yet.")
}

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
	check.Must(v.t, v.Invite("new@people.example", emulator.RoleUser))
	check.Must(v.t, v.Invite("a//b@people.example", emulator.RoleUser)) // Its page has an address like any other.
	v.call(200, "PUT", globalLimits, object{"limit": 9000000})
	v.call(200, "PUT", userLimits, object{"users": []object{{"email": "manager@agentyard.example", "limit": 2000000}}})
	member := v.call(200, "GET", members, nil).object(v.t)["users"].([]any)[0].(object)["id"].(string)

	computer := v.computer(object{"name": "box", "repos": []string{"https://code.example/acme/api"}})["id"].(string)
	v.call(201, "POST", computers+"/bulk", object{"namePrefix": "ci", "quantity": 12, "serviceAccountId": account})
	check.Must(v.t, v.FailBuild(emulator.BuildFailure{Category: "validation", Reason: "make: exit 2", Excerpt: "seed-log"}))
	environment := v.call(201, "POST", environments, object{
		"name": "dev", "scope": "organization", "repositories": []object{{"url": "https://seed-user:seed@seed-password@code.example/acme/api", "script": "seed-script"}}, "setupScript": "seed-setup",
	}).object(v.t)["id"].(string)
	v.clock.Advance(time.Minute)
	v.call(200, "GET", environments+"/"+environment, nil)

	session := v.session(object{"computerId": computer, "cwd": "/w", "sessionSettings": object{}, "systemPrompt": "seed-prompt"})
	check.Must(v.t, v.ScriptAnswer(session, emulator.SessionAnswer{Text: "seed-answer"}))
	v.send(session, "seed-message")
	v.clock.Advance(time.Minute)
	v.as(accountKey, 200, "GET", computers, nil)
	v.call(200, "POST", computers+"/"+computer+"/files/a.txt/create-upload", object{"sizeBytes": 4})
	run := v.wikiRun("https://code.example/acme/api", nil)["wikiRunId"].(string)
	check.Must(v.t, v.SetVideoOverview(run, object{"url": "https://files.example/seed-video?signature=x"}))
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
		"agentyard_api_key":            {"API key soon of ci", "grace period", `"expiresAt": `},
		"agentyard_member_invitation":  {"Member manager@agentyard.example", "Role manager"},
		"invitation":                   {"Invitation new@people.example", "Role user", "The API does not return pending invitations."},
		"agentyard_global_usage_limit": {"Usage limit organization", "Limit 9,000,000 credits", `{ "limit": 9000000 }`, "setGlobalUsageLimit: 200 PUT"},
		"agentyard_user_usage_limit":   {"Limit 2,000,000 credits", "Usage limit manager@agentyard.example"},
		"agentyard_wiki_run":           {"Privacy organization", "A video overview is not shown here."},
		"repository":                   {"Permission admin"},
		"job":                          {"Pull request open", `"repoFullName": "acme/web"`},
	}
	for operation, effect := range statuspage.Effects {
		if !slices.ContainsFunc(slices.Collect(maps.Values(pages)), func(path string) bool { return strings.HasPrefix(path, "/objects/"+effect.Kind+"/") }) {
			t.Errorf("everything makes nothing of the kind %s, which %s changes. It needs objectKinds and rows in status_source.go", effect.Kind, operation)
		}
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
	check.Says(t, page, `<a href="/objects/computers">And 15 more</a>`)
	same(t, "rows", strings.Count(v.page(200, "/objects/computers"), ">dev-"), 25)
	v.call(200, "DELETE", accounts+"/"+account, nil)
	shows(t, v.page(200, "/objects/service-accounts"), "Service accounts Filter 0 Name")
	v.page(404, "/objects/service-accounts/"+account)
}

// process is a client with connections of its own, as a provider's process has them.
type process struct {
	*env
	*http.Transport
}

func (v *env) process() process {
	p := process{v, &http.Transport{}}
	v.t.Cleanup(p.CloseIdleConnections)
	return p
}

// send sends a request as the provider does. A cut connection is status 0.
func (p process) send(method, path, body string) int {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.URL()+path, strings.NewReader(body))
	check.Must(p.t, err)
	req.Header.Set("User-Agent", "terraform-provider-agentyard/1.2.3 Terraform/1.16.4")
	req.Header.Set("Authorization", "Bearer "+p.BootstrapKey())
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.RoundTrip(req)
	if err != nil {
		return 0
	}
	_, err = io.Copy(io.Discard, resp.Body) // Otherwise the connection could not be used again.
	check.Must(p.t, errors.Join(err, resp.Body.Close()))
	return resp.StatusCode
}

func TestJournal_runs(t *testing.T) {
	v := startParallel(t)
	plan, apply := v.process(), v.process()
	same(t, "plan", plan.send("GET", computers, ""), 200)
	same(t, "plan", plan.send("GET", members, ""), 200)
	plan.CloseIdleConnections()
	for { // The emulator notices it a moment later.
		same(t, "apply", apply.send("GET", computers, ""), 200)
		entries := v.Journal().Entries()
		if entries[len(entries)-1].Run > 1 {
			break
		}
		apply.CloseIdleConnections()
	}
	v.Journal().Reset()
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultDropBeforeCommit, Operation: "createComputer"})
	same(t, "apply", apply.send("POST", computers, `{"name":"a"}`), 0)
	same(t, "apply", apply.send("POST", computers, `{"name":"a"}`), 201)
	same(t, "apply", apply.send("POST", computers, `{"name":"b"}`), 201)
	got := v.Journal().Entries()
	same(t, "requests", len(got), 3)
	same(t, "one process is one run", []int{got[1].Run, got[2].Run}, []int{got[0].Run, got[0].Run})
	for _, e := range got {
		if e.UserAgent != "terraform-provider-agentyard/1.2.3 Terraform/1.16.4" || e.Started.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	if got[0].BodyHash != got[1].BodyHash || got[0].BodyHash == got[2].BodyHash {
		t.Errorf("hashes of bodies: %d, %d, %d", got[0].BodyHash, got[1].BodyHash, got[2].BodyHash)
	}
}
