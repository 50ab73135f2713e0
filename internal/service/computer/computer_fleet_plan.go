package computer

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
)

const (
	// maxShown is the number of new computers that a plan shows in full. The CLIs do not show an object that is unknown as a whole.
	maxShown = 50
	// maxPlanned is the number of new computers that a plan names, so that a typo in quantity does not exhaust the memory.
	maxPlanned = 10_000
)

func (r *fleetResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state fleetModel
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	members, _, diags := state.computersInState(ctx)
	resp.Diagnostics.Append(diags...)
	if req.Plan.Raw.IsNull() {
		return
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
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
		computers, diags = plan.change(members, r.neverActive(ctx, &state, members, req.Private)).computers(ctx, &plan, state.Computers)
		resp.Diagnostics.Append(diags...)
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("computers"), computers)...)
}

// checkAccess fails before anything is created if the service rejects the API key.
func (r *fleetResource) checkAccess(ctx context.Context, plan *fleetModel) diag.Diagnostics {
	if plan.ServiceAccountID.IsUnknown() {
		return nil
	}
	if err := r.Client.Computers.CheckAccess(ctx, plan.ServiceAccountID.ValueString()); err != nil {
		return apierror.For("plan", "computer fleet", err)
	}
	return checkProvider(ctx, r.Client, plan.ProviderType)
}

// fleetChange describes an update, which deletes the failed and surplus computers, then creates the missing ones.
type fleetChange struct {
	stay, failed, surplus []fleetMember
	missing               int
}

// change replaces the failed members, by ID.
func (m *fleetModel) change(members []fleetMember, failed map[string]bool) fleetChange {
	var c fleetChange
	for _, member := range members {
		if m.ReplaceFailed.ValueBool() && failed[member.ID.ValueString()] {
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

// planned is the change that the plan shows. A member that has recovered since stays.
func (m *fleetModel) planned(members []fleetMember, failed map[string]bool) fleetChange {
	if m.Computers.IsUnknown() {
		return m.change(members, failed)
	}
	var c fleetChange
	entries := m.Computers.Elements()
	for _, member := range members {
		entry, isPlanned := entries[member.name].(types.Object)
		isReplaced := isPlanned && (entry.IsUnknown() || entry.Attributes()["id"].IsUnknown())
		switch {
		case !isPlanned:
			c.surplus = append(c.surplus, member)
		case isReplaced && failed[member.ID.ValueString()]:
			c.failed = append(c.failed, member)
		default:
			c.stay = append(c.stay, member)
		}
	}
	c.missing = len(entries) - len(c.stay)
	return c
}

// neverActive returns the IDs of failed members that the fleet created and that were never active.
func (r *fleetResource) neverActive(ctx context.Context, m *fleetModel, members []fleetMember, private privatestate.State) map[string]bool {
	failed := map[string]bool{}
	if wasImported(ctx, private) {
		return failed
	}
	for _, member := range members {
		if member.Status.ValueString() == computers.StatusError {
			listed, err := r.Client.Computers.GetListed(ctx, member.ID.ValueString(), m.ServiceAccountID.ValueString())
			failed[member.ID.ValueString()] = err == nil && listed != nil && listed.SetUpFailed()
		}
	}
	return failed
}

func (c fleetChange) computers(ctx context.Context, plan *fleetModel, state types.Map) (types.Map, diag.Diagnostics) {
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
	missing := newNames(plan.NamePrefix.ValueString(), c.stay, c.missing)
	for i, name := range missing {
		entries[name] = created
		if i >= maxShown {
			entries[name] = types.ObjectUnknown(fleetComputerType.AttrTypes)
		}
	}
	if hidden := missing[min(maxShown, len(missing)):]; len(hidden) > 0 {
		diags.AddAttributeWarning(path.Root("computers"), "Plan shows only some new computers",
			fmt.Sprintf("The apply creates %d computers of the fleet %q. The plan shows %d of them and omits: %s.", len(missing), plan.NamePrefix.ValueString(), maxShown, phrase.Names(hidden, phrase.MaxNamed)))
	}
	computers, d := types.MapValue(fleetComputerType, entries)
	diags.Append(d...)
	return computers, diags
}

// replaceProvider replaces nothing while the fleet has no provider yet, because it never had a computer.
func replaceProvider(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}
