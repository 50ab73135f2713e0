package computer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestComputerDataSource_byIDAndByName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	made := newComputer(e, map[string]any{"name": "a b/../c"})
	theirs := newComputer(e, map[string]any{"name": "theirs", "serviceAccountId": account})
	for id, config := range map[string]acctest.Values{
		made.ID: {"id": made.ID}, made.ID + " by name": {"name": "a b/../c"}, theirs.ID: {"name": "theirs", "service_account_id": account},
	} {
		got := e.MustRead(t, nil, computerType, config)
		if steps := got["provisioning_steps"].([]any); len(steps) != 5 || got["id"] != id[:len(made.ID)] || got["computer_source"] != nil || got["is_listed"] != true || (got["owner_id"] == account) != (id == theirs.ID) {
			t.Errorf("%v reads %v", config, got)
		}
	}
	for _, tc := range []struct {
		config acctest.Values
		at     string
		want   []string
	}{
		{nil, "", []string{"Set exactly one of id and name."}},
		{acctest.Values{"id": "a", "name": "b"}, "id", []string{"Set exactly one of id and name. These are set: id, name."}},
		{acctest.Values{"id": "a", "service_account_id": "b"}, "service_account_id", []string{`Attribute "name" must be specified when`}},
		{acctest.Values{"id": nobody}, "id", []string{"Computer not found"}},
		{acctest.Values{"name": "nobody"}, "name", []string{"Computer not found"}},
		{acctest.Values{"name": "theirs"}, "name", []string{"Computer not found", "service_account_id"}},
	} {
		e.MustNotRead(t, nil, computerType, tc.config, tc.at, tc.want...)
	}
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
	e.MustNotRead(t, nil, "agentyard_computers", acctest.Values{"service_account_id": "sa_unknown"}, "service_account_id", "Cannot list computers", "listComputers")
}

func TestComputerProvidersDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	check.Is[any](t, "the providers", e.MustRead(t, nil, "agentyard_computer_providers", nil)["providers"], []any{"managed-a", "managed-b"})
}

func hidden(name string) map[string]any {
	return map[string]any{"name": name, "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": false}}
}

func TestComputerList(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	makeComputer(e, map[string]any{"name": "managed", "repos": []string{"https://git.example/acme/app"}})
	makeComputer(e, ownMachine("own"))
	makeComputer(e, hidden("hidden"))
	makeComputer(e, map[string]any{"name": "theirs", "serviceAccountId": account})
	for _, tc := range []struct {
		config acctest.Values
		want   []string
	}{
		{nil, []string{"managed", "own"}},
		{acctest.Values{"include_unlisted": true}, []string{"hidden", "managed", "own"}},
		{acctest.Values{"host_id": hostA}, []string{"own"}},
		{acctest.Values{"service_account_id": account}, []string{"theirs"}},
	} {
		e.Journal().Reset()
		p := acctest.NewProcess(t, e, nil)
		listed, out := p.List(computerType, tc.config)
		out.MustSucceed(t)
		for _, one := range listed {
			c := acctest.Plain(t, one).(map[string]any)
			source, _ := c["source"].(map[string]any)
			if c["status"] != "active" || c["wait_for_active"] != true || c["repos"] != nil || (c["service_account_id"] == account) != (c["name"] == "theirs") || (source["template_id"] == "template-base") != (c["name"] == "hidden") {
				t.Errorf("listed %v", c)
			}
		}
		if slices.Sort(p.Names); !slices.Equal(p.Names, tc.want) || len(e.Journal().Entries()) != e.Journal().Count("listComputers") {
			t.Errorf("%v lists %v, want %v", tc.config, p.Names, tc.want)
		}
	}
	_, out := acctest.NewProcess(t, e, nil).List(computerType, acctest.Values{"host_id": "not-a-uuid"})
	out.MustInclude(t, "host_id", "must")
}

const metricsType = "agentyard_computer_metrics"

func TestComputerMetrics(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	samples := func(start any) []any {
		return e.MustRead(t, nil, metricsType, acctest.Values{"computer_id": c.ID, "start": start})["samples"].([]any)
	}
	check.Is(t, "before the first sample", samples(nil), []any{})
	e.Clock.Advance(19*time.Minute + 30*time.Second)
	got := samples(nil)
	if len(got) != 3 {
		t.Fatalf("the samples are %v", got)
	}
	first := got[0].(map[string]any)
	for _, name := range []string{"cpu_used_pct", "mem_used", "disk_used"} {
		if _, isNumber := first[name].(float64); !isNumber {
			t.Errorf("%s is %v", name, first[name])
		}
		delete(first, name)
	}
	check.Is(t, "the first sample", first, map[string]any{"timestamp": "2026-03-01T12:05:00Z", "cpu_count": 4.0, "mem_total": float64(8 << 30), "disk_total": float64(64 << 30)})
	// The same time in another time zone.
	check.Is(t, "samples", len(samples("2026-03-01T14:15:00+02:00")), 1)
	check.Is(t, "of tomorrow", samples("2026-03-02T12:00:00Z"), []any{})
}

func TestComputerMetrics_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	own := makeComputer(e, ownMachine("own"))
	for id, want := range map[string][]string{
		own.ID: {"Cannot read metrics of the computer", "getComputerMetrics", "not supported for BYOM", "must be a managed computer and active"},
		nobody: {"Cannot read metrics of the computer", "No computer with the ID"},
	} {
		e.MustNotRead(t, nil, metricsType, acctest.Values{"computer_id": id}, "computer_id", want...)
	}
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
