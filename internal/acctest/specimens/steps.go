package specimens

import (
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

// Config returns the configuration of the resource with these arguments.
func (r Resource) Config(f Fill, arguments Values) string {
	return Block("resource", r.Type, HCL(f.In(arguments)))
}

// Steps are the life of a resource with a CLI: create, update in place, and import in each form. The plan after each step is empty. Not
// every CLI has identities.
func (r Resource) Steps(f Fill, hasIdentity bool) []resource.TestStep {
	step := func(arguments Values, action plancheck.ResourceActionType) resource.TestStep {
		s := resource.TestStep{
			Config: r.Config(f, arguments),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(r.Address(), action)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
		}
		for _, name := range r.Identity {
			if hasIdentity {
				s.ConfigStateChecks = append(s.ConfigStateChecks, statecheck.ExpectIdentityValueMatchesState(r.Address(), tfjsonpath.New(name)))
			}
		}
		return s
	}
	steps := []resource.TestStep{
		step(r.Least, plancheck.ResourceActionCreate),
		step(r.Changed, plancheck.ResourceActionUpdate),
		{ResourceName: r.Address(), ImportState: true, ImportStateIdFunc: r.ImportIDOf, ImportStateVerify: true, ImportStateVerifyIgnore: r.NotImported},
	}
	if hasIdentity {
		steps = append(steps, resource.TestStep{
			ResourceName: r.Address(), ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity, ExpectNonEmptyPlan: r.ImportPlansAnUpdate,
		})
	}
	return steps
}
