package emulator_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

// access is who may use an operation. The computer is that of a service account; the session and the wiki run are the manager's.
type access struct {
	operation, path string // Without the method, which the contract has. COMPUTER and others stand for IDs.
	body            any
	// want are the statuses for another service account, a user, the service account, an owner, and the manager, who come one after the other.
	want string
	// gate is what must be on.
	gate string
}

// with is the path with one more parameter.
func (a access) with(parameter string) string {
	if strings.Contains(a.path, "?") {
		return a.path + "&" + parameter
	}
	return a.path + "?" + parameter
}

var (
	everybody = "200 200 200 200 200"
	managers  = "403 403 403 200 200"
	ofAccount = "404 404 200 200 200"
)

func operations() []access {
	const (
		one, account, env, session, run, ci = computers + "/COMPUTER", accounts + "/ACCOUNT", environments + "/ENVIRONMENT", sessions + "/SESSION", wiki + "/RUN", ciAutomation
		days                                = "?" + april
	)
	return []access{
		{"listComputers", computers, nil, everybody, "tier"},
		{"createComputer", computers, object{"name": "new", "serviceAccountId": "ACCOUNT"}, "403 403 403 201 409", "tier"},
		{"bulkCreateComputers", computers + "/bulk", object{"namePrefix": "new", "quantity": 1, "serviceAccountId": "ACCOUNT"}, "403 403 403 201 201", "tier"},
		{"getComputerByName", computers + "/name/box", nil, "404 404 200 404 404", "tier"},
		{"listComputerProviders", computers + "/providers", nil, everybody, ""},
		{"getComputer", one, nil, ofAccount, ""},
		{"deleteComputer", one, nil, "404 404 204 404 404", ""},
		{"updateComputer", one, object{"name": "box2"}, ofAccount, ""},
		{"recordComputerActivity", one + "/activity", nil, ofAccount, ""},
		{"createFileUpload", one + "/files/f/create-upload", object{"sizeBytes": 1}, ofAccount, ""},
		{"completeFileUpload", one + "/files/f/complete-upload", nil, "404 404 404 404 404", ""},
		{"createFileDownload", one + "/files/f/create-download", nil, "404 404 404 404 404", ""},
		{"installComputerDeps", one + "/install-deps", nil, "404 404 400 400 400", ""},
		{"getComputerMetrics", one + "/metrics", nil, ofAccount, ""},
		{"refreshComputer", one + "/refresh", nil, ofAccount, ""},
		{"restartComputer", one + "/restart", nil, ofAccount, "tier"},

		{"listServiceAccounts", accounts, nil, managers, "tier"},
		{"createServiceAccount", accounts, object{"name": "new"}, "403 403 403 201 409", "tier"},
		{"getServiceAccount", account, nil, managers, "tier"},
		{"updateServiceAccount", account, object{"description": "x"}, managers, "tier"},
		{"deleteServiceAccount", account, nil, "403 403 403 200 404", "tier"},
		{"listApiKeys", account + "/api-keys", nil, managers, "tier"},
		{"createApiKey", account + "/api-keys", object{"name": "new"}, "403 403 403 201 201", "tier"},
		{"revokeApiKey", account + "/api-keys/none/revoke", nil, "403 403 403 404 404", "tier"},
		{"rotateApiKey", account + "/api-keys/none/rotate", nil, "403 403 403 404 404", "tier"},

		{"listEnvironments", environments, nil, everybody, ""},
		{"createEnvironment", environments, object{"name": "new", "scope": "organization", "repositories": []any{}}, "403 403 403 201 409", "environments"},
		{"getEnvironmentBuildStatuses", environments + "/build-statuses?environmentIds=ENVIRONMENT", nil, everybody, ""},
		{"getEnvironmentSourceOptions", environments + "/source-options", nil, everybody, ""},
		{"provisionDefaultEnvironment", environments + "/default", nil, "403 403 403 204 204", ""},
		{"setDefaultEnvironment", environments + "/default", object{"environmentId": "ENVIRONMENT"}, managers, ""},
		{"getEnvironment", env, nil, everybody, ""},
		{"updateEnvironment", env, object{"setupScript": "x"}, managers, ""},
		{"deleteEnvironment", env, nil, "403 403 403 204 404", ""},
		{"getEnvironmentBuildDiagnostics", env + "/build-diagnostics", nil, everybody, ""},
		{"createEnvironmentBuild", env + "/builds", nil, "403 403 403 200 409", ""},
		{"cancelEnvironmentBuild", env + "/builds/none/cancel", nil, "403 403 403 404 404", ""},
		{"getBuildDiagnostics", env + "/builds/none/diagnostics", nil, "404 404 404 404 404", ""},

		{"listSessions", sessions, nil, everybody, "sessions"},
		{"createSession", sessions, object{"computerId": "COMPUTER"}, "400 400 201 201 201", "sessions"},
		{"getSession", session, nil, "403 403 403 200 200", "sessions"},
		{"updateSession", session, object{"sessionSettings": object{"model": "m"}}, "403 403 403 200 200", "sessions"},
		{"deleteSession", session, nil, "403 403 403 204 404", "sessions"},
		{"interruptSession", session + "/interrupt", nil, "403 403 403 200 200", "sessions"},
		{"listSessionMessages", session + "/messages", nil, "403 403 403 200 200", "sessions"},
		{"sendSessionMessage", session + "/messages", object{"text": "x"}, "403 403 403 200 200", "sessions"},
		{"listSessionChildren", session + "/children", nil, "403 403 403 200 200", "sessions"},

		{"listEnterpriseControlHistory", history, nil, managers, ""},
		{"getGlobalUsageLimit", globalLimits, nil, managers, ""},
		{"setGlobalUsageLimit", globalLimits, object{"limit": nil}, managers, ""},
		{"getUserUsageLimits", userLimits, nil, managers, ""},
		{"setUserUsageLimits", userLimits, object{"users": []object{{"email": "manager@agentyard.example", "limit": nil}}}, managers, ""},
		{"listMembers", members, nil, managers, ""},
		{"removeMember", remove("user@people.example"), nil, "403 403 403 204 404", ""},
		{"inviteMember", invite, object{"email": "new@people.example"}, "403 403 403 200 200", ""},

		{"listWikiRuns", wiki, nil, everybody, "wiki"},
		{"createWikiRun", wiki, object{"repoUrl": api, "branch": "main", "commitHash": "abc", "hasLocalChanges": false, "hasNonRemoteCommits": false}, everybody, "wiki"},
		{"getWikiHistory", historyOf(api), nil, everybody, "wiki"},
		{"createWikiVideoUploadUrl", wiki + "/video-upload-url", object{}, everybody, "wiki"},
		{"getWikiRun", run, nil, everybody, "wiki"},
		{"deleteWikiRun", run, nil, "403 403 403 200 404", "wiki"},
		{"exportWikiRun", run + "/export", nil, everybody, "wiki"},
		{"getWikiPage", run + "/pages/none", nil, "404 404 404 404 404", "wiki"},
		{"updateWikiPrivacy", run + "/privacy", object{"privacyLevel": "organization"}, "403 403 403 200 200", "wiki"},
		{"searchWikiRun", run + "/search?q=the", nil, everybody, "wiki"},

		{"listCiJobs", ci + "/jobs", nil, everybody, ""},
		{"listCiRepositories", ci + "/repositories", nil, everybody, ""},
		{"listCiRepositoryOwners", ci + "/repository-owners", nil, everybody, ""},
		{"listCiRuns", ci + "/runs", nil, everybody, ""},
		{"scanCiWorkflows", ci + "/scan", nil, everybody, ""},
		{"editCiWorkflow", ciEdit, ciBody("create", ciTarget("acme/api", "")), everybody, ""},

		{"getTokenAnalytics", analytics + "/tokens" + days, nil, managers, "analytics"},
		{"getToolAnalytics", analytics + "/tools" + days, nil, managers, "analytics"},
		{"getActivityAnalytics", analytics + "/activity" + days, nil, managers, "analytics"},
		{"getProductivityAnalytics", analytics + "/productivity" + days, nil, managers, "analytics"},
		{"getUserAnalytics", analytics + "/users" + days, nil, managers, "analytics"},
		{"queryMyCost", analytics + "/cost/me/query" + days + "&queryKey=headline_daily", nil, "403 200 403 200 200", "analytics"},
	}
}

// The status page shows nothing of these operations, and of the passing ones no change that stays.
var (
	unseen  = []string{"recordComputerActivity", "createFileUpload", "createFileDownload", "createWikiVideoUploadUrl", "provisionDefaultEnvironment"}
	passing = []string{"interruptSession", "refreshComputer", "restartComputer"}
)

// Every operation has a row, so that none forgets its role, its owner, its switch, its tier, or to hold requests against the contract.
func TestAccess(t *testing.T) {
	t.Parallel()
	document, err := contract.Load()
	check.Must(t, err)
	all := operations()
	for _, o := range document.Operations() {
		if !slices.ContainsFunc(all, func(a access) bool { return a.operation == o.ID }) {
			t.Errorf("%s has no row", o.ID)
		}
	}
	for _, a := range all {
		t.Run(a.operation, func(t *testing.T) {
			v := start(t, emulator.Options{SessionDelay: -1, SessionListDelay: -1, MessageDelay: -1})
			_, user := v.human(emulator.RoleUser)
			_, owner := v.human(emulator.RoleOwner)
			account, key := v.account("ci")
			_, other := v.account("other")
			computer := v.as(key, 201, "POST", computers, object{"name": "box"}).object(t)["id"].(string)
			environment := v.ready(nil)
			v.clock.Advance(time.Minute)
			names := strings.NewReplacer("COMPUTER", computer, "ACCOUNT", account, "ENVIRONMENT", environment, "SESSION", v.session(object{"computerId": computer}),
				"RUN", v.wikiRun(api, nil)["wikiRunId"].(string))
			method := document.Operations()[slices.IndexFunc(document.Operations(), func(o contract.Operation) bool { return o.ID == a.operation })].Method
			if o, ok := a.body.(object); ok {
				for field, value := range o {
					if text, ok := value.(string); ok {
						o[field] = names.Replace(text)
					}
				}
			}
			send := func(key, path string) response {
				t.Helper()
				got, err := v.try(key, method, names.Replace(path), a.body)
				check.Must(t, err)
				return got
			}
			unknown := a.with("x=1")
			same(t, "nobody", send("", unknown).status, 401)
			same(t, "a wrong key", send("fk-wrong", unknown).status, 401)
			v.detail(send(v.BootstrapKey(), unknown), "query x: expected no such parameter")
			closed, detail := 403, ""
			switch a.gate {
			case "tier":
				check.Must(t, v.SetTier(emulator.TierFree))
				closed, detail = http.StatusPaymentRequired, "this needs at least the tier team"
			case "sessions":
				v.AllowSessions(false)
				detail = "Sessions are not enabled"
			case "analytics":
				v.AllowAnalytics(false)
				detail = "Analytics is not enabled"
			case "wiki":
				v.changeControls(object{"wikiCloudSync": false}, "")
				detail = "wikiCloudSync is off"
			case "environments":
				v.AllowEnvironments(false)
				closed, detail = http.StatusMethodNotAllowed, "does not allow environments"
			}
			if a.gate != "" {
				for _, key := range []string{v.BootstrapKey(), user} {
					got := send(key, a.path)
					same(t, "while off", got.status, closed)
					v.detail(got, detail)
				}
				if a.gate != "environments" { // Of what is off, it does not matter that the request is wrong.
					same(t, "wrong while off", send(user, unknown).status, closed)
				}
			}
			check.Must(t, v.SetTier(emulator.TierEnterprise))
			v.AllowSessions(true)
			v.AllowAnalytics(true)
			v.AllowEnvironments(true)
			v.changeControls(object{"wikiCloudSync": true}, "")
			var got []string
			for _, key := range []string{other, user, key, owner, v.BootstrapKey()} {
				answer := send(key, a.path)
				if made, _, _ := runreport.Answer(a.operation, answer.raw); answer.status == http.StatusCreated && len(made) == 0 {
					t.Errorf("no ID in the answer is one of %s: %s", a.operation, answer.raw)
				}
				got = append(got, fmt.Sprint(answer.status))
			}
			same(t, "other account, user, account, owner, manager", strings.Join(got, " "), a.want)
			if slices.Contains(unseen, a.operation) || method == http.MethodGet {
				return
			}
			if statuspage.Effects[a.operation].Verb == "" {
				t.Errorf("%s has no row in Effects of statuspage/changes.go, and is not in unseen", a.operation)
			}
			notes := func(e emulator.Entry) bool { return e.Operation == a.operation && len(e.Changes) > 0 }
			if strings.Contains(a.want, "20") && !slices.Contains(passing, a.operation) && !slices.ContainsFunc(v.Journal().Entries(), notes) {
				t.Errorf("the handler of %s does not call noteChange", a.operation)
			}
		})
	}
}

// Every error of a request that the HTTP server takes has a JSON body.
func TestErrorsAreJSON(t *testing.T) {
	v := startParallel(t)
	for _, c := range []struct {
		method, path string
		status       int
		detail       string
	}{
		{"GET", "/api/v0/nothing", 404, "no operation"},
		{"POST", "/", 404, "no operation"},
		{"BREW", "/api/v0/computers", 405, "does not support BREW"},
		// An encoded slash belongs to the value; it must not lead to another operation.
		{"GET", "/api/v0/computers/..%2Fservice-accounts", 404, "../service-accounts"},
		{"GET", "/_emulator/nothing", 404, "no operation"},
	} {
		a := v.call(c.status, c.method, c.path, nil)
		v.detail(a, c.detail)
		same(t, c.path, a.header.Get("Content-Type"), "application/json")
	}
	same(t, "Allow", v.call(405, "PUT", computers, object{}).header.Get("Allow"), "GET, POST")
}

// breach is a request that the contract allows and a rule refuses. Without a rule, it is wrong by itself.
type breach struct {
	rule, method, path string
	body               any
}

// breachable has the objects that breaches need.
type breachable struct {
	*env
	keys, live, expired, active, byom, starting, environment, talk string // Paths.
	idleID, byomID, startingID, mine, idle                         string
}

func newBreachable(t *testing.T) breachable {
	t.Helper()
	v := startParallel(t)
	p := breachable{env: v}
	accountID, _ := v.account("ci")
	p.idleID, _ = v.account("idle")
	v.call(200, "PATCH", accounts+"/"+p.idleID, object{"status": "inactive"})
	p.keys = accounts + "/" + accountID + "/api-keys"
	rotation := func(name string, life time.Duration) string {
		return p.keys + "/" + v.mint(201, p.keys, object{"name": name, "expiresAt": p.at(life)})["id"].(string) + "/rotate"
	}
	p.live, p.expired = rotation("live", 5*time.Minute), rotation("expired", time.Second)
	computer := func(body object) (id, path string) {
		id = v.computer(body)["id"].(string)
		return id, computers + "/" + id
	}
	activeID, active := computer(object{"name": "active"})
	p.active = active
	p.byomID, p.byom = computer(object{"name": "byom", "provider": "byom"})
	v.clock.Advance(time.Minute)
	p.startingID, p.starting = computer(object{"name": "starting", "repos": twoRepos, "autoInstallDeps": true})
	for _, name := range []string{"promised", "sent"} {
		url, fields := v.form(v.call(200, "POST", active+"/files/"+name+"/create-upload", object{"sizeBytes": 5}))
		if name == "sent" {
			(&filesEnv{env: v}).upload(204, url, fields, strings.NewReader("hello"), nil)
		}
	}
	p.environment, p.mine = environments+"/"+v.environment(object{"name": "env"}), v.environment(object{"name": "mine", "scope": "user"})
	p.talk, p.idle = sessions+"/"+v.session(object{"computerId": activeID}), v.session(object{"computerId": p.byomID})
	v.change(p.idle, emulator.SessionChange{ComputerID: &p.startingID})
	return p
}

// at is a time in Unix milliseconds.
func (p breachable) at(in time.Duration) int64 { return p.clock.Now().Add(in).UnixMilli() }

// breaches are all but those of the operations with days or pages.
func (p breachable) breaches() []breach {
	return []breach{
		{"body-size", "POST", p.active + "/refresh", "{}" + strings.Repeat(" ", 1<<20)},
		{"nul-character", "GET", computers + "/name/a%00b", nil},
		{"nul-character", "GET", computers + "?serviceAccountId=a%00b", nil},
		{"nul-character", "POST", computers, `{"name":"a\u0000b"}`},
		{"byom-unsupported", "POST", p.byom + "/activity", nil},
		{"byom-unsupported", "POST", p.byom + "/restart", nil},
		{"byom-unsupported", "GET", p.byom + "/metrics", nil},
		{"not-active", "POST", p.starting + "/activity", nil},
		{"not-active", "POST", p.starting + "/restart", nil},
		{"not-active", "GET", p.starting + "/metrics", nil},
		{"not-active", "POST", p.starting + "/install-deps", nil},
		{"install-not-configured", "POST", p.active + "/install-deps", nil},
		{"install-not-configured", "POST", p.byom + "/install-deps", nil},
		{"provider-unknown", "POST", computers, object{"name": "x", "provider": "other"}},
		{"provider-unknown", "POST", computers + "/bulk", object{"quantity": 1, "namePrefix": "x", "provider": "byom"}},
		{"provider-unavailable", "POST", computers, object{"name": "x", "provider": "managed-c"}},
		{"provider-unavailable", "POST", computers + "/bulk", object{"quantity": 1, "namePrefix": "x", "provider": "managed-c"}},
		{"byom-field", "POST", computers, object{"name": "x", "provider": "byom", "autoInstallDeps": false}},
		{"", "POST", computers, object{"name": "", "provider": "byom", "autoInstallDeps": false}},
		{"byom-clone", "POST", computers, object{"name": "x", "source": object{"kind": "computer", "sourceComputerId": p.byomID}}},
		{"account-inactive", "POST", computers, object{"name": "x", "serviceAccountId": p.idleID}},
		{"account-inactive", "POST", computers + "/bulk", object{"quantity": 1, "namePrefix": "x", "serviceAccountId": p.idleID}},
		{"upload-missing", "POST", p.active + "/files/promised/complete-upload", nil},
		{"upload-size", "POST", p.active + "/files/sent/complete-upload", object{"sizeBytes": 6}},
		{"environment-name", "POST", environments, definition(object{"name": strings.Repeat("ä", 129)})},
		{"environment-name", "PATCH", p.environment, object{"name": strings.Repeat("ä", 129)}},
		{"repository-count", "POST", environments, definition(object{"repositories": repositories(51)})},
		{"repository-count", "PATCH", p.environment, object{"repositories": repositories(51)}},
		{"repository-twice", "POST", environments, definition(object{"repositories": slices.Concat(repositories(2), repositories(1))})},
		{"repository-twice", "PATCH", p.environment, object{"repositories": slices.Concat(repositories(2), repositories(1))}},
		{"script-size", "POST", environments, definition(object{"setupScript": strings.Repeat("x", 64<<10+1)})},
		{"script-size", "PATCH", p.environment, object{"repositories": []object{{"url": "https://git.example/a", "script": strings.Repeat("ä", 32<<10) + "x"}}}},
		{"source-repositories", "POST", environments, definition(object{"sourceId": "source-bare"})},
		{"source-repositories", "PATCH", p.environment, object{"sourceId": "source-bare"}},
		{"source-setup-script", "POST", environments, definition(object{"sourceId": "source-repositories", "setupScript": "make"})},
		{"source-setup-script", "PATCH", p.environment, object{"sourceId": "source-repositories", "setupScript": "make"}},
		{"default-scope", "POST", environments, definition(object{"scope": "user", "makeOrganizationDefault": true})},
		{"default-scope", "POST", environments, definition(object{"scope": nil, "makeOrganizationDefault": true})},
		{"default-scope", "PUT", environments + "/default", object{"environmentId": p.mine}},
		{"account-unknown", "GET", environments + "?serviceAccountId=sa_none", nil},
		{"account-unknown", "GET", environments + "/build-statuses?environmentIds=a&serviceAccountId=sa_none", nil},
		{"environment-ids", "GET", environments + "/build-statuses?environmentIds=a" + strings.Repeat("&environmentIds=a", 100), nil},
		{"wiki-tree", "POST", wiki, upload(object{"path": "a.md"}, object{"path": "a.md"})},
		{"wiki-tree", "POST", wiki, upload(object{"path": "a.md", "pageId": "p"}, object{"path": "b.md", "pageId": "p"})},
		{"wiki-tree", "POST", wiki, object{"repoUrl": api, "pageTree": []object{}}},
		{"wiki-depth", "POST", wiki, deepUpload(6)},
		{"wiki-path", "POST", wiki, upload(object{"path": "/a.md"})},
		{"wiki-path, wiki-tree", "POST", wiki, upload(object{"path": "../a.md", "pageId": "p"}, object{"path": "b.md", "pageId": "p"})},
		{"date-range", "GET", analytics + "/cost/me/query?queryKey=by_pr&startDate=2026-01-14&endDate=2026-04-30", nil},
		{"expiry-past", "POST", p.keys, object{"name": "x", "expiresAt": p.at(0)}},
		{"expiry-past", "POST", p.live, object{"expiresAt": p.at(0)}},
		{"grace-beyond-expiry", "POST", p.live, object{"gracePeriodMinutes": 10, "expiresAt": p.at(time.Hour)}},
		{"grace-beyond-expiry", "POST", p.expired, nil},
		{"session-computer", "POST", sessions, object{"computerId": p.startingID}},
		{"session-computer", "POST", sessions, object{"computerId": uuidA}},
		{"session-computer", "POST", sessions + "/" + p.idle + "/messages", object{"text": "x"}},
		{"attachment-data", "POST", p.talk + "/messages", object{"text": "x", "files": []object{{"type": "base64", "mediaType": "application/pdf", "data": "abc"}}}},
		{"attachment-data", "POST", p.talk + "/messages", object{"text": "x", "images": []object{{"type": "base64", "mediaType": "image/png", "data": "a==="}}}},
		{"autonomy-contradiction", "POST", sessions, object{"computerId": p.startingID, "sessionSettings": object{"autonomyMode": "normal", "interactionMode": "mission"}}},
		{"autonomy-contradiction", "PATCH", sessions + "/" + uuidA, object{"sessionSettings": object{"autonomyMode": "auto-low", "autonomyLevel": "high"}}},
		{"ci-changes", "POST", ciEdit, ciBody("edit", ciTarget("acme/web", ".github/workflows/a.yml"))},
		{"ci-path", "POST", ciEdit, ciBody("create", ciTarget("acme/web", "a.yml"))},
		{"ci-twice", "POST", ciEdit, ciBody("delete", ciTarget("acme/web", ""), ciTarget("Acme/Web", ""))},
		{"ci-schedule", "POST", ciEdit, object{"action": "create", "repos": []object{ciTarget("acme/web", "")}, "changes": object{"schedule": "daily"}}},
		{"ci-changes, ci-path", "POST", ciEdit, ciBody("edit", ciTarget("acme/web", ".github/workflows/../a.yml"))},
		{"", "POST", ciEdit, ciBody("edit", ciTarget("", ""))},
		{"email-form", "DELETE", members + "?email=Foo+%3Cu5%40x.example", nil},
		{"email-form", "POST", invite, object{"email": "Foo <u5@x.example", "role": "user"}},
		{"email-form", "POST", invite, object{"email": strings.Repeat("x", 40_000) + "@x.example", "role": "user"}},
		{"limit-size", "PUT", globalLimits, object{"limit": int64(1 << 53)}},
		{"limit-size", "PUT", userLimits, object{"users": []object{{"email": "x", "limit": int64(1 << 53)}}}},
		{"email-twice", "PUT", userLimits, object{"users": []object{{"email": "ä", "limit": nil}, {"email": "Ä", "limit": nil}}}},
		{"email-twice, limit-size", "PUT", userLimits, object{"users": []object{{"email": "a", "limit": int64(1 << 53)}, {"email": "A", "limit": nil}}}},
		{"", "PUT", userLimits, object{"users": []object{{"email": "a", "limit": 5}, {"email": "a", "limit": nil}}}},
	}
}

// Every rule of the contract's list refuses in each of its operations, and is named.
func TestNamedRefusals(t *testing.T) {
	v := newBreachable(t)
	cases := v.breaches()
	for _, path := range []string{"/tokens?", "/tools?", "/activity?", "/productivity?", "/users?", "/cost/me/query?queryKey=by_pr&"} {
		cases = append(cases,
			breach{"date-order", "GET", analytics + path + "startDate=2026-04-02&endDate=2026-04-01", nil},
			breach{"date-history", "GET", analytics + path + "startDate=2026-01-13&endDate=2026-01-14", nil},
			breach{"date-unavailable", "GET", analytics + path + "startDate=2026-04-02&endDate=2026-05-01", nil})
	}
	document, err := contract.Load()
	check.Must(t, err)
	for _, a := range operations() {
		if document.Declared(a.operation).Parameters.GetByInAndName("query", "cursor") != nil {
			cases = append(cases, breach{"cursor-unknown", "GET", strings.Replace(a.with("cursor=x"), sessions+"/SESSION", v.talk, 1), nil})
		}
	}
	covered := map[string][]string{}
	for _, c := range cases {
		a, err := v.try(v.BootstrapKey(), c.method, c.path, c.body)
		entries := v.Journal().Entries()
		operation := entries[len(entries)-1].Operation
		covered[c.rule] = append(covered[c.rule], operation)
		if err != nil || a.status != 400 || a.header.Get(emulator.RuleHeader) != c.rule {
			t.Errorf("%s of %s: %d by %q, error %v: %s", c.rule, operation, a.status, a.header.Get(emulator.RuleHeader), err, a.raw)
		}
	}
	for _, r := range contract.Rules() {
		for _, id := range r.Operations {
			if !slices.Contains(covered[r.ID], id) {
				t.Errorf("the rule %s was not met by %s", r.ID, id)
			}
		}
		if len(covered[r.ID]) == 0 {
			t.Errorf("the rule %s was not met", r.ID)
		}
	}
}

// What the contract does not allow is refused, with its places; the contract's tests show that it finds them. Rules that no schema can
// express name the field.
func TestRequestsRefused(t *testing.T) {
	v := startParallel(t)
	for _, c := range []badRequest{
		{"POST", computers, nil, "/: expected a body, found none"},
		{"GET", computers, object{}, "/: expected no body"},
		{"POST", computers, `{"name":`, "/: expected JSON"},
		{"POST", computers, `{"name":"a","nmae":"b"}`, "/nmae: expected no such field"},
		{"POST", computers, object{"name": strings.Repeat("x", 64), "hostId": "x"}, "/hostId: expected string (uuid), found string of another form (format). /name: expected string, at least 1 long, at most 63 long"},
		{"POST", computers, `{"name":"a\u0000"}`, "NUL"},
		{"POST", computers, object{"name": "a", "provider": "other"}, `"provider" must be one of byom, managed-a`},
		{"POST", computers, object{"name": "a", "provider": "byom", "repos": []string{}, "autoInstallDeps": false}, `"repos" is only for managed computers, not for the provider byom. The field "autoInstallDeps" is only`},
		{"POST", computers, object{"name": strings.Repeat("x", 1<<20)}, "larger than"},
		{"GET", computers + "?color=red", nil, "query color: expected no such parameter"},
		{"GET", computers + "?serviceAccountId=%00", nil, "NUL"},
		{"GET", computers + "?a=%zz", nil, "query: expected a query"},
		{"POST", computers + "/c/files/a..b/create-download", nil, "path fileName"},
	} {
		v.detail(v.call(400, c.method, c.path, c.body), c.want)
	}
	same(t, "computers were created", len(v.call(200, "GET", computers, nil).object(t)["computers"].([]any)), 0)
	same(t, "no escape", v.call(201, "POST", computers, `{"name":"a\\u0000"}`).object(t)["name"], `a\u0000`)
}

func TestValidationErrorsAsArray(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ValidationErrorsArray: true})
	o := v.call(400, "POST", "/api/v0/computers", object{"name": "", "color": "red"}).object(t)
	list, _ := o["errors"].([]any)
	if _, found := o["detail"]; found || len(list) != 2 || o["title"] != "Bad Request" {
		t.Fatalf("body: %v", o)
	}
	check.Says(t, list[0].(object)["message"].(string), "/color")
	v.detail(v.call(404, "GET", "/api/v0/computers/x", nil), "No computer")
}
