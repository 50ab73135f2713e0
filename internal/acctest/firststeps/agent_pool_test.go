package firststeps

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// The module's tests pass with the commands in its README, after what make install does.
func TestAccAgentPool_tests_everyCLI(t *testing.T) {
	t.Parallel()
	acctest.NeedsTestFiles(t)
	m, cli := newMachineWithModules(t)
	pool, readme := agentPool(t)
	block := shellBlock.FindStringSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no commands")
	}
	out := m.run(pool, withEmulator+cliCommand.ReplaceAllString(block[1], "${1}"+cli+" "))
	acctest.Says(t, out, "Success! 20 passed, 0 failed.")
}

// The example in the module's README works unchanged, except for the module's path.
func TestAccAgentPool_README(t *testing.T) {
	t.Parallel()
	m, cli := newMachineWithModules(t)
	pool, readme := agentPool(t)
	block := regexp.MustCompile("(?s)```terraform\n(.*?)```").FindStringSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no example")
	}
	config := regexp.MustCompile(`source = "github[^"]*"`).ReplaceAllLiteralString(block[1], `source = "./pool"`)
	root := t.TempDir()
	script := cli + " apply -auto-approve\n" + cli + " plan -detailed-exitcode\n"
	for _, member := range []string{"avery", "blake"} {
		script = "agentyard-emulator control POST humans '{\"email\":\"" + member + "@agentyard.example\",\"role\":\"user\"}'\n" + script
	}
	for name, text := range map[string]string{"main.tf": config, "run.sh": script} {
		acctest.Must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	acctest.Must(t, os.Symlink(pool, filepath.Join(root, "pool")))
	out := m.run(root, withEmulator+cli+" init\nagentyard-emulator -- bash -eu run.sh")
	acctest.Says(t, out, "Apply complete! Resources: 6 added")
	for name, pattern := range map[string]string{"variables.tf": `variable "(\w+)"`, "outputs.tf": `output "(\w+)"`} {
		text, err := os.ReadFile(filepath.Join(pool, name))
		acctest.Must(t, err)
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(readme, "| `"+match[1]+"` |") {
				t.Errorf("the README does not list %s of %s", match[1], name)
			}
		}
	}
}

// agentPool returns a copy of the module and its README.
func agentPool(t *testing.T) (folder, readme string) {
	t.Helper()
	folder = filepath.Join(checkout(t), "examples", "modules", "agent-pool")
	text, err := os.ReadFile(filepath.Join(folder, "README.md"))
	acctest.Must(t, err)
	return folder, string(text)
}

// withEmulator adds the emulator that newMachineWithModules installed to a script's PATH.
const withEmulator = "export PATH=$PATH:$HOME/go/bin\n"

// newMachineWithModules returns a machine with the provider, the emulator, and a CLI.
func newMachineWithModules(t *testing.T) (m *machine, cli string) {
	t.Helper()
	mirror := t.TempDir()
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		dir := filepath.Join(mirror, host, "agentyard", "agentyard", "0.1.0", runtime.GOOS+"_"+runtime.GOARCH)
		acctest.Must(t, os.MkdirAll(dir, 0o700))
		acctest.Must(t, os.Symlink(acctest.ProviderBinary(t), filepath.Join(dir, "terraform-provider-agentyard")))
	}
	config := filepath.Join(t.TempDir(), "cli.tfrc")
	if err := os.WriteFile(config, []byte("provider_installation {\n  filesystem_mirror {\n    path = \""+mirror+"\"\n  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, cli = newMachineWithCLI(t, "TF_CLI_CONFIG_FILE="+config)
	m.run(project(t), "go install ./internal/emulator/cmd/agentyard-emulator")
	return m, cli
}
