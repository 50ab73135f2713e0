// Package driven checks that the acceptance tests have driven every operation of the contract through Terraform.
package driven

import (
	"os"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// pending are the operations of areas that the provider does not offer yet. The list must shrink: an operation that is driven may not be on it.
var pending = []string{
	"listWikiRuns", "createWikiRun", "getWikiHistory", "createWikiVideoUploadUrl", "getWikiRun", "deleteWikiRun", "exportWikiRun", "getWikiPage", "updateWikiPrivacy", "searchWikiRun",

	"editCiWorkflow", "listCiJobs", "listCiRepositories", "listCiRepositoryOwners", "listCiRuns", "scanCiWorkflows",

	"listSessions", "createSession", "getSession", "deleteSession", "updateSession", "interruptSession",
}

// TestEveryOperationIsDriven reads what the acceptance tests left behind. The test runner calls it after all of them.
func TestEveryOperationIsDriven(t *testing.T) {
	t.Parallel()
	if os.Getenv("AGENTYARD_DRIVEN_COMPLETE") == "" {
		t.Skip("only after all acceptance tests, as `make test` runs it")
	}
	entries, err := os.ReadDir(os.Getenv("AGENTYARD_DRIVEN_DIR"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	driven := map[string]bool{}
	for _, entry := range entries {
		driven[entry.Name()] = true
	}
	known := map[string]bool{}
	for _, operation := range document.Operations() {
		known[operation.ID] = true
		switch isPending := slices.Contains(pending, operation.ID); {
		case driven[operation.ID] && isPending:
			t.Errorf("%s is driven; take it from the pending list", operation.ID)
		case !driven[operation.ID] && !isPending:
			t.Errorf("no acceptance test drives %s through Terraform", operation.ID)
		}
	}
	for _, id := range pending {
		if !known[id] {
			t.Errorf("%s is pending but not in the contract", id)
		}
	}
	t.Logf("%d of %d operations are driven, %d are pending", len(driven), len(known), len(pending))
}
