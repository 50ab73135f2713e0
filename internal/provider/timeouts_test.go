package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// Every attribute of every timeouts block rejects zero and negative durations.
func TestProvider_timeouts(t *testing.T) {
	t.Parallel()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	actions, ok := server.(tfprotov6.ActionServer)
	if !ok {
		t.Fatal("the server has no actions")
	}
	blocks := 0
	for name, schema := range resp.ResourceSchemas {
		blocks += rejectsNoTime(t, name, schema, func(config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			resp, err := server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: name, Config: config})
			return resp.Diagnostics, err
		})
	}
	for name, schema := range resp.ActionSchemas {
		blocks += rejectsNoTime(t, name, schema.Schema, func(config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			resp, err := actions.ValidateActionConfig(t.Context(), &tfprotov6.ValidateActionConfigRequest{ActionType: name, Config: config})
			return resp.Diagnostics, err
		})
	}
	if blocks < 6 {
		t.Errorf("%d timeouts blocks", blocks)
	}
}

// rejectsNoTime validates every attribute of a timeouts block, and returns the number of such blocks in a schema.
func rejectsNoTime(t *testing.T, name string, schema *tfprotov6.Schema, validate func(*tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error)) (blocks int) {
	t.Helper()
	whole, ok := schema.ValueType().(tftypes.Object)
	if !ok {
		t.Fatalf("%s is no object", name)
	}
	block, ok := whole.AttributeTypes["timeouts"].(tftypes.Object)
	if !ok {
		return 0
	}
	for attribute := range block.AttributeTypes {
		for given, isRejected := range map[string]bool{"0s": true, "-1m": true, "1ns": false} {
			values := nulls(whole)
			timeouts := nulls(block)
			timeouts[attribute] = tftypes.NewValue(tftypes.String, given)
			values["timeouts"] = tftypes.NewValue(block, timeouts)
			config, err := tfprotov6.NewDynamicValue(whole, tftypes.NewValue(whole, values))
			if err != nil {
				t.Fatal(err)
			}
			diags, err := validate(&config)
			if err != nil {
				t.Fatal(err)
			}
			at := tftypes.NewAttributePath().WithAttributeName("timeouts").WithAttributeName(attribute)
			found := false
			for _, d := range diags {
				found = found || d.Attribute != nil && d.Attribute.Equal(at) && d.Severity == tfprotov6.DiagnosticSeverityError
			}
			if found != isRejected {
				t.Errorf("%s: timeouts.%s = %q is rejected: %t", name, attribute, given, found)
			}
		}
	}
	return 1
}

func nulls(of tftypes.Object) map[string]tftypes.Value {
	values := map[string]tftypes.Value{}
	for name, typ := range of.AttributeTypes {
		values[name] = tftypes.NewValue(typ, nil)
	}
	return values
}
