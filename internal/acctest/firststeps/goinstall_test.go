package firststeps

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var goInstall = regexp.MustCompile(`module=\S+\ngo install \S+@latest`)

// The lines in the READMEs and pages are the same, and `go install` refuses no module that replaces another.
func TestGoInstall_emulator(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, name := range []string{"README.md", "internal/emulator/README.md", "docs/index.md", "docs/guides/getting-started.md", "go.mod"} {
		text, err := os.ReadFile(filepath.Join(project(t), name))
		if err != nil || name == "go.mod" && strings.Contains(string(text), "\nreplace ") {
			t.Fatal(name, err, "go.mod may have no replace")
		}
		lines = append(lines, goInstall.FindAllString(strings.ReplaceAll(string(text), "\n    ", "\n"), -1)...)
	}
	if len(lines) != 4 || len(slices.Compact(lines)) != 1 {
		t.Errorf("the READMEs and pages say %q, want the same lines once in each", lines)
	}
}
