package provider_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// unchangedPlan refreshes and plans an object three times after an hour, so that the last time, reads share a listing. It returns the
// outcome of the last plan, and how much of it was answered without the framework: the read, the plan, or both.
func unchangedPlan(e *acctest.Env, p *acctest.Process, i *acctest.Instance, config acctest.Values) (acctest.Outcome, int) {
	e.Clock.Advance(time.Hour)
	p.Restart()
	for range 3 {
		p.Plan(i.Clone(), config)
	}
	before := p.Answered(i.Type)
	out := p.Plan(i, config)
	return out, p.Answered(i.Type) - before
}

func TestShortcut(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 100 })
	p := acctest.NewProcess(t, e, nil)
	apply := func(typeName string, config acctest.Values) *acctest.Instance {
		i := p.NewInstance(typeName)
		p.Apply(i, config).MustDo(t, acctest.ActionCreate)
		return i
	}
	computer := acctest.Values{"name": "c", "provider_type": "byom"}
	c := apply("agentyard_computer", computer)
	account := apply("agentyard_service_account", acctest.Values{"name": "ci"})
	rotating := acctest.Values{"service_account_id": account.ID(), "name": "b", "expires_in": "90d", "rotation": map[string]any{"before_expiry": "30d"}}
	for name, tc := range map[string]struct {
		i      *acctest.Instance
		config acctest.Values
	}{
		"agentyard_computer":             {c, computer},
		"agentyard_session":              {nil, acctest.Values{"computer_id": c.ID(), "session_settings": map[string]any{"tags": []any{map[string]any{"name": "ci", "metadata": map[string]any{"team": "a"}}}}}},
		"agentyard_api_key":              {nil, acctest.Values{"service_account_id": account.ID(), "name": "a"}},
		"agentyard_api_key that rotates": {nil, rotating},
	} {
		if tc.i == nil {
			tc.i = apply(strings.Fields(name)[0], tc.config)
		}
		if out, answered := unchangedPlan(e, p, tc.i, tc.config); out.Action != acctest.ActionNone || answered != 2 {
			t.Errorf("%s: %s, %d of the read and the plan were answered without the framework, want both", name, out, answered)
		}
	}
	// The framework records who reads an object, and sets what a state of an older version lacks.
	colleague, older := acctest.NewProcess(t, e, acctest.Values{"key_owner": "colleague"}), c.Clone()
	var values map[string]tftypes.Value
	check.Must(t, older.State.As(&values))
	values = maps.Clone(values) // Those of c stay.
	values["wait_for_active"] = tftypes.NewValue(tftypes.Bool, nil)
	older.State = tftypes.NewValue(older.State.Type(), values)
	for name, plan := range map[string]func() (acctest.Outcome, int){
		"with another key":  func() (acctest.Outcome, int) { return unchangedPlan(e, colleague, c, computer) },
		"without a default": func() (acctest.Outcome, int) { return unchangedPlan(e, p, older, computer) },
	} {
		if out, answered := plan(); out.Action != acctest.ActionNone || answered != 1 {
			t.Errorf("%s: %s, %d of the read and the plan were answered without the framework, want the plan", name, out, answered)
		}
	}
}

// Some resources cost too little, or are too few, and the switch is for whoever doubts a plan.
func TestShortcut_off(t *testing.T) { // It sets a variable of the environment.
	e := acctest.New(t)
	for name, tc := range map[string]struct{ typeName, value string }{
		"switched off":     {"agentyard_computer", "1"},
		"another type":     {"agentyard_service_account", ""},
		"one more of them": {"agentyard_environment", ""},
	} {
		t.Run(name, func(t *testing.T) { // It sets a variable of the environment.
			t.Setenv(provider.EnvNoShortcut, tc.value)
			p := acctest.NewProcess(t, e, nil)
			config := map[string]acctest.Values{
				"agentyard_computer":        {"name": "c", "provider_type": "byom"},
				"agentyard_service_account": {"name": "ci"},
				"agentyard_environment":     {"name": "e", "repositories": []any{}},
			}[tc.typeName]
			i := p.NewInstance(tc.typeName)
			p.Apply(i, config).MustDo(t, acctest.ActionCreate)
			if out, answered := unchangedPlan(e, p, i, config); out.Action != acctest.ActionNone || answered != 0 {
				t.Errorf("%s, %d of the read and the plan were answered without the framework, want none", out, answered)
			}
		})
	}
}
