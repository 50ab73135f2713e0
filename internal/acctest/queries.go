package acctest

import (
	"cmp"
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// Unconfigured is NewProcess without the configuration.
func Unconfigured(t testing.TB, e *Env, settings Values) *Process {
	t.Helper()
	clk := clock.Clock(clock.System)
	if e.Clock != nil {
		clk = e.Clock
	}
	p := &Process{t: t}
	schema, err := offered()
	if err != nil {
		t.Fatal(err)
	}
	server, err := provider.NewServer("in-process", append(shadowed(t, clk, p.answered.add), provider.WithSchemas(schema))...)
	if err != nil {
		t.Fatal(err)
	}
	config := Values{"base_url": e.URL(), "api_key": e.BootstrapKey()}
	for name, v := range settings {
		config[name] = v
	}
	typ := schema.Provider.ValueType()
	p.server, p.schemas, p.offered, p.config = server, schema.ResourceSchemas, schema, dynamic(t, typ, valueOf(t, typ, config))
	return p
}

// Restart gives the provider a new client, which has read nothing, as in a new run. It is much faster than another process.
func (p *Process) Restart() {
	p.t.Helper()
	resp, err := p.server.ConfigureProvider(context.Background(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.16.4", Config: p.config})
	if err != nil {
		p.t.Fatal(err)
	}
	if errs, _ := split(resp.Diagnostics); len(errs) > 0 {
		p.t.Fatalf("configuring the provider: %s", joinDiagnostics(errs))
	}
}

// Configure validates a provider block, and configures the provider with it.
func (p *Process) Configure(config Values) Outcome {
	p.t.Helper()
	out := Outcome{Action: ActionNone}
	typ := p.offered.Provider.ValueType()
	settings := dynamic(p.t, typ, valueOf(p.t, typ, config))
	validated, err := p.server.ValidateProviderConfig(context.Background(), &tfprotov6.ValidateProviderConfigRequest{Config: settings})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.collect(&out, validated.Diagnostics, nil); len(out.Errors) > 0 {
		return out
	}
	configured, err := p.server.ConfigureProvider(context.Background(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.16.4", Config: settings})
	if err != nil {
		p.t.Fatal(err)
	}
	p.collect(&out, configured.Diagnostics, nil)
	return out
}

// Schemas returns the schemas of all objects.
func (p *Process) Schemas() *tfprotov6.GetProviderSchemaResponse { return p.offered }

// List validates and runs a list resource with its resources, as `terraform query` does. It returns the resources, and an outcome whose
// Action is ActionNone.
func (p *Process) List(typeName string, config Values) ([]tftypes.Value, Outcome) {
	p.t.Helper()
	out := Outcome{Action: ActionNone}
	server := p.server.(tfprotov6.ListResourceServer)
	_, configured := p.configured(p.offered.ListResourceSchemas[typeName], typeName, config)
	validated, err := server.ValidateListResourceConfig(context.Background(), &tfprotov6.ValidateListResourceConfigRequest{TypeName: typeName, Config: configured})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.collect(&out, validated.Diagnostics, nil); len(out.Errors) > 0 {
		return nil, out
	}
	stream, err := server.ListResource(context.Background(), &tfprotov6.ListResourceRequest{TypeName: typeName, Config: configured, IncludeResource: true, Limit: cmp.Or(p.Limit, 1000)})
	if err != nil {
		p.t.Fatal(err)
	}
	var resources []tftypes.Value
	p.Names, p.Identities = nil, nil
	for result := range stream.Results {
		p.Names = append(p.Names, result.DisplayName)
		if result.Identity != nil {
			p.Identities = append(p.Identities, Plain(p.t, p.value(p.identityType(typeName), result.Identity.IdentityData)).(map[string]any))
		}
		p.collect(&out, result.Diagnostics, nil)
		if result.Resource != nil {
			resources = append(resources, p.value(p.schemas[typeName].ValueType(), result.Resource))
		}
	}
	return resources, out
}

// Open validates and opens an ephemeral resource, and closes it. It returns the attributes, and an outcome whose Action is ActionNone.
func (p *Process) Open(typeName string, config Values) (map[string]tftypes.Value, Outcome) {
	p.t.Helper()
	ctx := context.Background()
	out := Outcome{Action: ActionNone}
	typ, configured := p.configured(p.offered.EphemeralResourceSchemas[typeName], typeName, config)
	validated, err := p.server.ValidateEphemeralResourceConfig(ctx, &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: typeName, Config: configured})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.collect(&out, validated.Diagnostics, nil); len(out.Errors) > 0 {
		return nil, out
	}
	opened, err := p.server.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{TypeName: typeName, Config: configured})
	if err != nil {
		p.t.Fatal(err)
	}
	p.collect(&out, opened.Diagnostics, nil)
	if len(out.Errors) > 0 {
		return nil, out
	}
	closed, err := p.server.CloseEphemeralResource(ctx, &tfprotov6.CloseEphemeralResourceRequest{TypeName: typeName, Private: opened.Private})
	if err != nil {
		p.t.Fatal(err)
	}
	p.collect(&out, closed.Diagnostics, nil)
	return as[map[string]tftypes.Value](p.t, p.value(typ, opened.Result)), out
}

// Import imports an object by its import ID, as `terraform import` does, and refreshes it.
func (p *Process) Import(i *Instance, id string) Outcome {
	p.t.Helper()
	return p.importObject(i, &tfprotov6.ImportResourceStateRequest{TypeName: i.Type, ID: id})
}

// ImportByIdentity imports an object by its identity, as an import block does, and refreshes it.
func (p *Process) ImportByIdentity(i *Instance, identity Values) Outcome {
	p.t.Helper()
	typ := p.identityType(i.Type)
	data := &tfprotov6.ResourceIdentityData{IdentityData: dynamic(p.t, typ, valueOf(p.t, typ, identity))}
	return p.importObject(i, &tfprotov6.ImportResourceStateRequest{TypeName: i.Type, Identity: data})
}

func (p *Process) identityType(typeName string) tftypes.Type {
	p.t.Helper()
	schemas, err := p.server.GetResourceIdentitySchemas(context.Background(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		p.t.Fatal(err)
	}
	return schemas.IdentitySchemas[typeName].ValueType()
}

func (p *Process) importObject(i *Instance, request *tfprotov6.ImportResourceStateRequest) Outcome {
	p.t.Helper()
	var out Outcome
	resp, err := p.server.ImportResourceState(context.Background(), request)
	if err != nil {
		p.collect(&out, nil, err)
		return out
	}
	p.collect(&out, resp.Diagnostics, nil)
	if len(out.Errors) > 0 {
		return out
	}
	imported := resp.ImportedResources[0]
	i.State, i.private, i.identity, i.Tainted = p.value(p.schemas[i.Type].ValueType(), imported.State), imported.Private, imported.Identity, false
	p.refresh(i, &out)
	if i.State.IsNull() && len(out.Errors) == 0 {
		p.t.Fatalf("%s %+v does not exist", i.Type, request)
	}
	return out
}

// Use applies a resource, reads a data source, queries a list, or opens an ephemeral resource.
func (p *Process) Use(kind, typeName string, config Values) (out Outcome) {
	p.t.Helper()
	switch kind {
	case "data":
		_, out = p.ReadData(typeName, config)
	case "list":
		_, out = p.List(typeName, config)
	case "ephemeral":
		_, out = p.Open(typeName, config)
	default:
		out = p.Apply(p.NewInstance(typeName), config)
	}
	return out
}

// Check is Use, but only plans a resource.
func (p *Process) Check(kind, typeName string, config Values) Outcome {
	p.t.Helper()
	if kind == "resource" {
		return p.Plan(p.NewInstance(typeName), config)
	}
	return p.Use(kind, typeName, config)
}
