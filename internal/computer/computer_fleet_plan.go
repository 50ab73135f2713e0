package computer

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// ModifyPlan plans which computers stay, which are deleted and how many are new, names all that an apply deletes, and
// keeps the ID in step with what it consists of.
func (r *fleetResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state fleetModel
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	present, diags := state.records(ctx)
	resp.Diagnostics.Append(diags...)
	if req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(allDeleted("Destroying", present, &state)...)
		return
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	known, diags := getNew(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := types.StringUnknown()
	if !plan.NamePrefix.IsUnknown() && !plan.ServiceAccountID.IsUnknown() {
		id = types.StringValue(plan.importID())
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), id)...)
	computers := types.ListUnknown(computerType)
	switch {
	case req.State.Raw.IsNull():
		resp.Diagnostics.Append(r.checkAccess(ctx, &plan)...)
		return
	case plan.replaces(ctx, &state, req.Private):
		resp.Diagnostics.Append(allDeleted("Replacing", present, &state)...)
	case !plan.Quantity.IsUnknown() && !plan.ReplaceFailed.IsUnknown():
		change := plan.change(present, known)
		resp.Diagnostics.Append(change.deletions(&plan)...)
		switch {
		case change.isEmpty():
			computers = state.Computers
		case change.missing <= maxPlanned:
			computers, diags = change.computers(ctx, plan.NamePrefix.ValueString())
			resp.Diagnostics.Append(diags...)
		}
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("computers"), computers)...)
}

// checkAccess fails where the service refuses the provider.
func (r *fleetResource) checkAccess(ctx context.Context, plan *fleetModel) diag.Diagnostics {
	if r.Client == nil || plan.ServiceAccountID.IsUnknown() {
		return nil
	}
	return apierror.For("plan", "computer fleet", r.Client.CheckComputers(ctx, plan.ServiceAccountID.ValueString()), fleetFields)
}

// maxPlanned bounds how many new computers a plan shows one by one. More are unknown as a whole.
const maxPlanned = 100

// fleetChange is what an update does to a fleet's computers.
type fleetChange struct {
	// failed and surplus are deleted, and missing is how many are made then.
	stay, failed, surplus []computerRecord
	missing               int
}

// change compares the computers that are present with what is wanted. Those that failed and were never active do not count
// where they are to be replaced.
func (m *fleetModel) change(present []computerRecord, made newComputers) fleetChange {
	var c fleetChange
	for _, record := range present {
		if m.ReplaceFailed.ValueBool() && record.Status.ValueString() == client.ComputerError && made[record.ID.ValueString()] {
			c.failed = append(c.failed, record)
		} else {
			c.stay = append(c.stay, record)
		}
	}
	quantity := int(m.Quantity.ValueInt64())
	c.missing = max(0, quantity-len(c.stay))
	if len(c.stay) > quantity {
		c.stay, c.surplus = c.stay[:quantity:quantity], c.stay[quantity:]
	}
	return c
}

func (c fleetChange) isEmpty() bool {
	return len(c.failed) == 0 && len(c.surplus) == 0 && c.missing == 0
}

// computers are those of the fleet after the change, new ones unknown and where the lowest free numbers put them.
func (c fleetChange) computers(ctx context.Context, prefix string) (types.List, diag.Diagnostics) {
	taken := map[string]bool{}
	for _, record := range c.stay {
		number, _ := client.FleetSuffix(prefix, record.Name.ValueString())
		taken[number] = true
	}
	after := slices.Clone(c.stay)
	for number := 1; len(after) < len(c.stay)+c.missing; number++ {
		if text := strconv.Itoa(number); !taken[text] {
			after = append(after, computerRecord{ID: types.StringUnknown(), Name: types.StringValue(prefix + "-" + text)})
		}
	}
	inOrder(prefix, after)
	var diags diag.Diagnostics
	elements := make([]attr.Value, len(after))
	for i := range after {
		if after[i].ID.IsUnknown() {
			elements[i] = types.ObjectUnknown(computerType.AttrTypes)
			continue
		}
		element, d := types.ObjectValueFrom(ctx, computerType.AttrTypes, after[i])
		diags.Append(d...)
		elements[i] = element
	}
	list, d := types.ListValue(computerType, elements)
	return list, append(diags, d...)
}

// asPlanned puts the computers into the order of the plan. Where the service gave others than the lowest free numbers, the
// next refresh sorts them: a result in another order than the one that was approved would be an error of Terraform's.
func asPlanned(stored, planned types.List) types.List {
	if planned.IsUnknown() {
		return stored
	}
	stay := map[string]bool{}
	for _, element := range planned.Elements() {
		stay[idOf(element)] = true
	}
	added := slices.DeleteFunc(stored.Elements(), func(element attr.Value) bool { return stay[idOf(element)] })
	elements := planned.Elements()
	for i, element := range elements {
		if element.IsUnknown() && len(added) > 0 {
			elements[i], added = added[0], added[1:]
		}
	}
	return types.ListValueMust(computerType, elements)
}

// idOf is the ID of an element of computers; empty if it is unknown.
func idOf(element attr.Value) string {
	object, ok := element.(types.Object)
	if !ok || element.IsUnknown() {
		return ""
	}
	id, _ := object.Attributes()["id"].(types.String)
	return id.ValueString()
}

// deletions names what the change deletes.
func (c fleetChange) deletions(m *fleetModel) diag.Diagnostics {
	var diags diag.Diagnostics
	if n := len(c.failed); n > 0 {
		fate := "Deleted"
		if c.missing >= n {
			fate = "Replaced"
		}
		diags.AddAttributeWarning(path.Root("replace_failed"), fmt.Sprintf("Failed Computers of the Fleet %q Are %s", m.NamePrefix.ValueString(), fate),
			fmt.Sprintf("%s of the fleet %q failed to provision and %s never active: %s. To keep %s, set replace_failed = false.",
				phrase.Count(n, "computer"), m.NamePrefix.ValueString(), phrase.Verb(n, "was", "were"), phrase.Names(namesOf(c.failed), maxDeleted), phrase.Verb(n, "it", "them")))
	}
	if n := len(c.surplus); n > 0 {
		diags.AddAttributeWarning(path.Root("quantity"), fmt.Sprintf("Computers of the Fleet %q Are Deleted", m.NamePrefix.ValueString()),
			fmt.Sprintf("Lowering the quantity to %d deletes %d of the fleet's computers: %s.", m.Quantity.ValueInt64(), n, phrase.Names(namesOf(c.surplus), maxDeleted)))
	}
	return diags
}

// allDeleted says how many computers go with a fleet.
func allDeleted(what string, present []computerRecord, m *fleetModel) diag.Diagnostics {
	if len(present) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(fmt.Sprintf("%s the Fleet %q Deletes %s", what, m.NamePrefix.ValueString(), phrase.Count(len(present), "Computer")),
		fmt.Sprintf("All computers of the fleet %q are shut down and deleted, and their sessions are archived: %s.", m.NamePrefix.ValueString(), phrase.Names(namesOf(present), maxNamed)))}
}

// replaces reports that the plan replaces the fleet, as the modifiers of its attributes decide.
func (m *fleetModel) replaces(ctx context.Context, state *fleetModel, private adopt.Private) bool {
	return !m.NamePrefix.Equal(state.NamePrefix) ||
		!m.ProviderType.Equal(state.ProviderType) && !state.ProviderType.IsNull() ||
		!m.Repos.Equal(state.Repos) && !adopt.Allowed(ctx, private, state.Repos) ||
		!m.AutoInstallDeps.Equal(state.AutoInstallDeps) && !adopt.Allowed(ctx, private, state.AutoInstallDeps) ||
		!m.ServiceAccountID.Equal(state.ServiceAccountID) && !state.mayAdoptOwner(ctx, m.ServiceAccountID, private)
}

// replaceProvider lets a fleet that has no computers yet, and so no provider of the service's choice, be given one.
func replaceProvider(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

// replaceFleetOwner replaces where another account is configured than one that may be adopted.
func replaceFleetOwner(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	var state fleetModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.RequiresReplace = !state.mayAdoptOwner(ctx, req.PlanValue, req.Private)
}

// mayAdoptOwner reports that the fleet was imported with its account's own key, which knows no account, and that the given
// account owns all of its computers.
func (m *fleetModel) mayAdoptOwner(ctx context.Context, account types.String, private adopt.Private) bool {
	records, diags := m.records(ctx)
	return !diags.HasError() && adopt.Allowed(ctx, private, m.ServiceAccountID) &&
		!slices.ContainsFunc(records, func(record computerRecord) bool { return !record.OwnerID.Equal(account) })
}
