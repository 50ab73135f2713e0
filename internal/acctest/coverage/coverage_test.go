// Package coverage checks that the tests have driven every operation of the contract through the provider.
package coverage

import (
	"os"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// TestEverythingIsDriven reads the folder that the tests wrote. The test runner runs it after them.
func TestEverythingIsDriven(t *testing.T) {
	t.Parallel()
	if os.Getenv("AGENTYARD_DRIVEN_COMPLETE") == "" {
		t.Skip("only after all acceptance tests, as `make test` runs it") //nolint:forbidigo // It reads what they left.
	}
	entries, err := os.ReadDir(os.Getenv("AGENTYARD_DRIVEN_DIR"))
	check.Must(t, err)
	document, err := contract.Load()
	check.Must(t, err)
	driven := map[string]bool{}
	for _, entry := range entries {
		driven[entry.Name()] = true
	}
	operations := document.Operations()
	for _, operation := range operations {
		if !driven[operation.ID] {
			t.Errorf("no test drives %s through the provider", operation.ID)
		}
	}
	t.Logf("%d operations are driven", len(operations))
}
