package emulator_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const wiki, api, web = "/api/v0/wiki", "https://code.example/acme/api", "https://code.example/acme/web"

// wikiRun makes a run and returns it; more are further fields of the request.
func (v *env) wikiRun(repo string, more object) object {
	v.t.Helper()
	body := object{"repoUrl": repo}
	for name, value := range more {
		body[name] = value
	}
	return v.call(200, "POST", wiki, body).object(v.t)
}

// historyOf is the path of a repository's runs.
func historyOf(repo string) string { return wiki + "/history/" + url.PathEscape(repo) }

// runsAt are the IDs of the runs in a listing.
func (v *env) runsAt(key, path string) string {
	v.t.Helper()
	ids := []string{}
	for _, run := range v.as(key, 200, "GET", path, nil).object(v.t)["wikiRuns"].([]any) {
		ids = append(ids, run.(object)["wikiRunId"].(string))
	}
	return strings.Join(ids, " ")
}

// addRun makes a run of another member.
func (v *env) addRun(given emulator.WikiRun) string {
	v.t.Helper()
	id, err := v.AddWikiRun(given)
	must(v.t, err)
	return id
}

func TestWikiRunLife(t *testing.T) {
	v := startParallel(t)
	run := v.wikiRun(api, nil)
	id := run["wikiRunId"].(string)
	manager := v.call(200, "GET", members, nil).object(t)["users"].([]any)[0].(object)["id"]
	if run["repoUrl"] != api || run["branch"] != "main" || len(run["commitHash"].(string)) != 40 || run["hasLocalChanges"] != false ||
		run["hasNonRemoteCommits"] != false || run["privacyLevel"] != "organization" || run["canUpdatePrivacy"] != true || run["ownerUserId"] != manager ||
		run["isRepoCoveredByOrgIntegration"] != true || run["createdAt"] != float64(v.clock.Now().UnixMilli()) || run["status"] != nil || run["sourceSessionId"] != nil {
		t.Errorf("run: %v", run)
	}
	same(t, "the run", v.call(200, "GET", wiki+"/"+id, nil).object(t), run)
	for _, path := range []string{wiki, historyOf(api)} {
		list := v.call(200, "GET", path, nil).object(t)["wikiRuns"].([]any)
		if len(list) != 1 {
			t.Fatalf("%s: %v", path, list)
		}
		same(t, path, list[0], run)
	}
	same(t, "answer", string(v.call(200, "DELETE", wiki+"/"+id, nil).raw), `{"deleted":true}`)
	for _, c := range [][2]string{{"GET", ""}, {"DELETE", ""}, {"GET", "/export"}, {"GET", "/search?q=a"}, {"GET", "/pages/" + run["pageTree"].([]any)[0].(object)["pageId"].(string)}} {
		v.detail(v.call(404, c[0], wiki+"/"+id+c[1], nil), "no wiki run with the ID")
	}
	for _, path := range []string{wiki, historyOf(api), historyOf(web)} {
		same(t, path, string(v.call(200, "GET", path, nil).raw), `{"wikiRuns":[]}`)
	}
}

func TestCreateWikiRun(t *testing.T) {
	v := startParallel(t)
	given := v.wikiRun(web+".git/", object{"branch": "topic", "commitHash": "abc", "hasLocalChanges": true, "hasNonRemoteCommits": true})
	fields(t, "run", given, object{"repoUrl": web, "branch": "topic", "commitHash": "abc", "hasLocalChanges": true, "hasNonRemoteCommits": true})
	// The head follows from the repository and the branch, and the branch from the repository.
	head := func(repo string, more object) any { return v.wikiRun(repo, more)["commitHash"] }
	if a, b := head("https://CODE.example/ACME/Api", nil), head(api, object{"branch": "main"}); a != b {
		t.Errorf("heads of one branch: %v and %v", a, b)
	}
	if a, b, c := head(api, nil), head(api, object{"branch": "topic"}), head(web, nil); a == b || a == c {
		t.Errorf("heads of different branches: %v, %v, %v", a, b, c)
	}
	same(t, "the default branch is", v.wikiRun("https://code.example/acme/legacy", nil)["branch"], "master")
	// Nothing tells two requests apart.
	if a, b := v.wikiRun(api, nil)["wikiRunId"], v.wikiRun(api, nil)["wikiRunId"]; a == b {
		t.Error("one run for two requests")
	}

	_, key := v.account("ci")
	run := v.as(key, 200, "POST", wiki, object{"repoUrl": api}).object(t)
	fields(t, "run of the service account", run, object{"ownerUserId": nil, "canUpdatePrivacy": true})

	for _, c := range []refusal{
		{object{"repoUrl": "https://code.example/acme/other"}, `does not cover the repository "https://code.example/acme/other". Connect it`},
		{object{"repoUrl": "https://other.example/acme/api"}, "does not cover"},
		{object{"repoUrl": api + "?ref=main"}, "does not cover"},
	} {
		v.detail(v.call(403, "POST", wiki, c.body), c.want)
	}
}

func TestListWikiRuns(t *testing.T) {
	v := startParallel(t)
	create := func(repo string) string { return v.wikiRun(repo, nil)["wikiRunId"].(string) }
	first, second, other := create(api), create(api+".git"), create(web)
	third := create(api)
	check := func(path string, want ...string) {
		t.Helper()
		same(t, path, v.runsAt(v.BootstrapKey(), path), strings.Join(want, " "))
	}
	check(wiki, third, other)
	check(historyOf(api), third, second, first)
	check(historyOf(web), other)

	// A repository that is no longer covered has no history; its runs remain.
	must(t, v.DisconnectRepository(api))
	v.detail(v.call(403, "GET", historyOf(api), nil), "does not cover the repository")
	check(wiki, third, other)
	same(t, "run", v.call(200, "GET", wiki+"/"+first, nil).object(t)["isRepoCoveredByOrgIntegration"], false)
	v.ConnectIntegration(false)
	v.call(403, "GET", historyOf(web), nil)
	v.call(403, "POST", wiki, object{"repoUrl": web})
	v.ConnectIntegration(true)
	must(t, v.ConnectRepository(emulator.Repository{URL: "https://code.example/Acme/API"}))
	check(historyOf(api), third, second, first)
	fourth := create(api)
	check(wiki, fourth, other)
}

func TestWikiHistoryTakesWholeAddresses(t *testing.T) {
	v := startParallel(t)
	id := v.wikiRun(api, nil)["wikiRunId"].(string)
	for _, path := range []string{"https%3A%2F%2Fcode.example%2Facme%2Fapi", "https:%2F%2Fcode.example%2Facme%2Fapi.git", "HTTPS%3A%2F%2FCode.Example%2FAcme%2FApi%2F"} {
		same(t, path, v.runsAt(v.BootstrapKey(), wiki+"/history/"+path), id)
	}
	for _, address := range []string{"acme/api", " ", api + "?x=1", api + "#x", api + "/tree/main", "https://code.example/acme/none", "https://u:p@code.example/acme/api", id} {
		v.detail(v.call(403, "GET", historyOf(address), nil), "does not cover the repository")
	}
}

func TestWikiPrivacy(t *testing.T) {
	v := startParallel(t)
	_, owner, err := v.AddHuman(emulator.Human{Email: "author@people.example"})
	must(t, err)
	_, user := v.human(emulator.RoleUser)
	_, top := v.human(emulator.RoleOwner)
	_, machine := v.account("ci")
	id := v.addRun(emulator.WikiRun{RepoURL: api, OwnerEmail: "author@people.example", SourceSessionID: "session"})
	path := wiki + "/" + id
	level := func(key string, want int, to any) response {
		t.Helper()
		return v.as(key, want, "POST", path+"/privacy", object{"privacyLevel": to})
	}
	for key, may := range map[string]bool{owner: true, v.BootstrapKey(): true, top: true, user: false, machine: false} {
		fields(t, fmt.Sprintf("run of a caller who may change it: %v", may), v.as(key, 200, "GET", path, nil).object(t), object{"canUpdatePrivacy": may, "sourceSessionId": "session"})
		if !may {
			v.detail(level(key, 403, "private"), "its owner or a member with the Manager role or higher")
			v.as(key, 403, "DELETE", path, nil)
		} else if run := level(key, 200, "organization").object(t); run["privacyLevel"] != "organization" || run["canUpdatePrivacy"] != true {
			t.Errorf("answer: %v", run)
		}
	}

	// A private run is its owner's alone, whatever the roles.
	older := v.wikiRun(api, nil)
	newer := v.addRun(emulator.WikiRun{RepoURL: api, OwnerEmail: "author@people.example"})
	path = wiki + "/" + newer
	same(t, "answer", level(v.BootstrapKey(), 200, "private").object(t)["privacyLevel"], "private")
	page := v.as(owner, 200, "GET", path, nil).object(t)["pageTree"].([]any)[0].(object)["pageId"].(string)
	for _, key := range []string{v.BootstrapKey(), top, user, machine} {
		for _, suffix := range []string{"", "/export", "/search?q=a", "/pages/" + page} {
			v.detail(v.as(key, 404, "GET", path+suffix, nil), "no wiki run with the ID")
		}
		v.as(key, 404, "DELETE", path, nil)
		level(key, 404, "organization")
		same(t, "the newest run that another sees", v.runsAt(key, wiki), older["wikiRunId"])
		if got := v.runsAt(key, historyOf(api)); strings.Contains(got, newer) || !strings.Contains(got, id) {
			t.Errorf("history for another: %s", got)
		}
	}
	same(t, "the newest run for its owner", v.runsAt(owner, wiki), newer)
	level(owner, 200, "organization")
	v.as(top, 200, "GET", path, nil)

	v.detail(level(owner, 422, "public"), "/privacyLevel: expected one of private, organization")
	v.as(owner, 400, "POST", path+"/privacy", object{})
	v.as(v.BootstrapKey(), 200, "DELETE", path, nil)
	v.as(owner, 404, "GET", path, nil)
}

// TestAccess shows that the setting false switches the wiki off.
func TestWikiIsOnWhereTheSettingIsNot(t *testing.T) {
	v := startParallel(t)
	v.changeControls(object{"wikiCloudSync": false}, "")
	v.changeControls(object{"wikiCloudSync": nil}, "")
	v.call(200, "GET", wiki, nil)
}

func TestWikiControls(t *testing.T) {
	v := startParallel(t)
	_, dev, err := v.AddHuman(emulator.Human{Email: "dev@people.example"})
	must(t, err)
	const control = "/_emulator/wiki-runs"
	id := v.call(201, "POST", control, object{
		"repoUrl": api, "email": "dev@people.example", "privacyLevel": "private", "branch": "b", "commitHash": "c", "sourceSessionId": "s",
	}).object(t)["wikiRunId"].(string)
	own := v.call(201, "POST", control, object{"repoUrl": api}).object(t)["wikiRunId"].(string)
	fields(t, "the run of the manager", v.call(200, "GET", wiki+"/"+own, nil).object(t), object{"privacyLevel": "organization", "branch": "main", "repoUrl": api})
	fields(t, "the run of the member", v.as(dev, 200, "GET", wiki+"/"+id, nil).object(t), object{
		"privacyLevel": "private", "branch": "b", "repoUrl": api, "commitHash": "c", "sourceSessionId": "s",
	})

	v.call(204, "POST", control+"/"+own+"/video-overview", object{"videoOverview": object{"status": "ready"}})
	same(t, "video overview", v.call(200, "GET", wiki+"/"+own, nil).object(t)["videoOverview"], object{"status": "ready"})
	for _, run := range v.call(200, "GET", historyOf(api), nil).object(t)["wikiRuns"].([]any) {
		same(t, "in a list", run.(object)["videoOverview"], nil)
	}
	v.call(204, "POST", control+"/"+own+"/video-overview", object{"videoOverview": nil})
	same(t, "video overview", v.call(200, "GET", wiki+"/"+own, nil).object(t)["videoOverview"], nil)
	v.detail(v.call(400, "POST", control+"/none/video-overview", object{}), "Wiki run none does not exist")
	v.call(404, "POST", control+"/"+own+"/explode", object{})
	for _, c := range []refusal{
		{object{"repoUrl": "https://code.example/acme/none"}, "is not connected"},
		{object{"repoUrl": api, "email": "nobody@people.example"}, "No member has the email address"},
		{object{"repoUrl": api, "privacyLevel": "public"}, "is not private or organization"},
	} {
		v.detail(v.call(400, "POST", control, c.body), c.want)
	}
}
