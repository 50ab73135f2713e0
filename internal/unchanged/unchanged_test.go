package unchanged_test

import (
	"cmp"
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/quiet"
	"github.com/agentyard/terraform-provider-agentyard/internal/unchanged"
)

// framework stands for the framework's server: it says that it was asked.
type framework struct{ quiet.Server }

func (framework) PlanResourceChange(context.Context, *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return &tfprotov6.PlanResourceChangeResponse{Diagnostics: []*tfprotov6.Diagnostic{{Summary: "asked"}}}, nil
}

type thing struct{ resource.Resource }

func (thing) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_thing"
}

func (thing) UnchangedDefaults() map[string]attr.Value {
	return map[string]attr.Value{"size": types.Int64Value(3), "wait": types.BoolValue(true)}
}

// fragile is a thing whose plan is empty only while its name is "a" and nothing is left to do.
type fragile struct{ thing }

func (fragile) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_fragile"
}

func (fragile) UnchangedWhile() (values map[string]attr.Value, private []string) {
	return map[string]attr.Value{"name": types.StringValue("a")}, []string{"todo"}
}

// other is of a type that declares nothing.
type other struct{ resource.Resource }

var thingType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"name": tftypes.String, "size": tftypes.Number, "wait": tftypes.Bool}}

func encoded(t *testing.T, name, size, wait any) *tfprotov6.DynamicValue {
	t.Helper()
	v, err := tfprotov6.NewDynamicValue(thingType, tftypes.NewValue(thingType, map[string]tftypes.Value{
		"name": tftypes.NewValue(tftypes.String, name), "size": tftypes.NewValue(tftypes.Number, size), "wait": tftypes.NewValue(tftypes.Bool, wait),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

func TestServer_asksTheFrameworkWhereSomethingIsToBePlanned(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server, err := unchanged.New(ctx, framework{}, "test", []func() resource.Resource{
		func() resource.Resource { return other{} },
		func() resource.Resource { return thing{} },
		func() resource.Resource { return fragile{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	null := &tfprotov6.DynamicValue{MsgPack: []byte{0xc0}}
	state := encoded(t, "a", 3, true)
	for name, tc := range map[string]struct {
		typeName                string
		prior, config, proposed *tfprotov6.DynamicValue
		private                 string
		capabilities            *tfprotov6.PlanResourceChangeClientCapabilities
		asked                   bool
	}{
		"everything is configured":      {prior: state, config: encoded(t, "a", 3, true), proposed: state},
		"the defaults are left out":     {prior: state, config: encoded(t, "a", nil, nil), proposed: state},
		"another value is configured":   {prior: encoded(t, "a", 3, false), config: encoded(t, "a", nil, false), proposed: encoded(t, "a", 3, false)},
		"the other value is removed":    {prior: encoded(t, "a", 3, false), config: encoded(t, "a", nil, nil), proposed: encoded(t, "a", 3, false), asked: true},
		"the other number is removed":   {prior: encoded(t, "a", 4, true), config: encoded(t, "a", nil, nil), proposed: encoded(t, "a", 4, true), asked: true},
		"the state lacks a default":     {prior: encoded(t, "a", nil, true), config: encoded(t, "a", nil, nil), proposed: encoded(t, "a", nil, true), asked: true},
		"unknown":                       {prior: state, config: encoded(t, tftypes.UnknownValue, nil, nil), proposed: encoded(t, tftypes.UnknownValue, 3, true), asked: true},
		"a change":                      {prior: state, config: encoded(t, "b", nil, nil), proposed: encoded(t, "b", 3, true), asked: true},
		"a creation":                    {prior: null, config: encoded(t, "a", nil, nil), proposed: encoded(t, "a", nil, nil), asked: true},
		"a destruction":                 {prior: state, config: null, proposed: null, asked: true},
		"nothing":                       {prior: null, config: null, proposed: null, asked: true},
		"no configuration":              {prior: state, config: null, proposed: state, asked: true},
		"no values":                     {asked: true},
		"values in JSON":                {prior: &tfprotov6.DynamicValue{JSON: []byte("{}")}, config: null, proposed: &tfprotov6.DynamicValue{JSON: []byte("{}")}, asked: true},
		"a client that allows deferral": {prior: state, config: state, proposed: state, capabilities: &tfprotov6.PlanResourceChangeClientCapabilities{DeferralAllowed: true}, asked: true},
		"a client that does not":        {prior: state, config: state, proposed: state, capabilities: &tfprotov6.PlanResourceChangeClientCapabilities{}},
		"well":                          {typeName: "test_fragile", prior: state, config: state, proposed: state},
		"well, with other notes":        {typeName: "test_fragile", prior: state, config: state, proposed: state, private: `{"done":"eA==","todo":""}`},
		"well, with nothing to do":      {typeName: "test_fragile", prior: state, config: state, proposed: state, private: `{"todo":null}`},
		"not well":                      {typeName: "test_fragile", prior: encoded(t, "b", 3, true), config: encoded(t, "b", 3, true), proposed: encoded(t, "b", 3, true), asked: true},
		"of no known health":            {typeName: "test_fragile", prior: encoded(t, nil, 3, true), config: encoded(t, nil, 3, true), proposed: encoded(t, nil, 3, true), asked: true},
		"something to do":               {typeName: "test_fragile", prior: state, config: state, proposed: state, private: `{"todo":"eA=="}`, asked: true},
		"notes that cannot be read":     {typeName: "test_fragile", prior: state, config: state, proposed: state, private: `[]`, asked: true},
		"an undeclared type":            {typeName: "test_other", prior: state, config: state, proposed: state, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := &tfprotov6.PlanResourceChangeRequest{
				TypeName: "test_thing", PriorState: tc.prior, Config: tc.config, ProposedNewState: tc.proposed, ClientCapabilities: tc.capabilities, PriorPrivate: []byte(cmp.Or(tc.private, "{}")),
			}
			if tc.typeName != "" {
				req.TypeName = tc.typeName
			}
			resp, err := server.PlanResourceChange(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			if asked := len(resp.Diagnostics) > 0; asked != tc.asked {
				t.Errorf("the framework was asked: %v, want %v", asked, tc.asked)
			}
			if !tc.asked && (resp.PlannedState != tc.prior || string(resp.PlannedPrivate) != string(req.PriorPrivate)) {
				t.Errorf("the plan is %+v", resp)
			}
		})
	}
}
