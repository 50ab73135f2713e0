package acctest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Example returns the content of a file in examples/.
func Example(t testing.TB, path string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "..", "examples", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
