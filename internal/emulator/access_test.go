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
			unknown := a.path + "?x=1"
			if strings.Contains(a.path, "?") {
				unknown = a.path + "&x=1"
			}
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
				got = append(got, fmt.Sprint(send(key, a.path).status))
			}
			same(t, "other account, user, account, owner, manager", strings.Join(got, " "), a.want)
		})
	}
}
