package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

const (
	// maxShown bounds the new computers that a plan shows with their attributes. The CLIs hide an object that is unknown
	// as a whole.
	maxShown = 50
	// maxPlanned bounds the new computers that a plan names. Beyond it, computers is unknown as a whole, so that a typing
	// error in quantity does not exhaust the memory.
	maxPlanned = 10_000
)

// ModifyPlan plans which computers stay, which are deleted, and which are created.
func (r *fleetResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan, state fleetModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	members, _, diags := state.computersInState(ctx)
	resp.Diagnostics.Append(diags...)
	known, diags := getNew(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		resp.Diagnostics.Append(r.checkAccess(ctx, &plan)...)
	}
	id := types.StringUnknown()
	if !plan.NamePrefix.IsUnknown() && !plan.ServiceAccountID.IsUnknown() {
		id = types.StringValue(plan.importID())
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), id)...)
	computers := types.MapUnknown(fleetComputerType)
	if !plan.NamePrefix.IsUnknown() && !plan.Quantity.IsUnknown() && !plan.ReplaceFailed.IsUnknown() {
		computers, diags = plan.change(members, known).computers(ctx, plan.NamePrefix.ValueString(), state.Computers)
		resp.Diagnostics.Append(diags...)
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("computers"), computers)...)
}

// checkAccess fails where the service refuses the provider.
func (r *fleetResource) checkAccess(ctx context.Context, plan *fleetModel) diag.Diagnostics {
	if plan.ServiceAccountID.IsUnknown() {
		return nil
	}
	return apierror.For("plan", "computer fleet", r.Client.CheckComputers(ctx, plan.ServiceAccountID.ValueString()), fleetFields)
}

// fleetChange is what an update does to a fleet's computers: it deletes failed and surplus, then creates missing new ones.
type fleetChange struct {
	stay, failed, surplus []fleetMember
	missing               int
}

// change compares the computers that exist with what is configured.
func (m *fleetModel) change(members []fleetMember, known newComputers) fleetChange {
	var c fleetChange
	for _, member := range members {
		if m.ReplaceFailed.ValueBool() && member.Status.ValueString() == client.ComputerError && known[member.ID.ValueString()] {
			c.failed = append(c.failed, member)
		} else {
			c.stay = append(c.stay, member)
		}
	}
	quantity := int(m.Quantity.ValueInt64())
	c.missing = max(0, quantity-len(c.stay))
	if len(c.stay) > quantity {
		c.stay, c.surplus = c.stay[:quantity:quantity], c.stay[quantity:]
	}
	return c
}

// computers returns the planned entries. Those that stay keep their values in the state.
func (c fleetChange) computers(ctx context.Context, prefix string, state types.Map) (types.Map, diag.Diagnostics) {
	if c.missing > maxPlanned {
		return types.MapUnknown(fleetComputerType), nil
	}
	created, diags := types.ObjectValueFrom(ctx, fleetComputerType.AttrTypes, fleetComputer{
		ID:                    types.StringUnknown(),
		Status:                types.StringUnknown(),
		Hostname:              types.StringUnknown(),
		RemoteUser:            types.StringUnknown(),
		RelayClientURL:        types.StringUnknown(),
		RelayAgentURL:         types.StringUnknown(),
		ClonedRepoDirectories: types.ListUnknown(types.StringType),
	})
	inState, entries := state.Elements(), map[string]attr.Value{}
	for _, member := range c.stay {
		entries[member.name] = inState[member.name]
	}
	for i, name := range newNames(prefix, c.stay, c.missing) {
		entries[name] = created
		if i >= maxShown {
			entries[name] = types.ObjectUnknown(fleetComputerType.AttrTypes)
		}
	}
	computers, d := types.MapValue(fleetComputerType, entries)
	diags.Append(d...)
	return computers, diags
}

// replaceProvider sets no replacement where the fleet never had a computer and therefore no provider.
func replaceProvider(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}
