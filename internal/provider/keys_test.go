package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A plan must not promise what the organization's tier excludes. An unavailable service says nothing about access.
func TestPlan_accessOfACreate(t *testing.T) {
	t.Parallel()
	for typeName, config := range map[string]acctest.Values{
		"agentyard_computer":        {"name": "dev"},
		"agentyard_computer_fleet":  {"name_prefix": "web", "quantity": 1},
		"agentyard_service_account": {"name": "ci"},
		"agentyard_api_key":         {"name": "ci", "service_account_id": "sa_1"},
	} {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			check.Must(t, e.SetTier(emulator.TierFree))
			p := acctest.NewProcess(t, e, nil)
			p.Plan(p.NewInstance(typeName), config).MustFail(t, "", "returned 402", "The organization's plan may not include this")

			check.Must(t, e.SetTier(emulator.TierEnterprise))
			for _, status := range []int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusTooManyRequests} {
				e.Faults().Add(emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: -1})
				p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
				out := p.Plan(p.NewInstance(typeName), config)
				if len(out.Errors) != 0 || out.Action != acctest.ActionCreate || len(out.Warnings) != 0 {
					t.Errorf("with %d: %s", status, out)
				}
				e.Faults().Clear()
			}
		})
	}
}

// A pipeline with a new key in each run recognizes the owner of its objects, and can create what was deleted elsewhere.
func TestKeyOwner(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"name": "dev", "wait_for_active": false}
	i := e.NewInstance(t, "agentyard_computer")
	acctest.NewProcess(t, e, acctest.Values{"key_owner": "ci"}).Apply(i, config).MustDo(t, acctest.ActionCreate)
	acctest.NewProcess(t, e, acctest.Values{"key_owner": "ci"}).Apply(i, config).MustDo(t, acctest.ActionNone)
	e.API(http.MethodDelete, "/api/v0/computers/"+i.ID(), nil, nil)

	newKey := e.MemberKey("second@agentyard.example", emulator.RoleManager)
	stranger := acctest.NewProcess(t, e, acctest.Values{"api_key": newKey, "key_owner": "blue"}).Plan(i.Clone(), config)
	stranger.MustFail(t, "", i.ID()+" is not visible to the provider's API key. It was last read with another API key or key_owner.", "If the computer was deleted, run terraform state rm ADDRESS. Otherwise, use a key of its owner.")
	check.Lacks(t, stranger.Text(), "set key_owner")
	acctest.NewProcess(t, e, acctest.Values{"api_key": newKey}).Plan(i.Clone(), config).MustFail(t, "", "If each run uses a new key, set key_owner in the provider block")
	acctest.NewProcess(t, e, acctest.Values{"api_key": newKey, "key_owner": "ci"}).Apply(i, config).MustDo(t, acctest.ActionCreate)
}

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
	check.Says(t, cli.MustRun(apply...).Output, "1 changed")
	cli.MustPlanEmpty()
	due()
	cli.MustRun(destroy...)

	cli.Write("main.tf", without)
	r := cli.Run("plan", "-input=false")
	check.Is(t, "the plan fails", r.ExitCode != 0, true)
	check.Says(t, acctest.OneLine(r.Output), "If the plan creates the resource that api_key depends on, or updates it in place, such as a key that is rotated, "+
		"first run terraform apply -target=ADDRESS with its address.")
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
