package serviceaccount_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// keyList returns a list block with additional lines. It always sets include_resource, so that tests can check the
// attributes.
func keyList(lines string) string {
	return "list \"agentyard_api_key\" \"test\" {\n  provider = agentyard\n  include_resource = true\n" + lines + "\n}"
}

func TestAccAPIKeyList(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.New(t)
	ci, cd := newAccount(e, "ci"), newAccount(e, "cd")
	newAccount(e, "without keys")
	live, dead, other := newKey(e, ci, "live"), newKey(e, ci, "dead"), newKey(e, cd, "other")
	revokeKey(e, ci, dead.ID)
	const address = "agentyard_api_key.test"
	identity := func(account, key string) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{"service_account_id": knownvalue.StringExact(account), "id": knownvalue.StringExact(key)}
	}
	of := func(account, key string) map[string]string {
		return map[string]string{"service_account_id": account, "id": key}
	}
	e.Run(t,
		queryStep(e, keyList(""),
			querycheck.ExpectLength(address, 2),
			querycheck.ExpectIdentity(address, identity(ci, live.ID)), querycheck.ExpectIdentity(address, identity(cd, other.ID)),
			querycheck.ExpectNoIdentity(address, identity(ci, dead.ID)),
			querycheck.ExpectResourceDisplayName(address, byIdentity(of(ci, live.ID)), knownvalue.StringExact("ci/live")),
			querycheck.ExpectResourceDisplayName(address, byIdentity(of(cd, other.ID)), knownvalue.StringExact("cd/other")),
			querycheck.ExpectResourceKnownValues(address, byIdentity(of(ci, live.ID)), []querycheck.KnownValueCheck{
				attributeIs("service_account_id", knownvalue.StringExact(ci)), attributeIs("name", knownvalue.StringExact("live")),
				attributeIs("key", knownvalue.Null()), attributeIs("is_revoked", knownvalue.Bool(false)), attributeIs("rotation", knownvalue.Null()),
			}),
		),
		queryStep(e, keyList("  config {\n    include_revoked = true\n  }"), querycheck.ExpectLength(address, 3),
			querycheck.ExpectResourceKnownValues(address, byIdentity(of(ci, dead.ID)), []querycheck.KnownValueCheck{attributeIs("is_revoked", knownvalue.Bool(true)), attributeIs("key", knownvalue.Null())})),
		queryStep(e, keyList("  config {\n    service_account_id = \""+ci+"\"\n  }"), querycheck.ExpectLength(address, 1), querycheck.ExpectIdentity(address, identity(ci, live.ID))),
		queryStep(e, keyList("  config {\n    service_account_id = \""+ci+"\"\n    include_revoked = true\n  }"), querycheck.ExpectLength(address, 2)),
		queryStep(e, keyList("  limit = 1"), querycheck.ExpectLength(address, 1)),
	)
}

// The keys of accounts are listed one account after the other, and only until the limit.
func TestAccAPIKeyList_isLazy(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.New(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		id := newAccount(e, name)
		newKey(e, id, "one")
		newKey(e, id, "two")
	}
	e.Journal().Reset()
	e.Run(t, queryStep(e, keyList("  limit = 1"), querycheck.ExpectLength("agentyard_api_key.test", 1)))
	e.WantRequests(t, "listApiKeys", 1)
}

func TestAccAPIKeyList_errors(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.New(t)
	newKey(e, newAccount(e, "a"), "k")
	newKey(e, newAccount(e, "b"), "k")
	for lines, want := range map[string]string{
		"  config {\n    service_account_id = \"sa_unknown\"\n  }": `Service Account Not Found(.|\n)*"sa_unknown"`,
		"  config {\n    service_account_id = \"\"\n  }":           `service_account_id\s+must\s+not\s+be\s+empty`,
	} {
		step := queryStep(e, keyList(lines))
		step.ExpectError = regexp.MustCompile(want)
		e.Run(t, step)
	}
	// The keys of the second account cannot be listed.
	e.Faults().Add(emulator.Fault{Operation: "listApiKeys", Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: 1, Times: -1})
	step := queryStep(e, keyList(""))
	step.ExpectError = regexp.MustCompile(`Cannot list API keys(.|\n)*listApiKeys(.|\n)*500`)
	e.Run(t, step)
	e.Faults().Clear()
	e.Faults().Add(emulator.Fault{Operation: "listServiceAccounts", Kind: emulator.FaultStatusBeforeCommit, Status: 403, Times: -1})
	step.ExpectError = regexp.MustCompile(`Cannot list API keys(.|\n)*listServiceAccounts(.|\n)*403(.|\n)*Manager\s+role`)
	e.Run(t, step)
	// A 404 for the keys of an existing account does not prove that the account is gone.
	e.Faults().Clear()
	e.Faults().Add(emulator.Fault{Operation: "listApiKeys", Kind: emulator.FaultStatusBeforeCommit, Status: 404, After: 1})
	step.ExpectError = regexp.MustCompile(`Cannot list API keys(.|\n)*listApiKeys(.|\n)*404`)
	e.Run(t, step)
}

// An account that is deleted during the list is skipped, and the others are listed.
func TestAccAPIKeyList_accountVanishesMeanwhile(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	var e *acctest.Env
	var doomed string
	e = acctest.New(t, acctest.Hold("listServiceAccounts", func(<-chan struct{}) {
		e.API(http.MethodDelete, "/api/v0/service-accounts/"+doomed, nil, nil)
	}))
	newKey(e, newAccount(e, "a"), "k")
	doomed = newAccount(e, "b")
	newKey(e, doomed, "k")
	e.Run(t, queryStep(e, keyList(""), querycheck.ExpectLength("agentyard_api_key.test", 1)))
}

// The configuration that a query generates imports every live key of an organization. The plan changes nothing, and neither
// the plan nor the generated files contain a value.
func TestAccAPIKeyList_generatedConfigurationPlansClean(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.NewRealTime(t)
	ci, cd := newAccount(e, "ci"), newAccount(e, "cd")
	values := []string{newKey(e, ci, "one").Value, newKey(e, ci, "two").Value, newKey(e, cd, "three").Value}
	revokeKey(e, cd, newKey(e, cd, "revoked").ID)
	e.API(http.MethodPost, "/api/v0/service-accounts/"+ci+"/api-keys", map[string]any{"name": "expires", "expiresAt": int64(4102444800000)}, nil)
	cli := acctest.NewCLI(t, e, "")
	cli.Write("live.tfquery.hcl", keyList(""))
	query := cli.MustRun("query", "-generate-config-out=generated.tf")
	plan := cli.MustRun("plan", "-input=false")
	acctest.Says(t, plan.Output, "Plan: 4 to import, 0 to add, 0 to change, 0 to destroy.")
	generated, err := os.ReadFile(filepath.Join(cli.Dir, "generated.tf"))
	acctest.Must(t, err)
	for _, value := range values {
		if strings.Contains(query.Output+plan.Output+string(generated), value) {
			t.Error("the value of a key is shown")
		}
	}
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
}
