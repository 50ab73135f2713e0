package computer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// replaceIfSet allows the first value in place: the service accepts one host ID, and a fleet without computers has no provider yet.
func replaceIfSet(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

// replaceIfOtherOwner adopts the account after an import with the account's own key, which does not show the account.
func replaceIfOtherOwner(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	var owner types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("owner_id"), &owner)...)
	resp.RequiresReplace = !privatestate.MayAdopt(ctx, req.Private, req.StateValue) || !owner.Equal(req.PlanValue)
}

// replaceIfOtherOrigin adopts a software draft after an import, which shows the source but not the draft.
func replaceIfOtherOrigin(ctx context.Context, req planmodifier.ObjectRequest, resp *objectplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = true
	if !value.IsSet(req.StateValue) || !value.IsSet(req.PlanValue) {
		return
	}
	var prior, planned originModel
	resp.Diagnostics.Append(req.StateValue.As(ctx, &prior, basetypes.ObjectAsOptions{})...)
	resp.Diagnostics.Append(req.PlanValue.As(ctx, &planned, basetypes.ObjectAsOptions{})...)
	if privatestate.MayAdopt(ctx, req.Private, prior.SoftwareDraft) {
		planned.SoftwareDraft = prior.SoftwareDraft
	}
	planned.SourceComputerID = modifier.Keep(prior.SourceComputerID, planned.SourceComputerID, strings.EqualFold)
	isSame := prior.Kind.Equal(planned.Kind) && prior.TemplateID.Equal(planned.TemplateID) && prior.IsListed.Equal(planned.IsListed) &&
		prior.SourceComputerID.Equal(planned.SourceComputerID) && sameDraft(prior.SoftwareDraft, planned.SoftwareDraft)
	resp.RequiresReplace = !isSame
}

// sameDraft compares drafts without case: all their values are UUIDs.
func sameDraft(prior, planned types.Object) bool {
	for name, id := range prior.Attributes() {
		if other, ok := planned.Attributes()[name]; !ok || !strings.EqualFold(id.String(), other.String()) {
			return false
		}
	}
	return prior.IsNull() == planned.IsNull()
}

// ModifyPlan checks a new computer before anything is created. It replaces a computer that failed before it was ever active, and waits for
// one that an earlier apply left while it was set up.
func (r *computerResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan, state computerModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if req.State.Raw.IsNull() {
		if !resp.Diagnostics.HasError() {
			resp.Diagnostics.Append(plan.decide(ctx, &resp.Plan)...)
			resp.Diagnostics.Append(checkNew(ctx, r.Client, "computer", plan.ServiceAccountID, plan.ProviderType)...)
		}
		return
	}
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	seen := lives(ctx, req.Private)[state.ID.ValueString()]
	switch {
	case seen.failedBeforeUse:
		resp.Diagnostics.Append(r.planReplacement(ctx, &plan, &state, resp)...)
	case seen.isUnfinished(state.Status.ValueString()):
		plan.planWait(ctx, req.Plan.Raw.Equal(req.State.Raw), resp)
	}
}

// PlanIsUnchanged implements crud.Shortcut: a computer at rest was active or imported, so ModifyPlan neither replaces it nor waits for it.
func (r *computerResource) PlanIsUnchanged(state, _ *crud.RawObject) bool { return state.IsAtRest() }

// decide plans the results that the configuration of a new computer decides. The service may assign a host ID.
func (m *computerModel) decide(ctx context.Context, plan *tfsdk.Plan) (diags diag.Diagnostics) {
	if !m.AutoInstallDeps.IsUnknown() && !m.AutoInstallDeps.ValueBool() {
		diags.Append(plan.SetAttribute(ctx, path.Root("install_session_id"), types.StringNull())...)
	}
	source := types.ObjectNull(sourceResults.ObjectType().AttrTypes)
	if from := m.Source.Attributes(); value.IsSet(m.Source) {
		source = types.ObjectValueMust(sourceResults.ObjectType().AttrTypes, map[string]attr.Value{"kind": from["kind"], "template_id": from["template_id"], "computer_id": from["source_computer_id"]})
	}
	if !m.Source.IsUnknown() {
		diags.Append(plan.SetAttribute(ctx, path.Root("computer_source"), source)...)
	}
	return diags
}

// planReplacement replaces a computer that failed before use. Without a refresh, the state may be old, so it looks again; see life. A
// saved plan is not checked again: Delete does not know why it is called.
func (r *computerResource) planReplacement(ctx context.Context, plan, state *computerModel, resp *resource.ModifyPlanResponse) diag.Diagnostics {
	// A value that becomes known in the apply must not add a replacement, so an unknown one counts as true.
	if !value.MayBeTrue(plan.ReplaceFailed) || state.DeletionProtection.ValueBool() || plan.DeletionProtection.ValueBool() {
		return nil
	}
	listed, err := r.Client.Computers.LookupWithSteps(ctx, state.ID.ValueString(), state.ServiceAccountID.ValueString())
	if err != nil {
		return apierror.For("plan", "computer", err)
	}
	if listed == nil || !listed.FailedBeforeUse() {
		return nil
	}
	diags := resp.Plan.SetAttribute(ctx, path.Root("status"), types.StringUnknown())
	resp.RequiresReplace.Append(path.Root("status"))
	diags.AddAttributeWarning(path.Root("replace_failed"), "Computer will be replaced",
		state.named()+" failed to provision and was never active, so the plan replaces it. To keep it, set replace_failed = false, and make no change that forces a new computer.")
	return diags
}

// planWait makes the status unknown, and the results that the service has not set yet. With other changes, the plan may be a replacement,
// so there is no warning. Terraform does not tell the provider of -replace, so the warning says "unless".
func (m *computerModel) planWait(ctx context.Context, isOnlyChange bool, resp *resource.ModifyPlanResponse) {
	if !value.MayBeTrue(m.WaitForActive) {
		return
	}
	if isOnlyChange {
		resp.Diagnostics.AddWarning(notYetActive, m.named()+" is not active yet, because an earlier apply did not wait for it to the end. Unless this apply replaces it, it waits for it.")
	}
	m.Status = types.StringUnknown()
	m.makeNullsUnknown(&m.HostID, &m.InstallSessionID)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
}

// checkNew fails before anything is created if the service rejects the API key, or if the organization cannot use the provider.
func checkNew(ctx context.Context, c *client.Client, object string, account, provider types.String) diag.Diagnostics {
	if account.IsUnknown() {
		return nil
	}
	if err := c.Computers.CheckAccess(ctx, account.ValueString()); err != nil {
		return apierror.For("plan", object, err)
	}
	id := provider.ValueString()
	if id == "" || id == computers.ProviderBYOM {
		return nil
	}
	if err := c.Conn.CheckAccess(ctx); err != nil {
		return apierror.For("plan", object, err)
	}
	available, err := c.Conn.Providers(ctx)
	if err != nil || len(available) == 0 || slices.Contains(available, id) {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("provider_type"), "Provider not available",
		fmt.Sprintf("The organization cannot use the provider %q. Set one that is available: %s.", id, strings.Join(available, ", ")))}
}
