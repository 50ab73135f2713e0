package computer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// replaceHost allows the first host ID in place: the service accepts only one.
func replaceHost(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

// replaceOwner adopts the account after an import with the account's own key, which does not show the account.
func replaceOwner(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	var owner types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("owner_id"), &owner)...)
	resp.RequiresReplace = !privatestate.MayAdopt(ctx, req.Private, req.StateValue) || !owner.Equal(req.PlanValue)
}

// replaceOrigin adopts a software draft after an import, which shows the source but not the draft.
func replaceOrigin(ctx context.Context, req planmodifier.ObjectRequest, resp *objectplanmodifier.RequiresReplaceIfFuncResponse) {
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
	resp.RequiresReplace = !prior.Kind.Equal(planned.Kind) || !prior.TemplateID.Equal(planned.TemplateID) || !prior.IsListed.Equal(planned.IsListed) ||
		!sameDraft(prior.SoftwareDraft, planned.SoftwareDraft) || !prior.SourceComputerID.Equal(modifier.Keep(prior.SourceComputerID, planned.SourceComputerID, strings.EqualFold))
}

// sameDraft compares drafts without case: all their values are UUIDs.
func sameDraft(prior, planned types.Object) bool {
	for name, id := range prior.Attributes() {
		if other, ok := planned.Attributes()[name]; !ok || !strings.EqualFold(id.String(), other.String()) {
			return false
		}
	}
	return prior.IsNull() == planned.IsNull() && !planned.IsUnknown()
}

// checkProvider fails before anything is created if the organization cannot use the provider.
func checkProvider(ctx context.Context, c *client.Client, provider types.String) diag.Diagnostics {
	id := provider.ValueString()
	if id == "" || id == computers.ProviderBYOM {
		return nil
	}
	if diags := apierror.For("plan", "computer", c.Conn.CheckAccess(ctx)); diags.HasError() {
		return diags
	}
	available, err := c.Conn.Providers(ctx)
	if err != nil || len(available) == 0 || slices.Contains(available, id) {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("provider_type"), "Provider not available",
		fmt.Sprintf("The organization cannot use the provider %q. Set one that is available: %s.", id, strings.Join(available, ", ")))}
}

// unknownAccount puts a 404 of a create on the configured account.
func unknownAccount(account types.String) apierror.AtStatus {
	if account.IsNull() {
		return nil
	}
	return apierror.AtAccount
}
