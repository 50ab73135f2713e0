package provider_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// A value that becomes known in the apply is refused there, in the same words as in a plan.
func TestAccConfigServer_valuesOfTheApply_everyCLI(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for config, want := range map[string]string{
		`resource "agentyard_global_usage_limit" "test" {
			limit = terraform_data.it.output / 3
		}`: `limit must be a whole number, not 33333333\.3333\. Use floor\(\)\.`,
		`resource "agentyard_computer" "test" {
			name  = "c"
			repos = ["https://git.example/acme/app", terraform_data.it.output > 1 ? null : "https://git.example/acme/x"]
		}`: `repos\[1\] must not be null\. Remove the element or set its value\.`,
		`data "agentyard_sessions" "test" {
			max_results = terraform_data.it.output / 3
		}`: `max_results must be a whole number, not 33333333\.3333\. Use floor\(\)\.`,
	} {
		resource.UnitTest(t, resource.TestCase{
			ProtoV6ProviderFactories: e.Factories,
			Steps: []resource.TestStep{{
				Config:      e.Config("resource \"terraform_data\" \"it\" {\n  input = 100000000\n}\n" + config),
				ExpectError: regexp.MustCompile(want),
			}},
		})
	}
}
