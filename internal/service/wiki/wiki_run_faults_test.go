package wiki_test

import (
	"fmt"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	wikiRunType = "agentyard_wiki_run"
	acmeAPI     = "https://code.example/acme/api"
	acmeWeb     = "https://code.example/acme/web"
)

func wikiRunsOf(t testing.TB, e *acctest.Env) []emulator.WikiRun {
	t.Helper()
	all, err := e.WikiRuns()
	check.Must(t, err)
	return all
}

// wikiRunOf returns a configuration of a run of acme/api with changes.
func wikiRunOf(changes acctest.Values) acctest.Values {
	config := acctest.Values{"repo_url": acmeAPI}
	for attribute, v := range changes {
		config[attribute] = v
	}
	return config
}

// A plan of runs that are the latest of their repositories needs only a few requests.
func TestWikiRun_planOfMany(t *testing.T) {
	t.Parallel()
	const n = 20
	e := acctest.New(t)
	configs, made := make([]acctest.Values, n), make([]*acctest.Instance, n)
	for k := range n {
		address := fmt.Sprintf("https://code.example/acme/r%d", k)
		check.Must(t, e.ConnectRepository(emulator.Repository{URL: address, DefaultBranch: "main"}))
		configs[k] = acctest.Values{"repo_url": address}
	}
	acctest.Together(n, n, func(k int) { _, made[k] = e.Created(t, wikiRunType, configs[k]) })
	e.Journal().Reset()
	p := acctest.NewProcess(t, e, nil)
	acctest.Together(n, n, func(k int) {
		if out := p.Apply(made[k], configs[k]); out.Action != acctest.ActionNone || len(out.Errors) > 0 {
			t.Error(out)
		}
	})
	if requests := len(e.Journal().Entries()); requests > 3 {
		t.Errorf("%d requests for a plan of %d: %+v", requests, n, e.Journal().Entries())
	}
}

const (
	pagesJSON = `[{"path":"index.md","title":"Index","content":"# Index"},{"path":"a/b.md","title":"B","content":"b"}]`
	treeJSON  = `[{"path":"index.md","title":"Index","children":[{"path":"a/b.md","title":"B"}]}]`
)
