package provider_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// filled returns a value with every attribute set. Blocks, which are timeouts, stay null.
func filled(typ tftypes.Type) tftypes.Value {
	switch {
	case typ.Is(tftypes.String):
		return tftypes.NewValue(typ, "1")
	case typ.Is(tftypes.Number):
		return tftypes.NewValue(typ, 1)
	case typ.Is(tftypes.Bool):
		return tftypes.NewValue(typ, true)
	}
	switch typ := typ.(type) {
	case tftypes.List:
		return tftypes.NewValue(typ, []tftypes.Value{filled(typ.ElementType)})
	case tftypes.Set:
		return tftypes.NewValue(typ, []tftypes.Value{filled(typ.ElementType)})
	case tftypes.Map:
		return tftypes.NewValue(typ, map[string]tftypes.Value{"x": filled(typ.ElementType)})
	case tftypes.Object:
		values := map[string]tftypes.Value{}
		for name, attribute := range typ.AttributeTypes {
			values[name] = filled(attribute)
			if name == "timeouts" {
				values[name] = tftypes.NewValue(attribute, nil)
			}
			if name == "deletion_protection" {
				values[name] = tftypes.NewValue(attribute, false)
			}
		}
		return tftypes.NewValue(typ, values)
	}
	return tftypes.NewValue(typ, nil)
}

// checksFirst contains the operations that reject these values before they call the service.
var checksFirst = map[string]bool{
	"read agentyard_computer_metrics":   true,
	"create agentyard_ci_workflow_edit": true, "invoke agentyard_ci_workflow_edit": true,
	"create agentyard_computer_file_upload": true, "invoke agentyard_computer_file_upload": true,
	"create agentyard_member_remove": true, "invoke agentyard_member_remove": true,
	"create agentyard_session_message": true, "invoke agentyard_session_message": true,
}

// Every call before the provider is configured returns an error that says so.
func TestCallsBeforeConfigure(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	encoded := func(v tftypes.Value) *tfprotov6.DynamicValue {
		d, err := tfprotov6.NewDynamicValue(v.Type(), v)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	says := func(what string, diags []*tfprotov6.Diagnostic, err error) {
		t.Helper()
		text := ""
		for _, d := range diags {
			text += d.Summary + ": " + d.Detail + "\n"
		}
		if err != nil || text == "" || !checksFirst[what] && !strings.Contains(strings.ToLower(text), "the provider is not configured") {
			t.Errorf("%s: %v, %q", what, err, text)
		}
	}
	for name, schema := range schemas.ResourceSchemas {
		typ := schema.ValueType()
		none, some := encoded(tftypes.NewValue(typ, nil)), encoded(filled(typ))
		read, err := server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: name, CurrentState: some})
		sends := !acctest.IsOperation(schemas, name)
		if sends {
			says("read "+name, read.Diagnostics, err)
		}
		gone, err := server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{TypeName: name, PriorState: some, PlannedState: none, Config: none})
		if sends && name != "agentyard_default_environment" { // Its delete sends no request.
			says("delete "+name, gone.Diagnostics, err)
		}
		if _, err := server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{TypeName: name, PriorState: none, ProposedNewState: some, Config: some}); err != nil {
			t.Errorf("plan %s: %v", name, err)
		}
		made, err := server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{TypeName: name, PriorState: none, PlannedState: some, Config: some})
		says("create "+name, made.Diagnostics, err)
	}
	for name, schema := range schemas.DataSourceSchemas {
		read, err := server.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: encoded(filled(schema.ValueType()))})
		says("read "+name, read.Diagnostics, err)
	}
	for name, schema := range schemas.EphemeralResourceSchemas {
		opened, err := server.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{TypeName: name, Config: encoded(filled(schema.ValueType()))})
		says("open "+name, opened.Diagnostics, err)
	}
	for name, schema := range schemas.ActionSchemas {
		stream, err := server.(tfprotov6.ActionServer).InvokeAction(ctx, &tfprotov6.InvokeActionRequest{ActionType: name, Config: encoded(filled(schema.Schema.ValueType()))})
		var diags []*tfprotov6.Diagnostic
		for event := range stream.Events {
			if done, ok := event.Type.(tfprotov6.CompletedInvokeActionEventType); ok {
				diags = done.Diagnostics
			}
		}
		says("invoke "+name, diags, err)
	}
	for name, schema := range schemas.ListResourceSchemas {
		stream, err := server.(tfprotov6.ListResourceServer).ListResource(ctx, &tfprotov6.ListResourceRequest{TypeName: name, Config: encoded(filled(schema.ValueType())), Limit: 1})
		var diags []*tfprotov6.Diagnostic
		for result := range stream.Results {
			diags = append(diags, result.Diagnostics...)
		}
		says("list "+name, diags, err)
	}
}
