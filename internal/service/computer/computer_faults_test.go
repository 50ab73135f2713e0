package computer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestComputer_faultMatrix_slow(t *testing.T) {
	acctest.Slow(t)
	t.Parallel()
	acctest.Matrix{
		Type: "agentyard_computer",
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{
				{"name": "m", "provider_type": "managed-a", "repos": []any{"https://git.example/acme/app"}},
				{"name": "renamed", "provider_type": "managed-a", "repos": []any{"https://git.example/acme/app"}, "host_id": hostA},
				{"name": "renamed", "provider_type": "managed-a", "repos": []any{"https://git.example/acme/tools"}, "host_id": hostA},
			}
		},
		Live: computerIDs,
	}.Run(t)
}

func TestComputer_faultMatrixOfAnOwnMachine(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: "agentyard_computer",
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{{"name": "own", "provider_type": "byom", "host_id": hostA}, {"name": "renamed", "provider_type": "byom", "host_id": hostA}}
		},
		Live: computerIDs,
	}.Run(t)
}

func TestComputer_interruptedWaitIsNotTainted(t *testing.T) {
	t.Parallel()
	for typeName, tc := range map[string]struct {
		config  acctest.Values
		summary string
	}{
		computerType: {acctest.Values{"name": "interrupted"}, "Interrupted before the computer was active"},
		fleetType:    {fleetOf(1), "Interrupted before the fleet was active"},
	} {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			var p *acctest.Process
			// A single computer is polled by ID, so the first such request means that the wait has started.
			e := acctest.New(t, neverSetUp, acctest.Meanwhile("GET /api/v0/computers/", func(int) { p.Stop() }))
			p = acctest.NewProcess(t, e, nil)
			i := p.NewInstance(typeName)
			out := p.Apply(i, tc.config)
			if out.MustDo(t, acctest.ActionCreate); !strings.Contains(out.WarningText(), tc.summary) || i.Tainted {
				t.Errorf("tainted %v: %s", i.Tainted, out)
			}
			only(t, e)
			e.Plan(t, i, tc.config).MustDo(t, acctest.ActionNone)
		})
	}
}

// neverSetUp makes provisioning take longer than any test waits.
func neverSetUp(o *emulator.Options) { o.Provisioning.Step = 1e12 }

// When the emulator runs a command, it provisions computers immediately. A module test then waits only until the first poll,
// which takes less than a second. The computers of a fleet share their polls.
func TestComputer_costsATestLessThanASecond(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]acctest.Values{
		"agentyard_computer":       {"name": "a", "repos": []any{"https://git.example/acme/app"}, "auto_install_deps": true},
		"agentyard_computer_fleet": {"name_prefix": "ci", "quantity": 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(opts *emulator.Options) { opts.Provisioning.Step, opts.MaxPageSize = time.Millisecond, 100 })
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(name)
			p.Apply(i, config).MustSucceed(t)
			for _, c := range computers(e) {
				if c.Status != "active" {
					t.Errorf("%s is %s", c.Name, c.Status)
				}
			}
			p.Destroy(i).MustSucceed(t)
			if took := e.Now().Sub(acctest.Start); took >= time.Second {
				t.Errorf("the creation and the destruction waited %v", took)
			}
		})
	}
}
