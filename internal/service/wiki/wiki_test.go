package wiki_test

import (
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// fails expects an error of a data source, at an attribute or at none.
func fails(t *testing.T, e *acctest.Env, name string, config acctest.Values, at string, want ...string) {
	t.Helper()
	failsWith(t, e, nil, name, config, at, want...)
}

// failsWith is fails with additional provider settings.
func failsWith(t *testing.T, e *acctest.Env, settings acctest.Values, name string, config acctest.Values, at string, want ...string) {
	t.Helper()
	_, out := acctest.NewProcess(t, e, settings).ReadData("agentyard_wiki_"+name, config)
	out.MustFail(t, at, want...)
}

// page is an uploaded page.
type page struct {
	PageID  string  `json:"pageId,omitempty"`
	Path    string  `json:"path"`
	Title   string  `json:"title"`
	Content string  `json:"content"`
	Order   float64 `json:"order"`
}

// uploadWiki creates a run from pages and returns its ID.
func uploadWiki(e *acctest.Env, pages ...page) string {
	var run struct {
		ID string `json:"wikiRunId"`
	}
	e.API(http.MethodPost, "/api/v0/wiki", map[string]any{"repoUrl": "https://code.example/acme/api", "pages": pages}, &run)
	return run.ID
}

// privateRun creates a run that only another user can see, and returns its ID.
func privateRun(t *testing.T, e *acctest.Env) string {
	t.Helper()
	if _, _, err := e.AddHuman(emulator.Human{Email: "ada@acme.example"}); err != nil {
		t.Fatal(err)
	}
	id, err := e.AddWikiRun(emulator.WikiRun{RepoURL: "https://code.example/acme/api", OwnerEmail: "ada@acme.example", PrivacyLevel: "private"})
	acctest.Must(t, err)
	return id
}
