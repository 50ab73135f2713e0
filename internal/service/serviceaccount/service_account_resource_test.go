package serviceaccount_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// accountJSON contains the fields of an account that the tests check in the emulator.
type accountJSON struct{ ID, Status string }

func listAccounts(e *acctest.Env) []accountJSON {
	return acctest.Rows[accountJSON](e, "/api/v0/service-accounts", "serviceAccounts")
}

func onlyAccount(t *testing.T, e *acctest.Env) accountJSON {
	t.Helper()
	return check.Only(t, listAccounts(e))
}

// newAccount creates a service account outside Terraform and returns its ID.
func newAccount(e *acctest.Env, name string) string {
	return e.Make("/api/v0/service-accounts", map[string]any{"name": name}).ID
}

// mintedJSON is a key in its create response, the only response with its value.
type mintedJSON struct{ ID, Value string }

// newKey creates a key outside Terraform.
func newKey(e *acctest.Env, account, name string) mintedJSON {
	return e.Make("/api/v0/service-accounts/"+account+"/api-keys", map[string]any{"name": name}).APIKey
}

// revokeKey revokes a key outside Terraform.
func revokeKey(e *acctest.Env, account, key string) {
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account+"/api-keys/"+key+"/revoke", nil, nil)
}

func TestServiceAccount_theServicesOwnStatusNeedsNoRequest(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Created(t, accountType, acctest.Values{"name": "ci", "status": "active"})
	e.WantRequests(t, "updateServiceAccount", 0)
}

// The status of a new account needs a second request. If the service refuses it, the account is kept, and is not replaced.
func TestServiceAccount_refusedStatusKeepsTheAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := e.NewInstance(t, accountType)
	config := acctest.Values{"name": "ci", "status": "inactive"}
	e.Faults().Add(emulator.Fault{Operation: "updateServiceAccount", Kind: emulator.FaultStatusBeforeCommit, Status: 400, Times: 2})
	out := e.Apply(t, i, config)
	out.MustSucceed(t)
	check.Says(t, out.WarningText(), "Service account created without its status", `may not be "inactive"`, "returned 400", "Correct the value")
	id := i.ID()
	if i.Tainted || onlyAccount(t, e).ID != id {
		t.Fatalf("tainted %v, %s: %s", i.Tainted, id, out)
	}
	out = e.Apply(t, i, config)
	out.MustFail(t, "", "Cannot update service account", "returned 400")
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
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
	config := acctest.Values{"name": "ci", "description": "builds\n"}
	_, i := e.Created(t, accountType, config)
	for _, same := range []acctest.Values{config, {"name": "ci", "description": "builds"}} {
		e.Plan(t, i, same).MustDo(t, acctest.ActionNone)
	}
}

func newComputer(e *acctest.Env, account, name string) {
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": name, "serviceAccountId": account}, nil)
}

func TestServiceAccount_destroyWarnsHowManyComputersGoWithIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		computers int
		config    acctest.Values // Nil destroys.
		fault     *emulator.Fault
		want      []string
		listings  int
	}{
		"none":                {computers: 0, listings: 1},
		"many":                {computers: 12, want: []string{`Service account "ci" with 12 computers: `, "and 2 more", "those that the plan does not destroy"}, listings: 1},
		"replaced":            {computers: 2, config: acctest.Values{"name": "cd"}, want: []string{"with 2 computers:", "c-0", "c-1"}, listings: 1},
		"unchanged":           {computers: 2, config: acctest.Values{"name": "ci"}},
		"the look is refused": {computers: 2, fault: &emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 403}, want: []string{`Service account "ci" with its computers: `, "listComputers", "403"}, listings: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			p, i := e.Created(t, accountType, acctest.Values{"name": "ci"})
			for n := range tc.computers {
				newComputer(e, i.ID(), fmt.Sprint("c-", n))
			}
			if tc.fault != nil {
				tc.fault.Operation = "listComputers"
				e.Faults().Add(*tc.fault)
			}
			e.Journal().Reset()
			out := p.Plan(i, tc.config)
			text := out.WarningText()
			if len(out.Errors) > 0 || (text == "") != (len(tc.want) == 0) {
				t.Errorf("got %s", out)
			}
			check.Says(t, text, tc.want...)
			e.WantRequests(t, "listComputers", tc.listings)
		})
	}
}
