package computer_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
