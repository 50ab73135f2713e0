package computer_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A computer of a service account is found by name only with the account, and with its steps in any case.
func TestComputerDataSource_ofAnAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	id := newComputer(e, map[string]any{"name": "theirs", "serviceAccountId": account}).ID
	for _, config := range []acctest.Values{{"id": id}, {"name": "theirs", "service_account_id": account}} {
		check.Is(t, "steps", len(e.MustRead(t, nil, computerType, config)["provisioning_steps"].([]any)), 5)
	}
	e.MustNotRead(t, nil, computerType, acctest.Values{"id": "a", "service_account_id": "b"}, "service_account_id", `Attribute "name" must be specified when`)
	e.MustNotRead(t, nil, computerType, acctest.Values{"name": "theirs"}, "name", "Computer not found", "service_account_id")
}

func TestComputersDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	for _, body := range []map[string]any{{"name": "first"}, {"name": "second"}, ownMachine("own"), hidden("hidden"), {"name": "theirs", "serviceAccountId": account}} {
		newComputer(e, body)
		e.Clock.Advance(time.Second)
	}
	for _, tc := range []struct {
		config acctest.Values
		want   []any
	}{
		{nil, []any{"own", "second", "first"}}, // Newest first.
		{acctest.Values{"include_unlisted": true}, []any{"hidden", "own", "second", "first"}},
		{acctest.Values{"host_id": hostA}, []any{"own"}},
		{acctest.Values{"include_provisioning_steps": true}, []any{"own", "second", "first"}},
		{acctest.Values{"service_account_id": account}, []any{"theirs"}},
	} {
		var names []any
		for _, one := range e.MustRead(t, nil, "agentyard_computers", tc.config)["computers"].([]any) {
			c := one.(map[string]any)
			names = append(names, c["name"])
			if steps, _ := c["provisioning_steps"].([]any); (len(steps) == 5) != (tc.config["include_provisioning_steps"] == true) && c["name"] != "own" {
				t.Errorf("the steps are %v", c["provisioning_steps"])
			}
		}
		check.Is(t, "the computers", names, tc.want)
	}
	e.MustNotRead(t, nil, "agentyard_computers", acctest.Values{"host_id": "not-a-uuid"}, "host_id", "must be a UUID")
}

func TestComputerProvidersDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	check.Is[any](t, "the providers", e.MustRead(t, nil, "agentyard_computer_providers", nil)["providers"], []any{"managed-a", "managed-b"})
}

func hidden(name string) map[string]any {
	return map[string]any{"name": name, "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": false}}
}

const metricsType = "agentyard_computer_metrics"

func TestComputerMetrics(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	samples := func(start any) []any {
		return e.MustRead(t, nil, metricsType, acctest.Values{"computer_id": c.ID, "start": start})["samples"].([]any)
	}
	check.Is(t, "before the first sample", samples(nil), []any{})
	e.Clock.Advance(19*time.Minute + 30*time.Second)
	check.Is(t, "samples of the last minutes", len(samples(nil)), 3)
	// The same time in another time zone.
	check.Is(t, "samples", len(samples("2026-03-01T14:15:00+02:00")), 1)
	check.Is(t, "of tomorrow", samples("2026-03-02T12:00:00Z"), []any{})
}

func TestComputerMetrics_ofARegisteredMachine(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.MustNotRead(t, nil, metricsType, acctest.Values{"computer_id": makeComputer(e, ownMachine("own")).ID}, "computer_id",
		"Cannot read metrics of the computer", "getComputerMetrics", "not supported for BYOM", "must be a managed computer and active")
}

// The data source asks for itself: what another object was told before, such as a passing error, does not matter.
func TestComputerProviders_afterAnErrorOfAPlan(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
	e.Faults().Add(emulator.Fault{Operation: "listComputerProviders", Kind: emulator.FaultStatusBeforeCommit, Status: 503, Times: 1})
	p.Plan(p.NewInstance("agentyard_computer"), acctest.Values{"name": "a", "provider_type": "managed-a"})
	if n := e.Journal().Count("listComputerProviders"); n != 1 {
		t.Fatalf("the plan sent %d requests", n)
	}
	_, out := p.ReadData("agentyard_computer_providers", nil)
	out.MustSucceed(t)
}
