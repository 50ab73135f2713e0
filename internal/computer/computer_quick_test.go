package computer_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Beside a command the emulator sets computers up at once. What a test of a module then waits for one is the time until
// the first look: less than a second by the clock that the provider waits on. The computers of a fleet share their looks.
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
			if out := p.Apply(i, config); len(out.Errors) > 0 {
				t.Fatal(out)
			}
			for _, c := range computers(e) {
				if c.Status != "active" {
					t.Errorf("%s is %s", c.Name, c.Status)
				}
			}
			if out := p.Destroy(i); len(out.Errors) > 0 {
				t.Fatal(out)
			}
			if took := e.Now().Sub(acctest.Start); took >= time.Second {
				t.Errorf("the creation and the destruction waited %v", took)
			}
		})
	}
}
