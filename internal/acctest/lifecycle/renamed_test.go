package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Resources that are renamed without moved blocks are deleted and created in one apply. Each creation waits until its name is free.
func TestAccResource_renamedWithoutMoved(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.Provisioning.Step = time.Millisecond })
	const resources = `
resource "agentyard_service_account" "ADDRESS" {
  name = "robot"
}
resource "agentyard_api_key" "ADDRESS" {
  service_account_id = agentyard_service_account.ADDRESS.id
  name               = "ci"
}
resource "agentyard_computer" "ADDRESS" {
  name = "c"
}
resource "agentyard_computer_fleet" "ADDRESS" {
  name_prefix = "f"
  quantity    = 2
}
resource "agentyard_environment" "ADDRESS" {
  name           = "ci"
  wait_for_build = false
  repositories   = [{ url = "https://git.example/acme/app", script = "make" }]
}
`
	cli := acctest.NewCLI(t, e, strings.ReplaceAll(resources, "ADDRESS", "before"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", strings.ReplaceAll(resources, "ADDRESS", "after"))
	acctest.Says(t, cli.MustRun("apply", "-auto-approve", "-input=false").Output, "5 added, 0 changed, 5 destroyed")
	cli.MustPlanEmpty()
}
