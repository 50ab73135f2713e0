package computer_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The next apply waits for what an interrupted one left, and only then is done.
func TestComputer_interruptedWaitIsResumed(t *testing.T) {
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
			slow := func(o *emulator.Options) { o.Provisioning.Step = 20 * time.Second }
			e := acctest.New(t, slow, acctest.Meanwhile("GET /api/v0/computers/", func(n int) {
				if n == 0 {
					p.Stop()
				}
			}))
			p = acctest.NewProcess(t, e, nil)
			i := p.NewInstance(typeName)
			out := p.Apply(i, tc.config)
			if out.MustDo(t, acctest.ActionCreate); !strings.Contains(out.WarningText(), tc.summary) || i.Tainted {
				t.Errorf("tainted %v: %s", i.Tainted, out)
			}
			only(t, e)

			noWait := maps.Clone(tc.config)
			noWait["wait_for_active"] = false
			if out := e.Plan(t, i.Clone(), noWait); out.Action != acctest.ActionUpdate || len(out.Warnings) > 0 || len(out.Unknown(t)) > 0 {
				t.Errorf("without a wait: %s", out)
			}
			older := i.Clone()
			older.ForgetPrivate()
			e.Plan(t, older, tc.config).MustDo(t, acctest.ActionNone)

			mustSay(t, e.Apply(t, i, tc.config), acctest.ActionUpdate, "Computers are not active yet", "an earlier apply did not wait", "it waits for it")
			check.Is(t, "the status after the second apply", only(t, e).Status, "active")
			mustBeQuiet(t, e.Plan(t, i, tc.config))
			breakNow(t, e, only(t, e).Name) // It was active, so a failure does not replace it.
			e.Plan(t, i, tc.config).MustDo(t, acctest.ActionNone)
		})
	}
}

// The wait of an update can fail too. It taints nothing, and the next apply waits again.
func TestComputer_theSecondWaitEndsTooSoon(t *testing.T) {
	t.Parallel()
	for typeName, config := range map[string]acctest.Values{
		computerType: {"name": "web-1", "timeouts": map[string]any{"create": "2m"}}, fleetType: fleetOf(1),
	} {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, neverSetUp)
			i := e.NewInstance(t, typeName)
			e.Apply(t, i, config)
			i.Tainted = false // As after terraform untaint.
			for range 2 {
				out := e.Apply(t, i, config)
				if out.Action != acctest.ActionUpdate || len(out.Errors) != 1 || i.Tainted {
					t.Errorf("the wait times out: %s", out)
				}
				check.Says(t, out.Text(), `still "provisioning" after 2m0s`, "The next apply waits")
			}
			e.Clock.Advance(24 * time.Hour)
			mustBeQuiet(t, e.Plan(t, i, config))
		})
	}
}

// An import may be of a computer that somebody uses.
func TestComputer_anImportIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for typeName, config := range map[string]acctest.Values{computerType: {"name": "web-1"}, fleetType: {"name_prefix": "web", "quantity": 1}} {
		e := acctest.New(t, neverSetUp)
		made := newComputer(e, map[string]any{"name": "web-1"})
		id := map[string]string{computerType: made.ID, fleetType: "web"}[typeName]
		i := imported(t, e, typeName, id)
		mustBeQuiet(t, e.Plan(t, i, config))
	}
}

// A state without private state, as of another version, replaces nothing.
func TestComputer_withoutAMarkNothingIsReplaced(t *testing.T) {
	t.Parallel()
	for typeName, config := range unwaited {
		e := acctest.New(t)
		failSetUp(e, "web-1")
		_, i := e.Created(t, typeName, config)
		e.Clock.Advance(provisioned)
		e.Plan(t, i.Clone(), config) // Would replace it.
		i.ForgetPrivate()
		mustSay(t, e.Plan(t, i, config), acctest.ActionNone, "To replace")
	}
}

func mustBeQuiet(t *testing.T, out acctest.Outcome) {
	t.Helper()
	if out.MustDo(t, acctest.ActionNone); len(out.Warnings) > 0 {
		t.Error(out)
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
			p, i := e.Created(t, name, config)
			for _, c := range computers(e) {
				check.Is(t, "the status of "+c.Name, c.Status, "active")
			}
			p.Destroy(i).MustSucceed(t)
			if took := e.Now().Sub(acctest.Start); took >= time.Second {
				t.Errorf("the creation and the destruction waited %v", took)
			}
		})
	}
}
