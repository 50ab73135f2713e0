package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// A data source reads through a key of the same configuration. When the key is due, the error names the way out. For a data
// source that no resource depends on, depends_on avoids the error.
func TestAccDataSource_throughARotatedKey(t *testing.T) {
	t.Parallel()
	const config = `
resource "agentyard_service_account" "bot" { name = "bot" }
resource "agentyard_api_key" "bot" {
  service_account_id = agentyard_service_account.bot.id
  name               = "bot"
  expires_in         = "30d"
  rotation           = { before_expiry = "7d" }
}
provider "agentyard" {
  alias     = "bot"
  api_key   = agentyard_api_key.bot.key
  key_owner = agentyard_service_account.bot.id
}
data "agentyard_computers" "bot" {
  provider   = agentyard.bot
  depends_on = [agentyard_api_key.bot]
}
`
	without := strings.Replace(config, "  depends_on = [agentyard_api_key.bot]\n", "", 1)
	e := acctest.NewRealTime(t)
	cli := acctest.NewCLI(t, e, config)
	due := func() { e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": "576h"}, nil) }
	apply := []string{"apply", "-auto-approve", "-input=false"}
	destroy := []string{"destroy", "-auto-approve", "-input=false"}

	cli.MustRun(apply...)
	cli.MustPlanEmpty()
	due()
	acctest.Says(t, cli.MustRun(apply...).Output, "1 changed")
	cli.MustPlanEmpty()
	due()
	cli.MustRun(destroy...)

	cli.Write("main.tf", without)
	r := cli.Run("plan", "-input=false")
	if out := acctest.OneLine(r.Output); r.ExitCode == 0 || !strings.Contains(out, "If the plan creates the resource that api_key depends on, or updates it in place, such as a key that is rotated, first run terraform apply -target=ADDRESS with its address.") {
		t.Fatalf("%s", r.Output)
	}
	cli.MustRun(append(apply, "-target=agentyard_api_key.bot")...)
	cli.MustRun(apply...)
	due()
	if r := cli.Run(destroy...); r.ExitCode == 0 {
		t.Errorf("the destroy reads through a key that is not known yet: %s", r.Output)
	}
	cli.MustRun(append(apply, "-target=agentyard_api_key.bot")...)
	cli.MustPlanEmpty()
	cli.MustRun(destroy...)
}
