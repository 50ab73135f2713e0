package firststeps

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	// cliCommand matches the CLI's name where the README uses it as a command.
	cliCommand = regexp.MustCompile(`(?m)(^|-- )terraform `)
)

// commands returns the README's commands, from the installation to its end, by block.
func commands(t *testing.T) []string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(project(t), "README.md"))
	acctest.Must(t, err)
	_, rest, found := strings.Cut(string(readme), "\n## Quick start with the emulator\n")
	if !found {
		t.Fatal("the README has no quick start")
	}
	var blocks []string
	for _, match := range shellBlock.FindAllStringSubmatch(rest, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// The README works as written, from top to bottom, right after a clone.
func TestAccREADME_quickStart_everyCLI(t *testing.T) {
	t.Parallel()
	m, cli := newMachineWithCLI(t)
	tree := checkout(t)
	m.run(tree, "git init -q && git add -A")
	wants := []string{"Plan: 3 to add", "Apply complete! Resources: 3 added", "Destroy complete! Resources: 3 destroyed", "Removed "}
	if acctest.HasTestFiles(t) {
		wants = append(wants, "Success! 5 passed, 0 failed.")
	}
	var script strings.Builder
	for _, block := range commands(t) {
		if strings.Contains(block, "terraform test") && !acctest.HasTestFiles(t) {
			continue
		}
		script.WriteString(cliCommand.ReplaceAllString(block, "${1}"+cli+" "))
		// The files left in the tree contain a key, so Git must ignore them.
		script.WriteString("\nif git -C '" + tree + "' status --porcelain -uall | grep '^??'; then echo 'not ignored by git'; exit 9; fi\n")
	}
	out := m.run(tree, script.String())
	acctest.Says(t, out, wants...)
	// The tree and the home folder are as before, except for files of Go and the CLI.
	if left := m.run(tree, "git status --porcelain -uall --ignored | grep -v '^A ' || true"); left != "" {
		t.Errorf("left in the tree:\n%s", left)
	}
	for _, path := range files(t, m.home) {
		if strings.Contains(path, "agentyard") {
			t.Errorf("left in the home: %s", path)
		}
	}
}
