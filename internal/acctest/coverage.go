package acctest

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// EnvDrivenDir names the variable with the path of a folder. Each operation that a test drives through the provider, and each matrix of
// faults, creates a file there. The test runner sets the variable, and the coverage test reads the folder after all other tests.
const EnvDrivenDir = "AGENTYARD_DRIVEN_DIR"

// MatrixOf begins the name of the file of a resource's matrix.
const MatrixOf = "matrix of "

func recordDriven(t testing.TB, document *contract.Document, r *http.Request) {
	if id, ok := document.Match(r); ok {
		note(t, id)
	}
}

func note(t testing.TB, what string) {
	dir := os.Getenv(EnvDrivenDir)
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, what), nil, 0o600); err != nil {
		t.Errorf("noting %s: %v", what, err)
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
