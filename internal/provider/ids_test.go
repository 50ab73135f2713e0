package provider_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// withID returns a value of an object type in which only one attribute is set, and false if the type has no such attribute. It looks
// into nested objects, but not into lists.
func withID(typ tftypes.Object, name, id string) (tftypes.Value, bool) {
	values, found := map[string]tftypes.Value{}, false
	for attribute, t := range typ.AttributeTypes {
		values[attribute] = tftypes.NewValue(t, nil)
		if attribute == name {
			values[attribute], found = tftypes.NewValue(t, id), true
		} else if nested, ok := t.(tftypes.Object); ok && !found {
			if v, ok := withID(nested, name, id); ok {
				values[attribute], found = v, true
			}
		}
	}
	return tftypes.NewValue(typ, values), found
}

// Every argument that takes the ID of an object with a name fails in the plan if it has the name. An ID, or one in the state, needs no request.
func TestIDs_namesInsteadOfIDs(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	server, offered, ctx := p.Server(), p.Schemas(), t.Context()
	value := func(typ tftypes.Type, v tftypes.Value) *tfprotov6.DynamicValue {
		d, err := tfprotov6.NewDynamicValue(typ, v)
		check.Must(t, err)
		return &d
	}
	for argument, to := range map[string]struct{ object, id, path string }{
		"service_account_id": {"service account", "sa_1", ""},
		"computer_id":        {"computer", "1b4e28ba-2fa1-41d2-883f-0016d3cca427", ""},
		"source_computer_id": {"computer", "1b4e28ba-2fa1-41d2-883f-0016d3cca427", ""},
		"environment_id":     {"environment", "env_1", ""},
	} {
		plans := map[string]func(*tfprotov6.Schema, *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic{}
		schemas := map[string]*tfprotov6.Schema{}
		for name, schema := range offered.ResourceSchemas {
			schemas[name] = schema
			plans[name] = func(schema *tfprotov6.Schema, config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
				resp, err := server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
					TypeName: name, Config: config, ProposedNewState: config, PriorState: value(schema.ValueType(), tftypes.NewValue(schema.ValueType(), nil)),
				})
				check.Must(t, err)
				return resp.Diagnostics
			}
		}
		for name, action := range offered.ActionSchemas {
			schemas["action."+name] = action.Schema
			plans["action."+name] = func(_ *tfprotov6.Schema, config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
				resp, err := server.(tfprotov6.ActionServer).PlanAction(ctx, &tfprotov6.PlanActionRequest{ActionType: name, Config: config})
				check.Must(t, err)
				return resp.Diagnostics
			}
		}
		tried := 0
		for name, plan := range plans {
			schema := schemas[name]
			isNoSuch := func(d *tfprotov6.Diagnostic) bool { return d.Summary == "Invalid ID" }
			named, ok := withID(schema.ValueType().(tftypes.Object), argument, "payments")
			if !ok || isComputed(schema, argument) {
				continue
			}
			tried++
			diags := plan(schema, value(schema.ValueType(), named))
			if len(diags) != 1 || !isNoSuch(diags[0]) {
				t.Fatalf("%s, %s = \"payments\": %+v", name, argument, diags)
			}
			check.Says(t, diags[0].Detail, `No `+to.object+` with the ID "payments" exists`, "look up the ID")
			if prior := value(schema.ValueType(), named); offered.ResourceSchemas[name] != nil {
				resp, err := server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{TypeName: name, Config: prior, ProposedNewState: prior, PriorState: prior})
				if check.Must(t, err); slices.ContainsFunc(resp.Diagnostics, isNoSuch) {
					t.Errorf("%s, %s = \"payments\" in the state: %+v", name, argument, resp.Diagnostics[0])
				}
			}
			identified, _ := withID(schema.ValueType().(tftypes.Object), argument, to.id)
			if diags := plan(schema, value(schema.ValueType(), identified)); slices.ContainsFunc(diags, isNoSuch) {
				t.Errorf("%s, %s = %q: %+v", name, argument, to.id, diags[0])
			}
		}
		if tried == 0 {
			t.Errorf("nothing has the argument %s", argument)
		}
	}
	for _, route := range []string{"/api/v0/service-accounts/sa_1", "/api/v0/environments/env_1", "/api/v0/computers/1b4e28ba-2fa1-41d2-883f-0016d3cca427"} {
		for _, entry := range e.Journal().Entries() {
			if entry.Method == http.MethodGet && entry.Path == route {
				t.Errorf("%s was looked up, although it looks like an ID", route)
			}
		}
	}
}

// isComputed reports whether an attribute at the root is a result only.
func isComputed(schema *tfprotov6.Schema, name string) bool {
	return slices.ContainsFunc(schema.Block.Attributes, func(a *tfprotov6.SchemaAttribute) bool {
		return a.Name == name && !a.Required && !a.Optional
	})
}

// If the service does not know the ID of a data source, the error says how to look up the ID of a name. See also TestReferences.
func TestID_thatIsAName(t *testing.T) {
	t.Parallel()
	const (
		account     = "look up the ID with the data source agentyard_service_account."
		computer    = "look up the ID with the data source agentyard_computer."
		environment = "look up the ID with the data source agentyard_environment."
	)
	e := acctest.New(t)
	e.MustNotRead(t, nil, "agentyard_computer", acctest.Values{"id": "runner-1"}, "id", computer)
	e.MustNotRead(t, nil, "agentyard_computer", acctest.Values{"service_account_id": "ci", "name": "dev"}, "name", account)
	e.MustNotRead(t, nil, "agentyard_computer_metrics", acctest.Values{"computer_id": "runner-1"}, "computer_id", computer)
	e.MustNotRead(t, nil, "agentyard_environment", acctest.Values{"id": "my-env"}, "id", environment)
	statuses := acctest.Values{"service_account_id": "ci", "environment_ids": []any{"env_1"}}
	e.MustNotRead(t, nil, "agentyard_environment_build_statuses", statuses, "service_account_id", account)
}
