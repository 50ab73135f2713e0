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
	e.MustNotRead(t, nil, "agentyard_wiki_"+name, config, at, want...)
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
	e.MemberKey("ada@acme.example", "")
	return addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI, OwnerEmail: "ada@acme.example", PrivacyLevel: "private"})
}
