package computer

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

const (
	// maxShown is the number of new computers that a plan shows in full. The CLIs do not show an object that is unknown as a whole.
	maxShown = 50
	// maxPlanned is the number of new computers that a plan names, so that a typo in quantity does not exhaust the memory.
	maxPlanned = 10_000
)

func (r *fleetResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan, state fleetModel
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	members, _, diags := state.computersInState(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		resp.Diagnostics.Append(checkNew(ctx, r.Client, "computer fleet", plan.ServiceAccountID, plan.ProviderType)...)
	} else if privatestate.MayAdopt(ctx, req.Private, state.ServiceAccountID) && !plan.ServiceAccountID.IsNull() {
		r.replaceUnlessOwnedBy(ctx, plan.ServiceAccountID, members, resp)
	}
	id := types.StringUnknown()
	if !plan.NamePrefix.IsUnknown() && !plan.ServiceAccountID.IsUnknown() {
		id = types.StringValue(plan.importID())
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), id)...)
	entries := types.MapUnknown(fleetComputerType)
	if !plan.NamePrefix.IsUnknown() && !plan.Quantity.IsUnknown() && !plan.ReplaceFailed.IsUnknown() {
		change := plan.changeFor(members)
		entries, diags = change.entries(ctx, &plan, state.Computers)
		resp.Diagnostics.Append(diags...)
		if plan.NamePrefix.Equal(state.NamePrefix) {
			resp.Diagnostics.Append(plan.warnOfShrinking(members, change)...)
		}
		if req.Plan.Raw.Equal(req.State.Raw) { // Otherwise, the plan may be a replacement, which does not wait.
			resp.Diagnostics.Append(plan.warnOfWait(change.stay)...)
		}
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("computers"), entries)...)
}

// replaceUnlessOwnedBy replaces an imported fleet if the configured account does not own its computers, as a computer is replaced. Only an
// import with the account's own key does not need the account. The state has no account, so the computers are read without one.
func (r *fleetResource) replaceUnlessOwnedBy(ctx context.Context, account types.String, members []fleetMember, resp *resource.ModifyPlanResponse) {
	found, err := r.Client.Computers.GetMany(ctx, "", memberIDs(members))
	resp.Diagnostics.Append(apierror.For("plan", "computer fleet", err)...)
	for _, c := range found {
		if c.OwnerID != "" && c.OwnerID != account.ValueString() {
			resp.RequiresReplace.Append(path.Root("service_account_id"))
		}
	}
}

// fleetChange describes an update, which deletes the failed and surplus computers, then creates the missing ones.
type fleetChange struct {
	stay, failed, surplus []fleetMember
	toCreate              int
}

// changeFor returns what an update does to the members. It follows from the plan and the state, so a plan and its apply agree.
func (m *fleetModel) changeFor(members []fleetMember) fleetChange {
	var c fleetChange
	for _, member := range members {
		member.isAwaited = value.MayBeTrue(m.WaitForActive) && member.isUnfinished(member.Status.ValueString())
		if m.replaces(&member) {
			c.failed = append(c.failed, member)
		} else {
			c.stay = append(c.stay, member)
		}
	}
	quantity := int(m.Quantity.ValueInt64())
	c.toCreate = max(0, quantity-len(c.stay))
	if len(c.stay) > quantity {
		c.stay, c.surplus = c.stay[:quantity:quantity], c.stay[quantity:]
	}
	return c
}

// replaces reports whether the next apply replaces a member because it failed. Deletion protection is of the fleet as a whole, so it keeps
// no member.
func (m *fleetModel) replaces(member *fleetMember) bool {
	return m.ReplaceFailed.ValueBool() && member.failedBeforeUse
}

// stillFailed returns an error unless all failed members are as the plan saw them: a saved plan may be old, and what has recovered may be in
// use.
func (r *fleetResource) stillFailed(ctx context.Context, m *fleetModel, failed []fleetMember) diag.Diagnostics {
	var changed []string
	for _, member := range failed {
		listed, err := r.Client.Computers.LookupWithSteps(ctx, member.ID.ValueString(), m.ServiceAccountID.ValueString())
		if err != nil {
			return apierror.For("update", "computer fleet", err)
		}
		if listed == nil || !listed.FailedBeforeUse() {
			changed = append(changed, member.name)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewErrorDiagnostic("Fleet changed since the plan", fmt.Sprintf("The plan replaces failed computers of the fleet %q, but these have recovered or no longer exist: %s. Nothing was changed. Plan again, then apply.",
		m.NamePrefix.ValueString(), phrase.Names(changed, phrase.MaxNamed)))}
}

// warnOfWait says which members the apply waits for.
func (m *fleetModel) warnOfWait(stay []fleetMember) diag.Diagnostics {
	waiting := memberNames(awaited(stay))
	if len(waiting) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(notYetActive, fmt.Sprintf("%s of the fleet %q %s not active yet, because an earlier apply did not wait for %s to the end: %s. Unless this apply replaces %[4]s, it waits for %[4]s.",
		phrase.Count(len(waiting), "computer"), m.NamePrefix.ValueString(), phrase.Verb(len(waiting), "is", "are"), phrase.Verb(len(waiting), "it", "them"),
		phrase.Names(waiting, phrase.MaxNamed)))}
}

// warnOfShrinking names the computers that leave the fleet, unless others take their place: Terraform counts only an update.
func (m *fleetModel) warnOfShrinking(members []fleetMember, c fleetChange) diag.Diagnostics {
	gone := memberNames(without(members, c.stay))
	if len(gone) == 0 || c.toCreate > 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(path.Root("quantity"), "Fleet will shrink", fmt.Sprintf("An apply that keeps the fleet %q deletes %d of its computers: %s. Terraform shows this as a change, not as a destruction.",
		m.NamePrefix.ValueString(), len(gone), phrase.Names(gone, phrase.MaxNamed)))}
}

// expected is the entry of a computer that the apply waits for.
func (f fleetComputer) expected(ctx context.Context) (types.Object, diag.Diagnostics) {
	f.Status = types.StringUnknown()
	f.makeNullsUnknown()
	return types.ObjectValueFrom(ctx, fleetComputerType.AttrTypes, f)
}

// entries are the computers in the plan.
func (c fleetChange) entries(ctx context.Context, plan *fleetModel, state types.Map) (types.Map, diag.Diagnostics) {
	if c.toCreate > maxPlanned {
		return types.MapUnknown(fleetComputerType), nil
	}
	created, diags := fleetComputer{ID: types.StringUnknown()}.expected(ctx)
	inState, entries := state.Elements(), map[string]attr.Value{}
	for _, member := range c.stay {
		entries[member.name] = inState[member.name]
		if member.isAwaited {
			entry, d := member.expected(ctx)
			diags.Append(d...)
			entries[member.name] = entry
		}
	}
	missing := newNames(plan.NamePrefix.ValueString(), c.stay, c.toCreate)
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
	all, d := types.MapValue(fleetComputerType, entries)
	diags.Append(d...)
	return all, diags
}
