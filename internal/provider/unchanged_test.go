package provider_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
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

func TestUnchanged(t *testing.T) {
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
		"agentyard_service_account":      {account, acctest.Values{"name": "ci"}},
		"agentyard_session":              {nil, acctest.Values{"computer_id": c.ID(), "session_settings": map[string]any{"tags": []any{map[string]any{"name": "ci", "metadata": map[string]any{"team": "a"}}}}}},
		"agentyard_environment":          {nil, acctest.Values{"name": "e", "repositories": []any{map[string]any{"url": "https://git.example/acme/app.git", "script": ""}}}},
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
}

// What is unusual is answered by the framework. Each case would otherwise hide a change, an error, or a warning.
func TestUnchanged_unusual(t *testing.T) {
	t.Parallel()
	account := acctest.Values{"name": "ci"}
	computer := acctest.Values{"name": "c", "provider_type": "byom", "wait_for_active": false}
	for name, tc := range map[string]struct {
		typeName string
		config   acctest.Values
		// change changes something after the create, and returns the configuration to plan.
		change func(e *acctest.Env, i *acctest.Instance) acctest.Values
		action acctest.Action
		// answered is how much of the read and the plan is still answered without the framework.
		answered int
	}{
		"drift": {"agentyard_computer", computer, func(e *acctest.Env, i *acctest.Instance) acctest.Values {
			e.API(http.MethodPatch, "/api/v0/computers/"+i.ID(), map[string]any{"remoteUser": "other"}, nil)
			return computer
		}, acctest.ActionNone, 1}, // The read stores the new user, which no argument sets.
		"a deletion elsewhere": {"agentyard_computer", computer, func(e *acctest.Env, i *acctest.Instance) acctest.Values {
			e.API(http.MethodDelete, "/api/v0/computers/"+i.ID(), nil, nil)
			return computer
		}, acctest.ActionCreate, 0},
		"an argument removed that has a default": {"agentyard_computer", computer, func(*acctest.Env, *acctest.Instance) acctest.Values {
			return acctest.Values{"name": "c", "provider_type": "byom"}
		}, acctest.ActionUpdate, 1},
		"an argument changed": {"agentyard_computer", computer, func(*acctest.Env, *acctest.Instance) acctest.Values {
			return acctest.Values{"name": "d", "provider_type": "byom", "wait_for_active": false}
		}, acctest.ActionUpdate, 1},
		"a script removed": {"agentyard_environment", acctest.Values{"name": "e", "repositories": []any{map[string]any{"url": "https://git.example/a", "script": "make"}}}, func(*acctest.Env, *acctest.Instance) acctest.Values {
			return acctest.Values{"name": "e", "repositories": []any{map[string]any{"url": "https://git.example/a"}}}
		}, acctest.ActionUpdate, 1},
		"a failed build": {"agentyard_environment", acctest.Values{"name": "e", "repositories": []any{}}, func(e *acctest.Env, i *acctest.Instance) acctest.Values {
			acctest.Must(t, e.FailBuild(emulator.BuildFailure{Name: "e", Phase: "building", Category: "provider", Reason: "No space."}))
			e.API(http.MethodPost, "/api/v0/environments/"+i.ID()+"/builds", nil, nil)
			return nil
		}, acctest.ActionUpdate, 0},
		"a key that is due": {"agentyard_api_key", acctest.Values{"name": "k", "rotation": map[string]any{"interval": "30m"}}, nil, acctest.ActionUpdate, 1},
		"a removed expiry":  {"agentyard_api_key", acctest.Values{"name": "k", "expires_at": "2027-01-01T00:00:00Z"}, func(*acctest.Env, *acctest.Instance) acctest.Values { return acctest.Values{"name": "k"} }, acctest.ActionUpdate, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 100 })
			p := acctest.NewProcess(t, e, nil)
			owner := p.NewInstance("agentyard_service_account")
			p.Apply(owner, account).MustDo(t, acctest.ActionCreate)
			config := func(values acctest.Values) acctest.Values {
				if tc.typeName == "agentyard_api_key" {
					values["service_account_id"] = owner.ID()
				}
				return values
			}
			i := p.NewInstance(tc.typeName)
			p.Apply(i, config(tc.config)).MustDo(t, acctest.ActionCreate)
			wanted := tc.config
			if tc.change != nil {
				if changed := tc.change(e, i); changed != nil {
					wanted = changed
				}
			}
			if out, answered := unchangedPlan(e, p, i, config(wanted)); out.Action != tc.action || answered != tc.answered {
				t.Errorf("%s, %d of the read and the plan were answered without the framework, want %s and %d", out, answered, tc.action, tc.answered)
			}
		})
	}
}

// A read computes the time of the next rotation that an older state lacks, whether or not reads share a listing.
func TestUnchanged_keyWithoutItsNextRotation(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	owner, i := p.NewInstance("agentyard_service_account"), p.NewInstance("agentyard_api_key")
	p.Apply(owner, acctest.Values{"name": "ci"}).MustDo(t, acctest.ActionCreate)
	config := acctest.Values{"service_account_id": owner.ID(), "name": "k", "rotation": map[string]any{"interval": "30d"}}
	p.Apply(i, config).MustDo(t, acctest.ActionCreate)
	want := i.Attribute("next_rotation_at")
	for range 3 { // The last reads share a listing.
		var attributes map[string]tftypes.Value
		acctest.Must(t, i.State.As(&attributes))
		attributes["next_rotation_at"] = tftypes.NewValue(tftypes.String, nil)
		i.State = tftypes.NewValue(i.State.Type(), attributes)
		if out := p.Plan(i, config); out.Action != acctest.ActionNone || i.Attribute("next_rotation_at") != want || want == "" {
			t.Errorf("next_rotation_at is %q, want %q: %s", i.Attribute("next_rotation_at"), want, out)
		}
	}
}
