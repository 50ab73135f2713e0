package emulator_test

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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
	check.Must(v.t, err)
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
	check.Is(t, "heads of one branch", head("https://CODE.example/ACME/Api", nil), head(api, object{"branch": "main"}))
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
	expect := func(path string, want ...string) {
		t.Helper()
		same(t, path, v.runsAt(v.BootstrapKey(), path), strings.Join(want, " "))
	}
	expect(wiki, third, other)
	expect(historyOf(api), third, second, first)
	expect(historyOf(web), other)

	// A repository that is no longer covered has no history; its runs remain.
	check.Must(t, v.DisconnectRepository(api))
	v.detail(v.call(403, "GET", historyOf(api), nil), "does not cover the repository")
	expect(wiki, third, other)
	same(t, "run", v.call(200, "GET", wiki+"/"+first, nil).object(t)["isRepoCoveredByOrgIntegration"], false)
	v.ConnectIntegration(false)
	v.call(403, "GET", historyOf(web), nil)
	v.call(403, "POST", wiki, object{"repoUrl": web})
	v.ConnectIntegration(true)
	check.Must(t, v.ConnectRepository(emulator.Repository{URL: "https://code.example/Acme/API"}))
	expect(historyOf(api), third, second, first)
	fourth := create(api)
	expect(wiki, fourth, other)
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
	check.Must(t, err)
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
	check.Must(t, err)
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

// upload is the body of an upload; pages get a title and a content if they have none.
func upload(pages ...object) object {
	for _, p := range pages {
		for _, name := range []string{"title", "content"} {
			if p[name] == nil {
				p[name] = name
			}
		}
	}
	return object{"repoUrl": api, "pages": pages}
}

// withTree adds a tree to an upload.
func withTree(body object, nodes ...object) object {
	body["pageTree"] = nodes
	return body
}

// deepUpload is an upload of one page with nodes of it in so many levels.
func deepUpload(levels int) object {
	var tree []object
	for range levels {
		tree = []object{{"path": "a.md", "title": "A", "children": tree}}
		if tree[0]["children"].([]object) == nil {
			delete(tree[0], "children")
		}
	}
	return withTree(upload(object{"path": "a.md"}), tree...)
}

// treeOf writes the paths of a tree with those below in brackets, and counts its levels.
func treeOf(nodes any) (text string, levels int) {
	var parts []string
	for _, n := range nodes.([]any) {
		n := n.(object)
		below, depth := treeOf(n["children"])
		if below != "" {
			below = "(" + below + ")"
		}
		parts, levels = append(parts, fmt.Sprintf("%s %v", n["path"], n["order"])+below), max(levels, depth+1)
	}
	return strings.Join(parts, ", "), levels
}

// pagesOf are the pages of a run that are in its tree, by their paths.
func (v *env) pagesOf(run object) map[string]object {
	v.t.Helper()
	pages := map[string]object{}
	var visit func(nodes any)
	visit = func(nodes any) {
		for _, n := range nodes.([]any) {
			n := n.(object)
			page := v.call(200, "GET", wiki+"/"+run["wikiRunId"].(string)+"/pages/"+url.PathEscape(n["pageId"].(string)), nil).object(v.t)
			fields(v.t, "page", page, object{"pageId": n["pageId"], "path": n["path"]})
			pages[page["path"].(string)] = page
			visit(n["children"])
		}
	}
	visit(run["pageTree"])
	return pages
}

func TestGeneratedWiki(t *testing.T) {
	v := startParallel(t)
	counts := map[float64]bool{}
	for i := range 12 {
		address := fmt.Sprintf("https://code.example/many/r%d", i)
		check.Must(t, v.ConnectRepository(emulator.Repository{URL: address}))
		run := v.wikiRun(address, nil)
		text, levels := treeOf(run["pageTree"])
		pages := v.pagesOf(run)
		count := run["pageCount"].(float64)
		counts[count] = true
		if count < 5 || count > 8 || len(pages) != int(count) || levels < 2 || levels > 3 || run["modelUsed"].(object)["id"] == nil || run["agentVersion"] == nil {
			t.Errorf("%s: %v, %d pages: %s", address, run, len(pages), text)
		}
		for at, page := range pages {
			content := page["content"].(string)
			if !strings.HasPrefix(content, "# "+page["title"].(string)+"\n") || !strings.Contains(content, "many/r") {
				t.Errorf("%s: %s", at, content)
			}
			// Links lead from the page's own directory to another page.
			for _, link := range strings.Split(content, "](")[1:] {
				to := path.Join(path.Dir(at), link[:strings.Index(link, ")")])
				if pages[to] == nil {
					t.Errorf("%s links to %s", at, to)
				}
			}
		}
		// Another run has the same pages with other IDs.
		again := v.wikiRun(address, nil)
		if other, _ := treeOf(again["pageTree"]); other != text {
			t.Errorf("again: %s, before %s", other, text)
		}
		for at, page := range v.pagesOf(again) {
			if page["content"] != pages[at]["content"] || page["pageId"] == pages[at]["pageId"] {
				t.Errorf("again: %v, before %v", page, pages[at])
			}
		}
	}
	same(t, "numbers of pages", len(counts), 4)
}

func TestUploadedWiki(t *testing.T) {
	v := startParallel(t)
	long := strings.Repeat("long ", 1<<19) // More than other bodies may have.
	body := upload(object{"path": "b.md", "title": "B", "content": ""}, object{"path": "dir/a.md", "title": "", "content": long, "pageId": "own/ID", "order": 7.5})
	body["commitHash"] = "c"
	run := v.call(200, "POST", wiki, body).object(t)
	if text, _ := treeOf(run["pageTree"]); text != "b.md 0, dir/a.md 7.5" || run["pageCount"] != 2.0 || run["modelUsed"] != nil || run["agentVersion"] != nil {
		t.Errorf("%s: %v", text, run)
	}
	pages := v.pagesOf(run)
	fields(t, "page", pages["dir/a.md"], object{"pageId": "own/ID", "title": "", "content": long, "order": 7.5})
	if p := pages["b.md"]; p["pageId"] == "" || p["title"] != "B" || p["content"] != "" || p["order"] != 0.0 {
		t.Errorf("page: %v", p)
	}

	// A tree has its own titles and order, and need not have every page.
	run = v.call(200, "POST", wiki, withTree(
		upload(object{"path": "a.md", "pageId": "p"}, object{"path": "b.md"}, object{"path": "c.md"}),
		object{"path": "c.md", "title": "See", "order": 4, "children": []object{{"path": "a.md", "title": "A", "pageId": "p"}}}, object{"path": "c.md", "title": "Again"},
	)).object(t)
	if text, _ := treeOf(run["pageTree"]); text != "c.md 4(a.md 0), c.md 1" || run["pageCount"] != 3.0 || run["pageTree"].([]any)[0].(object)["title"] != "See" {
		t.Errorf("%s: %v", text, run)
	}
	v.pagesOf(run)
	run = v.call(200, "POST", wiki, withTree(upload(object{"path": "a.md"}), []object{}...)).object(t)
	if got := fmt.Sprint(run["pageTree"]); got != "[]" || run["pageCount"] != 1.0 {
		t.Errorf("run: %v", run)
	}
	if _, levels := treeOf(v.call(200, "POST", wiki, deepUpload(5)).object(t)["pageTree"]); levels != 5 {
		t.Errorf("%d levels", levels)
	}
}

func TestUploadedWikiRefuses(t *testing.T) {
	v := startParallel(t)
	page := func() object { return object{"path": "a.md", "pageId": "p"} }
	for _, c := range []struct {
		rule, text string
		body       object
	}{
		{"wiki-tree", `"pageTree[0].path" must be the path of a page`, withTree(upload(page()), object{"path": "b.md", "title": ""})},
		{"wiki-tree", `"pageTree[0].children[1].path" must be the path of a page`,
			withTree(upload(page()), object{"path": "a.md", "title": "", "children": []object{{"path": "a.md", "title": ""}, {"path": "A.md", "title": ""}}})},
		{"wiki-tree", `"pageTree[0].pageId" must be the ID of the page`, withTree(upload(page()), object{"path": "a.md", "title": "", "pageId": "q"})},
	} {
		a := v.call(400, "POST", wiki, c.body)
		v.detail(a, c.text)
		same(t, c.text+": rule", a.header.Get(emulator.RuleHeader), c.rule)
	}
	for _, wrong := range []string{"", "/a.md", "../a.md", "a..md", "./a.md", "a//b.md", "a/", `a\b.md`, "wiki.json"} {
		a := v.call(400, "POST", wiki, upload(object{"path": wrong}))
		v.detail(a, `"pages[0].path" must name a file of the wiki`)
		same(t, wrong+": rule", a.header.Get(emulator.RuleHeader), "wiki-path")
	}
	same(t, "refused uploads left", string(v.call(200, "GET", wiki, nil).raw), `{"wikiRuns":[]}`)
}

func TestSearchWiki(t *testing.T) {
	v := startParallel(t)
	far := strings.Repeat("ä", 100) + "İ Needle" + strings.Repeat("z", 100)
	run := v.call(200, "POST", wiki, upload(
		object{"path": "z.md", "title": "Needle", "content": "needle NEEDLE"},
		object{"path": "c.md", "title": "C", "content": far},
		object{"path": "b.md", "title": "The needle", "content": "none of it"},
		object{"path": "a.md", "title": "A", "content": "something else: 50% ß"},
	)).object(t)
	at := wiki + "/" + run["wikiRunId"].(string) + "/search"
	search := func(query string) (paths, snippets []string) {
		t.Helper()
		for _, r := range v.call(200, "GET", at+"?"+query, nil).object(t)["results"].([]any) {
			r := r.(object)
			page := v.call(200, "GET", wiki+"/"+run["wikiRunId"].(string)+"/pages/"+r["pageId"].(string), nil).object(t)
			fields(t, "page of a result", page, object{"path": r["path"], "title": r["title"]})
			paths, snippets = append(paths, fmt.Sprintf("%v %v", r["path"], r["matchCount"])), append(snippets, r["snippet"].(string))
		}
		return paths, snippets
	}
	paths, snippets := search("q=nEEdle")
	same(t, "results", strings.Join(paths, ", "), "z.md 3, b.md 1, c.md 1")
	want := []string{"needle NEEDLE", "none of it", strings.Repeat("ä", 58) + "İ Needle" + strings.Repeat("z", 60)}
	same(t, "snippets", strings.Join(snippets, "\n"), strings.Join(want, "\n"))
	if paths, _ := search("q=needle&limit=1"); strings.Join(paths, ", ") != "z.md 3" {
		t.Errorf("the first: %s", paths)
	}
	if paths, _ := search("q=50%25+%C3%9F&limit=100"); strings.Join(paths, ", ") != "a.md 1" {
		t.Errorf("characters that are escaped: %s", paths)
	}
	same(t, "nothing", string(v.call(200, "GET", at+"?q=nothing+of+the+kind", nil).raw), `{"results":[]}`)
}
