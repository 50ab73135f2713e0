package computer

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// replaceHost replaces where a host ID that is set is changed: the service lets one be assigned once.
func replaceHost(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

// replaceOwner replaces where another account is configured. An import with the account's own key knows no account, and
// adopts the one that owns the computer.
func replaceOwner(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	var owner types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("owner_id"), &owner)...)
	resp.RequiresReplace = !adopt.Allowed(ctx, req.Private, req.StateValue) || !owner.Equal(req.PlanValue)
}

// replaceOrigin also lets a software draft be adopted alone: an import knows the source but not the draft.
func replaceOrigin(ctx context.Context, req planmodifier.ObjectRequest, resp *objectplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = true
	if !value.IsSet(req.StateValue) || !value.IsSet(req.PlanValue) {
		return
	}
	var before, after originModel
	resp.Diagnostics.Append(req.StateValue.As(ctx, &before, basetypes.ObjectAsOptions{})...)
	resp.Diagnostics.Append(req.PlanValue.As(ctx, &after, basetypes.ObjectAsOptions{})...)
	if adopt.Allowed(ctx, req.Private, before.SoftwareDraft) {
		after.SoftwareDraft = before.SoftwareDraft
	}
	resp.RequiresReplace = !before.Kind.Equal(after.Kind) || !before.TemplateID.Equal(after.TemplateID) || !before.IsListed.Equal(after.IsListed) ||
		!before.SoftwareDraft.Equal(after.SoftwareDraft) || !before.SourceComputerID.Equal(after.SourceComputerID)
}

// unknownAccount is where it is shown that the service does not know the owner's account.
func unknownAccount(account types.String) apierror.AtStatus {
	if account.IsNull() {
		return nil
	}
	return apierror.AtStatus{http.StatusNotFound: path.Root("service_account_id")}
}
