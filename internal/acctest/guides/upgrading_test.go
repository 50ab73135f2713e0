package guides

import (
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// The lock file keeps the version until init runs with -upgrade.
func upgrading(g *reader) {
	g.cli.Setenv("TF_CLI_CONFIG_FILE", acctest.Mirror(g.t, "0.1.0", "0.2.0"))
	g.expect(g.step(), "agentyard v0.1.0", "1 added")
	g.expect(g.step(), "agentyard v0.2.0", "No changes.")
	if lock := g.read(".terraform.lock.hcl"); !strings.Contains(lock, `"0.2.0"`) {
		g.t.Errorf("the lock file is\n%s", lock)
	}
}
