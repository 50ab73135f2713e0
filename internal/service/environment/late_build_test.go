package environment

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// At its deadline too, a wait does not take the build before for the one that was started, and looks no more often than before.
func TestEnvironment_aLateBuildIsNotMistakenForTheEarlierOne(t *testing.T) {
	t.Parallel()
	clk, requests := clock.NewFake(clienttest.Start), 0
	address, _ := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		requests++
		if strings.Contains(r.URL.Path, "build-statuses") {
			clienttest.Say(w, `200 {"builds":[{"environmentId":"e","environmentStatus":"ready","latestBuild":{"id":"b1","status":"succeeded"}}]}`)
		} else {
			clienttest.Say(w, `200 {"id":"e","name":"e","repositories":[],"isDefault":false,"status":"building","latestBuild":{"id":"b2","status":"building"}}`)
		}
	})
	c, err := client.New(transport.Config{BaseURL: address, APIKey: clienttest.Key, UserAgent: "a", Clock: clk})
	clienttest.Must(t, err)
	m := &environmentModel{}
	m.ID, m.Name, m.WaitForBuild = types.StringValue("e"), types.StringValue("e"), types.BoolValue(true)
	m.Repositories, m.ActiveRepositories = types.ListNull(repositoryType), types.ListNull(repositoryType)
	isDone, diags := (&environmentResource{crud.Resource{Client: c}}).awaitBuild(t.Context(), m, earlierBuild{"b1", never}, clk.Now().Add(time.Minute), false)
	if isDone || !diags.HasError() || diags[0].Summary() != "Timed out waiting for the build" || requests > 40 {
		t.Errorf("done %v after %d requests: %v", isDone, requests, diags)
	}
	isDone, diags = (&environmentResource{crud.Resource{Client: c}}).awaitBuild(t.Context(), m, earlierBuild{}, clk.Now().Add(time.Minute), false)
	if isDone || !diags.HasError() || requests > 80 {
		t.Errorf("done %v after %d requests: %v", isDone, requests, diags)
	}
}
