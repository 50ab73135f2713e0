package lifecycle

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// needsManager matches the description of an object that only managers can use.
var needsManager = regexp.MustCompile(`\*\*Requires:\*\* ([^.]*, and )?the \[Manager role\]`)

// mustBeRefused fails the test unless an object cannot be used, and the provider's advice in the only error matches why.
func mustBeRefused(t *testing.T, o *acctest.Organization, settings acctest.Values, object object, config acctest.Values, why string) {
	t.Helper()
	p := acctest.NewProcess(t, o.Env, settings)
	out := p.Use(object.kind, object.typeName, config)
	if len(out.Errors) != 1 || !regexp.MustCompile(`returned 403: .*\n\n.*`+why).MatchString(out.Text()) {
		t.Errorf("the description of the %s %s says that it requires what the key lacks, but it was not refused with %q: %s", object.kind, object.typeName, why, out)
	}
}

// What only managers can use says so to any other key.
func TestAccess_ofManagers(t *testing.T) {
	t.Parallel()
	o := newOrganization(t)
	account, _ := o.ServiceAccountKey()
	for _, key := range []string{o.MemberKey("user@people.example", emulator.RoleUser), account} {
		offered, tried := acctest.NewProcess(t, o.Env, nil).Schemas(), 0
		eachObject(offered, func(object object) {
			if needsManager.MatchString(object.schema.Block.Description) {
				tried++
				mustBeRefused(t, o, acctest.Values{"api_key": key}, object, o.In(object.arguments), "member with the Manager role")
			}
		})
		if tried < 20 {
			t.Errorf("only %d objects are for managers", tried)
		}
	}
}

// What the organization has not enabled names the setting.
func TestAccess_ofSettings(t *testing.T) {
	t.Parallel()
	for prefix, says := range map[string]string{
		"agentyard_session": "selected organizations", "agentyard_analytics": "Analytics enabled for the organization", "agentyard_wiki": "(enable wikiCloudSync|wikiCloudSync must be enabled)",
	} {
		o, objects := newOrganization(t), 0
		set := func(on bool) {
			o.AllowSessions(on)
			o.AllowAnalytics(on)
			check.Must(t, o.ChangeEnterpriseControls(map[string]json.RawMessage{"wikiCloudSync": json.RawMessage(strconv.FormatBool(on))}, ""))
		}
		eachObject(acctest.NewProcess(t, o.Env, nil).Schemas(), func(object object) {
			if strings.HasPrefix(object.typeName, prefix) {
				objects++
				config := o.In(object.arguments)
				set(false)
				mustBeRefused(t, o, nil, object, config, says)
				set(true)
			}
		})
		if objects < 5 {
			t.Errorf("%d objects have the prefix %s", objects, prefix)
		}
	}
}

// A key that the service rejects is an error in the plan of a create, before other objects of the same apply are created.
func TestAccess_isCheckedInThePlan(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		p := acctest.NewProcess(t, o.Env, acctest.Values{"api_key": "fk-rejected"})
		if out := p.Plan(p.NewInstance(r.Type), o.In(r.Least)); len(out.Errors) != 1 || !strings.Contains(out.Text(), "401") {
			t.Errorf("%s", out)
		}
	})
}

// Every call before the provider is configured returns an error that says so.
func TestAccess_beforeTheConfiguration(t *testing.T) {
	t.Parallel()
	o := newOrganization(t)
	fresh := func() *acctest.Process { return acctest.Unconfigured(t, o.Env, nil) }
	mustFail := func(what string, out acctest.Outcome) {
		if !strings.Contains(out.Text(), "provider is not configured") {
			t.Errorf("%s: %s", what, out)
		}
	}
	eachObject(fresh().Schemas(), func(object object) {
		mustFail(object.kind+" "+object.typeName, fresh().Use(object.kind, object.typeName, o.In(object.arguments)))
	})
	for _, row := range specimens.Operations {
		if !row.IsNoAction {
			_, out := fresh().Invoke(row.Type, o.In(row.Values))
			mustFail("action "+row.Type, out)
		}
	}
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		config := o.In(r.Least)
		_, i := o.Created(t, r.Type, config)
		mustFail("read "+r.Type, acctest.Unconfigured(t, o.Env, nil).Plan(i.Clone(), config))
		if r.Listing.Path != "" { // Otherwise, a destroy sends no request.
			mustFail("delete "+r.Type, acctest.Unconfigured(t, o.Env, nil).Destroy(i))
		}
	})
}
