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

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
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
	members, _, diags := state.computersInState(ctx, req.Private)
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
		change := plan.change(members)
		computers, diags = change.computers(ctx, &plan, state.Computers)
		resp.Diagnostics.Append(diags...)
		if plan.NamePrefix.Equal(state.NamePrefix) {
			resp.Diagnostics.Append(plan.warnOfShrinking(members, change)...)
		}
		if req.Plan.Raw.Equal(req.State.Raw) { // Otherwise, the plan may be a replacement, which does not wait.
			resp.Diagnostics.Append(plan.warnOfWait(change.stay)...)
		}
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

// change is what a plan shows.
func (m *fleetModel) change(members []fleetMember) fleetChange {
	var c fleetChange
	for _, member := range members {
		if m.ReplaceFailed.ValueBool() && member.setUpFailed {
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

// planned is the change that the plan has shown. A member that has recovered since stays.
func (m *fleetModel) planned(members []fleetMember) fleetChange {
	if m.Computers.IsUnknown() {
		return m.change(members)
	}
	var c fleetChange
	var unplanned []fleetMember
	entries := m.Computers.Elements()
	for _, member := range members {
		entry, isPlanned := entries[member.name].(types.Object)
		isReplaced := isPlanned && (entry.IsUnknown() || entry.Attributes()["id"].IsUnknown())
		switch {
		case !isPlanned:
			unplanned = append(unplanned, member)
		case isReplaced && member.setUpFailed:
			c.failed = append(c.failed, member)
		default:
			c.stay = append(c.stay, member)
		}
	}
	for _, member := range unplanned {
		// A plan that creates computers has no surplus, so this one had failed. It takes the place of a new one.
		if len(c.stay) < len(entries) && !member.setUpFailed {
			member.name = newNames(m.NamePrefix.ValueString(), c.stay, 1)[0]
			c.stay = append(c.stay, member)
		} else {
			c.surplus = append(c.surplus, member)
		}
	}
	c.missing = len(entries) - len(c.stay)
	return c
}

// lookAgain looks whether failed members that the plan replaces have recovered since: a saved plan may be old.
func (r *fleetResource) lookAgain(ctx context.Context, m *fleetModel, members []fleetMember) (diags diag.Diagnostics) {
	for i := range members {
		if !members[i].setUpFailed || !m.ReplaceFailed.ValueBool() {
			continue
		}
		listed, err := r.Client.Computers.GetListed(ctx, members[i].ID.ValueString(), m.ServiceAccountID.ValueString())
		switch {
		case err != nil:
			return apierror.For("update", "computer fleet", err)
		case listed == nil: // Nothing proves that it has not recovered.
			members[i].setUpFailed = false
		default:
			diags.Append(members[i].see(ctx, listed)...)
		}
	}
	return diags
}

// awaits reports whether the fleet waits for a member that an earlier apply left while it was set up.
func (m *fleetModel) awaits(member *fleetMember) bool {
	return value.MayBeTrue(m.WaitForActive) && member.isLeft(member.Status.ValueString())
}

// warnOfWait says which members the apply waits for.
func (m *fleetModel) warnOfWait(stay []fleetMember) diag.Diagnostics {
	waiting := memberNames(collection.Filter(stay, m.awaits))
	if len(waiting) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(notYetActive, fmt.Sprintf("%s of the fleet %q %s not active yet, because an earlier apply did not wait for %s to the end: %s. Unless this apply replaces %[4]s, it waits for %[4]s.",
		phrase.Count(len(waiting), "computer"), m.NamePrefix.ValueString(), phrase.Verb(len(waiting), "is", "are"), phrase.Verb(len(waiting), "it", "them"),
		phrase.Names(waiting, phrase.MaxNamed)))}
}

// warnOfShrinking names the computers that leave the fleet: Terraform counts only an update. If others are created, a failed one may have
// recovered by the time of the apply, and stay.
func (m *fleetModel) warnOfShrinking(members []fleetMember, c fleetChange) diag.Diagnostics {
	gone := memberNames(without(members, c.stay))
	if len(gone) == 0 || c.missing > 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(path.Root("quantity"), "Fleet will shrink", fmt.Sprintf("An apply that keeps the fleet %q deletes %d of its computers: %s. Terraform shows this as a change, not as a destruction.",
		m.NamePrefix.ValueString(), len(gone), phrase.Names(gone, phrase.MaxNamed)))}
}

// newFleetComputer is an entry whose results the apply sets.
func newFleetComputer(id types.String) fleetComputer {
	unknown := types.StringUnknown()
	return fleetComputer{
		ID: id, Status: unknown, Hostname: unknown, RemoteUser: unknown, RelayClientURL: unknown, RelayAgentURL: unknown,
		ClonedRepoDirectories: types.ListUnknown(types.StringType),
	}
}

func (c fleetChange) computers(ctx context.Context, plan *fleetModel, state types.Map) (types.Map, diag.Diagnostics) {
	if c.missing > maxPlanned {
		return types.MapUnknown(fleetComputerType), nil
	}
	created, diags := types.ObjectValueFrom(ctx, fleetComputerType.AttrTypes, newFleetComputer(types.StringUnknown()))
	inState, entries := state.Elements(), map[string]attr.Value{}
	for _, member := range c.stay {
		entries[member.name] = inState[member.name]
		if plan.awaits(&member) {
			waiting := fleetMember{fleetComputer: newFleetComputer(member.ID)}
			waiting.keep(&member.fleetComputer)
			entry, d := types.ObjectValueFrom(ctx, fleetComputerType.AttrTypes, waiting.fleetComputer)
			diags.Append(d...)
			entries[member.name] = entry
		}
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
