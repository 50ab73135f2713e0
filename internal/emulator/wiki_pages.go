package emulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	bolt "go.etcd.io/bbolt"
)

const (
	// maxWikiLevels is how deep a tree of pages can be.
	maxWikiLevels = 5
	// wikiIndex is the file of an export that describes the run.
	wikiIndex = "wiki.json"
	// snippetReach is how many characters a search result shows before and after its first match.
	snippetReach = 60
)

// wikiPage is a page of a wiki, with a number that orders it among those beside it.
type wikiPage struct {
	PageID  string  `json:"pageId"`
	Path    string  `json:"path"`
	Title   string  `json:"title"`
	Content string  `json:"content"`
	Order   float64 `json:"order"`
}

// wikiNode is the place of a page in the tree.
type wikiNode struct {
	PageID   string     `json:"pageId"`
	Title    string     `json:"title"`
	Path     string     `json:"path"`
	Order    float64    `json:"order"`
	Children []wikiNode `json:"children"`
}

// uploadedPages reads the pages of an upload; nil if there are none.
func (r *request) uploadedPages(f *fields) []wikiPage {
	var pages []wikiPage
	paths, ids := map[string]bool{}, map[string]bool{}
	for i, p := range f.objects("pages") {
		page := wikiPage{
			PageID: p.text("pageId"), Path: p.text("path"), Title: p.text("title"),
			Content: p.text("content"), Order: p.order(i),
		}
		if !p.has("pageId") {
			page.PageID = newID("page_", r.now)
		}
		switch {
		case !isPagePath(page.Path):
			p.problemBy("wiki-path", "path", "must name a file of the wiki by a relative path with slashes, without a part that is empty, a dot or two, and not %s", wikiIndex)
		case paths[page.Path]:
			p.problemBy("wiki-tree", "path", "must not be the path of another page")
		}
		if ids[page.PageID] {
			p.problemBy("wiki-tree", "pageId", "must not be the ID of another page")
		}
		pages, paths[page.Path], ids[page.PageID] = append(pages, page), true, true
	}
	return pages
}

// isPagePath reports whether a page can be a file of this path wherever an export is unpacked.
func isPagePath(p string) bool {
	return fs.ValidPath(p) && p != "." && p != wikiIndex && !strings.Contains(p, "..") && !strings.Contains(p, `\`)
}

// order reads the number that orders pages and nodes; without one they are in the order of their list.
func (f *fields) order(index int) float64 {
	n := float64(index)
	_ = json.Unmarshal(f.values["order"], &n)
	return n
}

// uploadedTree reads the tree of an upload. Without one all pages are side by side.
func uploadedTree(f *fields, pages []wikiPage) []wikiNode {
	if f.has("pageTree") && !f.has("pages") {
		f.problemBy("wiki-tree", "pageTree", "requires pages")
	}
	if f.has("pageTree") {
		ids := map[string]string{}
		for _, p := range pages {
			ids[p.Path] = p.PageID
		}
		return uploadedNodes(f, "pageTree", ids, 1)
	}
	tree := make([]wikiNode, len(pages))
	for i, p := range pages {
		tree[i] = p.node()
	}
	return tree
}

func (p wikiPage) node() wikiNode {
	return wikiNode{PageID: p.PageID, Title: p.Title, Path: p.Path, Order: p.Order, Children: []wikiNode{}}
}

// uploadedNodes reads nodes and those below. IDs of pages are by path.
func uploadedNodes(f *fields, name string, ids map[string]string, level int) []wikiNode {
	list := f.objects(name)
	nodes := make([]wikiNode, 0, len(list))
	if len(list) > 0 && level > maxWikiLevels {
		f.problemBy("wiki-depth", name, "must be empty: a tree has at most %d levels", maxWikiLevels)
		return nodes
	}
	for i, n := range list {
		node := wikiNode{
			PageID: n.text("pageId"), Title: n.text("title"), Path: n.text("path"), Order: n.order(i),
		}
		id, found := ids[node.Path]
		switch {
		case !found:
			n.problemBy("wiki-tree", "path", "must be the path of a page")
		case node.PageID == "":
			node.PageID = id
		case node.PageID != id:
			n.problemBy("wiki-tree", "pageId", "must be the ID of the page at the node's path")
		}
		node.Children = uploadedNodes(n, "children", ids, level+1)
		nodes = append(nodes, node)
	}
	return nodes
}

// generated are the pages that the service makes, at most; a node is of the page at the directory of its path.
var generated = []struct{ path, title, text string }{
	{"overview.md", "Overview", "What the repository is for, and where to begin."},
	{"architecture.md", "Architecture", "The parts of the software and how they work together."},
	{"architecture/components.md", "Components", "Each component, its task and its neighbours."},
	{"getting-started.md", "Getting started", "How to build the software and run it for the first time."},
	{"getting-started/configuration.md", "Configuration", "Every setting and its default."},
	{"architecture/components/storage.md", "Storage", "What is stored, where, and for how long."},
	{"operations.md", "Operations", "How the software is released and kept running."},
	{"operations/monitoring.md", "Monitoring", "What to watch, and what an alarm means."},
}

// generatedPages makes a wiki that follows from the address of the repository alone, but for the IDs.
func generatedPages(repo connectedRepository, now time.Time) ([]wikiPage, []wikiNode) {
	count := 5 + int(repo.headCommit("")[0])%4
	var pages []wikiPage
	for _, g := range generated[:count] {
		page := wikiPage{PageID: newID("page_", now), Path: g.path, Title: g.title}
		page.Content = fmt.Sprintf("# %s\n\n%s\n\nThis page is about %s.\n", g.title, g.text, repo.FullName)
		below := strings.TrimSuffix(g.path, ".md")
		for _, other := range generated[:count] {
			if path.Dir(other.path) == below {
				page.Content += fmt.Sprintf("\n- [%s](%s/%s)\n", other.title, path.Base(below), path.Base(other.path))
			}
		}
		for _, other := range pages {
			if path.Dir(other.Path) == path.Dir(g.path) {
				page.Order++
			}
		}
		pages = append(pages, page)
	}
	return pages, nodesIn(pages, ".")
}

// nodesIn are the nodes of the pages in a directory, each with those in the directory named like it.
func nodesIn(pages []wikiPage, directory string) []wikiNode {
	nodes := []wikiNode{}
	for _, p := range pages {
		if path.Dir(p.Path) == directory {
			node := p.node()
			node.Children = nodesIn(pages, strings.TrimSuffix(p.Path, ".md"))
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// putWikiRun stores a new run and its pages.
func putWikiRun(tx *bolt.Tx, run *wikiRun, pages []wikiPage) error {
	run.PageCount = len(pages)
	errs := []error{wikiRunTable.put(tx, run.ID, *run)}
	for i, p := range pages {
		errs = append(errs, wikiPageTable.put(tx, key(run.ID, fmt.Sprintf("%08d", i)), p))
	}
	return errors.Join(errs...)
}

func removeWikiRun(tx *bolt.Tx, id string) error {
	return errors.Join(wikiRunTable.remove(tx, id), wikiPageTable.removeAll(tx, key(id, "")))
}

// wikiPages are the pages of a run, in the order in which they came.
func wikiPages(tx *bolt.Tx, runID string) ([]*wikiPage, error) {
	return wikiPageTable.list(tx, key(runID, ""))
}

func getWikiPage(r *request, run *wikiRun) (reply, error) {
	pages, err := wikiPages(r.tx, run.ID)
	if err != nil {
		return reply{}, err
	}
	at := slices.IndexFunc(pages, func(p *wikiPage) bool { return p.PageID == r.params["pageId"] })
	if at < 0 {
		return reply{}, notFound("The wiki run %q has no page with the ID %q.", run.ID, r.params["pageId"])
	}
	return reply{200, pages[at]}, nil
}

// searchWikiRun counts a text in titles and contents, whatever the case. The pages with most of it come first.
func searchWikiRun(r *request, run *wikiRun) (reply, error) {
	pages, err := wikiPages(r.tx, run.ID)
	type result struct {
		page  *wikiPage
		count int
	}
	var found []result
	text := lower(r.query.Get("q"))
	for _, p := range pages {
		if n := strings.Count(lower(p.Title), text) + strings.Count(lower(p.Content), text); n > 0 {
			found = append(found, result{p, n})
		}
	}
	slices.SortFunc(found, func(a, b result) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.page.Path, b.page.Path))
	})
	return reply{200, values{"results": views(found[:min(r.limit(), len(found))], func(f result) values {
		return values{"pageId": f.page.PageID, "title": f.page.Title, "path": f.page.Path, "snippet": snippet(f.page.Content, text), "matchCount": f.count}
	})}}, err
}

// lower makes every character small without changing how many there are.
func lower(s string) string { return strings.Map(unicode.ToLower, s) }

// snippet is what stands around the first match in a content, or the beginning of one that has none.
func snippet(content, text string) string {
	before, _, found := strings.Cut(lower(content), text)
	at := len([]rune(before))
	if !found {
		at, text = 0, ""
	}
	runes := []rune(content)
	return string(runes[max(0, at-snippetReach):min(len(runes), at+len([]rune(text))+snippetReach)])
}
