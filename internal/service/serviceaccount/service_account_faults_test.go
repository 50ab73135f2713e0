package serviceaccount_test

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func accountIDs(e *acctest.Env) []string {
	var ids []string
	for _, a := range listAccounts(e) {
		ids = append(ids, a.ID)
	}
	return ids
}

func TestServiceAccount_faultMatrix(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: "agentyard_service_account",
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{
				{"name": "m"},
				{"name": "m", "description": "d", "status": "inactive"},
				{"name": "replaced", "description": "d"},
			}
		},
		Live: accountIDs,
	}.Run(t)
}

// The status of a new account needs a second request, which may also be lost.
func TestServiceAccount_faultMatrixWithAStatus(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type:  "agentyard_service_account",
		Setup: func(*acctest.Env) []acctest.Values { return []acctest.Values{{"name": "m", "status": "inactive"}} },
		Live:  accountIDs,
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			if got := listAccounts(e)[0].Status; got != "inactive" || i.Attribute("status") != "inactive" {
				t.Errorf("the status is %q, in the state %q", got, i.Attribute("status"))
			}
		},
	}.Run(t)
}

// A run that is interrupted between the create and the status keeps a complete account, so nothing is replaced.
func TestServiceAccount_interruptedBeforeItsStatus(t *testing.T) {
	t.Parallel()
	var p *acctest.Process
	e := acctest.New(t, acctest.Hold("createServiceAccount", func(<-chan struct{}) { p.Stop() }))
	p = acctest.NewProcess(t, e, nil)
	i := p.NewInstance(accountType)
	config := acctest.Values{"name": "robots", "status": "inactive"}
	out := p.Apply(i, config)
	if len(out.Errors) > 0 || i.Tainted || i.ID() == "" || !strings.Contains(out.String(), "Service account created without its status") {
		t.Fatalf("tainted %v: %s", i.Tainted, out)
	}
	id := i.ID()
	if out := e.Apply(t, i, config); len(out.Errors) > 0 || out.Action != acctest.ActionUpdate || i.ID() != id {
		t.Errorf("the next apply: %s", out)
	}
	if all := listAccounts(e); len(all) != 1 || all[0].Status != "inactive" {
		t.Errorf("the accounts are %+v", all)
	}
}
