package environment

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// Each status of a build in the contract is in a group of a wait, is described, and says the same status of the environment as its group.
func TestBuildStates(t *testing.T) {
	t.Parallel()
	document, err := contract.Load()
	check.Must(t, err)
	statuses := document.Declared("getEnvironmentBuildStatuses").Responses.Value("200").Value.Content.Get("application/json").Schema.Value
	build := statuses.Properties["builds"].Value.Items.Value.Properties["latestBuild"].Value
	for _, status := range build.Properties["status"].Value.Enum {
		word, want := status.(string), "no status"
		switch {
		case word == environments.BuildSuperseded:
			want = "of the newer one"
		case slices.Contains(buildStates.InProgress, word):
			want = environments.StatusBuilding
		case slices.Contains(buildStates.Done, word):
			want = environments.StatusReady
		case slices.Contains(buildStates.Failed, word):
			want = environments.StatusFailed
		}
		check.Is(t, "the environment after "+word, environments.StateOf("of the newer one", word), want)
		check.Says(t, buildResults["status"].Text, "`"+word+"`")
	}
}
