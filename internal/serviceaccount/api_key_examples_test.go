package serviceaccount_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestAccAPIKey_example(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	acctest.RunExample(t, e, "resources/agentyard_api_key/resource.tf")
	noLiveKey(t, e)
}

// The example of an import says what a real one needs: with the IDs of a key that exists it imports that.
func TestAccAPIKey_importExamples(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"import-by-string-id.tf", "import-by-identity.tf"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if file == "import-by-identity.tf" {
				acctest.NeedsIdentity(t)
			}
			e, account := newAccountEnv(t)
			key := newKey(e, account, "pipeline")
			example := strings.NewReplacer("sa_01hzy3v7k2m4n6p8q0r2s4t6v8", account, "key_01hzy4a8m3n5p7q9r1s3t5v7w9", key.ID).
				Replace(acctest.Example(t, "resources/agentyard_api_key/"+file))
			runKeys(t, e, resource.TestStep{
				Config:           e.Config(strings.ReplaceAll(keyConfig(account, `name = "pipeline"`), `"test"`, `"pipeline"`) + example),
				ConfigPlanChecks: acctest.ThenEmpty,
			})
		})
	}
}

func TestAccAPIKeyEphemeral_example(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.NewRealTime(t)
	cli := acctest.NewCLI(t, e, acctest.Example(t, "ephemeral-resources/agentyard_api_key/ephemeral-resource.tf"))
	cli.Setenv("TF_VAR_service_account_id", newAccount(e, "robots"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	if left := liveKeys(e); len(left) > 0 {
		t.Errorf("%v live on", left)
	}
}

// A status other than active stops every key at once, and rotates none.
func TestAccAPIKey_inactiveAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := func(status string) string {
		return e.Config(fmt.Sprintf("resource \"agentyard_service_account\" \"test\" {\n  name = \"robots\"\n  status = %q\n}\n", status) +
			strings.Replace(keyConfig("X", `name = "ci"`), `"X"`, "agentyard_service_account.test.id", 1))
	}
	runKeys(t, e,
		resource.TestStep{Config: config("active"), ConfigPlanChecks: acctest.ThenEmpty, Check: inState(e)},
		resource.TestStep{Config: config("inactive"), ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(keyAddress, plancheck.ResourceActionNoop)},
			PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
		}},
		resource.TestStep{Config: config("active"), ConfigPlanChecks: acctest.ThenEmpty, Check: inState(e)},
	)
}
