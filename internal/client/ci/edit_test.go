package ci

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
)

// The outcomes are in the order of the request, whatever the order and case of the response. A repository may have several.
func TestEditCIWorkflow_outcomes(t *testing.T) {
	t.Parallel()
	targets := []Target{{RepoFullName: "acme/web"}, {RepoFullName: "acme/api"}, {RepoFullName: "Acme/API", FilePath: new("b.yml")}}
	c, _, _ := area.ServeShort(t, func(string) string {
		return `200 {"sessions":[{"repoFullName":"ACME/api","prUrl":"1"},{"repoFullName":"Acme/Web","message":"none"},{"repoFullName":"acme/api","error":{"code":1}}],"new":1}`
	})
	outcomes, err := c.EditWorkflow(t.Context(), EditWorkflowRequest{Action: "create", Repos: targets})
	clienttest.Must(t, err)
	if got := texts(outcomes, func(o Outcome) string { return string(o.PullRequest + o.Message + o.Error) }); got != `none 1 {"code":1}` {
		t.Errorf("got %s", got)
	}
}
