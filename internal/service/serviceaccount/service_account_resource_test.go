package serviceaccount_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const accountAddress = "agentyard_service_account.test"

// accountJSON contains the fields of an account that the tests check in the emulator.
type accountJSON struct{ ID, Name, Description, Status string }

func listAccounts(e *acctest.Env) []accountJSON {
	var answer struct{ ServiceAccounts []accountJSON }
	e.API(http.MethodGet, "/api/v0/service-accounts", nil, &answer)
	return answer.ServiceAccounts
}

func onlyAccount(t *testing.T, e *acctest.Env) accountJSON {
	t.Helper()
	all := listAccounts(e)
	if len(all) != 1 {
		t.Fatalf("the emulator holds %d service accounts, want 1: %+v", len(all), all)
	}
	return all[0]
}

// newAccount creates a service account outside Terraform and returns its ID.
func newAccount(e *acctest.Env, name string) string {
	var made accountJSON
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": name}, &made)
	return made.ID
}

// mintedJSON is a key in its create response, the only response with its value.
type mintedJSON struct{ ID, Value string }

// newKey creates a key outside Terraform.
func newKey(e *acctest.Env, account, name string) mintedJSON {
	var answer struct{ APIKey mintedJSON }
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account+"/api-keys", map[string]any{"name": name}, &answer)
	return answer.APIKey
}

// revokeKey revokes a key outside Terraform.
func revokeKey(e *acctest.Env, account, key string) {
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account+"/api-keys/"+key+"/revoke", nil, nil)
}

func noAccountLeft(e *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if left := listAccounts(e); len(left) > 0 {
			return fmt.Errorf("the emulator still holds %+v", left)
		}
		return nil
	}
}

func accountAction(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return acctest.PlannedThenEmpty(accountAddress, action)
}

func accountHas(name string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(accountAddress, tfjsonpath.New(name), check)
}

func accountConfig(attributes string) string {
	return "resource \"agentyard_service_account\" \"test\" {\n" + attributes + "\n}\n"
}

func TestAccServiceAccount_leastThenEachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var id string
	step := func(attributes string, action plancheck.ResourceActionType, want accountJSON) resource.TestStep {
		return resource.TestStep{
			Config: e.Config(accountConfig(attributes)), ConfigPlanChecks: accountAction(action),
			ConfigStateChecks: []statecheck.StateCheck{accountHas("name", knownvalue.StringExact(want.Name)), accountHas("status", knownvalue.StringExact(want.Status))},
			Check: func(*terraform.State) error {
				got := onlyAccount(t, e)
				if id != "" && action != plancheck.ResourceActionReplace && got.ID != id {
					return fmt.Errorf("the account was replaced: %s, was %s", got.ID, id)
				}
				id, got.ID = got.ID, ""
				if got != want {
					return fmt.Errorf("the emulator holds %+v, want %+v", got, want)
				}
				return nil
			},
		}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noAccountLeft(e),
		Steps: []resource.TestStep{
			step(`name = "ci"`, plancheck.ResourceActionCreate, accountJSON{"", "ci", "", "active"}),
			step("name = \"ci\"\ndescription = \"builds\"", plancheck.ResourceActionUpdate, accountJSON{"", "ci", "builds", "active"}),
			step("name = \"ci\"\ndescription = \"deploys\"", plancheck.ResourceActionUpdate, accountJSON{"", "ci", "deploys", "active"}),
			step("name = \"ci\"\ndescription = \"deploys\"\nstatus = \"inactive\"", plancheck.ResourceActionUpdate, accountJSON{"", "ci", "deploys", "inactive"}),
			// When the arguments are removed from the configuration, the status is kept and the description is cleared.
			step("name = \"ci\"\ndescription = \"deploys\"", plancheck.ResourceActionNoop, accountJSON{"", "ci", "deploys", "inactive"}),
			step(`name = "ci"`, plancheck.ResourceActionUpdate, accountJSON{"", "ci", "", "inactive"}),
			step("name = \"ci\"\nstatus = \"active\"", plancheck.ResourceActionUpdate, accountJSON{"", "ci", "", "active"}),
			step("name = \"cd\"\nstatus = \"active\"", plancheck.ResourceActionReplace, accountJSON{"", "cd", "", "active"}),
			{ResourceName: accountAddress, ImportState: true, ImportStateVerify: true},
		},
	})
}

// The create request has no status. If the service's default is the configured status, there is no second request.
func TestAccServiceAccount_statusIsSentOnlyWhereItDiffers(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps:                    []resource.TestStep{{Config: e.Config(accountConfig("name = \"ci\"\nstatus = \"active\"")), ConfigPlanChecks: acctest.ThenEmpty}},
	})
	e.WantRequests(t, "updateServiceAccount", 0)
}

func TestAccServiceAccount_changedAndDeletedElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	cfg := e.Config(accountConfig("name = \"ci\"\ndescription = \"builds\"\nstatus = \"active\""))
	change := func(body map[string]any) func() {
		return func() { e.API(http.MethodPatch, "/api/v0/service-accounts/"+onlyAccount(t, e).ID, body, nil) }
	}
	remove := func() { e.API(http.MethodDelete, "/api/v0/service-accounts/"+onlyAccount(t, e).ID, nil, nil) }
	asWanted := func(*terraform.State) error {
		if got := onlyAccount(t, e); got.Description != "builds" || got.Status != "active" {
			return fmt.Errorf("the emulator holds %+v", got)
		}
		return nil
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noAccountLeft(e),
		Steps: []resource.TestStep{
			{Config: cfg},
			{PreConfig: change(map[string]any{"description": ""}), Config: cfg, ConfigPlanChecks: accountAction(plancheck.ResourceActionUpdate), Check: asWanted},
			{PreConfig: change(map[string]any{"status": "inactive"}), Config: cfg, ConfigPlanChecks: accountAction(plancheck.ResourceActionUpdate), Check: asWanted},
			{PreConfig: remove, Config: cfg, ConfigPlanChecks: accountAction(plancheck.ResourceActionCreate), Check: asWanted},
			{PreConfig: remove, Config: cfg, Destroy: true},
		},
	})
}

// The status of a new account needs a second request. If the service refuses it, the account is kept, and is not replaced.
func TestServiceAccount_refusedStatusKeepsTheAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := acctest.NewProcess(t, e, nil).NewInstance(accountType)
	config := acctest.Values{"name": "ci", "status": "inactive"}
	e.Faults().Add(emulator.Fault{Operation: "updateServiceAccount", Kind: emulator.FaultStatusBeforeCommit, Status: 400, Times: 2})
	out := acctest.NewProcess(t, e, nil).Apply(i, config)
	out.MustSucceed(t)
	acctest.Says(t, out.WarningText(), "Service Account Created Without Its Status", `may not be "inactive"`, "returned 400", "Correct the value")
	id := i.ID()
	if i.Tainted || onlyAccount(t, e).ID != id {
		t.Fatalf("tainted %v, %s: %s", i.Tainted, id, out)
	}
	out = acctest.NewProcess(t, e, nil).Apply(i, config)
	out.MustFail(t, "", "Cannot update service account", "returned 400")
	acctest.NewProcess(t, e, nil).Apply(i, config).MustDo(t, acctest.ActionUpdate)
	acctest.NewProcess(t, e, nil).Plan(i, config).MustDo(t, acctest.ActionNone)
	if got := onlyAccount(t, e); got.ID != id || got.Status != "inactive" {
		t.Errorf("the account is %+v, was %s", got, id)
	}
}

// A service that trims a description leads to no difference in each plan, and least of all to a new account.
func TestServiceAccount_trimmedDescription(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // An incomplete body is refused.
			r.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(body), `\n"`, `"`)))
			r.ContentLength = -1
			next.ServeHTTP(w, r)
		})
	}))
	i := acctest.NewProcess(t, e, nil).NewInstance(accountType)
	config := acctest.Values{"name": "ci", "description": "builds\n"}
	acctest.NewProcess(t, e, nil).Apply(i, config).MustDo(t, acctest.ActionCreate)
	for _, same := range []acctest.Values{config, {"name": "ci", "description": "builds"}} {
		acctest.NewProcess(t, e, nil).Plan(i, same).MustDo(t, acctest.ActionNone)
	}
}
