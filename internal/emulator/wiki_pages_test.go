package emulator_test

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
		must(t, v.ConnectRepository(emulator.Repository{URL: address}))
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
