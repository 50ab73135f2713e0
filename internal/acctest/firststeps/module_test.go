package firststeps

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// The tests of the example module pass. What they need is in place, as make install would put it.
func TestAccExample_testing_everyCLI(t *testing.T) {
	t.Parallel()
	acctest.NeedsTestFiles(t)
	mirror := t.TempDir()
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		dir := filepath.Join(mirror, host, "agentyard", "agentyard", "0.1.0", runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(acctest.ProviderBinary(t), filepath.Join(dir, "terraform-provider-agentyard")); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(t.TempDir(), "cli.tfrc")
	if err := os.WriteFile(config, []byte("provider_installation {\n  filesystem_mirror {\n    path = \""+mirror+"\"\n  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, cli := newMachineWithCLI(t, "TF_CLI_CONFIG_FILE="+config)
	m.run(project(t), "go install ./internal/emulator/cmd/agentyard-emulator")
	out := m.run(filepath.Join(checkout(t), "examples", "testing"), "export PATH=$PATH:$HOME/go/bin\n"+cli+" init\nagentyard-emulator -- "+cli+" test")
	if !strings.Contains(out, "Success! 5 passed, 0 failed.") {
		t.Errorf("the tests of the example:\n%s", out)
	}
}
