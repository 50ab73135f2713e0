package provider_test

import (
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A plan must not promise what the organization's tier excludes. An unavailable service says nothing about access.
func TestPlan_accessOfACreate(t *testing.T) {
	t.Parallel()
	for typeName, config := range map[string]acctest.Values{
		"agentyard_computer":        {"name": "dev"},
		"agentyard_computer_fleet":  {"name_prefix": "web", "quantity": 1},
		"agentyard_service_account": {"name": "ci"},
		"agentyard_api_key":         {"name": "ci", "service_account_id": "sa_1"},
	} {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			acctest.Must(t, e.SetTier(emulator.TierFree))
			p := acctest.NewProcess(t, e, nil)
			p.Plan(p.NewInstance(typeName), config).MustFail(t, "", "returned 402", "The organization's plan may not include this")

			acctest.Must(t, e.SetTier(emulator.TierEnterprise))
			for _, status := range []int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusTooManyRequests} {
				e.Faults().Add(emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: -1})
				p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
				out := p.Plan(p.NewInstance(typeName), config)
				if len(out.Errors) != 0 || out.Action != acctest.ActionCreate || len(out.Warnings) != 0 {
					t.Errorf("with %d: %s", status, out)
				}
				e.Faults().Clear()
			}
		})
	}
}
