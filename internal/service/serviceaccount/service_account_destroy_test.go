package serviceaccount_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(accountType)
			p.Apply(i, acctest.Values{"name": "ci"}).MustSucceed(t)
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
			acctest.Says(t, text, tc.want...)
			e.WantRequests(t, "listComputers", tc.listings)
		})
	}
}

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
