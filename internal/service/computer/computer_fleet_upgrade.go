package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// fleetSchemaV0 is frozen: schema version 0, in which computers was a list. It has only what the upgrade uses, because
// attributes that it lacks are ignored. Those that an old state lacks are null.
func fleetSchemaV0(ctx context.Context) *schema.Schema {
	return &schema.Schema{
		Attributes: map[string]schema.Attribute{
			"id":                 schema.StringAttribute{Computed: true},
			"name_prefix":        schema.StringAttribute{Required: true},
			"quantity":           schema.Int64Attribute{Required: true},
			"provider_type":      schema.StringAttribute{Computed: true},
			"repos":              schema.ListAttribute{Optional: true, ElementType: types.StringType},
			"auto_install_deps":  schema.BoolAttribute{Optional: true},
			"service_account_id": schema.StringAttribute{Optional: true},
			"wait_for_active":    schema.BoolAttribute{Computed: true},
			"replace_failed":     schema.BoolAttribute{Computed: true},
			"computers": schema.ListNestedAttribute{Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"name":                    schema.StringAttribute{Computed: true},
				"id":                      schema.StringAttribute{Computed: true},
				"status":                  schema.StringAttribute{Computed: true},
				"hostname":                schema.StringAttribute{Computed: true},
				"remote_user":             schema.StringAttribute{Computed: true},
				"relay_client_url":        schema.StringAttribute{Computed: true},
				"relay_agent_url":         schema.StringAttribute{Computed: true},
				"cloned_repo_directories": schema.ListAttribute{Computed: true, ElementType: types.StringType},
			}}},
		},
		Blocks: map[string]schema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{Create: true, Update: true, Delete: true}),
		},
	}
}

type fleetModelV0 struct {
	ID               types.String      `tfsdk:"id"`
	NamePrefix       types.String      `tfsdk:"name_prefix"`
	Quantity         types.Int64       `tfsdk:"quantity"`
	ProviderType     types.String      `tfsdk:"provider_type"`
	Repos            types.List        `tfsdk:"repos"`
	AutoInstallDeps  types.Bool        `tfsdk:"auto_install_deps"`
	ServiceAccountID types.String      `tfsdk:"service_account_id"`
	WaitForActive    types.Bool        `tfsdk:"wait_for_active"`
	ReplaceFailed    types.Bool        `tfsdk:"replace_failed"`
	Computers        []fleetComputerV0 `tfsdk:"computers"`
	Timeouts         timeouts.Value    `tfsdk:"timeouts"`
}

type fleetComputerV0 struct {
	Name                  types.String `tfsdk:"name"`
	ID                    types.String `tfsdk:"id"`
	Status                types.String `tfsdk:"status"`
	Hostname              types.String `tfsdk:"hostname"`
	RemoteUser            types.String `tfsdk:"remote_user"`
	RelayClientURL        types.String `tfsdk:"relay_client_url"`
	RelayAgentURL         types.String `tfsdk:"relay_agent_url"`
	ClonedRepoDirectories types.List   `tfsdk:"cloned_repo_directories"`
}

// UpgradeState turns the list of computers into a map by name.
func (r *fleetResource) UpgradeState(ctx context.Context) map[int64]resource.StateUpgrader {
	return map[int64]resource.StateUpgrader{0: {PriorSchema: fleetSchemaV0(ctx), StateUpgrader: upgradeFleetFromV0}}
}

func upgradeFleetFromV0(ctx context.Context, req resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse) {
	var old fleetModelV0
	resp.Diagnostics.Append(req.State.Get(ctx, &old)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m := fleetModel{
		ID:               old.ID,
		NamePrefix:       old.NamePrefix,
		ProviderType:     old.ProviderType,
		Repos:            old.Repos,
		AutoInstallDeps:  old.AutoInstallDeps,
		ServiceAccountID: old.ServiceAccountID,
		WaitForActive:    old.WaitForActive,
		ReplaceFailed:    old.ReplaceFailed,
		Timeouts:         old.Timeouts,
	}
	members := make([]fleetMember, len(old.Computers))
	for i, c := range old.Computers {
		members[i] = fleetMember{c.Name.ValueString(), fleetComputer{
			ID:                    c.ID,
			Status:                c.Status,
			Hostname:              c.Hostname,
			RemoteUser:            c.RemoteUser,
			RelayClientURL:        c.RelayClientURL,
			RelayAgentURL:         c.RelayAgentURL,
			ClonedRepoDirectories: c.ClonedRepoDirectories,
		}}
	}
	missing := newNames(old.NamePrefix.ValueString(), members, int(old.Quantity.ValueInt64())-len(members))
	resp.Diagnostics.Append(m.setComputers(ctx, members, missing)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, nil, &m, nil)...) // With defaults that were added later.
}
