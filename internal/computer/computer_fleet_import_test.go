package computer_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestAccFleet_importTakesAllOfTheNameAndAdopts(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeComputers(e, "web", "", 11)
	makeComputers(e, "web-1", "", 1)
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "web"}, nil)
	cfg := e.Config(fleetConfig(11, "repos = [\"https://git.example/acme/app\"]\nauto_install_deps = true"))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             emulatorHas(e, "web", "web-1-1"),
		Steps: []resource.TestStep{
			{Config: cfg, ResourceName: fleetAddress, ImportState: true, ImportStateId: "web", ImportStatePersist: true},
			{
				Config: cfg, ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{fleetHas(numbered(1, 11)...), fleetStringIs("provider_type", "managed-a")},
				Check: func(*terraform.State) error {
					if e.Journal().Count("bulkCreateComputers") != 2 || e.Journal().Count("deleteComputer") != 0 {
						return fmt.Errorf("computers were created or deleted")
					}
					return nil
				},
			},
		},
	})
}

func TestAccFleet_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	owned := fmt.Sprintf("service_account_id = %q", account.ID)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noneLeft(e),
		Steps: []resource.TestStep{
			{Config: e.Config(fleetConfig(0, "")), ConfigPlanChecks: acctest.ThenEmpty},
			{
				Config: e.Config(fleetConfig(2, owned)), ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionReplace),
				ConfigStateChecks: []statecheck.StateCheck{
					fleetStringIs("id", account.ID+"/web"),
				},
			},
			{ResourceName: fleetAddress, ImportState: true, ImportStateVerify: true},
			{Config: e.Config(fleetConfig(2, "")), ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionReplace), Check: emulatorHas(e, "web-1", "web-2")},
			{Config: e.Config(fleetConfig(2, owned)), ConfigPlanChecks: expectFleetAction(plancheck.ResourceActionReplace), Check: emulatorHas(e)},
		},
	})
}
