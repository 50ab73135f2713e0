package guides

import (
	"archive/zip"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

type wikiRun struct {
	WikiRunID, RepoURL, CommitHash, PrivacyLevel string
	PageCount                                    int
}

// history are the wiki runs of a repository, the newest first.
func history(e *acctest.Env, repository string) []wikiRun {
	var answer struct{ WikiRuns []wikiRun }
	e.API(http.MethodGet, "/api/v0/wiki/history/"+url.PathEscape("https://code.example/"+repository), nil, &answer)
	return answer.WikiRuns
}

func wikisFromPipelines(g *reader) {
	t, e, cli := g.t, g.e, g.cli
	g.step()
	commits := g.read("commits.auto.tfvars")
	if api := history(e, "acme/api"); len(api) != 1 || api[0].PrivacyLevel != "organization" || !strings.Contains(commits, api[0].CommitHash) {
		t.Errorf("the wikis are %+v", api)
	}
	web := history(e, "acme/web")

	// The next commit of one of them.
	commits = strings.ReplaceAll(commits, history(e, "acme/api")[0].CommitHash, strings.Repeat("7", 40))
	cli.Write("commits.auto.tfvars", commits)
	g.step()
	if api := history(e, "acme/api"); len(api) != 2 || api[0].CommitHash != strings.Repeat("7", 40) && api[1].CommitHash != strings.Repeat("7", 40) {
		t.Errorf("the wikis are %+v", api)
	}
	if now := history(e, "acme/web"); len(now) != 2 || now[0] != web[0] && now[1] != web[0] {
		t.Errorf("the wikis are %+v, and before %+v", now, web)
	}
	if legacy := history(e, "acme/legacy"); len(legacy) != 0 {
		t.Errorf("the wikis of a repository that cannot be written are %+v", legacy)
	}

	cli.Write("wiki/use/start.md", "# How to start\n\nRead this.\n")
	g.step()
	if tools := history(e, "robin/tools"); len(tools) != 1 || tools[0].PageCount != 2 {
		t.Errorf("the wikis are %+v", tools)
	}

	g.step()
	archive, err := zip.OpenReader(filepath.Join(cli.Dir, "wiki-api.zip"))
	if err != nil || len(archive.File) < 2 {
		t.Fatalf("the archive: %v", err)
	}
	if err := archive.Close(); err != nil {
		t.Error(err)
	}

	if out := g.step(); !strings.Contains(out, "newest") || !strings.Contains(out, "of_others") {
		t.Errorf("the history is not shown: %s", out)
	}
	cli.MustPlanEmpty()
	cli.Write("commits.auto.tfvars", strings.ReplaceAll(commits, strings.Repeat("7", 40), strings.Repeat("8", 40)))
	again := []string{"apply", "-auto-approve", "-input=false"}
	if r := cli.MustRun(again...); !strings.Contains(r.Output, history(e, "acme/api")[0].CommitHash+"\"") {
		t.Errorf("the newest run is not shown: %s", r.Output)
	}
	cli.MustPlanEmpty()
	cli.MustRun(append(again, `-replace=agentyard_wiki_run.monthly["acme/api"]`)...)
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	cli.MustRun(again...)
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	for _, repository := range []string{"acme/api", "acme/web", "robin/tools"} {
		if left := history(e, repository); len(left) > 0 {
			t.Errorf("%+v is left", left)
		}
	}
}
