// Package lifecycle tests the life cycle and every form of import of each resource. All CLIs run the tests that end in
// _everyCLI; see internal/tools/test.sh.
package lifecycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/lives"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// newOrganization returns an emulator with objects that were created outside Terraform.
func newOrganization(t *testing.T) (*acctest.Env, *strings.Replacer) {
	t.Helper()
	e := acctest.New(t, func(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = -1, -1 })
	return e, fill(t, e)
}

func fill(t *testing.T, e *acctest.Env) *strings.Replacer {
	t.Helper()
	for _, email := range []string{"avery@agentyard.example", "blake@agentyard.example"} {
		if _, _, err := e.AddHuman(emulator.Human{Email: email}); err != nil {
			t.Fatal(err)
		}
	}
	var account, computer, first, second struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "workstation", "provider": "byom", "hostId": "1b4e28ba-2fa1-41d2-883f-0016d3cca427"}, &computer)
	environment := map[string]any{"name": "first", "scope": "organization", "repositories": []any{map[string]any{"url": "https://git.example/acme/app", "script": "make"}}}
	e.API(http.MethodPost, "/api/v0/environments", environment, &first)
	environment["name"] = "second"
	e.API(http.MethodPost, "/api/v0/environments", environment, &second)
	e.API(http.MethodPost, "/_emulator/clock", map[string]string{"advance": "1h"}, nil) // All builds have ended.
	return strings.NewReplacer(
		"$account", account.ID, "$computer", computer.ID, "$first", first.ID, "$second", second.ID,
		"$name", "ci", "$member", "avery@agentyard.example", "$lower", "1000000", "$higher", "9007199254740991",
		"$repositories", `[{ url = "https://git.example/acme/app" }]`, "$wiki_repository", "https://code.example/acme/api",
		"$machine", "", "$environment", "",
	)
}

// exists reports whether the object exists in the emulator.
func exists(l *lives.Life, e *acctest.Env, ids *strings.Replacer) bool {
	var answer json.RawMessage
	e.API(http.MethodGet, ids.Replace(l.Path), nil, &answer)
	return bytes.Contains(answer, []byte(ids.Replace(l.Text)))
}

func forEach(t *testing.T, test func(t *testing.T, l *lives.Life, e *acctest.Env, ids *strings.Replacer)) {
	t.Helper()
	for name, l := range lives.All {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ids := newOrganization(t)
			test(t, &l, e, ids)
		})
	}
}

// Create, update in place, import by ID and by identity, and destroy. The plan after each step is empty, and the identity is in the state.
func TestAccResource_lifeCycle_everyCLI(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l *lives.Life, e *acctest.Env, ids *strings.Replacer) {
		hasIdentity := acctest.HasActions(t) // The test library reads identities only from such a CLI.
		step := func(arguments string, action plancheck.ResourceActionType) resource.TestStep {
			s := resource.TestStep{
				Config: e.Config(l.Config(ids.Replace(arguments))),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(l.Address(), action)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
			}
			for _, name := range l.Identity {
				if hasIdentity {
					s.ConfigStateChecks = append(s.ConfigStateChecks, statecheck.ExpectIdentityValueMatchesState(l.Address(), tfjsonpath.New(name)))
				}
			}
			return s
		}
		changed := step(l.Change, plancheck.ResourceActionUpdate)
		changed.Check = func(*terraform.State) error {
			if l.Path != "" && !exists(l, e, ids) {
				return fmt.Errorf("%s does not show %s", l.Path, l.Text)
			}
			return nil
		}
		steps := []resource.TestStep{
			step(l.Create, plancheck.ResourceActionCreate),
			changed,
			{ResourceName: l.Address(), ImportState: true, ImportStateIdFunc: l.ImportIDOf, ImportStateVerify: true, ImportStateVerifyIgnore: l.NotImported},
		}
		if hasIdentity {
			steps = append(steps, resource.TestStep{
				ResourceName: l.Address(), ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity, ExpectNonEmptyPlan: l.ImportPlansAnUpdate,
			})
		}
		resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, Steps: steps})
		if l.Path != "" && exists(l, e, ids) {
			t.Errorf("%s still shows %s after the destruction", l.Path, l.Text)
		}
	})
}

// A resource without a row would be tested only on the newest Terraform.
func TestResource_everyOneHasALife(t *testing.T) {
	t.Parallel()
	server, err := acctest.New(t).Factories["agentyard"]()
	acctest.Must(t, err)
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	acctest.Must(t, err)
	for name := range schemas.ResourceSchemas {
		if _, ok := lives.All[strings.TrimPrefix(name, "agentyard_")]; !ok && !acctest.IsOperation(schemas, name) {
			t.Errorf("%s has no row: add it to All in internal/acctest/lives/lives.go", name)
		}
	}
}
