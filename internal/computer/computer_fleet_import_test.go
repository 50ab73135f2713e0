package computer_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

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

func TestAccFleet_importByIdentity(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	for name, attributes := range map[string]string{"own": "", "of an account": fmt.Sprintf("service_account_id = %q", account.ID)} {
		t.Run(name, func(t *testing.T) {
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
				Steps: []resource.TestStep{
					{Config: e.Config(fleetConfig(2, attributes)), ConfigStateChecks: []statecheck.StateCheck{
						statecheck.ExpectIdentityValueMatchesState(fleetAddress, tfjsonpath.New("name_prefix")),
						statecheck.ExpectIdentityValueMatchesState(fleetAddress, tfjsonpath.New("service_account_id")),
					}},
					{ResourceName: fleetAddress, ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity},
				},
			})
		})
	}
}

func TestAccFleet_importErrors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	invalid := func(id string) string {
		return `Invalid Import ID(.|\n)*ACCOUNT_ID/build(.|\n)*` + regexp.QuoteMeta(fmt.Sprintf("%q", id))
	}
	for id, want := range map[string]string{
		"a/b/c": invalid("a/b/c"), "/web": invalid("/web"), "a/": invalid("a/"), "we b": invalid("we b"),
		"web":         `Cannot import non-existent remote object`,
		"unknown/web": `Cannot import non-existent remote object`,
	} {
		resource.UnitTest(t, resource.TestCase{
			ProtoV6ProviderFactories: e.Factories,
			Steps: []resource.TestStep{{
				Config:       e.Config(fleetConfig(1, "")),
				ResourceName: fleetAddress, ImportState: true, ImportStateId: id, ExpectError: regexp.MustCompile(want),
			}},
		})
	}
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
