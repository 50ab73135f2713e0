package acctest

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// EnvDrivenDir names the variable with the path of a folder. Each operation that a test drives through the provider creates a file there.
// The test runner sets the variable, and the coverage test reads the folder after all other tests.
const EnvDrivenDir = "AGENTYARD_DRIVEN_DIR"

func recordDriven(t testing.TB, document *contract.Document, r *http.Request) {
	dir := os.Getenv(EnvDrivenDir)
	id, ok := document.Match(r)
	if dir == "" || !ok {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, id), nil, 0o600); err != nil {
		t.Errorf("noting %s: %v", id, err)
	}
}

func operationOf(r *http.Request) string {
	document, err := contract.Load()
	if err != nil {
		return ""
	}
	id, _ := document.Match(r)
	return id
}
