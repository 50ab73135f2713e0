// Command comparison serves the providers with which the cost of a plan is compared. AGENTYARD_COMPARISON says which:
//
//	empty  a provider of a resource with three attributes that reads nothing, served as the framework serves any provider
//	echo   a provider with all schemas of this one that returns each state and plan as it got it: nothing can cost less
package main

import (
	"context"
	"log"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	agentyard "github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

func main() {
	var server tfprotov6.ProviderServer
	switch kind := os.Getenv("AGENTYARD_COMPARISON"); kind {
	case "empty":
		server = providerserver.NewProtocol6(offering{empty{}})()
	case "echo":
		own, err := agentyard.NewServer("comparison")
		if err != nil {
			log.Fatal(err)
		}
		server = echo{own}
	default:
		log.Fatalf("AGENTYARD_COMPARISON is %q", kind)
	}
	if err := tf6server.Serve("registry.terraform.io/agentyard/agentyard", func() tfprotov6.ProviderServer { return server }); err != nil {
		log.Fatal(err)
	}
}

// offering is a provider without settings that offers one resource.
type offering struct{ resource resource.Resource }

func (offering) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "agentyard"
}

func (offering) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (offering) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (offering) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (o offering) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return o.resource }}
}

// echo answers what a plan of unchanged objects asks without decoding anything.
type echo struct{ agentyard.Server }

func (echo) UpgradeResourceState(_ context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &tfprotov6.DynamicValue{JSON: req.RawState.JSON}}, nil
}

func (echo) ReadResource(_ context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, Private: req.Private, NewIdentity: req.CurrentIdentity}, nil
}

func (echo) PlanResourceChange(_ context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.ProposedNewState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: req.PriorIdentity}, nil
}

func (echo) ValidateResourceConfig(context.Context, *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return &tfprotov6.ValidateResourceConfigResponse{}, nil
}

type empty struct{}

func (empty) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_empty"
}

func (empty) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"name": schema.StringAttribute{Required: true},
		"note": schema.StringAttribute{Optional: true},
	}}
}

func (empty) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.State.Raw = req.Plan.Raw
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), "empty")...)
}

func (empty) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (empty) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

func (empty) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
