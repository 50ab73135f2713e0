package acctest

import (
	"os"
	"path/filepath"
	"testing"
)

// Example returns the content of a file in examples/.
func Example(t testing.TB, path string) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "examples", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
