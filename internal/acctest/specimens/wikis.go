package specimens

var wikiResources = []Resource{{
	Type:  "agentyard_wiki_run",
	Least: Values{"repo_url": "$wiki_repository", "branch": "$name"}, Changed: Values{"repo_url": "$wiki_repository", "branch": "$name", "privacy_level": "private"},
	Full: wiki("private"), FullChanged: wiki("organization"),
	Exists:   Values{"repo_url": "https://code.example/acme/api"},
	Identity: []string{"id"}, NotImported: []string{"pages", "page_tree", "triggers"},
	Listing:  Listing{Path: "/api/v0/wiki", Also: "/api/v0/wiki/history/$wiki_repository", Rows: "wikiRuns", ID: "wikiRunId", Has: []string{`"branch":"$name"`}},
	Nameless: true,
	Creates:  "createWikiRun",
}}

func wiki(privacy string) Values {
	return Values{
		"repo_url": "$wiki_repository", "branch": "next", "commit_hash": "c0ffee0", "has_local_changes": true, "has_non_remote_commits": true, "privacy_level": privacy, "triggers": Values{"release": "1"},
		"pages":     `[{"pageId":"p1","path":"a.md","title":"A","content":"a","order":1},{"path":"b.md","title":"B","content":"b"}]`,
		"page_tree": `[{"title":"A","path":"a.md","order":1,"pageId":"p1","children":[{"title":"B","path":"b.md"}]}]`,
	}
}

var wikiData = []Read{
	{Type: "agentyard_wiki_export", Values: Values{"wiki_run_id": "$run", "output_path": "$folder/wiki.zip"}, Shows: "self.output_size > 0"},
	{Type: "agentyard_wiki_page", Values: Values{"wiki_run_id": "$run", "page_id": "$page"}, Shows: `self.path != ""`},
	{Type: "agentyard_wiki_run", Values: Values{"id": "$run"}, Shows: `self.id == "$run"`},
	{Type: "agentyard_wiki_run_history", Values: Values{"repo_url": "$documented"}, Shows: "length(self.wiki_runs) > 0"},
	{Type: "agentyard_wiki_runs"},
	{Type: "agentyard_wiki_search", Values: Values{"wiki_run_id": "$run", "query": "$word", "limit": 10}},
}

var wikiLists = []Read{
	{Type: "agentyard_wiki_run"},
	{Type: "agentyard_wiki_run", Name: "of a repository", Values: Values{"repo_url": "$documented"}},
}

var wikiEphemerals = []Read{{Type: "agentyard_wiki_video_upload_url", Shows: `url == "" ? "none" : "a URL"`}}
